/*
 * Any attribute of an entry, found by its number in the bytes of the abbreviation: for what is
 * asked too seldom to be compiled (abbrev.h).
 */
#ifndef DW_ATTRIBUTES_H
#define DW_ATTRIBUTES_H

#include "libsymcache/dwarf/unit.h"

struct dw_entry {
	uint64_t *steps; /* that may still be made: many entries may refer to the same long one */
	const struct dw_unit *u;
	const struct dw_abbrev *abbrev;
	uint64_t at;     /* of its attributes, in .debug_info */
};

/* Where the cursor stands in .debug_info. */
static inline uint64_t dw_place_of(const struct dw_unit *u, const struct dw_cursor *c)
{
	return (uint64_t)(c->p - u->debug->sections.info.data);
}

/* The entry at `offset` of .debug_info; false: there is none. */
bool dw_open_entry(uint64_t *steps, const struct dw_unit *u, uint64_t offset, struct dw_entry *ret);

/* An attribute of the entry itself; false: it has none, or it is broken. */
bool dw_find(const struct dw_entry *e, uint64_t attribute, struct dw_value *ret);

/* The same, if it is a number: as it stands there, or with the sign of its form. */
bool dw_find_number(const struct dw_entry *e, uint64_t attribute, uint64_t *ret);
bool dw_find_signed(const struct dw_entry *e, uint64_t attribute, int64_t *ret);

/* The entry that an attribute refers to. */
bool dw_follow(const struct dw_entry *e, uint64_t attribute, struct dw_entry *ret);

#endif
