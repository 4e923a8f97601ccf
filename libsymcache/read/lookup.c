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

		if (!symcache_sound(cache, entry, 2 * sizeof(*entry)))
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

	if (!span.n || !symcache_sound(cache, starts, span.n * sizeof(*starts)))
		return SYMCACHE_NONE;
	range = span.first + last_start(starts, span.n, pc);
	location = cache->range_location + range;
	if (cache->ranges[range] > pc || location >= cache->header->num_source_locations)
		return SYMCACHE_NONE;
	return location;
}

/* Is location `idx`, which exists, some code's? Not if it is damaged. */
static inline bool is_code(const struct symcache *cache, uint32_t idx)
{
	const struct symcache_source_location *location = &cache->locations[idx];

	return symcache_sound(cache, location, sizeof(*location)) && !sc_is_gap(location);
}

static inline bool is_searched(const struct symcache *cache, uint64_t rel_pc)
{
	return rel_pc <= UINT32_MAX && cache->header->num_ranges;
}

static inline void fetch_location(const struct symcache *cache, uint32_t location)
{
	__builtin_prefetch(&cache->locations[location]);
	if (cache->columns)
		__builtin_prefetch(&cache->columns[location]);
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
	fetch_location(cache, location);
	if (!is_code(cache, location))
		return false;
	ret->location = location;
	return true;
}

void symcache_lookup_batch(struct symcache_query q[], size_t n)
{
	struct span spans[SYMCACHE_BATCH];

	for (; n > SYMCACHE_BATCH; q += SYMCACHE_BATCH, n -= SYMCACHE_BATCH)
		symcache_lookup_batch(q, SYMCACHE_BATCH);
	for (size_t i = 0; i < n; i++) {
		q[i].frames = (struct symcache_frames){ q[i].cache, SYMCACHE_NONE };
		if (is_searched(q[i].cache, q[i].rel_pc) && q[i].cache->index)
			__builtin_prefetch(bucket_of(q[i].cache, (uint32_t)q[i].rel_pc));
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_searched(q[i].cache, q[i].rel_pc))
			continue;
		spans[i] = find_span(q[i].cache, (uint32_t)q[i].rel_pc);
		const uint32_t *starts = q[i].cache->ranges + spans[i].first;
		__builtin_prefetch(starts);
		__builtin_prefetch(starts + spans[i].n / 2);
		__builtin_prefetch(starts + spans[i].n - 1);
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_searched(q[i].cache, q[i].rel_pc))
			continue;
		q[i].frames.location = find_location(q[i].cache, spans[i], (uint32_t)q[i].rel_pc);
		if (q[i].frames.location != SYMCACHE_NONE)
			fetch_location(q[i].cache, q[i].frames.location);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t location = q[i].frames.location;

		if (location != SYMCACHE_NONE && !is_code(q[i].cache, location))
			q[i].frames.location = SYMCACHE_NONE;
	}
}

struct symcache_str symcache_string(const struct symcache *cache, uint32_t offset)
{
	uint32_t next;

	return sc_string_at(cache, offset, &next);
}

/*
 * What follows is compiled twice: for caches whose bytes are tested as they are read,
 * and, `guarded` false, for those that are trusted, where the tests would cost a third
 * of the time.
 */
#define TWICE static inline __attribute__((always_inline))

TWICE bool may_read(const struct symcache *cache, const void *at, size_t bytes, bool guarded)
{
	return !guarded || symcache_sound(cache, at, bytes);
}

TWICE struct symcache_str read_string(const struct symcache *cache, uint32_t offset, bool guarded)
{
	uint32_t next;

	return sc_read_string(cache, offset, guarded, &next);
}

TWICE struct symcache_file read_file(const struct symcache *cache, uint32_t idx, bool guarded)
{
	const uint32_t *record = sc_file_record(cache, idx);

	if (!record || !may_read(cache, record, cache->file_size, guarded))
		return (struct symcache_file){ 0 };
	return (struct symcache_file){
		.comp_dir = read_string(cache, record[0], guarded),
		.directory = read_string(cache, record[1], guarded),
		.name = read_string(cache, record[2], guarded),
	};
}

TWICE uint32_t column_of(const struct symcache *cache, uint32_t location, bool guarded)
{
	const uint16_t *columns = cache->columns;

	return columns && may_read(cache, &columns[location], sizeof(*columns), guarded) ?
		columns[location] : 0;
}

TWICE void read_frame(const struct symcache *cache, uint32_t location, bool guarded,
		      struct symcache_frame *ret)
{
	const struct symcache_source_location *loc = &cache->locations[location];
	const uint32_t function = loc->function_idx;
	const struct symcache_function *f = cache->functions + function;

	*ret = (struct symcache_frame){
		.function = { "?", 1 },
		.lang = SYMCACHE_LANG_UNKNOWN,
		.entry_pc = SYMCACHE_NONE,
		.line = loc->line,
		.column = column_of(cache, location, guarded),
		.decl_file_idx = SYMCACHE_NONE,
	};
	if (function < cache->header->num_functions && may_read(cache, f, sizeof(*f), guarded)) {
		const struct symcache_ext_decl *d = cache->decls ? cache->decls + function : NULL;
		const struct symcache_str name = read_string(cache, f->name, guarded);

		if (name.ptr)
			ret->function = name;
		ret->lang = f->lang;
		ret->entry_pc = f->entry_pc;
		if (d && may_read(cache, d, sizeof(*d), guarded)) {
			ret->decl_file_idx = d->file_idx;
			ret->decl_line = d->line;
		}
	}
	ret->file = read_file(cache, loc->file_idx, guarded);
}

struct symcache_file symcache_file(const struct symcache *cache, uint32_t idx)
{
	return read_file(cache, idx, true);
}

/* Takes the next location of the chain; SYMCACHE_NONE: no more. */
static inline uint32_t take_location(struct symcache_frames *frames)
{
	const struct symcache *cache = frames->cache;
	uint32_t location = frames->location, next;

	if (location == SYMCACHE_NONE)
		return location;
	next = cache->locations[location].inlined_into_idx;
	if (next >= location || next >= cache->range_location || !is_code(cache, next))
		next = SYMCACHE_NONE;
	else
		fetch_location(cache, next);
	frames->location = next;
	return location;
}

bool symcache_next_frame(struct symcache_frames *frames, struct symcache_frame *ret)
{
	uint32_t location = take_location(frames);

	if (location == SYMCACHE_NONE)
		return false;
	if (sc_is_guarded(frames->cache))
		read_frame(frames->cache, location, true, ret);
	else
		read_frame(frames->cache, location, false, ret);
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
	ret->column = column_of(cache, location, true);
	return true;
}
