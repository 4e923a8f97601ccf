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

/* How many scopes, ranges and variables unit `u` may have, and steps in lists of ranges. No unit
 * may have so much that the others go without. */
uint64_t dw_most_facts(const struct dw_unit *u);

/*
 * Adds the ranges of u's root entry, which stand first in ret->ranges, and sets
 * ret->num_covers. `values` is working memory, all absent before and afterwards. `steps` as
 * above. SC_ENOMEM; SC_ELIMIT: they are too many to be true, so that it does not say what it
 * covers.
 */
int dw_read_covers(const struct dw_unit *u, struct dw_value values[DW_NUM_OPS], uint64_t *steps,
		   struct dw_facts *ret);

#endif
