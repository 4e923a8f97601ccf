/*
 * The samples of a profile in pprof's protobuf: as a tree of stacks, and counted for the modules
 * of which nothing was found.
 */
#include "libsymcache/profile/pprof_stacks.h"

#include <stdio.h>

struct reading {
	struct prof_pprof *f;
	struct prof_stacks *stacks;
	struct prof_reader tables;
	size_t value;             /* which one of a sample is the first that counts */
};

/* ---- which value ---------------------------------------------------------------------------- */

static bool read_type(const struct prof_field *f, uint64_t *type, uint64_t *unit)
{
	struct prof_wire w = prof_wire_in(f);
	struct prof_field of;

	*type = *unit = 0;
	while (prof_wire_next(&w, &of)) {
		if (prof_is_number(&of, 1))
			*type = of.value;
		else if (prof_is_number(&of, 2))
			*unit = of.value;
	}
	return !w.bad;
}

static int bad_type(const struct prof_pprof *f, const char *wanted, struct sc_error *err)
{
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct prof_field field;
	uint64_t type, unit;
	struct sc_str name;
	char names[160] = "";

	while (prof_wire_find(&w, PPROF_SAMPLE_TYPE, &field)) {
		const size_t len = strlen(names);

		if (read_type(&field, &type, &unit) && prof_string(&f->tables, type, &name))
			snprintf(names + len, sizeof(names) - len, "%s%.*s", len ? ", " : "",
				 (int)(name.len & 63), name.len ? name.ptr : "");
	}
	return sc_error_set(err, SC_EINVAL, "there is no sample type '%.60s'; it has %s", wanted,
			    *names ? names : "none");
}

/* The default sample type, if there is one. */
static int read_default(const struct prof_pprof *f, struct sc_str *ret, struct sc_error *err)
{
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct prof_field field;

	while (prof_wire_next(&w, &field))
		if (prof_is_number(&field, PPROF_DEFAULT_TYPE) &&
		    !prof_string(&f->tables, field.value, ret))
			return prof_bad(&f->in, field.from, "the default sample type is a string that "
					"is not there", err);
	return 0;
}

/* Which of the values of a sample count. */
static int choose_values(struct reading *r, struct sc_error *err)
{
	const struct prof_pprof *f = r->f;
	const char *wanted = f->places->options->value;
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct sc_str asked = sc_str_of(wanted), name, unit, chosen[2] = { { NULL, 0 } };
	struct prof_field field;
	uint64_t type_text, unit_text;
	size_t n = 0;
	bool found = false;
	int rc = wanted ? 0 : read_default(f, &asked, err);

	for (; !rc && prof_wire_find(&w, PPROF_SAMPLE_TYPE, &field); n++) {
		if (!read_type(&field, &type_text, &unit_text) ||
		    !prof_string(&f->tables, type_text, &name) ||
		    !prof_string(&f->tables, unit_text, &unit))
			return prof_bad(&f->in, field.from, "a sample type is malformed", err);
		if (!found) { /* the last one, unless the one that is asked for comes */
			r->value = n;
			found = asked.len && sc_str_same(name, asked);
			chosen[0] = name;
			chosen[1] = unit;
		}
		if (r->stacks->whole)
			rc = prof_stacks_type(r->stacks, name, unit, err);
	}
	if (rc)
		return rc;
	if (wanted && !found)
		return bad_type(f, wanted, err);
	if (!r->stacks->whole || !n)
		return prof_stacks_type(r->stacks, chosen[0], chosen[1], err);
	r->stacks->chosen = r->value;
	r->value = 0;
	return 0;
}

