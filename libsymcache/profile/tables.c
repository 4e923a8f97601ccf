/* Strings and functions that come behind those of a profile: see tables.h. */
#include "libsymcache/profile/tables.h"

void prof_tables_clear(struct prof_tables *t)
{
	vec_clear(&t->strings);
	vec_clear(&t->string_of);
	vec_clear(&t->added);
	sc_intern_clear(&t->set);
	t->next_function = 0;
}

void prof_tables_deinit(struct prof_tables *t)
{
	vec_deinit(&t->strings);
	vec_deinit(&t->string_of);
	vec_deinit(&t->added);
	sc_intern_deinit(&t->set);
}

int prof_bad(const struct prof_input *in, const uint8_t *where, const char *why,
	     struct sc_error *err)
{
	return sc_error_set(err, SC_EFORMAT, "at 0x%zx: %s", (size_t)(where - in->bytes), why);
}

int prof_bad_wire(const struct prof_input *in, const struct prof_wire *w, struct sc_error *err)
{
	return prof_bad(in, w->bad, w->why, err);
}

struct string_key {
	const struct prof_tables *t;
	struct sc_str s;
};

static bool string_equal(const void *ctx, uint32_t i)
{
	const struct string_key *k = ctx;

	return sc_str_same(k->t->strings.data[i], k->s);
}

static uint32_t *find_string(struct prof_tables *t, struct sc_str s)
{
	const struct string_key key = { t, s };

	return sc_intern_find(&t->set, prof_hash(s.len ? s.ptr : "", s.len), string_equal, &key);
}

int prof_tables_match(struct prof_tables *t, const struct prof_places *p, struct sc_error *err)
{
	const size_t old = t->strings.len;

	if (old >= PROF_NONE - p->texts.list.len)
		return sc_error_set(err, SC_ELIMIT, "there are too many strings");
	for (size_t i = 0; i < old; i++) {
		uint32_t *slot = find_string(t, t->strings.data[i]);

		if (!slot)
			return sc_no_memory(err);
		if (*slot == SC_INTERN_NEW)
			*slot = (uint32_t)i;
	}
	if (!vec_reserve(&t->string_of, p->texts.list.len))
		return sc_no_memory(err);
	for (size_t i = 0; i < p->texts.list.len; i++) {
		const struct sc_str text = prof_text_of(p, (uint32_t)i);
		uint32_t *slot = text.len ? find_string(t, text) : NULL;

		t->string_of.data[i] = 0; /* "" */
		if (!text.len)
			continue;
		if (slot && *slot == SC_INTERN_NEW) {
			struct sc_str *s = vec_push(&t->strings);
			uint32_t *added = vec_push(&t->added);

			if (!s || !added)
				return sc_no_memory(err);
			*s = text;
			*added = (uint32_t)i;
			*slot = (uint32_t)(t->strings.len - 1);
		}
		if (!slot)
			return sc_no_memory(err);
		t->string_of.data[i] = *slot;
	}
	t->string_of.len = p->texts.list.len;
	return 0;
}

/* ---- ids ------------------------------------------------------------------------------------ */

struct id_key {
	const struct prof_ids *ids;
	uint64_t id;
};

static bool id_equal(const void *ctx, uint32_t i)
{
	const struct id_key *k = ctx;

	return k->ids->ids.data[i] == k->id;
}

static uint64_t id_hash(uint64_t id)
{
	return prof_hash(&id, sizeof(id));
}

static uint32_t *find_id(struct prof_ids *ids, uint64_t id)
{
	const struct id_key key = { ids, id };

	return sc_intern_find(&ids->set, id_hash(id), id_equal, &key);
}

bool prof_ids_add(struct prof_ids *ids, uint64_t id)
{
	uint64_t *added = ids->ids.len < PROF_NONE ? vec_push(&ids->ids) : NULL;
	uint32_t *slot;

	if (!added)
		return false;
	*added = id;
	slot = find_id(ids, id);
	if (slot)
		*slot = (uint32_t)(ids->ids.len - 1);
	return slot;
}

