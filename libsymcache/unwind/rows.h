/*
 * Rows of unwind information under construction: added in the order of addresses, merged,
 * deduplicated, and in the end the sections UNW… as the file has them (format/symcache.md).
 *
 *   struct sc_rows_maker m = { .out = &rows };
 *   sc_rows_add(&m, start, end, &row, rules) …
 *   sc_rows_finish(&m);
 *   sc_rows_maker_deinit(&m);
 *   … sc_rows_sections(&rows, sections) …
 *   sc_rows_deinit(&rows);
 */
#ifndef SC_ROWS_H
#define SC_ROWS_H

#include "format/symcache_format.h"
#include "libsymcache/base/intern.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/read/read.h"

struct sc_rows {
	struct symcache_ext_unwind facts;
	VEC(struct symcache_ext_wide_start) starts; /* empty: there is no unwind information */
	VEC(struct symcache_ext_row) rows;
	VEC(struct symcache_ext_rule) rules;
	VEC(uint8_t) expressions;
	/* Made by sc_rows_finish(). */
	VEC(uint32_t) pages;
	VEC(struct symcache_ext_start) narrow;      /* the starts, unless rows need more bits */
	uint64_t too_far;                           /* rows out of reach of a u32 */
};

struct sc_rows_maker {
	struct sc_rows *out;
	uint64_t end;              /* of the last row */
	VEC(uint32_t) uses;        /* of each row */
	struct sc_intern rows, rules, expressions;
	bool failed;               /* out of memory */
};

/*
 * Adds a row for the relative addresses [start, end), which lie behind all others. Its
 * rules are `rules`, expressions are places that sc_rows_expression() gave. row->first_rule
 * is not read; SYMCACHE_CFA_NONE: there is no information. False: out of memory.
 */
bool sc_rows_add(struct sc_rows_maker *m, uint64_t start, uint64_t end,
		 const struct symcache_ext_row *row, const struct symcache_ext_rule *rules);

/* The place of an expression; −1: m->failed. */
int32_t sc_rows_expression(struct sc_rows_maker *m, const uint8_t *bytes, size_t size);

/* Ends the last range and puts the rows into their final order. False: out of memory. */
bool sc_rows_finish(struct sc_rows_maker *m);
void sc_rows_maker_deinit(struct sc_rows_maker *m);
void sc_rows_deinit(struct sc_rows *r);

/*
 * Adds to `out`, which is empty, the rows of `first`, and where it has none those of
 * `second`. Both are finished; so is `out` then. False: out of memory.
 */
bool sc_rows_unite(const struct symcache_unwind *first, const struct symcache_unwind *second,
		   struct sc_rows *out);

/* Finished rows as an opened cache has them. */
struct symcache_unwind sc_rows_view(const struct sc_rows *r);

struct sc_rows_section {
	uint32_t tag, entry_size;
	const void *data;
	size_t size;
};

enum { SC_ROWS_SECTIONS = 6 };

/* The sections, in the order of the file. */
void sc_rows_sections(const struct symcache_unwind *u,
		      struct sc_rows_section ret[SC_ROWS_SECTIONS]);

#endif
