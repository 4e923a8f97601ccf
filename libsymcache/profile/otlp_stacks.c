/*
 * The samples of profiles of OpenTelemetry: as a tree of stacks, and counted for the modules of
 * which nothing was found. A sample names a stack of the dictionary, a list of locations.
 */
#include "libsymcache/profile/otlp.h"

/* Messages that are within one another: ProfilesData has ResourceProfiles, those ScopeProfiles,
 * those Profiles. */
enum { RESOURCE_PROFILES = 1, SCOPE_PROFILES = 2, PROFILES = 2, SAMPLE_TYPE = 1, SAMPLE = 2 };
enum { DICTIONARY = 2, LOCATION = 2, FUNCTION = 3, STACK = 7 };

struct reading {
	struct prof_otlp *f;
	struct prof_stacks *stacks;          /* NULL: samples are counted */
	VEC(struct prof_field) stack_fields; /* of the dictionary */
	VEC(struct prof_frame) functions;
	struct prof_frame_list frames;
	VEC(uint32_t) first;                 /* of location i; the end behind the last */
	uint64_t type;                       /* that counts: a string */
	bool any_type;
	size_t next_location;
};

static void deinit(struct reading *r)
{
	vec_deinit(&r->stack_fields);
	vec_deinit(&r->functions);
	vec_deinit(&r->frames.frames);
	vec_deinit(&r->first);
}

/* ---- the dictionary --------------------------------------------------------------------------- */

static int read_function(struct reading *r, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(entry);
	struct prof_frame *to = vec_push(&r->functions);
	struct prof_places *p = r->f->places;
	uint64_t name = 0, file = 0;
	struct sc_str name_text, file_text;
	struct prof_field of;

	while (prof_wire_next(&w, &of)) {
		if (of.type != PROF_VARINT)
			continue;
		if (of.number == 1)
			name = of.value;
		else if (of.number == 3)
			file = of.value;
		else if (of.number == 4 && to)
			to->start_line = (uint32_t)of.value;
	}
	if (w.bad)
		return prof_bad_wire(&r->f->in, &w, err);
	if (!prof_string(&r->f->tables, name, &name_text) ||
	    !prof_string(&r->f->tables, file, &file_text))
		return prof_bad(&r->f->in, entry->from, "a function has a string that is not there",
				err);
	if (!to || (to->name = prof_text(p, name_text.ptr, name_text.len)) == PROF_NONE ||
	    (to->file = prof_text(p, file_text.ptr, file_text.len)) == PROF_NONE)
		return sc_no_memory(err);
	return 0;
}

/* The functions of the lines of a location: stacks->stack. */
static int read_lines(struct reading *r, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(entry), in;
	struct prof_field line, of;

	while (prof_wire_next(&w, &line)) {
		uint32_t *function;
		uint64_t index = 0;

		if (line.number != 3 || line.type != PROF_BYTES)
			continue;
		in = prof_wire_in(&line);
		while (prof_wire_next(&in, &of))
			if (of.number == 1 && of.type == PROF_VARINT)
				index = of.value;
		function = vec_push(&r->stacks->stack);
		if (!function)
			return sc_no_memory(err);
		if (in.bad || index >= r->functions.len)
			return prof_bad(&r->f->in, line.from, in.bad ? "a line is malformed" :
					"a line has a function that is not there", err);
		*function = (uint32_t)index;
	}
	return 0;
}

static int read_location(struct reading *r, const struct prof_field *entry, struct sc_error *err)
{
	const struct otlp_location *l = &r->f->locations.data[r->next_location++];
	uint32_t *first = vec_push(&r->first), module = 0;
	struct prof_places *p = r->f->places;
	int rc = 0;

	if (!first || r->frames.frames.len >= PROF_NONE)
		return sc_no_memory(err);
	*first = (uint32_t)r->frames.frames.len;
	if (l->mapping != PROF_NONE)
		module = prof_text(p, p->mappings.data[l->mapping].name.ptr,
				   p->mappings.data[l->mapping].name.len);
	vec_clear(&r->stacks->stack);
	if (l->has_lines && l->place == PROF_NONE)
		rc = read_lines(r, entry, err);
	for (size_t i = 0; i < r->stacks->stack.len && !rc; i++) {
		struct prof_frame f = r->functions.data[r->stacks->stack.data[i]];

		f.module = module;
		f.inlined = i + 1 < r->stacks->stack.len;
		if (!prof_stacks_put(r->stacks, &f, &r->frames))
			rc = sc_no_memory(err);
	}
	if (!rc && !r->stacks->stack.len &&
	    !prof_stacks_location(r->stacks, l->mapping, l->place, l->address, &r->frames))
		rc = sc_no_memory(err);
	return module == PROF_NONE ? sc_no_memory(err) : rc;
}

