/* What placing (layout.c) and writing (layout_write.c) share. */
#ifndef SC_LAYOUT_PARTS_H
#define SC_LAYOUT_PARTS_H

#include "libsymcache/write/image/layout.h"

/* Old number → new number, and the old numbers in their new order. */
struct renumber {
	uint32_t *to;
	VEC(uint32_t) order;
};

enum {
	EXT_IMAGE, EXT_COLUMN, EXT_DECL, EXT_DATA, EXT_SYMBOL, EXT_INDEX,
	/* These are there if they have something. */
	EXT_DISCRIMINATOR, EXT_DISCRIMINATORS, EXT_INLINED, EXT_INLINES,
	EXT_LOCAL_RANGES, EXT_LOCAL_ORDER, EXT_LOCALS, /* all of them or none */
	/* Behind the others, for unwind/merge.c takes these from either of two caches. */
	EXT_SEGMENT, /* always there */
	EXT_UNWIND, /* all of them or none */
	EXT_SECTIONS = EXT_UNWIND + SC_ROWS_SECTIONS
};
_Static_assert(EXT_SEGMENT + 1 == EXT_UNWIND, "the order in which unwind/merge.c writes them");

/* What a section with one number for each source location has no room for. */
struct sc_details {
	bool any; /* the section has something to say */
	VEC(struct symcache_ext_detail) list;
};

struct sc_layout {
	struct sc_content c;
	struct renumber files, functions, calls, strings;
	VEC(uint32_t) chain;      /* calls to place, innermost first */
	uint32_t *string_offset;  /* by old number */
	uint64_t string_bytes;
	size_t at_files, at_functions, at_locations, at_ranges, at_strings;
	struct symcache_ext_section ext[EXT_SECTIONS];
	struct sc_details discriminators, starts;
	struct sc_rows_section unwind[SC_ROWS_SECTIONS];
	size_t at_table, at_footer;
	size_t size;
};

static inline size_t file_record(const struct sc_layout *l)
{
	return l->c.version >= SYMCACHE_FIRST_VERSION_WITH_SRCSRV ?
		sizeof(struct symcache_file_v9) : sizeof(struct symcache_file_v7);
}

/* Is section `i` of l->ext there? */
static inline bool has_section(const struct sc_layout *l, int i)
{
	return i >= EXT_UNWIND ? l->c.unwind != NULL :
	       i >= EXT_LOCAL_RANGES && i < EXT_SEGMENT ? l->c.locals != NULL :
	       i < EXT_DISCRIMINATOR || i == EXT_SEGMENT || l->ext[i].size;
}

/* Fills in l->discriminators and l->starts when all records have their places. False: out of
 * memory. */
bool sc_layout_place_details(struct sc_layout *l);

static inline size_t num_locations(const struct sc_layout *l)
{
	return l->calls.order.len + l->c.ranges->ranges.len;
}

#endif
