/*
 * The samples of a profile in pprof's protobuf: as a tree of stacks, and counted for the modules
 * of which nothing was found.
 */
#include "libsymcache/profile/pprof_stacks.h"

#include <stdio.h>

/* Of the locations: their frames, and of all that were read before: */
struct reading {
	struct prof_pprof *f;
	struct prof_stacks *stacks;
	struct pprof_ids functions;
	VEC(struct prof_frame) of_functions; /* by their numbers */
	struct prof_frame_list frames;
	VEC(uint32_t) first;                 /* of location i; those of the last end at the end */
	size_t value;                        /* which one of a sample counts */
};

static void deinit(struct reading *r)
{
	vec_deinit(&r->functions.ids);
	sc_intern_deinit(&r->functions.set);
	vec_deinit(&r->of_functions);
	vec_deinit(&r->frames.frames);
	vec_deinit(&r->first);
}

/* ---- which value ---------------------------------------------------------------------------- */

static bool read_type(const struct prof_field *f, uint64_t *type, uint64_t *unit)
{
	struct prof_wire w = prof_wire_in(f);
	struct prof_field of;

	*type = *unit = 0;
	while (prof_wire_next(&w, &of)) {
		if (of.number == 1 && of.type == PROF_VARINT)
			*type = of.value;
		else if (of.number == 2 && of.type == PROF_VARINT)
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

	while (prof_wire_next(&w, &field)) {
		const size_t len = strlen(names);

		if (field.number == PPROF_SAMPLE_TYPE && field.type == PROF_BYTES &&
		    read_type(&field, &type, &unit) && prof_string(&f->tables, type, &name))
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
		if (!wanted && field.number == PPROF_DEFAULT_TYPE && field.type == PROF_VARINT &&
		    !prof_string(&f->tables, field.value, &asked))
			return prof_bad(&f->in, field.from, "the default sample type is a string that "
					"is not there", err);
	}
	w = prof_wire_of(f->in.bytes, f->in.size);
	while (prof_wire_next(&w, &field)) {
		if (field.number != PPROF_SAMPLE_TYPE || field.type != PROF_BYTES)
			continue;
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

/* ---- functions and locations that the profile has ------------------------------------------ */

static int read_function(struct reading *r, const struct prof_field *field, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(field);
	struct prof_frame *to = vec_push(&r->of_functions);
	uint64_t id = 0, name = 0, file = 0;
	struct sc_str name_text, file_text;
	struct prof_field of;

	if (!to)
		return sc_no_memory(err);
	while (prof_wire_next(&w, &of)) {
		if (of.type != PROF_VARINT)
			continue;
		if (of.number == 1)
			id = of.value;
		else if (of.number == 2)
			name = of.value;
		else if (of.number == 4)
			file = of.value;
		else if (of.number == 5)
			to->start_line = (uint32_t)of.value;
	}
	if (!prof_string(&r->f->tables, name, &name_text) ||
	    !prof_string(&r->f->tables, file, &file_text))
		return prof_bad(&r->f->in, field->from, "a function has a string that is not there",
				err);
	to->name = prof_text(r->f->places, name_text.ptr, name_text.len);
	to->file = prof_text(r->f->places, file_text.ptr, file_text.len);
	return to->name == PROF_NONE || to->file == PROF_NONE ||
	       !pprof_add_id(&r->functions, id) ? sc_no_memory(err) : 0;
}

/* The functions of the lines that a location has: stacks->stack. */
static int read_lines(struct reading *r, const struct prof_field *location, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(location), in;
	struct prof_field line, of;

	vec_clear(&r->stacks->stack);
	while (prof_wire_next(&w, &line)) {
		uint32_t *function;
		uint64_t id = 0;

		if (line.number != 4 || line.type != PROF_BYTES)
			continue;
		in = prof_wire_in(&line);
		while (prof_wire_next(&in, &of))
			if (of.number == 1 && of.type == PROF_VARINT)
				id = of.value;
		function = vec_push(&r->stacks->stack);
		if (!function)
			return sc_no_memory(err);
		*function = pprof_id(&r->functions, id);
		if (in.bad || *function == PROF_NONE)
			return prof_bad(&r->f->in, line.from, in.bad ? "a line is malformed" :
					"a line has a function that is not there", err);
	}
	return 0;
}

static int read_location(struct reading *r, const struct prof_field *field, size_t number,
			 struct sc_error *err)
{
	const struct pprof_location *at = &r->f->locations.data[number];
	struct prof_places *p = r->f->places;
	struct pprof_location_fields l;
	struct prof_wire w;
	uint32_t *first = vec_push(&r->first), module = 0;
	int rc = 0;

	if (!first || r->frames.frames.len >= PROF_NONE)
		return sc_no_memory(err);
	*first = (uint32_t)r->frames.frames.len;
	if (at->mapping != PROF_NONE)
		module = prof_text(p, p->mappings.data[at->mapping].name.ptr,
				   p->mappings.data[at->mapping].name.len);
	if (module == PROF_NONE)
		return sc_no_memory(err);
	pprof_read_location(field, &l, &w);
	vec_clear(&r->stacks->stack);
	if (l.has_lines && at->place == PROF_NONE)
		rc = read_lines(r, field, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < r->stacks->stack.len; i++) {
		struct prof_frame f = r->of_functions.data[r->stacks->stack.data[i]];

		f.module = module;
		f.inlined = i + 1 < r->stacks->stack.len;
		if (!prof_stacks_put(r->stacks, &f, &r->frames))
			return sc_no_memory(err);
	}
	if (!r->stacks->stack.len &&
	    !prof_stacks_location(r->stacks, at->mapping, at->place, l.address, &r->frames))
		return sc_no_memory(err);
	return 0;
}

static int read_tables(struct reading *r, struct sc_error *err)
{
	const struct prof_input *in = &r->f->in;
	struct prof_wire w = prof_wire_of(in->bytes, in->size);
	struct prof_field field;
	size_t locations = 0;
	uint32_t *last;
	int rc = 0;

	while (!rc && prof_wire_next(&w, &field))
		if (field.number == PPROF_FUNCTION && field.type == PROF_BYTES)
			rc = read_function(r, &field, err);
	w = prof_wire_of(in->bytes, in->size);
	while (!rc && prof_wire_next(&w, &field))
		if (field.number == PPROF_LOCATION && field.type == PROF_BYTES)
			rc = read_location(r, &field, locations++, err);
	last = rc ? NULL : vec_push(&r->first);
	if (last)
		*last = (uint32_t)r->frames.frames.len;
	return rc ? rc : last ? 0 : sc_no_memory(err);
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
			at = pprof_id(&f->location_ids, v);
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
	const uint32_t first = r->first.data[location], end = r->first.data[location + 1];

	if (!vec_reserve(&r->stacks->stack, end - first))
		return 1;
	for (uint32_t i = first; i < end; i++)
		r->stacks->stack.data[r->stacks->stack.len++] = r->frames.frames.data[i];
	return 0;
}

static int read_samples(struct reading *r, struct sc_error *err)
{
	const struct prof_input *in = &r->f->in;
	struct prof_wire w = prof_wire_of(in->bytes, in->size);
	struct prof_field field;
	struct sample sample = { r->value, 0 };
	int rc = 0;

	while (!rc && prof_wire_next(&w, &field)) {
		if (field.number != PPROF_SAMPLE || field.type != PROF_BYTES)
			continue;
		vec_clear(&r->stacks->stack);
		rc = read_sample(r->f, &field, &sample, push_frames, r, err);
		if (!rc && !prof_stacks_add(r->stacks, sample.value))
			rc = sc_no_memory(err);
	}
	return rc;
}

int pprof_stacks(struct prof_pprof *f, struct prof_stacks *ret, struct sc_error *err)
{
	struct reading r = { .f = f, .stacks = ret };
	int rc = prof_stacks_begin(ret, f->places) ? 0 : sc_no_memory(err);

	rc = rc ? rc : choose_value(&r, err);
	rc = rc ? rc : read_tables(&r, err);
	rc = rc ? rc : read_samples(&r, err);
	deinit(&r);
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

	while (!rc && prof_wire_next(&w, &field)) {
		if (field.number != PPROF_SAMPLE || field.type != PROF_BYTES)
			continue;
		rc = read_sample(f, &field, &sample, count_missing, f, err);
		f->places->counts.samples++;
	}
	return rc;
}
