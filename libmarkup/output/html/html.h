/*
 * html.h: the parts of --format html.
 *
 *   html.c           the renderer: what a line and an event call for
 *   html_lines.c     lines and colours
 *   html_elements.c  what elements become
 *   html_page.c      what is around the log; text
 */
#ifndef MARKUP_HTML_H
#define MARKUP_HTML_H

#include "libmarkup/bytes/json.h"
#include "libmarkup/output/output.h"

struct mk_html {
	bool open;       /* the element of the line is */
	bool colored;    /* and a span in it */
	uint64_t number; /* of that line */
	const char *pos; /* text of the line from here on is not written yet */
};

static inline struct mk_html *mk_html_of(const struct mk_output *r)
{
	return r->state;
}

/* Writes an element that makes sense. */
void mk_html_element(struct mk_output *r, const struct mk_event *e);
/* The pairs of a hexdict, which may go over lines: values that lie in a map have a note
 * where. */
void mk_html_pairs(struct mk_output *r, const char *p, const char *end);

/* ---- html_lines.c -------------------------------------------------------------- */

void mk_html_open_line(struct mk_output *r, uint64_t number, bool hidden);
void mk_html_close_line(struct mk_output *r);
/* Text of one line, without its end. */
void mk_html_line_text(struct mk_output *r, const char *p, const char *end);
/* `end` before the end of the line that [p, end) may end with. */
const char *mk_html_without_eol(const char *p, const char *end);
/* Text that may go over lines: each newline begins a line of the page. */
void mk_html_put_lines(struct mk_output *r, const char *p, const char *end);

/* ---- html_page.c --------------------------------------------------------------- */

/* A file, with a NUL behind it, as mk_html_NAME. */
#define MK_EMBED(name, file)                                 \
	__asm__(".section .rodata\n"                         \
		"mk_html_" #name ":\n"                       \
		".incbin \"" file "\"\n"                     \
		".byte 0\n"                                  \
		".previous\n");                              \
	extern const char mk_html_##name[] __attribute__((visibility("hidden")))

/* The beginning of a page, up to the end of its style; `policy`: what it may load or run. */
void mk_html_begin(struct mk_out *o, const char *policy, struct mk_as title, const char *style);

/* What is around the log: see struct mk_renderer. */
void mk_html_head(struct mk_out *o, const struct markup_options *options);
void mk_html_foot(struct mk_out *o, const struct mk_modules *seen,
		  const struct mk_modules *missing, const struct markup_stats *stats);

/* Text with what HTML needs; what no page may hold is shown by a sign. */
void mk_html_text(struct mk_out *o, struct sc_str s);

/* The same, for mk_put(). */
static inline struct mk_as mk_escaped(struct sc_str s)
{
	return mk_as(mk_html_text, s);
}

#endif
