/*
 * frames.c: a source location → its frames, innermost first.
 *
 * Chains end because an inlined_into index must point into the call locations
 * and below the location it stands in; the walk stops where that is not so.
 *
 * A frame is a chain of loads: location, function, name. Chains that are walked
 * together take each step for all of them before the next, and ask for what the next
 * one needs: then they wait for memory once, not one after another.
 *
 * Strings are not checked for UTF-8 here: that would read every byte of names
 * may not be wanted. symcache_verify() does.
 */
#include "libsymcache/base/prefetch.h"
#include "libsymcache/read/parts.h"

struct sc_str symcache_string(const struct symcache *cache, uint32_t offset)
{
	uint32_t next;

	return sc_string_at(cache, offset, &next);
}

/*
 * What follows is compiled once for each use of a constant argument: mostly for caches whose
 * bytes are tested as they are read, and, `guarded` false, for those that are trusted, where
 * the tests would cost a third of the time.
 */
#define INLINED static inline __attribute__((always_inline))

INLINED bool may_read(const struct symcache *cache, const void *at, size_t bytes, bool guarded)
{
	return !guarded || symcache_valid(cache, at, bytes);
}

INLINED struct sc_str read_string(const struct symcache *cache, uint32_t offset, bool guarded)
{
	uint32_t next;

	return sc_read_string(cache, offset, guarded, &next);
}

INLINED struct symcache_file read_file(const struct symcache *cache, uint32_t idx, bool guarded)
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

INLINED uint32_t column_of(const struct symcache *cache, uint32_t location, bool guarded)
{
	const uint16_t *columns = cache->columns;

	return columns && may_read(cache, &columns[location], sizeof(*columns), guarded) ?
		columns[location] : 0;
}

INLINED void read_frame(const struct symcache *cache, uint32_t location, bool guarded,
		      struct symcache_raw_frame *ret)
{
	const struct symcache_source_location *loc = &cache->locations[location];
	const uint32_t function = loc->function_idx;
	const struct symcache_function *f = cache->functions + function;

	ret->function = (struct sc_str){ "?", 1 };
	ret->lang = SYMCACHE_LANG_UNKNOWN;
	ret->entry_pc = SYMCACHE_NONE;
	ret->decl_file_idx = SYMCACHE_NONE;
	ret->decl_line = 0;
	ret->line = loc->line;
	ret->column = column_of(cache, location, guarded);
	if (function < cache->header->num_functions && may_read(cache, f, sizeof(*f), guarded)) {
		const struct symcache_ext_decl *d = cache->decls ? cache->decls + function : NULL;
		const struct sc_str name = read_string(cache, f->name, guarded);

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

static inline void frame_of(const struct symcache *cache, uint32_t location,
			    struct symcache_raw_frame *ret)
{
	if (sc_is_guarded(cache))
		read_frame(cache, location, true, ret);
	else
		read_frame(cache, location, false, ret);
}

struct symcache_file symcache_file(const struct symcache *cache, uint32_t idx)
{
	return read_file(cache, idx, true);
}

/*
 * Takes the next location of the chain; SYMCACHE_NONE: no more. What it is inlined into
 * is asked for, but not tested before its turn: the test would wait for it. Nor is there
 * a branch on whether there is such a one: it cannot be guessed, and a wrong guess stops
 * the processor until the location has come.
 */
static inline uint32_t take_location(struct symcache_frames *frames)
{
	const struct symcache *cache = frames->cache;
	const uint32_t location = frames->location;
	uint32_t next, below, none;

	frames->location = SYMCACHE_NONE;
	if (location == SYMCACHE_NONE || !sc_is_code(cache, location))
		return SYMCACHE_NONE;
	next = cache->locations[location].inlined_into_idx;
	below = location < cache->range_location ? location : cache->range_location;
	none = (next < below) - 1u; /* all bits, or no bit */
	sc_fetch_location(cache, (next & ~none) | (location & none));
	frames->location = next | none;
	return location;
}

bool symcache_next_frame(struct symcache_frames *frames, struct symcache_raw_frame *ret)
{
	const uint32_t location = take_location(frames);

	if (location == SYMCACHE_NONE)
		return false;
	frame_of(frames->cache, location, ret);
	return true;
}

uint32_t symcache_next_location(struct symcache_frames *frames)
{
	return take_location(frames);
}

bool symcache_next_ids(struct symcache_frames *frames, struct symcache_frame_ids *ret)
{
	const uint32_t location = take_location(frames);

	if (location == SYMCACHE_NONE)
		return false;
	symcache_location_ids(frames->cache, location, ret);
	return true;
}

/* ---- many chains at once ------------------------------------------------------- */

enum { STEPS = 8 }; /* of each chain, before the frames are read */

struct walk {
	uint32_t location[SYMCACHE_BATCH][STEPS];
	uint32_t num[SYMCACHE_BATCH];
};

/* The queries, of which there are SYMCACHE_BATCH at most, whose chains go on: a bit each. */
static inline uint32_t live_chains(const struct symcache_query q[], size_t n)
{
	uint32_t live = 0;

	for (size_t i = 0; i < n; i++)
		live |= (uint32_t)(q[i].frames.location != SYMCACHE_NONE) << i;
	return live;
}

/* Takes `steps` locations of each live chain, or what there is: num[i] of them are
 * to[i * stride] and the following. Returns those that go on. */
INLINED uint32_t walk(struct symcache_query q[], uint32_t live, uint32_t steps, uint32_t to[],
		      uint32_t stride, uint32_t num[])
{
	for (uint32_t k = 0; live && k < steps; k++) {
		for (uint32_t todo = live; todo; todo &= todo - 1) {
			const uint32_t i = (uint32_t)__builtin_ctz(todo);
			const uint32_t location = take_location(&q[i].frames);

			to[i * stride + k] = location;
			num[i] += location != SYMCACHE_NONE;
			live ^= (uint32_t)(q[i].frames.location == SYMCACHE_NONE) << i;
		}
	}
	return live;
}

static void fetch_records(const struct symcache *cache, uint32_t location)
{
	const struct symcache_source_location *loc = &cache->locations[location];

	if (loc->function_idx < cache->header->num_functions) {
		sc_prefetch(&cache->functions[loc->function_idx]);
		if (cache->decls)
			sc_prefetch(&cache->decls[loc->function_idx]);
	}
	if (sc_file_record(cache, loc->file_idx))
		sc_prefetch(sc_file_record(cache, loc->file_idx));
}

static void fetch_string(const struct symcache *cache, uint32_t offset)
{
	if (offset < cache->header->string_bytes)
		sc_prefetch(cache->strings + offset);
}

static void fetch_strings(const struct symcache *cache, uint32_t location)
{
	const struct symcache_source_location *loc = &cache->locations[location];
	const uint32_t *record = sc_file_record(cache, loc->file_idx);

	if (loc->function_idx < cache->header->num_functions)
		fetch_string(cache, cache->functions[loc->function_idx].name);
	for (int i = 0; record && i < 3; i++)
		fetch_string(cache, record[i]);
}

/* Calls fn(cache, location) for what was walked of the caches that are trusted: where
 * bytes are tested first, the test waits for them. */
INLINED void fetch(const struct symcache_query q[], size_t n, const struct walk *w,
		 void (*fn)(const struct symcache *, uint32_t))
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < w->num[i] && !sc_is_guarded(q[i].cache); k++)
			fn(q[i].cache, w->location[i][k]);
}

