/*
 * Unwind information: rows of call frame information, merged and deduplicated, as the
 * sections UNW… of the cache have them (format/symcache.md).
 */
#ifndef SC_UNWIND_H
#define SC_UNWIND_H

#include "format/symcache_format.h"
#include "libsymcache/base/intern.h"
#include "libsymcache/dwarf/cfi.h"
#include "libsymcache/elf/elf.h"

struct sc_unwind {
	struct symcache_ext_unwind facts;
	VEC(struct symcache_ext_wide_start) starts; /* empty: there is no unwind information */
	VEC(struct symcache_ext_row) rows;
	VEC(struct symcache_ext_rule) rules;
	VEC(uint8_t) expressions;
	uint64_t too_far;          /* rows out of reach of a u32 */
	struct sc_error first_fault; /* of facts.broken */
};

/* Reads what `image` and its debug file (or NULL) have: .eh_frame, .debug_frame where that
 * has nothing, and signal trampolines. Broken entries are counted. SC_ENOMEM. */
int sc_unwind_read(struct sc_elf *image, struct sc_elf *debug, struct sc_unwind *ret,
		   struct sc_error *err);
void sc_unwind_deinit(struct sc_unwind *u);

/* ---- how it is put together (unwind_table.c) ------------------------------------------ */

/* Rows under construction. Rules of a row and rows are stored once. */
struct sc_unwind_maker {
	struct sc_unwind *out;
	uint64_t load_base, end;   /* end: of the last row, vaddr */
	VEC(uint32_t) uses;        /* of each row */
	struct sc_intern rows, rules, expressions;
	const struct dw_cfi_section *section; /* of the rows that are added */
	bool is_64, swap;
	bool failed;               /* out of memory */
};

/* Adds a row for [start, end), which lies behind all others; a dw_cfi_row_fn. */
bool sc_unwind_add(void *maker, uint64_t start, uint64_t end, const struct dw_cfi_row *row);

/* Ends the last range and puts the rows into their final order. False: out of memory. */
bool sc_unwind_finish(struct sc_unwind_maker *m);
void sc_unwind_maker_deinit(struct sc_unwind_maker *m);

#endif
