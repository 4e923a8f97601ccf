/*
 * html.h: --format html: a log as a page.
 *
 *   html.c       the renderer: what a line and an event call for
 *   lines.c      lines and colours
 *   elements.c   what elements become
 *   compose.c    lines of all threads, in their order → the page
 *   lists.c      lists of lines
 *   backtrace.c  a backtrace: its rows, its name, its entry in the outline
 *   title.c      what a backtrace is called by the lines before it
 *   head.c       what crashed, counts, modules
 *   page.h       what all pages have in common
 *
 * The renderer's lines may come from any thread, and the log may be cut anywhere between them. So
 * what depends on more than one line is done where they have come together again: each line
 * begins with a mark that says what it is, and compose.c makes lists, folds and backtraces of
 * them. Text of the log has no bytes below a blank but tabs and newlines (mk_html_text()), so
 * marks are not mistaken.
 *
 *   \1L  a line      \1M  the line of a module     \1A  of a map
 *   \1F NUMBER \2    a line with frames, whose rows follow; 'r' and a number: there are no
 *                    numbers, and as far as that are frames of one trace
 *   \1m MODULE \2    the next frame of the line is in it
 *   \1B              the next frame begins a trace
 *   \1x  a frame without symbols is in the row
 *   \1o  here " open" goes in the first frame of a crash
 *   \1I NAME \2      an input begins     \1E  it ends
 */
#ifndef MARKUP_HTML_H
#define MARKUP_HTML_H

#include "libmarkup/output/html/page.h"
#include "libmarkup/output/output.h"

struct mk_html {
	bool open;       /* the line is */
	bool colored;    /* and a span in it */
	bool held_back;  /* what came of it is in `line`: it may have frames */
	unsigned frames; /* that it has */
	uint32_t reach;  /* of its first frame, and */
	uint64_t first;  /* its number */
	struct mk_out line;
	bool named;      /* of frames whose module is on the line: what follows adds nothing */
	uint64_t number; /* of that line */
	const char *pos; /* text of the line from here on is not written yet */
	struct mk_out piece; /* of a row */
};

static inline struct mk_html *mk_html_of(const struct mk_output *r)
{
	return r->state;
}

/* Writes an element that makes sense. */
void mk_html_element(struct mk_output *r, const struct mk_event *e);
/* A frame of any format, as rows; `before`: what stands before it on its line. */
void mk_html_frame(struct mk_output *r, const struct mk_event *e, struct sc_str before);
/* The pairs of a hexdict, which may go over lines: values that lie in a map have a note
 * where. */
void mk_html_pairs(struct mk_output *r, const char *p, const char *end);

/* ---- lines.c ---------------------------------------------------------------------- */

/* `kind`: of its mark. */
void mk_html_open_line(struct mk_output *r, uint64_t number, char kind);
void mk_html_close_line(struct mk_output *r);
/* Colours of the log end here. */
void mk_html_colour_off(struct mk_output *r);
/* Text of one line, without its end. */
void mk_html_line_text(struct mk_output *r, const char *p, const char *end);
/* `end` before the end of the line that [p, end) may end with. */
const char *mk_html_without_eol(const char *p, const char *end);
/* Text that may go over lines: each newline begins a line of the page. */
void mk_html_put_lines(struct mk_output *r, const char *p, const char *end);

/* ---- compose.c -------------------------------------------------------------------- */

extern const struct mk_whole mk_html_page;

#endif