uint32_t prof_ids_find(const struct prof_ids *ids, uint64_t id)
{
	const struct id_key key = { ids, id };

	return sc_intern_get(&ids->set, id_hash(id), id_equal, &key);
}

void prof_ids_clear(struct prof_ids *ids)
{
	vec_clear(&ids->ids);
	sc_intern_clear(&ids->set);
}

void prof_ids_deinit(struct prof_ids *ids)
{
	vec_deinit(&ids->ids);
	sc_intern_deinit(&ids->set);
}

/* ---- writing ------------------------------------------------------------------------------ */

static size_t number_size(uint64_t value)
{
	return value ? 1 + prof_varint_size(value) : 0;
}

/* Fields 1, 2, 3 of both forms: function, line, column. */
static size_t line_size(const struct prof_tables *t, const struct prof_line *l)
{
	return number_size(t->next_function + l->function) + number_size(l->line) +
	       number_size(l->column);
}

static size_t lines_size(const struct prof_places *p, const struct prof_tables *t,
			 const struct prof_place *place)
{
	size_t size = 0;

	/* The numbers of all fields take one byte. */
	for (uint32_t i = place->first; i < place->first + place->num; i++) {
		const size_t line = line_size(t, &p->lines.data[i]);

		size += 1 + prof_varint_size(line) + line;
	}
	return size;
}

static bool is_replaced(const struct prof_shape *shape, const struct prof_field *f)
{
	return (f->number == shape->lines && f->type == PROF_BYTES) ||
	       prof_is_number(f, shape->folded);
}

void prof_put_location(struct prof_out *out, const struct prof_places *p,
		       const struct prof_tables *t, const struct prof_shape *shape,
		       const struct prof_field *location, const struct prof_place *place)
{
	struct prof_bytes *to = prof_out_own(out);
	struct prof_wire w = prof_wire_in(location);
	struct prof_field of;
	size_t size = lines_size(p, t, place);

	while (prof_wire_next(&w, &of))
		size += is_replaced(shape, &of) ? 0 : (size_t)(w.at - of.from);
	prof_put_varint(to, shape->locations << 3 | PROF_BYTES);
	prof_put_varint(to, size);
	w = prof_wire_in(location);
	while (prof_wire_next(&w, &of))
		if (!is_replaced(shape, &of))
			prof_put(to, of.from, (size_t)(w.at - of.from));
	for (uint32_t i = place->first; i < place->first + place->num; i++) {
		const struct prof_line *l = &p->lines.data[i];

		prof_put_varint(to, shape->lines << 3 | PROF_BYTES);
		prof_put_varint(to, line_size(t, l));
		prof_put_number(to, 1, t->next_function + l->function);
		prof_put_number(to, 2, l->line);
		prof_put_number(to, 3, l->column);
	}
}

void prof_put_functions(struct prof_out *out, const struct prof_places *p,
			const struct prof_tables *t, const struct prof_shape *shape)
{
	for (size_t i = 0; i < p->functions.len && !out->over; i++) {
		const struct prof_function *f = &p->functions.data[i];
		const uint64_t *string = t->string_of.data;
		const uint64_t id = shape->id ? t->next_function + i : 0;
		struct prof_bytes *to = prof_out_own(out);

		prof_put_varint(to, shape->functions << 3 | PROF_BYTES);
		prof_put_varint(to, number_size(id) + number_size(string[f->name]) +
				    number_size(string[f->system_name]) +
				    number_size(string[f->file]) + number_size(f->start_line));
		prof_put_number(to, shape->id, id);
		prof_put_number(to, shape->name, string[f->name]);
		prof_put_number(to, shape->system_name, string[f->system_name]);
		prof_put_number(to, shape->file, string[f->file]);
		prof_put_number(to, shape->start, f->start_line);
	}
}

void prof_put_strings(struct prof_out *out, const struct prof_places *p,
		      const struct prof_tables *t, const struct prof_shape *shape)
{
	for (size_t i = 0; i < t->added.len && !out->over; i++) {
		const struct sc_str s = prof_text_of(p, t->added.data[i]);

		prof_put_bytes(prof_out_own(out), shape->strings, s.ptr, s.len);
	}
}
