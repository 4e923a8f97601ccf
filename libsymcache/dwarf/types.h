/* Types: how large a variable is. */
#ifndef DW_TYPES_H
#define DW_TYPES_H

#include "libsymcache/dwarf/unit.h"

/* The size in bytes of the type entry at `offset`, through typedefs, qualifiers
 * and arrays; 0: unknown. `lang` is the language of who asks, for units that say none.
 * *bytes_left is what may still be read of entries, and goes down; at 0 nothing is known. */
uint64_t dw_type_size(const struct dw_unit *u, uint64_t offset, uint32_t lang,
		      uint64_t *bytes_left);

#endif