/* Calls `fn` for each entry of this kind. */
static int each_of(struct reading *r, unsigned number, struct sc_error *err,
		   int (*fn)(struct reading *r, const struct prof_field *entry,
			     struct sc_error *err))
{
	struct prof_wire w = prof_wire_of(r->f->in.bytes, r->f->in.size), in;
	struct prof_field field, entry;
	int rc = 0;

	while (!rc && prof_wire_next(&w, &field)) {
		if (field.number != DICTIONARY || field.type != PROF_BYTES)
			continue;
		in = prof_wire_in(&field);
		while (!rc && prof_wire_next(&in, &entry))
			if (entry.number == number && entry.type == PROF_BYTES)
				rc = fn(r, &entry, err);
	}
	return rc;
}

static int add_stack(struct reading *r, const struct prof_field *entry, struct sc_error *err)
{
	struct prof_field *to = vec_push(&r->stack_fields);

	if (!to)
		return sc_no_memory(err);
	*to = *entry;
	return 0;
}

static int read_dictionary(struct reading *r, struct sc_error *err)
{
	int rc = each_of(r, STACK, err, add_stack);
	uint32_t *last;

	if (rc || !r->stacks)
		return rc;
	rc = each_of(r, FUNCTION, err, read_function);
	rc = rc ? rc : each_of(r, LOCATION, err, read_location);
	last = rc ? NULL : vec_push(&r->first);
	if (last)
		*last = (uint32_t)r->frames.frames.len;
	return rc ? rc : last ? 0 : sc_no_memory(err);
}

/* ---- samples ---------------------------------------------------------------------------------- */

/* The locations of a stack: its frames, or what is missing. */
static int read_stack(struct reading *r, const struct prof_field *stack, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(stack);
	struct prof_field of;
	uint64_t at;

	while (prof_wire_next(&w, &of)) {
		struct prof_list list = prof_list_of(&of);

		if (of.number != 1)
			continue;
		while (prof_list_next(&list, &at)) {
			if (at >= r->f->locations.len)
				return prof_bad(&r->f->in, of.from, "a stack has a location that is "
						"not there", err);
			if (!r->stacks) {
				prof_hide(r->f->places, r->f->locations.data[at].mapping);
				continue;
			}
			for (uint32_t i = r->first.data[at]; i < r->first.data[at + 1]; i++) {
				uint32_t *to = vec_push(&r->stacks->stack);

				if (!to)
					return sc_no_memory(err);
				*to = r->frames.frames.data[i];
			}
		}
		if (list.w.bad)
			return prof_bad_wire(&r->f->in, &list.w, err);
	}
	return w.bad ? prof_bad_wire(&r->f->in, &w, err) : 0;
}

/* A sample: without values, its time stamps count. */
static int read_sample(struct reading *r, const struct prof_field *sample, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(sample);
	uint64_t stack = 0, sum = 0, v;
	size_t values = 0, times = 0;
	struct prof_field of;
	int rc;

	while (prof_wire_next(&w, &of)) {
		struct prof_list list = prof_list_of(&of);

		if (of.number == 1 && of.type == PROF_VARINT)
			stack = of.value;
		for (; of.number == 4 && prof_list_next(&list, &v); values++)
			sum += v;
		if (of.number == 5)
			times += of.type == PROF_BYTES ? of.len / 8 : 1;
	}
	if (w.bad)
		return prof_bad_wire(&r->f->in, &w, err);
	if (stack >= r->stack_fields.len)
		return stack ? prof_bad(&r->f->in, sample->from, "a sample has a stack that is not there",
					err) : 0;
	if (r->stacks)
		vec_clear(&r->stacks->stack);
	rc = read_stack(r, &r->stack_fields.data[stack], err);
	if (!rc && r->stacks && !prof_stacks_add(r->stacks, (int64_t)(values ? sum : times)))
		rc = sc_no_memory(err);
	r->f->places->counts.samples += !r->stacks;
	return rc;
}

