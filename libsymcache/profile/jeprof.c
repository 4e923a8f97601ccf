/*
 * The form that jeprof and google-pprof write with --raw, and read without binaries: a table of
 * symbols, then the profile as it came.
 *
 *   --- symbol
 *   binary=/opt/mill/mill
 *   0x55e4a1db2352 main--mill::season(int, unsigned int)
 *   ---
 *   --- heap
 *
 * Both subtract from addresses before they look for them, in different ways: the keys are what
 * they look for.
 */
#include <inttypes.h>
#include <stdio.h>

#include "libsymcache/base/sort.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/profile/legacy.h"

struct key {
	uint64_t key, address; /* to be looked up */
	uint32_t order;        /* of two with one key the lower one counts */
	uint32_t place;
};

static inline bool key_before(const struct key *a, const struct key *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

SC_SORT(sort_keys, struct key, key_before)

typedef VEC(struct key) keys;

/* All keys of all stacks, sorted, once each: the first one that came, but exact ones win. */
static bool gather_keys(const struct legacy_profile *l, keys *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->samples.len; i++) {
		const struct legacy_sample *s = &l->samples.data[i];

		for (size_t k = 0; k < s->num; k++) {
			const uint64_t address = l->addresses.data[s->first + k];
			struct key *to = ret->len < PROF_NONE ? vec_push(ret) : NULL;

			if (!to)
				return false;
			to->address = legacy_lookup(l, address, !k);
			to->key = l->jemalloc && k ? to->address : address;
			to->order = l->cpu && !k ? 0 : (uint32_t)ret->len;
			to->place = PROF_NONE;
		}
	}
	if (!sort_keys(ret->data, ret->len))
		return false;
	for (size_t i = 0; i < ret->len; i++)
		if (!kept || ret->data[kept - 1].key != ret->data[i].key)
			ret->data[kept++] = ret->data[i];
	ret->len = kept;
	return true;
}

static int look_up(struct prof_places *p, const struct legacy_profile *l, keys *k,
		   struct sc_error *err)
{
	int rc = 0;

	prof_places_clear(p);
	for (size_t i = 0; i < l->maps.len; i++) {
		const struct legacy_map *from = &l->maps.data[i];
		struct prof_mapping *m = prof_add_mapping(p);

		if (!m)
			return sc_no_memory(err);
		m->start = from->start;
		m->limit = from->end;
		m->offset = from->offset;
		m->name = from->path;
	}
	for (size_t i = 0; i < k->len && !rc; i++)
		rc = prof_ask(p, legacy_map_of(l, k->data[i].address), k->data[i].address,
			      &k->data[i].place, err);
	rc = rc ? rc : prof_look_up(p, err);
	for (size_t i = 0; i < k->len && !rc; i++)
		prof_note(p, legacy_map_of(l, k->data[i].address), k->data[i].place);
	return rc;
}

/* A name in a line of names with "--" between them. */
static void put_name(struct prof_bytes *to, struct sc_str name)
{
	const char *p = name.ptr, *end = p + name.len, *dashes;

	while (p < end && (dashes = memmem(p, (size_t)(end - p), "--", 2))) {
		prof_put(to, p, (size_t)(dashes - p));
		prof_put(to, "- -", 3);
		p = dashes + 2;
	}
	prof_put(to, p, (size_t)(end - p));
}

static void put_line(const struct prof_places *p, const struct key *k, struct prof_bytes *to)
{
	const struct prof_place *place = &p->places.data[k->place];
	char number[32];

	prof_put(to, number, (size_t)snprintf(number, sizeof(number), "0x%" PRIx64 " ", k->key));
	for (uint32_t i = place->num; i--;) {
		const struct prof_line *line = &p->lines.data[place->first + i];

		put_name(to, prof_text_of(p, p->functions.data[line->function].name));
		prof_put(to, i ? "--" : "\n", i ? 2 : 1);
	}
}

static void put_binary(const struct legacy_profile *l, struct prof_bytes *to)
{
	const struct sc_str path = l->maps.len ? l->maps.data[0].path : (struct sc_str){ "", 0 };
	char *shown = malloc(4 * path.len + 1);

	prof_put(to, "--- symbol\nbinary=", 18);
	if (shown && path.len)
		prof_put(to, shown, sc_make_printable(path.ptr, path.len, shown));
	to->failed |= !shown;
	free(shown);
	prof_put(to, "\n", 1);
}

int jeprof_write(struct prof_places *p, const struct legacy_profile *l,
		 const struct prof_input *in, struct prof_out *out, struct sc_error *err)
{
	keys k = { 0 };
	int rc = gather_keys(l, &k) ? look_up(p, l, &k, err) : sc_no_memory(err);

	prof_out_begin(out, in->size);
	put_binary(l, prof_out_own(out));
	for (size_t i = 0; i < k.len && !rc && !out->over; i++)
		if (k.data[i].place != PROF_NONE && p->places.data[k.data[i].place].num)
			put_line(p, &k.data[i], prof_out_own(out));
	prof_put(prof_out_own(out), l->cpu ? "---\n--- profile\n" : "---\n--- heap\n",
		 l->cpu ? 16 : 13);
	prof_out_input(out, in->bytes, in->bytes + in->size);
	vec_deinit(&k);
	return rc ? rc : prof_out_end(out, err);
}
