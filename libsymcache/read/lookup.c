/*
 * lookup.c: a relative address → the source location of its innermost frame.
 *
 * Range i covers [start_i, start_i+1) and belongs to location range_location+i.
 * The search is for the last start ≤ rel_pc; its loop runs a number of times
 * that depends on the number of ranges alone and has no other branch, so the
 * processor runs ahead into the next look-up while this one waits for memory.
 */
#include "libsymcache/read/parts.h"

/* Index of the last of n > 0 ascending starts that is ≤ pc, or 0 if none is.
 * Whatever the order of the starts, the index is below n. */
static uint32_t last_start(const uint32_t *starts, uint32_t n, uint32_t pc)
{
	const uint32_t *base = starts;

	while (n >= 4) {
		uint32_t quarter = n / 4;
		uint32_t below = (base[quarter] <= pc) + (base[2 * quarter] <= pc) +
				 (base[3 * quarter] <= pc);

		base += (size_t)below * quarter;
		n -= 3 * quarter;
	}
	while (n > 1) {
		uint32_t half = n / 2;

		base += half & -(uint32_t)(base[half] <= pc);
		n -= half;
	}
	return (uint32_t)(base - starts);
}

/* Where the range of an address is: one of ranges[first, first + n). */
struct span {
	uint32_t first, n;
};

static inline const uint32_t *bucket_of(const struct symcache *cache, uint32_t pc)
{
	uint32_t bucket = pc >> cache->index_shift;

	return &cache->index[bucket < cache->index_buckets ? bucket : cache->index_buckets - 1];
}

/* Among all ranges, of which there are some. None: the index is damaged. */
static inline struct span find_span(const struct symcache *cache, uint32_t pc)
{
	uint32_t n = cache->header->num_ranges;

	if (cache->index) {
		const uint32_t *entry = bucket_of(cache, pc);
		uint32_t low, high;

		if (!symcache_valid(cache, entry, 2 * sizeof(*entry)))
			return (struct span){ 0, 0 };
		low = entry[0];
		high = entry[1];
		if (low <= high && high < n)
			return (struct span){ low, high - low + 1 };
	}
	return (struct span){ 0, n };
}

/* The location of the range in which `pc` is; SYMCACHE_NONE: there is none, or the
 * ranges are damaged. */
static inline uint32_t find_location(const struct symcache *cache, struct span span, uint32_t pc)
{
	const uint32_t *starts = cache->ranges + span.first;
	uint32_t range, location;

	if (!span.n || !symcache_valid(cache, starts, span.n * sizeof(*starts)))
		return SYMCACHE_NONE;
	range = span.first + last_start(starts, span.n, pc);
	location = cache->range_location + range;
	if (cache->ranges[range] > pc || location >= cache->header->num_source_locations)
		return SYMCACHE_NONE;
	return location;
}

static inline bool is_searched(const struct symcache *cache, uint64_t rel_pc)
{
	return rel_pc <= UINT32_MAX && cache->header->num_ranges;
}

uint32_t symcache_range_of(const struct symcache *cache, uint64_t rel_pc)
{
	uint32_t location = !is_searched(cache, rel_pc) ? SYMCACHE_NONE :
		find_location(cache, find_span(cache, (uint32_t)rel_pc), (uint32_t)rel_pc);

	return location == SYMCACHE_NONE ? SYMCACHE_NONE : location - cache->range_location;
}

bool symcache_lookup(const struct symcache *cache, uint64_t rel_pc, struct symcache_frames *ret)
{
	uint32_t pc = (uint32_t)rel_pc, location;

	ret->cache = cache;
	ret->location = SYMCACHE_NONE;
	if (!is_searched(cache, rel_pc))
		return false;
	location = find_location(cache, find_span(cache, pc), pc);
	if (location == SYMCACHE_NONE)
		return false;
	sc_fetch_location(cache, location);
	if (!sc_is_code(cache, location))
		return false;
	ret->location = location;
	return true;
}

void sc_find_batch(struct symcache_query q[], size_t n)
{
	struct span spans[SYMCACHE_BATCH];

	for (size_t i = 0; i < n; i++) {
		const struct symcache *cache = q[i].cache;

		q[i].frames = (struct symcache_frames){ cache, SYMCACHE_NONE };
		spans[i].n = 0;
		if (!is_searched(cache, q[i].rel_pc))
			continue;
		spans[i].n = cache->header->num_ranges;
		if (cache->index)
			__builtin_prefetch(bucket_of(cache, (uint32_t)q[i].rel_pc));
	}
	for (size_t i = 0; i < n; i++) {
		if (!spans[i].n)
			continue;
		spans[i] = find_span(q[i].cache, (uint32_t)q[i].rel_pc);
		const uint32_t *starts = q[i].cache->ranges + spans[i].first;
		__builtin_prefetch(starts);
		__builtin_prefetch(starts + spans[i].n / 2);
		__builtin_prefetch(starts + spans[i].n - 1);
	}
	for (size_t i = 0; i < n; i++) {
		q[i].frames.location = find_location(q[i].cache, spans[i], (uint32_t)q[i].rel_pc);
		if (q[i].frames.location != SYMCACHE_NONE)
			sc_fetch_location(q[i].cache, q[i].frames.location);
	}
}

void symcache_lookup_batch(struct symcache_query q[], size_t n)
{
	for (; n > SYMCACHE_BATCH; q += SYMCACHE_BATCH, n -= SYMCACHE_BATCH)
		symcache_lookup_batch(q, SYMCACHE_BATCH);
	sc_find_batch(q, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t location = q[i].frames.location;

		if (location != SYMCACHE_NONE && !sc_is_code(q[i].cache, location))
			q[i].frames.location = SYMCACHE_NONE;
	}
}
