/* What placing (layout.c) and writing (layout_write.c) share. */
#ifndef SC_LAYOUT_PARTS_H
#define SC_LAYOUT_PARTS_H

#include "libsymcache/write/image/layout.h"

/* Old number → new number, and the old numbers in their new order. */
struct renumber {
	uint32_t *to;
	VEC(uint32_t) order;
};

/* The sections by short names. */
#define EXT_NAME(name, ...) EXT_##name = SYMCACHE_SECTION_##name,
enum { SYMCACHE_EXT_SECTIONS(EXT_NAME) EXT_SECTIONS = SYMCACHE_SECTIONS };
_Static_assert(EXT_UNWIND_PAGES + SC_ROWS_SECTIONS == EXT_SECTIONS, "sc_rows_sections() has the rest");

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
	VEC(struct sc_alias) aliases; /* by address, then by name */
	struct sc_details discriminators, starts;
	size_t num_qualified;     /* functions with a qualified name */
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
	const enum symcache_presence there = symcache_section_kinds[i].presence;

	return there == SYMCACHE_UNWIND ? l->c.unwind != NULL :
	       there == SYMCACHE_LOCALS ? l->c.locals != NULL :
	       there == SYMCACHE_ALWAYS || l->ext[i].size;
}

/* Fills in l->aliases when what ranges show has its places. False: out of memory. */
bool sc_layout_gather_aliases(struct sc_layout *l);

/* Fills in l->discriminators and l->starts when all records have their places. False: out of
 * memory. */
bool sc_layout_place_details(struct sc_layout *l);

static inline size_t num_locations(const struct sc_layout *l)
{
	return l->calls.order.len + l->c.ranges->ranges.len;
}

#endif
