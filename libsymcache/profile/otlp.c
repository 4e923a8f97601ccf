/*
 * Profiles of OpenTelemetry: see otlp.h. As pprof.c, with tables that are numbered by their order,
 * of which 0 stands for none; a dictionary that comes in several pieces is one.
 */
#include "libsymcache/profile/otlp.h"

const struct prof_shape otlp_shape = {
	.locations = OTLP_LOCATION, .lines = 3, .name = 1, .system_name = 2, .file = 3, .start = 4,
	.functions = OTLP_FUNCTION, .strings = OTLP_STRING,
};

int otlp_each(struct prof_otlp *f, unsigned table, void *ctx,
	      int (*fn)(void *ctx, const struct prof_field *entry, struct sc_error *err),
	      struct sc_error *err)
{
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size), in;
	struct prof_field field, entry;
	int rc = 0;

	while (!rc && prof_wire_find(&w, OTLP_DICTIONARY, &field)) {
		in = prof_wire_in(&field);
		while (!rc && prof_wire_find(&in, table, &entry))
			rc = fn(ctx, &entry, err);
		if (in.bad)
			return prof_bad_wire(&f->in, &in, err);
	}
	return rc ? rc : w.bad ? prof_bad_wire(&f->in, &w, err) : 0;
}

/* ---- tables --------------------------------------------------------------------------------- */

static int read_attribute(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_otlp *f = ctx;
	struct prof_wire w = prof_wire_in(entry), in;
	struct otlp_attribute *a = vec_push(&f->attributes);
	struct prof_field of, value;

	if (!a)
		return sc_no_memory(err);
	while (prof_wire_next(&w, &of)) {
		if (prof_is_number(&of, 1))
			a->key = of.value;
		if (of.number != 2 || of.type != PROF_BYTES)
			continue;
		in = prof_wire_in(&of);
		while (prof_wire_find(&in, 1, &value))
			a->text = (struct sc_str){ (const char *)value.bytes, value.len };
		if (in.bad)
			return prof_bad_wire(&f->in, &in, err);
	}
	return w.bad ? prof_bad_wire(&f->in, &w, err) : 0;
}

static int read_string(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_otlp *f = ctx;
	struct sc_str *s = vec_push(&f->tables.strings);

	if (!s)
		return sc_no_memory(err);
	*s = (struct sc_str){ (const char *)entry->bytes, entry->len };
	return 0;
}

static int count_function(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_otlp *f = ctx;

	(void)entry, (void)err;
	f->tables.next_function++;
	return 0;
}

/* Does one of the attributes in this list have this key? Its text. */
static int find_attribute(const struct prof_otlp *f, const struct prof_field *list,
			  const char *key, struct sc_str *ret, struct sc_error *err)
{
	struct prof_list l = prof_list_of(list);
	struct sc_str of;
	uint64_t i;

	while (prof_list_next(&l, &i)) {
		if (i >= f->attributes.len ||
		    !prof_string(&f->tables, f->attributes.data[i].key, &of))
			return prof_bad(&f->in, list->from, "an attribute is not there", err);
		if (sc_str_is(of, key))
			*ret = f->attributes.data[i].text;
	}
	return l.w.bad ? prof_bad_wire(&f->in, &l.w, err) : 0;
}

static int read_mapping(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_otlp *f = ctx;
	struct prof_wire w = prof_wire_in(entry);
	struct prof_mapping *m = prof_add_mapping(f->places);
	struct prof_field of;
	uint64_t name = 0;
	int rc = 0;

	if (!m)
		return sc_no_memory(err);
	while (!rc && prof_wire_next(&w, &of)) {
		if (of.number == 5)
			rc = find_attribute(f, &of, "process.executable.build_id.gnu", &m->id, err);
		if (of.type != PROF_VARINT)
			continue;
		if (of.number == 1)
			m->start = of.value;
		else if (of.number == 2)
			m->limit = of.value;
		else if (of.number == 3)
			m->offset = of.value;
		else if (of.number == 4)
			name = of.value;
	}
	if (rc || w.bad)
		return rc ? rc : prof_bad_wire(&f->in, &w, err);
	return prof_string(&f->tables, name, &m->name) ? 0 :
		prof_bad(&f->in, entry->from, "a mapping has a string that is not there", err);
}

/* ---- locations ------------------------------------------------------------------------------- */

static int read_location(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_otlp *f = ctx;
	struct otlp_location *l = f->locations.len < PROF_NONE ? vec_push(&f->locations) : NULL;
	struct sc_str type = { NULL, 0 };
	struct prof_wire w = prof_wire_in(entry);
	struct prof_field of;
	uint64_t mapping = 0;
	int rc = 0;

	if (!l)
		return sc_no_memory(err);
	while (!rc && prof_wire_next(&w, &of)) {
		if (prof_is_number(&of, 1))
			mapping = of.value;
		else if (prof_is_number(&of, 2))
			l->address = of.value;
		else if (of.number == otlp_shape.lines && of.type == PROF_BYTES)
			l->has_lines = true;
		else if (of.number == 4)
			rc = find_attribute(f, &of, "profile.frame.type", &type, err);
	}
	if (rc || w.bad)
		return rc ? rc : prof_bad_wire(&f->in, &w, err);
	if (mapping >= f->places->mappings.len && mapping)
		return prof_bad(&f->in, entry->from, "a location has a mapping that is not there",
				err);
	l->mapping = mapping ? (uint32_t)mapping : PROF_NONE;
	l->place = PROF_NONE;
	/* An interpreter's are no addresses. */
	l->interpreted = type.len && !sc_str_is(type, "native") && !sc_str_is(type, "kernel");
	return 0;
}

