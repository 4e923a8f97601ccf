/* Ranges of entries: DW_AT_low_pc and _high_pc, .debug_ranges, .debug_rnglists. */
#ifndef DW_RANGES_H
#define DW_RANGES_H

#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/unit.h"

/*
 * Appends the ranges of an entry with these attributes to ret->ranges; empty
 * and inverted ones are left out. A list that is cut off gives what was read
 * up to there. SC_ENOMEM.
 *
 * Many entries may share one long list, and a small file must not ask for much:
 * *steps is what may still be read of lists, and goes down. SC_ELIMIT: it was
 * not enough; ret->ranges stays as it was before.
 */
int dw_read_ranges(const struct dw_unit *u, const struct dw_value *values,
		   uint64_t *steps, struct dw_facts *ret);

#endif
