/* title.h: what a backtrace is called by the lines before it. */
#ifndef MARKUP_TITLE_H
#define MARKUP_TITLE_H

#include "libmarkup/bytes/out.h"

/* The lines before a backtrace, escaped (mk_html_text()): the last 8 to 16 KB, of each line the first
 * 511 bytes. */
struct mk_recent {
	struct mk_out text;
	size_t line; /* where its last line begins */
};

/* Text of a line, in pieces; the last one ends with a newline. */
void mk_recent_add(struct mk_recent *r, const char *text, size_t len);
void mk_recent_clear(struct mk_recent *r);

/* Writes what a backtrace is called by these lines: a signal, a report (2: something crashed), what
 * such a report adds (1), else the last line (0). Nothing: there is none. */
int mk_html_title(struct mk_out *o, const struct mk_recent *r);

#endif
