/*
 * pprof's protobuf: see pprof.h. One pass over the fields of the message for tables, and two
 * over those from the first mapping or location to the last; samples are stepped over. Every
 * field comes out as it lies, but for locations that get lines and mappings that get flags,
 * which are appended inside; new functions and strings come last.
 */
#include "libsymcache/profile/pprof.h"

const struct prof_shape pprof_shape = {
	.locations = PPROF_LOCATION, .lines = 4, .folded = 5,
	.functions = PPROF_FUNCTION, .id = 1, .name = 2, .system_name = 3, .file = 4, .start = 5,
	.strings = PPROF_STRING,
};

/* ---- reading -------------------------------------------------------------------------------- */

struct mapping_fields {
	uint64_t id, start, limit, offset, name, build_id;
};

static bool read_mapping(const struct prof_field *f, struct mapping_fields *ret,
			 struct prof_wire *w)
{
	struct prof_field of;

	*ret = (struct mapping_fields){ 0 };
	*w = prof_wire_in(f);
	while (prof_wire_next(w, &of)) {
		uint64_t *const to[] = { NULL, &ret->id, &ret->start, &ret->limit, &ret->offset,
					 &ret->name, &ret->build_id };

		if (of.type == PROF_VARINT && of.number < sizeof(to) / sizeof(*to))
			*to[of.number] = of.value;
	}
	return !w->bad;
}

bool pprof_read_location(const struct prof_field *f, struct pprof_location_fields *ret,
			 struct prof_wire *w)
{
	struct prof_field of;

	*ret = (struct pprof_location_fields){ 0 };
	*w = prof_wire_in(f);
	while (prof_wire_next(w, &of)) {
		if (prof_is_number(&of, 1))
			ret->id = of.value;
		else if (prof_is_number(&of, 2))
			ret->mapping = of.value;
		else if (prof_is_number(&of, 3))
			ret->address = of.value;
		else if (of.number == pprof_shape.lines && of.type == PROF_BYTES)
			ret->has_lines = true;
	}
	return !w->bad;
}

/* The largest id of functions so far. */
static int read_function(struct prof_pprof *f, const struct prof_field *field,
			 struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(field);
	struct prof_field of;

	while (prof_wire_next(&w, &of))
		if (prof_is_number(&of, 1) && of.value >= f->tables.next_function)
			f->tables.next_function = of.value + 1;
	return w.bad ? prof_bad_wire(&f->in, &w, err) : 0;
}

/* Strings of a mapping are numbers at first: the strings come behind. */
static int add_mapping(struct prof_pprof *f, const struct prof_field *field, struct sc_error *err)
{
	struct mapping_fields m;
	struct prof_mapping *to;
	struct prof_wire w;

	if (!read_mapping(field, &m, &w))
		return prof_bad_wire(&f->in, &w, err);
	to = prof_add_mapping(f->places);
	if (!to || !prof_ids_add(&f->mapping_ids, m.id))
		return sc_no_memory(err);
	to->start = m.start;
	to->limit = m.limit;
	to->offset = m.offset;
	to->name.len = m.name <= SIZE_MAX ? (size_t)m.name : SIZE_MAX;
	to->id.len = m.build_id <= SIZE_MAX ? (size_t)m.build_id : SIZE_MAX;
	to->at = field->from;
	return 0;
}

static int name_mappings(struct prof_pprof *f, struct sc_error *err)
{
	for (size_t i = 0; i < f->places->mappings.len; i++) {
		struct prof_mapping *m = &f->places->mappings.data[i];

		if (!prof_string(&f->tables, m->name.len, &m->name) ||
		    !prof_string(&f->tables, m->id.len, &m->id))
			return prof_bad(&f->in, m->at, "a mapping has a string that is not there",
					err);
	}
	return 0;
}

