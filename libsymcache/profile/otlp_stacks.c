/*
 * The samples of profiles of OpenTelemetry: as a tree of stacks, and counted for the modules of
 * which nothing was found. A sample names a stack of the dictionary, a list of locations.
 */
#include "libsymcache/profile/otlp.h"

enum { SAMPLE_TYPE = 1, SAMPLE = 2 };

struct reading {
	struct prof_otlp *f;
	struct prof_stacks *stacks;          /* NULL: samples are counted */
	VEC(struct prof_field) stack_fields; /* of the dictionary */
	struct prof_reader tables;
	struct { uint64_t type, unit; } types[PROF_TYPES_MAX]; /* strings: those that count */
	size_t num_types;
	bool found;                          /* the type that is wanted */
};

static void deinit(struct reading *r)
{
	vec_deinit(&r->stack_fields);
	prof_reader_deinit(&r->tables);
}

/* ---- the dictionary --------------------------------------------------------------------------- */

static int read_function(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct reading *r = ctx;

	return prof_reader_function(&r->tables, entry, err);
}

static int read_location(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct reading *r = ctx;
	const struct otlp_location *l = &r->f->locations.data[r->tables.first.len];

	return prof_reader_location(&r->tables, entry, &(struct prof_asked){
			l->address, l->mapping, l->place, l->has_lines }, err);
}

static int add_stack(void *ctx, const struct prof_field *entry, struct sc_error *err)
{
	struct reading *r = ctx;
	struct prof_field *to = vec_push(&r->stack_fields);

	if (!to)
		return sc_no_memory(err);
	*to = *entry;
	return 0;
}

static int read_dictionary(struct reading *r, struct sc_error *err)
{
	int rc = otlp_each(r->f, OTLP_STACK, r, add_stack, err);

	if (rc || !r->stacks)
		return rc;
	rc = otlp_each(r->f, OTLP_FUNCTION, r, read_function, err);
	rc = rc ? rc : otlp_each(r->f, OTLP_LOCATION, r, read_location, err);
	return rc ? rc : prof_reader_end(&r->tables, err);
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
			if (!r->stacks)
				prof_hide(r->f->places, r->f->locations.data[at].mapping);
			else if (!prof_reader_push(&r->tables, at))
				return sc_no_memory(err);
		}
		if (list.w.bad)
			return prof_bad_wire(&r->f->in, &list.w, err);
	}
	return w.bad ? prof_bad_wire(&r->f->in, &w, err) : 0;
}

