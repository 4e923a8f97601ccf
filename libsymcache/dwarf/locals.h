/*
 * Local variables and parameters of the function that has the code at an address, and of the
 * calls inlined into it: what llvm-symbolizer answers to FRAME.
 *
 * Reads the debug information anew for each question, or all of it at once for a cache.
 */
#ifndef DW_LOCALS_H
#define DW_LOCALS_H

#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/unit.h"

/* Strings are borrowed from the sections. */
struct dw_local {
	const char *function, *name; /* as people write them; NULL: none */
	struct dw_file file;         /* of the declaration */
	uint64_t line;               /* 0: unknown */
	bool has_offset, has_size, has_tag;
	int64_t offset;              /* from the frame base, bytes */
	uint64_t size;               /* of the type, bytes */
	uint64_t tag;                /* DW_AT_LLVM_tag_offset */
};

struct dw_locals {
	VEC(struct dw_local) list; /* in the order of the entries */
};

/* Lists of locations, which nothing else needs. */
struct dw_location_sections {
	struct dw_section loc, loclists;
};

/* Appends the locals at `vaddr`, of the innermost function or inlined call that holds it.
 * What is broken is left out. False: out of memory. */
bool dw_read_locals(const struct dw_debug *debug, const struct dw_location_sections *locations,
		    uint64_t vaddr, struct dw_locals *ret);

/* ---- all of a file ------------------------------------------------------------------------ */

/* A function or inlined call: its locals are list[first, end) of the unit's. */
struct dw_local_function {
	uint64_t place; /* of its entry */
	uint32_t first, end;
};

struct dw_local_range {
	struct dw_range range;
	uint32_t function; /* index */
};

struct dw_unit_locals {
	bool is_split; /* strings go when the unit does */
	struct dw_locals locals;
	VEC(struct dw_local_function) functions;
	/* Where ranges overlap, the function whose entry stands last holds the addresses. */
	VEC(struct dw_local_range) ranges;
	VEC(struct dw_range) covered; /* outside of these the unit holds nothing; none: not said */
};

/* Borrows the unit until it returns. False: out of memory. */
typedef bool dw_unit_locals_fn(void *ctx, const struct dw_unit_locals *unit);

/* Calls `take` for each unit, in their order: dw_read_locals() answers from the first one that
 * holds the address. Of a file that asks for more than one of its size has (base/limits.h) the
 * rest is left out. False: out of memory. */
bool dw_read_all_locals(const struct dw_debug *debug, const struct dw_location_sections *locations,
			dw_unit_locals_fn *take, void *ctx);

#endif