static int read_tables(struct prof_pprof *f, struct sc_error *err)
{
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct prof_field field;
	struct sc_str *s;
	int rc = 0;

	f->tables.next_function = 1;
	while (!rc && prof_wire_next(&w, &field)) {
		if (field.type != PROF_BYTES)
			continue;
		if (field.number == PPROF_MAPPING || field.number == PPROF_LOCATION) {
			f->from = f->from < f->to ? f->from : field.from;
			f->to = w.at;
		}
		if (field.number == PPROF_MAPPING) {
			rc = add_mapping(f, &field, err);
		} else if (field.number == PPROF_FUNCTION) {
			rc = read_function(f, &field, err);
		} else if (field.number == PPROF_STRING) {
			s = vec_push(&f->tables.strings);
			if (!s)
				return sc_no_memory(err);
			*s = (struct sc_str){ (const char *)field.bytes, field.len };
		}
	}
	return rc ? rc : w.bad ? prof_bad_wire(&f->in, &w, err) : name_mappings(f, err);
}

/* The first of each sample: its address is exact. */
static int read_leaves(struct prof_pprof *f, struct sc_error *err)
{
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct prof_field field, of;
	uint64_t id;

	while (prof_wire_find(&w, PPROF_SAMPLE, &field)) {
		struct prof_wire sample = prof_wire_in(&field);

		while (prof_wire_next(&sample, &of)) {
			struct prof_list list = prof_list_of(&of);
			uint32_t at;

			if (of.number != 1 || !prof_list_next(&list, &id))
				continue;
			at = prof_ids_find(&f->location_ids, id);
			if (at != PROF_NONE)
				f->leaf.data[at] = 1;
			break;
		}
		if (sample.bad)
			return prof_bad_wire(&f->in, &sample, err);
	}
	return 0;
}

/* Which of the locations are symbolized. */
static int ask(struct prof_pprof *f, const struct pprof_location_fields *l, size_t number,
	       struct sc_error *err)
{
	const struct symprofile_options *o = f->places->options;
	const bool exact = !f->with_leaves || f->leaf.data[number];
	struct pprof_location *to = &f->locations.data[number];

	if (l->has_lines && !o->force) {
		f->places->counts.named++;
		return 0;
	}
	return prof_ask(f->places, to->mapping, l->address - (exact || !l->address ? 0 : 1),
			&to->place, err);
}

/* Calls `fn` for each location, in order. */
static int each_location(struct prof_pprof *f, struct sc_error *err,
			 int (*fn)(struct prof_pprof *f, const struct prof_field *field,
				   const struct pprof_location_fields *l, size_t number,
				   struct sc_error *err))
{
	struct prof_wire w = prof_wire_of(f->from, (size_t)(f->to - f->from)), in;
	struct pprof_location_fields l;
	struct prof_field field;
	size_t number = 0;
	int rc = 0;

	while (!rc && prof_wire_find(&w, PPROF_LOCATION, &field)) {
		if (!pprof_read_location(&field, &l, &in))
			return prof_bad_wire(&f->in, &in, err);
		rc = fn(f, &field, &l, number++, err);
	}
	return rc;
}

static int add_location(struct prof_pprof *f, const struct prof_field *field,
			const struct pprof_location_fields *l, size_t number, struct sc_error *err)
{
	struct pprof_location *to = number < PROF_NONE ? vec_push(&f->locations) : NULL;

	if (!to || (f->with_ids && !prof_ids_add(&f->location_ids, l->id)))
		return sc_no_memory(err);
	to->mapping = l->mapping ? prof_ids_find(&f->mapping_ids, l->mapping) : PROF_NONE;
	to->place = PROF_NONE;
	if (l->mapping && to->mapping == PROF_NONE && !l->has_lines)
		return prof_bad(&f->in, field->from, "a location has a mapping that is not there",
				err);
	return f->with_leaves ? 0 : ask(f, l, number, err);
}

static int ask_location(struct prof_pprof *f, const struct prof_field *field,
			const struct pprof_location_fields *l, size_t number, struct sc_error *err)
{
	(void)field;
	return ask(f, l, number, err);
}

static int read_locations(struct prof_pprof *f, struct sc_error *err)
{
	int rc = each_location(f, err, add_location);

	if (rc || !f->with_leaves)
		return rc;
	if (!vec_reserve(&f->leaf, f->locations.len))
		return sc_no_memory(err);
	if (f->locations.len)
		memset(f->leaf.data, 0, f->locations.len);
	f->leaf.len = f->locations.len;
	rc = read_leaves(f, err);
	return rc ? rc : each_location(f, err, ask_location);
}

