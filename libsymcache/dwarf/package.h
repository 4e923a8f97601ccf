/*
 * DWARF packages (.dwp): the split units of many .dwo files in one, found by
 * the hash table of .debug_cu_index (GNU's version 2, DWARF 5, 7.3.5).
 *
 *   id ─► row ─► [info][abbrev][str_offsets][rnglists …]   one column each:
 *                 offset and size of the unit's part of that section
 */
#ifndef DW_PACKAGE_H
#define DW_PACKAGE_H

#include "libsymcache/dwarf/sections.h"

struct dw_package {
	struct dw_sections sections; /* whole ones, of all units */
	struct dw_section cu_index;
};

/*
 * Cuts the parts of the unit with this id out of the package: what a .dwo file
 * of its own would hold. False: it is not in there, or the index is damaged.
 * Cost: a few probes.
 */
bool dw_package_find(const struct dw_package *p, uint64_t id, struct dw_sections *ret);

#endif
