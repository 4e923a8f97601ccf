/* What the files that read local variables share. */
#ifndef DW_LOCALS_PARTS_H
#define DW_LOCALS_PARTS_H

#include "libsymcache/dwarf/attributes.h"
#include "libsymcache/dwarf/locals.h"

struct dw_locals_reading {
	uint64_t
		steps; /* that may still be made: many variables may refer to the same long lists */
	const struct dw_location_sections *locations;
	struct dw_locals *out;
	const struct dw_unit *files_of; /* whose files these are; NULL: none yet */
	struct dw_facts files;
	struct dw_unit_locals *all; /* of a unit; NULL: one function is wanted */
	uint64_t left;              /* locals and ranges that `all` may still get */
};

/* Adds the variable `e` of `function`. False: out of memory. */
bool dw_add_local(struct dw_locals_reading *r, const struct dw_entry *function,
		  const struct dw_entry *e);

#endif