static int read_leaf(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_otlp *f = ctx;
	struct prof_wire w = prof_wire_in(entry);
	struct prof_field of;
	uint64_t i;

	while (prof_wire_next(&w, &of)) {
		struct prof_list list = prof_list_of(&of);

		if (of.number != 1 || !prof_list_next(&list, &i))
			continue;
		if (i < f->locations.len)
			f->leaf.data[i] = 1;
		break;
	}
	return w.bad ? prof_bad_wire(&f->in, &w, err) : 0;
}

static int ask(struct prof_otlp *f, struct sc_error *err)
{
	const struct symprofile_options *o = f->places->options;

	for (size_t i = 1; i < f->locations.len; i++) {
		struct otlp_location *l = &f->locations.data[i];
		const bool exact = !o->return_addresses || f->leaf.data[i] || !l->address;

		if (l->interpreted || (l->has_lines && !o->force)) {
			f->places->counts.named++;
			continue;
		}
		if (prof_ask(f->places, l->mapping, l->address - (exact ? 0 : 1), &l->place, err))
			return err->code;
	}
	return 0;
}

static size_t count_dictionaries(const struct prof_input *in)
{
	struct prof_wire w = prof_wire_of(in->bytes, in->size);
	struct prof_field field;
	size_t n = 0;

	while (prof_wire_find(&w, OTLP_DICTIONARY, &field))
		n++;
	return n;
}

int otlp_read(struct prof_otlp *f, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	int rc;

	vec_clear(&f->locations);
	vec_clear(&f->attributes);
	vec_clear(&f->leaf);
	prof_tables_clear(&f->tables);
	prof_places_clear(f->places);
	f->in = (struct prof_input){ bytes, size };
	f->changed = 0;
	f->dictionaries = count_dictionaries(&f->in);
	rc = otlp_each(f, OTLP_STRING, f, read_string, err);
	rc = rc ? rc : otlp_each(f, OTLP_FUNCTION, f, count_function, err);
	rc = rc ? rc : otlp_each(f, OTLP_ATTRIBUTE, f, read_attribute, err);
	rc = rc ? rc : otlp_each(f, OTLP_MAPPING, f, read_mapping, err);
	rc = rc ? rc : otlp_each(f, OTLP_LOCATION, f, read_location, err);
	if (!rc && !vec_reserve(&f->leaf, f->locations.len + 1))
		return sc_no_memory(err);
	if (!rc)
		memset(f->leaf.data, 0, f->locations.len + 1);
	if (!rc && f->places->options->return_addresses)
		rc = otlp_each(f, OTLP_STACK, f, read_leaf, err);
	rc = rc ? rc : ask(f, err);
	rc = rc ? rc : prof_look_up(f->places, err);
	for (size_t i = 1; i < f->locations.len && !rc; i++) {
		const struct otlp_location *l = &f->locations.data[i];

		prof_note(f->places, l->mapping, l->place);
		f->changed += l->place != PROF_NONE && f->places->places.data[l->place].num;
	}
	return rc;
}

void otlp_deinit(struct prof_otlp *f)
{
	prof_tables_deinit(&f->tables);
	vec_deinit(&f->locations);
	vec_deinit(&f->attributes);
	vec_deinit(&f->leaf);
	prof_out_deinit(&f->inner);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The entries of a dictionary, from location *at on, into `to`. */
static void write_entries(const struct prof_otlp *f, const struct prof_field *dictionary,
			  size_t *at, struct prof_out *to)
{
	struct prof_wire w = prof_wire_in(dictionary);
	struct prof_field entry;

	while (!to->over && prof_wire_next(&w, &entry)) {
		const struct otlp_location *l = NULL;

		if (entry.number == OTLP_LOCATION && entry.type == PROF_BYTES)
			l = &f->locations.data[(*at)++];
		if (l && l->place != PROF_NONE && f->places->places.data[l->place].num)
			prof_put_location(to, f->places, &f->tables, &otlp_shape, &entry,
					  &f->places->places.data[l->place]);
		else
			prof_out_input(to, entry.from, w.at);
	}
}

/* A dictionary with what was found; the last one also gets the new functions and strings. */
static int write_dictionary(struct prof_otlp *f, const struct prof_field *dictionary, bool last,
			    size_t *at, struct prof_out *out, struct sc_error *err)
{
	struct prof_bytes *to;
	int rc;

	prof_out_begin(&f->inner, f->in.size);
	write_entries(f, dictionary, at, &f->inner);
	if (last) {
		prof_put_functions(&f->inner, f->places, &f->tables, &otlp_shape);
		prof_put_strings(&f->inner, f->places, &f->tables, &otlp_shape);
	}
	rc = prof_out_end(&f->inner, err);
	if (rc)
		return rc;
	to = prof_out_own(out);
	prof_put_varint(to, OTLP_DICTIONARY << 3 | PROF_BYTES);
	prof_put_varint(to, f->inner.size);
	for (size_t i = 0; i < f->inner.vecs.len; i++)
		prof_put(to, f->inner.vecs.data[i].iov_base, f->inner.vecs.data[i].iov_len);
	return 0;
}

int otlp_write(struct prof_otlp *f, struct prof_out *out, struct sc_error *err)
{
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct prof_field field;
	size_t at = 0, dictionary = 0;
	int rc = prof_tables_match(&f->tables, f->places, err);

	prof_out_begin(out, f->in.size);
	while (!rc && !out->over && prof_wire_next(&w, &field)) {
		if (field.number != OTLP_DICTIONARY || field.type != PROF_BYTES) {
			prof_out_input(out, field.from, w.at);
			continue;
		}
		rc = write_dictionary(f, &field, ++dictionary == f->dictionaries, &at, out, err);
	}
	return rc ? rc : prof_out_end(out, err);
}