int pprof_read(struct prof_pprof *f, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	int rc;

	vec_clear(&f->locations);
	vec_clear(&f->leaf);
	prof_ids_clear(&f->mapping_ids);
	prof_ids_clear(&f->location_ids);
	prof_tables_clear(&f->tables);
	prof_places_clear(f->places);
	f->in = (struct prof_input){ bytes, size };
	f->changed = 0;
	f->from = f->to = bytes;
	rc = read_tables(f, err);
	rc = rc ? rc : read_locations(f, err);
	rc = rc ? rc : prof_look_up(f->places, err);
	for (size_t i = 0; i < f->locations.len && !rc; i++) {
		const struct pprof_location *l = &f->locations.data[i];

		prof_note(f->places, l->mapping, l->place);
		f->changed += l->place != PROF_NONE && f->places->places.data[l->place].num;
	}
	return rc;
}

void pprof_deinit(struct prof_pprof *f)
{
	prof_tables_deinit(&f->tables);
	prof_ids_deinit(&f->mapping_ids);
	prof_ids_deinit(&f->location_ids);
	vec_deinit(&f->locations);
	vec_deinit(&f->leaf);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_mapping(struct prof_pprof *f, const struct prof_field *field,
			  const struct prof_mapping *m, struct prof_out *out)
{
	const uint64_t id = f->tables.string_of.data[m->id_text];
	const size_t flags = 4 + 2 * (size_t)(m->has_files + m->has_lines);
	struct prof_bytes *to = prof_out_own(out);

	prof_put_varint(to, PPROF_MAPPING << 3 | PROF_BYTES);
	prof_put_varint(to, field->len + flags + (id ? 1 + prof_varint_size(id) : 0));
	prof_put(to, field->bytes, field->len);
	prof_put_number(to, 6, id);
	prof_put_number(to, 7, 1);
	prof_put_number(to, 8, m->has_files);
	prof_put_number(to, 9, m->has_lines);
	prof_put_number(to, 10, 1);
}

static void write_fields(struct prof_pprof *f, struct prof_out *out)
{
	struct prof_wire w = prof_wire_of(f->from, (size_t)(f->to - f->from));
	size_t locations = 0, mappings = 0;
	struct prof_field field;

	prof_out_input(out, f->in.bytes, f->from);
	while (!out->over && prof_wire_next(&w, &field)) {
		const struct prof_mapping *m = NULL;
		const struct prof_place *place = NULL;

		if (field.number == PPROF_LOCATION && field.type == PROF_BYTES) {
			const uint32_t at = f->locations.data[locations++].place;

			place = at == PROF_NONE ? NULL : &f->places->places.data[at];
		} else if (field.number == PPROF_MAPPING && field.type == PROF_BYTES) {
			m = &f->places->mappings.data[mappings++];
		}
		if (place && place->num)
			prof_put_location(out, f->places, &f->tables, &pprof_shape, &field, place);
		else if (m && m->found)
			write_mapping(f, &field, m, out);
		else
			prof_out_input(out, field.from, w.at);
	}
	prof_out_input(out, f->to, f->in.bytes + f->in.size);
}

/* Room for most of what will be written, so that it need not move. */
static bool reserve(const struct prof_pprof *f, struct prof_out *out)
{
	enum { LINE = 8, FUNCTION = 16 }; /* bytes, about */
	const struct prof_places *p = f->places;

	return vec_reserve(&out->own.v, (out->in_one ? f->in.size : 0) + p->texts.bytes.len +
			   LINE * p->lines.len + FUNCTION * p->functions.len);
}

int pprof_write(struct prof_pprof *f, struct prof_out *out, struct sc_error *err)
{
	int rc;

	prof_out_begin(out, f->in.size);
	if (f->tables.next_function + f->places->functions.len < f->tables.next_function ||
	    !f->tables.next_function)
		return sc_error_set(err, SC_ELIMIT, "the ids of functions leave no room for more");
	if (!prof_name_ids(f->places))
		return sc_no_memory(err);
	rc = prof_tables_match(&f->tables, f->places, err);
	if (rc)
		return rc;
	if (!reserve(f, out))
		return sc_no_memory(err);
	write_fields(f, out);
	prof_put_functions(out, f->places, &f->tables, &pprof_shape);
	prof_put_strings(out, f->places, &f->tables, &pprof_shape);
	return prof_out_end(out, err);
}
