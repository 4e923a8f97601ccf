/* A profile in pprof's protobuf, out of parts: see builder.h. */
#include "libsymcache/profile/builder.h"

#include "libsymcache/profile/pprof.h"

void prof_build_begin(struct prof_builder *b)
{
	struct prof_bytes *const parts[] = { &b->types, &b->samples, &b->mappings, &b->locations,
					     &b->tail, &b->part, &b->inner };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		prof_bytes_clear(parts[i]);
	prof_texts_clear(&b->strings);
	vec_clear(&b->keys);
	sc_intern_clear(&b->set);
	prof_ids_clear(&b->named);
	b->num_mappings = 0;
	b->failed = prof_texts_add(&b->strings, "", 0) == PROF_NONE;
}

void prof_build_deinit(struct prof_builder *b)
{
	prof_bytes_deinit(&b->types);
	prof_bytes_deinit(&b->samples);
	prof_bytes_deinit(&b->mappings);
	prof_bytes_deinit(&b->locations);
	prof_bytes_deinit(&b->tail);
	prof_bytes_deinit(&b->part);
	prof_bytes_deinit(&b->inner);
	prof_texts_deinit(&b->strings);
	vec_deinit(&b->keys);
	sc_intern_deinit(&b->set);
	prof_ids_deinit(&b->named);
}

static uint64_t string(struct prof_builder *b, struct sc_str s)
{
	const uint32_t text = prof_texts_add(&b->strings, s.ptr, s.len);

	b->failed |= text == PROF_NONE;
	return text;
}

/* Writes the message b->part as a field, and empties it. */
static void end_part(struct prof_builder *b, struct prof_bytes *to, unsigned number)
{
	b->failed |= b->part.failed;
	prof_put_bytes(to, number, b->part.v.data, b->part.v.len);
	vec_clear(&b->part.v);
}

static void put_type(struct prof_builder *b, struct prof_bytes *to, unsigned number,
		     const char *type, const char *unit)
{
	prof_put_number(&b->part, 1, string(b, sc_str_of(type)));
	prof_put_number(&b->part, 2, string(b, sc_str_of(unit)));
	end_part(b, to, number);
}

void prof_build_type(struct prof_builder *b, const char *type, const char *unit)
{
	put_type(b, &b->types, PPROF_SAMPLE_TYPE, type, unit);
}

uint64_t prof_build_mapping(struct prof_builder *b, uint64_t start, uint64_t limit,
			    uint64_t offset, struct sc_str name, struct sc_str build_id)
{
	prof_put_number(&b->part, 1, ++b->num_mappings);
	prof_put_number(&b->part, 2, start);
	prof_put_number(&b->part, 3, limit);
	prof_put_number(&b->part, 4, offset);
	prof_put_number(&b->part, 5, string(b, name));
	prof_put_number(&b->part, 6, string(b, build_id));
	end_part(b, &b->mappings, PPROF_MAPPING);
	return b->num_mappings;
}

static bool key_equal(const void *ctx, uint32_t i)
{
	const struct prof_builder *b = ctx;
	const struct prof_location_key *k = &b->keys.data[i], *key = vec_end(&b->keys) - 1;

	return k->address == key->address && k->mapping == key->mapping &&
	       k->function == key->function;
}

/* Functions have the numbers of their names. */
static void put_function(struct prof_builder *b, uint64_t name)
{
	if (prof_ids_find(&b->named, name) != PROF_NONE)
		return;
	b->failed |= !prof_ids_add(&b->named, name);
	prof_put_number(&b->part, 1, name);
	prof_put_number(&b->part, 2, name);
	prof_put_number(&b->part, 3, name);
	end_part(b, &b->tail, PPROF_FUNCTION);
}

static uint64_t add_location(struct prof_builder *b, struct prof_location_key of)
{
	struct prof_location_key *key = b->keys.len < PROF_NONE ? vec_push(&b->keys) : NULL;
	uint32_t *slot;

	if (key)
		*key = of;
	slot = key ? sc_intern_find(&b->set, prof_hash(key, sizeof(*key)), key_equal, b) : NULL;
	if (!slot) {
		b->failed = true;
		return 0;
	}
	if (*slot != SC_INTERN_NEW) {
		b->keys.len--;
		return *slot + (uint64_t)1;
	}
	*slot = (uint32_t)(b->keys.len - 1);
	prof_put_number(&b->part, 1, b->keys.len);
	prof_put_number(&b->part, 2, of.mapping);
	prof_put_number(&b->part, 3, of.address);
	if (of.function) {
		vec_clear(&b->inner.v);
		prof_put_number(&b->inner, 1, of.function);
		prof_put_bytes(&b->part, 4, b->inner.v.data, b->inner.v.len);
	}
	end_part(b, &b->locations, PPROF_LOCATION);
	if (of.function)
		put_function(b, of.function);
	return b->keys.len;
}

uint64_t prof_build_location(struct prof_builder *b, uint64_t mapping, uint64_t address)
{
	return add_location(b, (struct prof_location_key){ address, mapping, 0 });
}

uint64_t prof_build_named_location(struct prof_builder *b, uint64_t mapping, uint64_t address,
				   struct sc_str function)
{
	return add_location(b, (struct prof_location_key){ address, mapping, string(b, function) });
}

static void put_label(struct prof_builder *b, const struct prof_label *l)
{
	vec_clear(&b->inner.v);
	prof_put_number(&b->inner, 1, string(b, sc_str_of(l->key)));
	if (l->text.ptr)
		prof_put_number(&b->inner, 2, string(b, l->text));
	else
		prof_put_number(&b->inner, 3, l->number);
	prof_put_bytes(&b->part, 3, b->inner.v.data, b->inner.v.len);
}

void prof_build_sample(struct prof_builder *b, const struct prof_sample *s)
{
	if (s->num_locations)
		prof_put_list(&b->part, 1, s->locations, s->num_locations);
	prof_put_list(&b->part, 2, (const uint64_t *)s->values, s->num_values);
	for (size_t i = 0; i < s->num_labels; i++)
		put_label(b, &s->labels[i]);
	b->failed |= b->inner.failed;
	end_part(b, &b->samples, PPROF_SAMPLE);
}

void prof_build_period(struct prof_builder *b, const char *type, const char *unit, uint64_t period)
{
	put_type(b, &b->tail, PPROF_PERIOD_TYPE, type, unit);
	prof_put_number(&b->tail, PPROF_PERIOD, period);
}

int prof_build_end(struct prof_builder *b, struct prof_bytes *to, struct sc_error *err)
{
	struct prof_bytes *const parts[] = { &b->types, &b->samples, &b->mappings, &b->locations,
					     &b->tail };
	size_t size = b->strings.bytes.len + 12 * b->strings.list.len;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		size += parts[i]->v.len;
	if (!vec_reserve(&to->v, size))
		return sc_no_memory(err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		prof_put(to, parts[i]->v.data, parts[i]->v.len);
		b->failed |= parts[i]->failed;
	}
	for (uint32_t i = 0; i < b->strings.list.len; i++) {
		const struct sc_str s = prof_texts_at(&b->strings, i);

		prof_put_bytes(to, PPROF_STRING, s.ptr, s.len);
	}
	return b->failed || to->failed ? sc_no_memory(err) : 0;
}
