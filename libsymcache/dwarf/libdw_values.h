/* Values of entries through libdw: for libdw_reader.c. */
#ifndef DW_LIBDW_VALUES_H
#define DW_LIBDW_VALUES_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "libsymcache/dwarf/facts.h"

/* A number, also of where the entry comes from; 0: absent, or too large. */
uint32_t dw_libdw_number32(Dwarf_Die *die, unsigned name);

/* The linkage name, else the name; *cu is the unit that says so. NULL: none. */
const char *dw_libdw_name(Dwarf_Die *die, Dwarf_CU **cu);

/* Of a unit's root entry: DW_AT_comp_dir, or NULL; the name of its .dwo file. */
const char *dw_libdw_comp_dir(Dwarf_Die *cudie);
const char *dw_libdw_split_name(Dwarf_Die *cudie);

/* How large a type is: as dwarf_aggregate_size(), but an array of a unit without a language (a
 * partial unit of dwz) has the lower bounds of `lang`, that of the unit which refers to it. */
int dw_libdw_size(Dwarf_Die *type, int lang, Dwarf_Word *ret);

/* The qualified name (qualify.h) of a function or inlined call, in u->texts; *ret is 0 if it has
 * none. False: out of memory. */
bool dw_libdw_qualify(Dwarf_Die *die, struct dw_facts *u, uint32_t *ret);

#endif
