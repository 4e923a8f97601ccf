/*
 * where.h: where in its inputs a filter is, and whom it complains to.
 */
#ifndef MARKUP_WHERE_H
#define MARKUP_WHERE_H

#include "libmarkup/markup.h"

struct mk_where {
	const char *input;     /* name, or NULL */
	uint64_t line_no;      /* lines before the current one */
	bool silent;           /* nothing is to be complained of, or looked up */
	struct markup_sink sink;
	/* What the current complaint warns of, once for each module; or NULL. */
	const struct markup_module *warning_about;
};

/* A complaint, as it is shown. */
void mk_complain_text(const struct mk_where *w, const char *text, size_t len);

/* A complaint of one line: "NAME:LINE: " and a printf message. */
void mk_complain(const struct mk_where *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* `s` for printf(): without NULs, and "..." where it is cut off to fit buf[0, size). */
struct sc_str mk_shortened(struct sc_str s, char buf[], size_t size);

#endif
