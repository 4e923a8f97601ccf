/*
 * What few ask for of a frame: discriminators, and where inlined functions begin.
 *
 * A number for each source location, or a mark that there are several, or large ones, which are
 * in a list, by location and address: a search over it then.
 */
#include "libsymcache/read/parts.h"

/* The value of the last of the list for this location that begins at or below `rel_pc`, else
 * `none`. */
static uint32_t find(const struct symcache *cache, const struct symcache_details *d,
		     uint32_t location, uint64_t rel_pc, uint32_t none)
{
	size_t lo = 0, hi = d->num;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const struct symcache_ext_detail *at = &d->list[mid];

		if (!symcache_valid(cache, at, sizeof(*at)))
			return none;
		if (at->location < location || (at->location == location && at->from <= rel_pc))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && d->list[lo - 1].location == location ? d->list[lo - 1].value : none;
}

uint32_t symcache_discriminator(const struct symcache *cache, uint32_t location, uint64_t rel_pc)
{
	const uint8_t *numbers = cache->discriminators.numbers;

	if (!numbers || location >= cache->header->num_source_locations ||
	    !symcache_valid(cache, &numbers[location], 1))
		return 0;
	return numbers[location] < SYMCACHE_DISCRIMINATOR_MORE ? numbers[location] :
	       find(cache, &cache->discriminators, location, rel_pc, 0);
}

uint32_t symcache_inlined_start(const struct symcache *cache, uint32_t location, uint64_t rel_pc)
{
	const uint32_t *numbers = cache->starts.numbers;
	uint32_t call;

	if (!numbers || location >= cache->header->num_source_locations ||
	    !sc_is_code(cache, location))
		return SYMCACHE_NONE;
	call = cache->locations[location].inlined_into_idx;
	if (call >= cache->range_location ||
	    !symcache_valid(cache, &numbers[call], sizeof(*numbers)))
		return SYMCACHE_NONE;
	return numbers[call] != SYMCACHE_START_MORE ? numbers[call] :
	       find(cache, &cache->starts, call, rel_pc, SYMCACHE_NONE);
}