static int read_tables(struct reading *r, struct sc_error *err)
{
	const struct prof_input *in = &r->f->in;
	struct prof_wire w = prof_wire_of(in->bytes, in->size);
	struct pprof_location_fields l;
	struct prof_field field;
	size_t locations = 0;
	int rc = 0;

	while (!rc && prof_wire_find(&w, PPROF_FUNCTION, &field))
		rc = prof_reader_function(&r->tables, &field, err);
	w = prof_wire_of(in->bytes, in->size);
	while (!rc && prof_wire_find(&w, PPROF_LOCATION, &field)) {
		const struct pprof_location *at = &r->f->locations.data[locations++];
		struct prof_wire fields;

		pprof_read_location(&field, &l, &fields);
		rc = prof_reader_location(&r->tables, &field, &(struct prof_asked){
				l.address, at->mapping, at->place, l.has_lines }, err);
	}
	return rc ? rc : prof_reader_end(&r->tables, err);
}

/* ---- samples -------------------------------------------------------------------------------- */

struct sample {
	size_t first, num; /* of its values, these: */
	int64_t *values;
};

/* Calls `fn` for each location of a sample, and sets s->values. */
static int read_sample(struct prof_pprof *f, const struct prof_field *field, struct sample *s,
		       int (*fn)(void *ctx, uint32_t location), void *ctx, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(field);
	struct prof_field of;
	size_t at = 0;
	uint64_t v;

	for (size_t i = 0; i < s->num; i++)
		s->values[i] = 0;
	while (prof_wire_next(&w, &of)) {
		struct prof_list list = prof_list_of(&of);

		if (of.number != 1 && of.number != 2)
			continue;
		while (prof_list_next(&list, &v)) {
			uint32_t location;

			if (of.number == 2) {
				if (at >= s->first && at - s->first < s->num)
					s->values[at - s->first] = (int64_t)v;
				at++;
				continue;
			}
			location = prof_ids_find(&f->location_ids, v);
			if (location == PROF_NONE)
				return prof_bad(&f->in, of.from, "a sample has a location that is "
						"not there", err);
			if (fn(ctx, location))
				return sc_no_memory(err);
		}
		if (list.w.bad)
			return prof_bad_wire(&f->in, &list.w, err);
	}
	return w.bad ? prof_bad_wire(&f->in, &w, err) : 0;
}

static int push_frames(void *ctx, uint32_t location)
{
	struct reading *r = ctx;

	return prof_reader_push(&r->tables, location) ? 0 : 1;
}

static int read_samples(struct reading *r, struct sc_error *err)
{
	const struct prof_input *in = &r->f->in;
	struct prof_wire w = prof_wire_of(in->bytes, in->size);
	struct prof_field field;
	struct sample sample = { r->value, r->stacks->types.len, r->stacks->values.data };
	int rc = 0;

	while (!rc && prof_wire_find(&w, PPROF_SAMPLE, &field)) {
		vec_clear(&r->stacks->stack);
		rc = read_sample(r->f, &field, &sample, push_frames, r, err);
		if (!rc && !prof_stacks_add(r->stacks))
			rc = sc_no_memory(err);
	}
	return rc;
}

int pprof_stacks(struct prof_pprof *f, struct prof_stacks *ret, struct sc_error *err)
{
	struct reading r = { .f = f, .stacks = ret, .tables = {
		.stacks = ret, .in = &f->in, .tables = &f->tables, .shape = &pprof_shape } };
	int rc;

	prof_stacks_begin(ret, f->places);
	rc = choose_values(&r, err);
	rc = rc ? rc : read_tables(&r, err);
	rc = rc ? rc : read_samples(&r, err);
	prof_reader_deinit(&r.tables);
	return rc;
}

/* ---- counting ------------------------------------------------------------------------------- */

static int count_missing(void *ctx, uint32_t location)
{
	struct prof_pprof *f = ctx;

	prof_hide(f->places, f->locations.data[location].mapping);
	return 0;
}

int pprof_count(struct prof_pprof *f, struct sc_error *err)
{
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct prof_field field;
	struct sample sample = { 0 };
	int rc = 0;

	while (!rc && prof_wire_find(&w, PPROF_SAMPLE, &field)) {
		rc = read_sample(f, &field, &sample, count_missing, f, err);
		f->places->counts.samples++;
	}
	return rc;
}
