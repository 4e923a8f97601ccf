/*
 * symcache_index.h: the section INDX, which makes look-ups faster.
 *
 * The addresses from 0 to the last range are cut into buckets of 2^shift bytes,
 * shift being the smallest below 32 that makes no more than one bucket for every
 * 16 ranges, and one over:
 *
 *   address   0        2^shift    2·2^shift   …    last start
 *             |  bucket 0  |  bucket 1  |     …    |
 *   entry     0            1            2     …  buckets
 *
 * Entry k is the index of the last range that starts at or below k·2^shift, or
 * 0 if none does; the entry after the last bucket is the last range. So the
 * range of an address in bucket k lies between entries k and k+1, both ends
 * included: some 16 ranges where all of them would have to be searched.
 *
 * The section's records are the shift, then the entries. No ranges, no section.
 */
#ifndef SYMCACHE_INDEX_H
#define SYMCACHE_INDEX_H

#include <stdint.h>

#define SYMCACHE_INDEX_RANGES_PER_BUCKET 16u

/* The shift for n > 0 ranges, the last of which starts at `last`. */
static inline uint32_t symcache_index_shift(uint32_t n, uint32_t last)
{
	uint32_t shift = 0, most = n / SYMCACHE_INDEX_RANGES_PER_BUCKET;

	while (shift < 31 && (last >> shift) > most)
		shift++;
	return shift;
}

/* Buckets that reach to the range that starts at `last`. */
static inline uint32_t symcache_index_buckets(uint32_t shift, uint32_t last)
{
	return (last >> shift) + 1;
}

/* The entries of n > 0 ascending starts: entries[0, buckets + 1). */
static inline void symcache_index_fill(uint32_t *entries, uint32_t shift,
				       const uint32_t *starts, uint32_t n)
{
	uint32_t buckets = symcache_index_buckets(shift, starts[n - 1]), range = 0;

	for (uint32_t k = 0; k < buckets; k++) {
		while (range + 1 < n && starts[range + 1] <= (uint64_t)k << shift)
			range++;
		entries[k] = range;
	}
	entries[buckets] = n - 1;
}

#endif
