/*
 * html.h: the parts of --format html.
 *
 *   html.c           lines and colours
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

/* Writes an element that makes sense. */
void mk_html_element(struct mk_output *r, const struct mk_event *e);
/* The pairs of a hexdict, which may go over lines: values that lie in a map have a note
 * where. */
void mk_html_pairs(struct mk_output *r, const char *p, const char *end);
/* Text that may go over lines: each newline begins a line of the page. */
void mk_html_put_lines(struct mk_output *r, const char *p, const char *end);

/* What is around the log: see struct mk_renderer. */
void mk_html_head(struct mk_out *o, const struct markup_options *options);
void mk_html_foot(struct mk_out *o, const struct mk_modules *seen,
		  const struct mk_modules *missing, const struct markup_stats *stats);

/* Text with what HTML needs; what no page may hold is shown by a sign. */
void mk_html_text(struct mk_out *o, const char *p, size_t len);

#endif
