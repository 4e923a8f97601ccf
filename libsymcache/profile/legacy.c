/* What heap texts and CPU profiles have in common: see legacy.h. */
#include "libsymcache/profile/legacy.h"

#include "libmarkup/input/maps.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"

void legacy_deinit(struct legacy_profile *l)
{
	vec_deinit(&l->samples);
	vec_deinit(&l->addresses);
	vec_deinit(&l->maps);
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

	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *to = newline ? newline : end;
		struct mk_row row = { 0 };
		struct legacy_map *m;

		if (mk_read_maps_row(p, to, &row) && row.code) {
			m = l->maps.len < PROF_NONE ? vec_push(&l->maps) : NULL;
			if (!m)
				return sc_no_memory(err);
			*m = (struct legacy_map){ row.start, row.end, row.offset, row.name };
		}
		p = to + (to < end);
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

int legacy_to_pprof(const struct legacy_profile *l, struct prof_builder *b, struct prof_bytes *to,
		    struct sc_error *err)
{
	VEC(uint64_t) locations = { 0 };

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
		for (size_t k = 0; k < s->num && !b->failed; k++) {
			const uint64_t at = legacy_lookup(l, l->addresses.data[s->first + k], !k);
			const uint32_t map = legacy_map_of(l, at);

			locations.data[locations.len++] = prof_build_location(
				b, map == PROF_NONE ? 0 : map + (uint64_t)1, at);
		}
		prof_build_sample(b, &(struct prof_sample){
			locations.data, locations.len, s->values, l->alloc ? 4 : 2, &size,
			l->cpu ? 0 : 1 });
	}
	vec_deinit(&locations);
	return prof_build_end(b, to, err);
}