static void fetch_frames(const struct symcache_query q[], size_t n, const struct walk *w)
{
	fetch(q, n, w, fetch_records);
	fetch(q, n, w, fetch_strings);
}

static void fetch_nothing(const struct symcache_query q[], size_t n, const struct walk *w)
{
	(void)q;
	(void)n;
	(void)w;
}

/* Calls put(cache, location, ret, i): what is element i of ret[n * most]. */
INLINED void batch(struct symcache_query q[], size_t n, void *ret, uint32_t most,
		 void (*ahead)(const struct symcache_query q[], size_t n, const struct walk *w),
		 void (*put)(const struct symcache *cache, uint32_t location, void *ret, size_t i))
{
	for (size_t from = 0; from < n; from += SYMCACHE_BATCH) {
		struct symcache_query *some = q + from;
		const size_t m = n - from < SYMCACHE_BATCH ? n - from : SYMCACHE_BATCH;
		uint32_t live = live_chains(some, m);

		for (size_t i = 0; i < m; i++)
			some[i].num_frames = 0;
		for (uint32_t done = 0; live && done < most; done += STEPS) {
			struct walk w;

			memset(w.num, 0, sizeof(w.num));
			live = walk(some, live, most - done < STEPS ? most - done : STEPS,
				    w.location[0], STEPS, w.num);
			ahead(some, m, &w);
			for (size_t i = 0; i < m; i++)
				for (uint32_t k = 0; k < w.num[i]; k++)
					put(some[i].cache, w.location[i][k], ret,
					    (from + i) * most + some[i].num_frames++);
		}
	}
}

INLINED void put_frame(const struct symcache *cache, uint32_t location, void *ret, size_t i)
{
	frame_of(cache, location, (struct symcache_raw_frame *)ret + i);
}

INLINED void put_ids(const struct symcache *cache, uint32_t location, void *ret, size_t i)
{
	symcache_location_ids(cache, location, (struct symcache_frame_ids *)ret + i);
}

void symcache_frames_batch(struct symcache_query q[], size_t n, struct symcache_raw_frame ret[],
			   uint32_t most)
{
	batch(q, n, ret, most, fetch_frames, put_frame);
}

void symcache_ids_batch(struct symcache_query q[], size_t n, struct symcache_frame_ids ret[],
			uint32_t most)
{
	batch(q, n, ret, most, fetch_nothing, put_ids);
}

void symcache_locations_batch(struct symcache_query q[], size_t n, uint32_t ret[], uint32_t most)
{
	for (size_t from = 0; from < n; from += SYMCACHE_BATCH) {
		struct symcache_query *some = q + from;
		const size_t m = n - from < SYMCACHE_BATCH ? n - from : SYMCACHE_BATCH;
		uint32_t num[SYMCACHE_BATCH] = { 0 };

		sc_find_batch(some, m);
		walk(some, live_chains(some, m), most, ret + from * most, most, num);
		for (size_t i = 0; i < m; i++)
			some[i].num_frames = num[i];
	}
}
