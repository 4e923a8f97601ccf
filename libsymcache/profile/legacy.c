/* What heap texts and CPU profiles have in common: see legacy.h. */
#include "libsymcache/profile/legacy.h"

#include "libmarkup/input/maps.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/profile/kinds.h"

void legacy_deinit(struct legacy_profile *l)
{
	vec_deinit(&l->samples);
	vec_deinit(&l->addresses);
	vec_deinit(&l->maps);
}

void legacy_clear(struct legacy_profile *l)
{
	vec_clear(&l->samples);
	vec_clear(&l->addresses);
	vec_clear(&l->maps);
	l->cpu = l->jemalloc = l->alloc = false;
}

/* ---- maps ------------------------------------------------------------------------------------ */

static inline bool map_before(const struct legacy_map *a, const struct legacy_map *b)
{
	return a->start < b->start;
}

SC_SORT(sort_maps, struct legacy_map, map_before)

int legacy_read_maps(struct legacy_profile *l, const struct prof_input *in, const uint8_t *from,
		     struct sc_error *err)
{
	const char *p = (const char *)from, *end = (const char *)in->bytes + in->size;
	struct sc_str line;

	while (prof_next_line(&p, end, &line)) {
		struct mk_row row = { 0 };
		struct legacy_map *m;

		if (!mk_read_maps_row(line.ptr, line.ptr + line.len, &row) || !row.code)
			continue;
		m = l->maps.len < PROF_NONE ? vec_push(&l->maps) : NULL;
		if (!m)
			return sc_no_memory(err);
		*m = (struct legacy_map){ row.start, row.end, row.offset, row.name };
	}
	return sort_maps(l->maps.data, l->maps.len) ? 0 : sc_no_memory(err);
}

uint32_t legacy_map_of(const struct legacy_profile *l, uint64_t address)
{
	const size_t n = SC_SEARCH(i, l->maps.len, l->maps.data[i].start <= address);

	return n && address < l->maps.data[n - 1].end ? (uint32_t)(n - 1) : PROF_NONE;
}

/* ---- pprof ----------------------------------------------------------------------------------- */

static void put_types(const struct legacy_profile *l, struct prof_builder *b)
{
	if (l->cpu) {
		prof_build_type(b, "samples", "count");
		prof_build_type(b, "cpu", "nanoseconds");
		prof_build_period(b, "cpu", "nanoseconds", l->period);
		return;
	}
	if (l->alloc) {
		prof_build_type(b, "alloc_objects", "count");
		prof_build_type(b, "alloc_space", "bytes");
	}
	prof_build_type(b, l->alloc ? "inuse_objects" : "objects", "count");
	prof_build_type(b, l->alloc ? "inuse_space" : "space", "bytes");
	prof_build_period(b, "space", "bytes", l->period);
}

/* The last locations that were built, by their address: most of a stack is in others, too. */
enum { SEEN_BITS = 15 };
struct seen {
	uint64_t address, location;
};

static uint64_t location_of(const struct legacy_profile *l, struct prof_builder *b,
			    struct seen seen[], uint64_t address)
{
	struct seen *s = &seen[address * 0x9e3779b97f4a7c15 >> (64 - SEEN_BITS)];
	uint32_t map;

	if (s->location && s->address == address)
		return s->location;
	map = legacy_map_of(l, address);
	s->address = address;
	s->location = prof_build_location(b, map == PROF_NONE ? 0 : map + (uint64_t)1, address);
	return s->location;
}

int legacy_to_pprof(const struct legacy_profile *l, struct prof_builder *b, struct prof_bytes *to,
		    struct sc_error *err)
{
	struct seen *seen = calloc((size_t)1 << SEEN_BITS, sizeof(*seen));
	VEC(uint64_t) locations = { 0 };

	if (!seen)
		return sc_no_memory(err);

	prof_build_begin(b);
	put_types(l, b);
	for (size_t i = 0; i < l->maps.len; i++) {
		const struct legacy_map *m = &l->maps.data[i];

		prof_build_mapping(b, m->start, m->end, m->offset, m->path, (struct sc_str){ 0 });
	}
	for (size_t i = 0; i < l->samples.len; i++) {
		const struct legacy_sample *s = &l->samples.data[i];
		const struct prof_label size = { .key = "bytes", .number = s->size };

		vec_clear(&locations);
		b->failed |= !vec_reserve(&locations, s->num);
		for (size_t k = 0; k < s->num && !b->failed; k++)
			locations.data[locations.len++] = location_of(
				l, b, seen, legacy_lookup(l, l->addresses.data[s->first + k], !k));
		prof_build_sample(b, &(struct prof_sample){
			locations.data, locations.len, s->values, l->alloc ? 4 : 2, &size,
			l->cpu ? 0 : 1 });
	}
	vec_deinit(&locations);
	free(seen);
	return prof_build_end(b, to, err);
}
