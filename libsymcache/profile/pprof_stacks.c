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
	size_t value;             /* which one of a sample counts */
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

/* Which of the values of a sample counts: r->value, and its name. */
static int choose_value(struct reading *r, struct sc_error *err)
{
	const struct prof_pprof *f = r->f;
	const char *wanted = f->places->options->value;
	struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct sc_str name = { NULL, 0 }, unit_name = { NULL, 0 }, asked = sc_str_of(wanted), s;
	struct prof_field field;
	uint64_t type, unit;
	size_t n = 0;
	bool found = false;

	while (prof_wire_next(&w, &field)) {
		if (!wanted && prof_is_number(&field, PPROF_DEFAULT_TYPE) &&
		    !prof_string(&f->tables, field.value, &asked))
			return prof_bad(&f->in, field.from, "the default sample type is a string that "
					"is not there", err);
	}
	w = prof_wire_of(f->in.bytes, f->in.size);
	while (prof_wire_find(&w, PPROF_SAMPLE_TYPE, &field)) {
		if (!read_type(&field, &type, &unit) || !prof_string(&f->tables, type, &s) ||
		    !prof_string(&f->tables, unit, &unit_name))
			return prof_bad(&f->in, field.from, "a sample type is malformed", err);
		if (!found) { /* the last one, unless the one that is asked for comes */
			r->value = n;
			name = s;
			found = asked.len && sc_str_same(s, asked);
			r->stacks->unit = prof_text(f->places, unit_name.ptr, unit_name.len);
		}
		n++;
	}
	if (wanted && !found)
		return bad_type(f, wanted, err);
	r->stacks->type = prof_text(f->places, name.ptr, name.len);
	return r->stacks->type == PROF_NONE || r->stacks->unit == PROF_NONE ? sc_no_memory(err) : 0;
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
	size_t which;  /* of its values */
	int64_t value; /* is that; 0: there is none */
};

/* Calls `fn` for each location of a sample, and sets ret->value. */
static int read_sample(struct prof_pprof *f, const struct prof_field *field, struct sample *ret,
		       int (*fn)(void *ctx, uint32_t location), void *ctx, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(field);
	struct prof_field of;
	size_t values = 0;
	uint64_t v;

	ret->value = 0;
	while (prof_wire_next(&w, &of)) {
		struct prof_list list = prof_list_of(&of);

		if (of.number != 1 && of.number != 2)
			continue;
		while (prof_list_next(&list, &v)) {
			uint32_t at;

			if (of.number == 2) {
				if (values++ == ret->which)
					ret->value = (int64_t)v;
				continue;
			}
			at = prof_ids_find(&f->location_ids, v);
			if (at == PROF_NONE)
				return prof_bad(&f->in, of.from, "a sample has a location that is "
						"not there", err);
			if (fn(ctx, at))
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
	struct sample sample = { r->value, 0 };
	int rc = 0;

	while (!rc && prof_wire_find(&w, PPROF_SAMPLE, &field)) {
		vec_clear(&r->stacks->stack);
		rc = read_sample(r->f, &field, &sample, push_frames, r, err);
		if (!rc && !prof_stacks_add(r->stacks, sample.value))
			rc = sc_no_memory(err);
	}
	return rc;
}

int pprof_stacks(struct prof_pprof *f, struct prof_stacks *ret, struct sc_error *err)
{
	struct reading r = { .f = f, .stacks = ret, .tables = {
		.stacks = ret, .in = &f->in, .tables = &f->tables, .shape = &pprof_shape } };
	int rc = prof_stacks_begin(ret, f->places) ? 0 : sc_no_memory(err);

	rc = rc ? rc : choose_value(&r, err);
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
