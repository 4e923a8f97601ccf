/*
 * page.h: what all pages have in common: what is around them, text, rows of frames.
 *
 *   page.c     the beginning, the bar, the help, the end; text
 *   rows.c     a frame as a row: format/pages.md
 *
 * A page loads nothing. Its style and its script are in it, made of the files here by the
 * Makefile (a style and a script for each page, and their hashes), and its policy allows these
 * two by their hashes and nothing else: so no style attribute works, either, and not even a
 * mistake in the escaping of text would let that run. scripts/html_test.py looks at the pages in
 * a browser.
 */
#ifndef MARKUP_PAGE_H
#define MARKUP_PAGE_H

#include "libmarkup/bytes/out.h"

enum mk_page_kind { MK_PAGE_LOG, MK_PAGE_GROUPS, MK_PAGE_CORE, MK_PAGE_PROFILE };

/* Text with what HTML needs; what no page may hold is shown by a sign. */
void mk_html_text(struct mk_out *o, struct sc_str s);

/* The same, for mk_put(). */
static inline struct mk_as mk_escaped(struct sc_str s)
{
	return mk_as(mk_html_text, s);
}

static inline struct mk_as mk_escaped_text(const char *text)
{
	return mk_escaped(sc_str_of(text));
}

/* What a page's places link to: both may be NULL. */
struct mk_page_links {
	const char *link;             /* a pattern: format/pages.md */
	const char *const *path_maps; /* FROM=TO, for the paths in it; ends with NULL */
};

/* Up to the beginning of <body>; `title` is text. */
void mk_page_begin(struct mk_out *o, enum mk_page_kind kind, struct mk_as title,
		   const struct mk_page_links *links);

/* The bar with the search; `path` is shown without what leads to it, `outline` names what the
 * button for it lists; NULL: there is none. */
void mk_page_bar(struct mk_out *o, enum mk_page_kind kind, const char *path, const char *outline);

/* Behind </main>: keys and settings, script, the end. */
void mk_page_end(struct mk_out *o, enum mk_page_kind kind);

/* <script type="application/json" id=NAME>: its text is put with mk_page_json(). */
void mk_page_data(struct mk_out *o, const char *name);
/* A string in it, in quotes; nothing in it ends the element. */
void mk_page_json(struct mk_out *o, struct sc_str s);

/* A command, to be copied: its text follows, and mk_page_command_end(). */
void mk_page_command(struct mk_out *o, const char *why);
void mk_page_command_end(struct mk_out *o);

/* "94,188,376" */
void mk_page_number(struct mk_out *o, uint64_t n);

/* "1 frame", "2,000 frames" */
void mk_page_count(struct mk_out *o, uint64_t n, const char *what);

/* ---- rows.c ------------------------------------------------------------------------ */

/* shop::Money::operator*<u>(int) const</u> */
void mk_row_name(struct mk_out *o, struct sc_str function);
/* <b>name</b> <cite>place</cite>: what is not known is left out. */
void mk_row_code(struct mk_out *o, const struct sc_frame *f);

/* Of a row: its function, or its place, as they are in it. */
void mk_row_whole(struct mk_out *o, const char *row, size_t len, bool place);
/* The same for short: what its function is called for short, or its place without folders and column;
 * nothing if it has none. */
void mk_row_part(struct mk_out *o, const char *row, size_t len, bool place);
/* <b>short name</b> through `more` more · file.cc:14 */
void mk_row_brief(struct mk_out *o, const char *row, size_t len, size_t more);

/* The lines of a source as the resolver gives them. */
void mk_row_source(struct mk_out *o, struct sc_str lines);

#endif
