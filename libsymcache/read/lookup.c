/*
 * lookup.c: a relative address → its frames, innermost first.
 *
 * Range i covers [start_i, start_i+1) and belongs to location range_location+i.
 * The search is for the last start ≤ rel_pc; its loop runs a number of times
 * that depends on the number of ranges alone and has no other branch, so the
 * processor runs ahead into the next look-up while this one waits for memory.
 *
 * Chains end because an inlined_into index must point into the call locations
 * and below the location it stands in; the walk stops where that is not so.
 *
 * Strings are not checked for UTF-8 here: that would read every byte of names
 * nobody may want. symcache_verify() does.
 */
#include "libsymcache/read/read.h"

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

/* As last_start() over all ranges, of which there are some. SYMCACHE_NONE: they are
 * damaged. */
static uint32_t find_range(const struct symcache *cache, uint32_t pc)
{
	uint32_t n = cache->header->num_ranges, first = 0;

	if (cache->index) {
		uint32_t bucket = pc >> cache->index_shift, low, high;

		if (bucket >= cache->index_buckets)
			bucket = cache->index_buckets - 1;
		if (!symcache_sound(cache, &cache->index[bucket], 2 * sizeof(*cache->index)))
			return SYMCACHE_NONE;
		low = cache->index[bucket];
		high = cache->index[bucket + 1];
		if (low <= high && high < n) {
			first = low;
			n = high - low + 1;
		}
	}
	if (!symcache_sound(cache, cache->ranges + first, n * sizeof(*cache->ranges)))
		return SYMCACHE_NONE;
	return first + last_start(cache->ranges + first, n, pc);
}

bool symcache_lookup(const struct symcache *cache, uint64_t rel_pc, struct symcache_frames *ret)
{
	const struct symcache_header *h = cache->header;
	uint32_t range, location;

	ret->cache = cache;
	ret->location = SYMCACHE_NONE;
	if (rel_pc > UINT32_MAX || !h->num_ranges)
		return false;
	range = find_range(cache, (uint32_t)rel_pc);
	location = cache->range_location + range;
	if (range == SYMCACHE_NONE || cache->ranges[range] > rel_pc ||
	    location >= h->num_source_locations ||
	    !symcache_sound(cache, &cache->locations[location], sizeof(*cache->locations)) ||
	    sc_is_gap(&cache->locations[location]))
		return false;
	ret->location = location;
	return true;
}

struct symcache_str symcache_string(const struct symcache *cache, uint32_t offset)
{
	uint32_t next;

	return sc_string_at(cache, offset, &next);
}

static inline void read_file(const struct symcache *cache, uint32_t idx,
			     struct symcache_file *ret)
{
	const uint32_t *record = sc_file_record(cache, idx);

	if (record) {
		ret->comp_dir = symcache_string(cache, record[0]);
		ret->directory = symcache_string(cache, record[1]);
		ret->name = symcache_string(cache, record[2]);
	} else {
		ret->comp_dir = ret->directory = ret->name = (struct symcache_str){ 0 };
	}
}

struct symcache_file symcache_file(const struct symcache *cache, uint32_t idx)
{
	struct symcache_file ret;

	read_file(cache, idx, &ret);
	return ret;
}

static inline uint32_t column_of(const struct symcache *cache, uint32_t location)
{
	const uint16_t *columns = cache->columns;

	return columns && symcache_sound(cache, &columns[location], sizeof(*columns)) ?
		columns[location] : 0;
}

static void read_frame(const struct symcache *cache, uint32_t location,
		       struct symcache_frame *ret)
{
	const struct symcache_source_location *loc = &cache->locations[location];
	uint32_t function = loc->function_idx, decl_file = SYMCACHE_NONE;

	read_file(cache, loc->file_idx, &ret->file);
	ret->line = loc->line;
	ret->column = column_of(cache, location);
	ret->function.ptr = NULL;
	ret->lang = SYMCACHE_LANG_UNKNOWN;
	ret->entry_pc = SYMCACHE_NONE;
	ret->decl_line = 0;
	if (function < cache->header->num_functions &&
	    symcache_sound(cache, &cache->functions[function], sizeof(*cache->functions))) {
		const struct symcache_function *f = &cache->functions[function];

		ret->function = symcache_string(cache, f->name);
		ret->lang = f->lang;
		ret->entry_pc = f->entry_pc;
		if (cache->decls && symcache_sound(cache, &cache->decls[function],
						   sizeof(*cache->decls))) {
			decl_file = cache->decls[function].file_idx;
			ret->decl_line = cache->decls[function].line;
		}
	}
	read_file(cache, decl_file, &ret->decl_file);
	if (!ret->function.ptr)
		ret->function = (struct symcache_str){ "?", 1 };
}

/* Takes the next location of the chain; SYMCACHE_NONE: no more. */
static uint32_t take_location(struct symcache_frames *frames)
{
	const struct symcache *cache = frames->cache;
	uint32_t location = frames->location, next;

	if (location == SYMCACHE_NONE)
		return location;
	next = cache->locations[location].inlined_into_idx;
	if (next >= location || next >= cache->range_location ||
	    !symcache_sound(cache, &cache->locations[next], sizeof(*cache->locations)) ||
	    sc_is_gap(&cache->locations[next]))
		next = SYMCACHE_NONE;
	frames->location = next;
	return location;
}

bool symcache_next_frame(struct symcache_frames *frames, struct symcache_frame *ret)
{
	uint32_t location = take_location(frames);

	if (location == SYMCACHE_NONE)
		return false;
	read_frame(frames->cache, location, ret);
	return true;
}

bool symcache_next_ids(struct symcache_frames *frames, struct symcache_frame_ids *ret)
{
	const struct symcache *cache = frames->cache;
	const struct symcache_source_location *loc;
	uint32_t location = take_location(frames);

	if (location == SYMCACHE_NONE)
		return false;
	loc = &cache->locations[location];
	ret->function = loc->function_idx < cache->header->num_functions ? loc->function_idx
									 : SYMCACHE_NONE;
	ret->file = loc->file_idx < cache->header->num_files ? loc->file_idx : SYMCACHE_NONE;
	ret->line = loc->line;
	ret->column = column_of(cache, location);
	return true;
}
