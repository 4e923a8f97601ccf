/*
 * Local variables and parameters of the function that has the code at an address, and of the
 * calls inlined into it: what llvm-symbolizer answers to FRAME.
 *
 * Reads the debug information anew for each question: nothing of it is in a cache.
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

#endif