/* The type of the samples of a profile, and its unit. */
static void read_type(const struct prof_field *profile, uint64_t *type, uint64_t *unit)
{
	struct prof_wire w = prof_wire_in(profile), in;
	struct prof_field of, part;

	*type = *unit = 0;
	while (prof_wire_next(&w, &of)) {
		if (of.number != SAMPLE_TYPE || of.type != PROF_BYTES)
			continue;
		in = prof_wire_in(&of);
		while (prof_wire_next(&in, &part)) {
			if (part.number == 1 && part.type == PROF_VARINT)
				*type = part.value;
			else if (part.number == 2 && part.type == PROF_VARINT)
				*unit = part.value;
		}
	}
}

static int read_profile(struct reading *r, const struct prof_field *profile, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(profile);
	uint64_t type, unit;
	struct prof_field of;
	int rc = 0;

	read_type(profile, &type, &unit);
	if (r->stacks && type != r->type)
		return 0;
	while (!rc && prof_wire_next(&w, &of))
		if (of.number == SAMPLE && of.type == PROF_BYTES)
			rc = read_sample(r, &of, err);
	return rc ? rc : w.bad ? prof_bad_wire(&r->f->in, &w, err) : 0;
}

/* Is the type of this profile the one that is wanted, or is any? */
static int find_type(struct reading *r, const struct prof_field *profile, struct sc_error *err)
{
	const char *wanted = r->f->places->options->value;
	struct sc_str name, unit_name;
	uint64_t type, unit;

	read_type(profile, &type, &unit);
	if (!prof_string(&r->f->tables, type, &name) ||
	    !prof_string(&r->f->tables, unit, &unit_name))
		return prof_bad(&r->f->in, profile->from, "a sample type is a string that is not there",
				err);
	if (wanted && !sc_str_is(name, wanted))
		return 0;
	r->any_type = true;
	r->type = type;
	r->stacks->type = prof_text(r->f->places, name.ptr, name.len);
	r->stacks->unit = prof_text(r->f->places, unit_name.ptr, unit_name.len);
	return r->stacks->type == PROF_NONE || r->stacks->unit == PROF_NONE ? sc_no_memory(err) : 0;
}

/* Calls `fn` for each profile: messages in messages, `depth` of them. */
static int each_profile(struct reading *r, struct prof_wire w, unsigned depth, struct sc_error *err,
			int (*fn)(struct reading *r, const struct prof_field *profile,
				  struct sc_error *err))
{
	static const unsigned numbers[] = { RESOURCE_PROFILES, SCOPE_PROFILES, PROFILES };
	struct prof_field of;
	int rc = 0;

	while (!rc && prof_wire_next(&w, &of)) {
		if (of.number != numbers[depth] || of.type != PROF_BYTES)
			continue;
		rc = depth == 2 ? fn(r, &of, err) :
				  each_profile(r, prof_wire_in(&of), depth + 1, err, fn);
	}
	return rc ? rc : w.bad ? prof_bad_wire(&r->f->in, &w, err) : 0;
}

int otlp_stacks(struct prof_otlp *f, struct prof_stacks *ret, struct sc_error *err)
{
	const struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct reading r = { .f = f, .stacks = ret };
	int rc = prof_stacks_begin(ret, f->places) ? 0 : sc_no_memory(err);

	rc = rc ? rc : each_profile(&r, w, 0, err, find_type);
	if (!rc && !r.any_type && f->places->options->value)
		rc = sc_error_set(err, SC_EINVAL, "there is no sample type '%.60s'",
				  f->places->options->value);
	rc = rc ? rc : read_dictionary(&r, err);
	rc = rc ? rc : each_profile(&r, w, 0, err, read_profile);
	deinit(&r);
	return rc;
}

int otlp_count(struct prof_otlp *f, struct sc_error *err)
{
	struct reading r = { .f = f };
	int rc = read_dictionary(&r, err);

	rc = rc ? rc : each_profile(&r, prof_wire_of(f->in.bytes, f->in.size), 0, err, read_profile);
	deinit(&r);
	return rc;
}
