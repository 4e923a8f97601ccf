/* What flattening promises of its result whatever the facts; for tests and fuzzing. */
#ifndef SC_FLAT_CHECK_H
#define SC_FLAT_CHECK_H

#undef NDEBUG
#include <assert.h>

#include "libsymcache/write/flatten/flatten.h"

/* Pieces from number `piece` on, and their ranges from `range` on, ascend and are disjoint
 * and not empty. Aborts else. */
static inline void check_flat(const struct sc_flat *flat, uint64_t load_base, size_t piece,
			      size_t range)
{
	uint64_t at = 0;

	for (; piece < flat->pieces.len; piece++) {
		const struct sc_piece *p = &flat->pieces.data[piece];

		assert(p->start >= at && p->end > p->start && p->num_ranges);
		assert(!p->part && p->first_range == range);
		for (at = p->start; range < p->first_range + p->num_ranges; range++) {
			uint64_t start = load_base + flat->ranges.data[range].start;
			assert(range == p->first_range ? start == at : start > at);
			at = start;
		}
		assert(at < p->end);
		at = p->end;
	}
	assert(range == flat->ranges.len);
}

#endif