/* A sample: without values, its time stamps count. */
static int read_sample(struct reading *r, const struct prof_field *sample, size_t type,
		       struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(sample);
	uint64_t stack = 0, sum = 0, v;
	size_t values = 0, times = 0;
	struct prof_field of;
	int rc;

	while (prof_wire_next(&w, &of)) {
		struct prof_list list = prof_list_of(&of);

		if (prof_is_number(&of, 1))
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
	if (!r->stacks) {
		r->f->places->counts.samples++;
		return read_stack(r, &r->stack_fields.data[stack], err);
	}
	vec_clear(&r->stacks->stack);
	rc = read_stack(r, &r->stack_fields.data[stack], err);
	r->stacks->values.data[type] = (int64_t)(values ? sum : times);
	if (!rc && !prof_stacks_add(r->stacks))
		rc = sc_no_memory(err);
	r->stacks->values.data[type] = 0;
	return rc;
}

/* The type of the samples of a profile, and its unit. */
static void read_type(const struct prof_field *profile, uint64_t *type, uint64_t *unit)
{
	struct prof_wire w = prof_wire_in(profile), in;
	struct prof_field of, part;

	*type = *unit = 0;
	while (prof_wire_find(&w, SAMPLE_TYPE, &of)) {
		in = prof_wire_in(&of);
		while (prof_wire_next(&in, &part)) {
			if (prof_is_number(&part, 1))
				*type = part.value;
			else if (prof_is_number(&part, 2))
				*unit = part.value;
		}
	}
}

/* Which of r->types this is; their number: none. */
static size_t type_of(const struct reading *r, uint64_t type, uint64_t unit)
{
	size_t i = 0;

	while (i < r->num_types && (r->types[i].type != type || r->types[i].unit != unit))
		i++;
	return i;
}

static int read_profile(struct reading *r, const struct prof_field *profile, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(profile);
	uint64_t type, unit;
	struct prof_field of;
	size_t at;
	int rc = 0;

	read_type(profile, &type, &unit);
	at = type_of(r, type, unit);
	if (r->stacks && at == r->num_types)
		return 0;
	while (!rc && prof_wire_find(&w, SAMPLE, &of))
		rc = read_sample(r, &of, at, err);
	return rc ? rc : w.bad ? prof_bad_wire(&r->f->in, &w, err) : 0;
}

/* Enters the type of a profile, if it is wanted. */
static int find_type(struct reading *r, const struct prof_field *profile, struct sc_error *err)
{
	const char *wanted = r->f->places->options->value;
	const bool whole = r->stacks->whole;
	struct sc_str name, unit_name;
	uint64_t type, unit;
	size_t at;

	read_type(profile, &type, &unit);
	if (!prof_string(&r->f->tables, type, &name) ||
	    !prof_string(&r->f->tables, unit, &unit_name))
		return prof_bad(&r->f->in, profile->from, "a sample type is a string that is not there",
				err);
	if (wanted && sc_str_is(name, wanted))
		r->found = true;
	else if (wanted && !whole)
		return 0;
	at = whole ? type_of(r, type, unit) : 0;
	if (at == PROF_TYPES_MAX)
		return sc_error_set(err, SC_ELIMIT, "it has more than %d sample types", PROF_TYPES_MAX);
	if (!wanted || sc_str_is(name, wanted))
		r->stacks->chosen = at;
	r->types[at].type = type;
	r->types[at].unit = unit;
	r->num_types = at < r->num_types ? r->num_types : at + 1;
	return 0;
}

static int name_types(struct reading *r, struct sc_error *err)
{
	struct sc_str name = { NULL, 0 }, unit = { NULL, 0 };
	int rc = 0;

	if (!r->num_types)
		return prof_stacks_type(r->stacks, name, unit, err);
	for (size_t i = 0; i < r->num_types && !rc; i++) {
		prof_string(&r->f->tables, r->types[i].type, &name);
		prof_string(&r->f->tables, r->types[i].unit, &unit);
		rc = prof_stacks_type(r->stacks, name, unit, err);
	}
	return rc;
}

/* Calls `fn` for each profile: messages in messages, `depth` of them. */
static int each_profile(struct reading *r, struct prof_wire w, unsigned depth, struct sc_error *err,
			int (*fn)(struct reading *r, const struct prof_field *profile,
				  struct sc_error *err))
{
	static const unsigned numbers[] = { OTLP_RESOURCE_PROFILES, OTLP_SCOPE_PROFILES,
					    OTLP_PROFILES };
	struct prof_field of;
	int rc = 0;

	while (!rc && prof_wire_find(&w, numbers[depth], &of))
		rc = depth == 2 ? fn(r, &of, err) :
				  each_profile(r, prof_wire_in(&of), depth + 1, err, fn);
	return rc ? rc : w.bad ? prof_bad_wire(&r->f->in, &w, err) : 0;
}

int otlp_stacks(struct prof_otlp *f, struct prof_stacks *ret, struct sc_error *err)
{
	const struct prof_wire w = prof_wire_of(f->in.bytes, f->in.size);
	struct reading r = { .f = f, .stacks = ret, .tables = {
		.stacks = ret, .in = &f->in, .tables = &f->tables, .shape = &otlp_shape } };
	int rc;

	prof_stacks_begin(ret, f->places);
	rc = each_profile(&r, w, 0, err, find_type);
	if (!rc && !r.found && f->places->options->value)
		rc = sc_error_set(err, SC_EINVAL, "there is no sample type '%.60s'",
				  f->places->options->value);
	rc = rc ? rc : name_types(&r, err);
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
