/*
 * html.h: the parts of --format html.
 *
 *   render_html.c    lines and colours
 *   html_elements.c  what elements become
 *   html_page.c      what is around the log; text
 */
#ifndef MARKUP_HTML_H
#define MARKUP_HTML_H

#include "libmarkup/bytes/json.h"
#include "libmarkup/state.h"

/* Writes an element. False: its tag is not known, it is text. One that makes no sense
 * is shown as it stands, with f->html.error. */
bool mk_html_element(struct markup_filter *f, const struct markup_node *n);
/* The pairs of a hexdict, which may go over lines: values that lie in a map tell where. */
void mk_html_pairs(struct markup_filter *f, const char *p, const char *end);
/* Text that may go over lines: each newline begins a line of the page. */
void mk_html_put_lines(struct markup_filter *f, const char *p, const char *end);

/* Text with what HTML needs; what no page may hold is shown by a sign. */
void mk_html_text(struct markup_out *o, const char *p, size_t len);

#endif
