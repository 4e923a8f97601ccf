/* The stacks of a profile as a tree: see stacks.h. */
#include "libsymcache/profile/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

void prof_stacks_begin(struct prof_stacks *s, struct prof_places *p)
{
	s->places = p;
	s->chosen = 0;
	vec_clear(&s->types);
	vec_clear(&s->nodes);
	vec_clear(&s->sums);
	vec_clear(&s->frames);
	vec_clear(&s->stack);
	vec_clear(&s->values);
	sc_intern_clear(&s->node_set);
	sc_intern_clear(&s->frame_set);
}

void prof_stacks_deinit(struct prof_stacks *s)
{
	vec_deinit(&s->types);
	vec_deinit(&s->nodes);
	vec_deinit(&s->sums);
	vec_deinit(&s->frames);
	vec_deinit(&s->stack);
	vec_deinit(&s->values);
	sc_intern_deinit(&s->node_set);
	sc_intern_deinit(&s->frame_set);
}

int prof_stacks_type(struct prof_stacks *s, struct sc_str type, struct sc_str unit,
		     struct sc_error *err)
{
	struct prof_value_type *t = vec_push(&s->types);

	if (!t || !vec_push(&s->values))
		return sc_no_memory(err);
	t->type = prof_text(s->places, type.ptr, type.len);
	t->unit = prof_text(s->places, unit.ptr, unit.len);
	if (s->types.len > PROF_TYPES_MAX)
		return sc_error_set(err, SC_ELIMIT, "it has more than %d sample types", PROF_TYPES_MAX);
	return t->type == PROF_NONE || t->unit == PROF_NONE ? sc_no_memory(err) : 0;
}

struct frame_key {
	const struct prof_stacks *s;
	const struct prof_frame *f;
};

static bool frame_equal(const void *ctx, uint32_t i)
{
	const struct frame_key *k = ctx;

	return !memcmp(&k->s->frames.data[i], k->f, sizeof(*k->f));
}

/* The number of a frame. PROF_NONE: out of memory. */
static uint32_t frame_number(struct prof_stacks *s, const struct prof_frame *f)
{
	const struct frame_key key = { s, f };
	uint32_t *slot = sc_intern_find(&s->frame_set, XXH3_64bits(f, sizeof(*f)), frame_equal,
					&key);
	struct prof_frame *added;

	if (!slot || *slot != SC_INTERN_NEW)
		return slot ? *slot : PROF_NONE;
	added = s->frames.len < PROF_NONE ? vec_push(&s->frames) : NULL;
	if (!added)
		return PROF_NONE;
	*added = *f;
	return *slot = (uint32_t)(s->frames.len - 1);
}

struct node_key {
	const struct prof_stacks *s;
	uint32_t frame, parent;
};

static bool node_equal(const void *ctx, uint32_t i)
{
	const struct node_key *k = ctx;
	const struct prof_node *n = &k->s->nodes.data[i];

	return n->frame == k->frame && n->parent == k->parent;
}

/* A node that is new, without values. */
static bool add_node(struct prof_stacks *s, uint32_t frame, uint32_t parent)
{
	struct prof_node *n = s->nodes.len < PROF_NONE && vec_reserve(&s->sums, s->types.len) ?
		vec_push(&s->nodes) : NULL;

	if (!n)
		return false;
	*n = (struct prof_node){ frame, parent };
	for (size_t i = 0; i < s->types.len; i++)
		s->sums.data[s->sums.len++] = 0;
	return true;
}

bool prof_stacks_add(struct prof_stacks *s)
{
	uint32_t at = 0;

	if (!s->nodes.len && !add_node(s, PROF_NONE, PROF_NONE))
		return false;
	for (size_t i = s->stack.len; i--;) {
		const struct node_key key = { s, s->stack.data[i], at };
		uint32_t *slot = sc_intern_find(&s->node_set, prof_hash((uint32_t[]){ key.frame, at }, 8),
						node_equal, &key);

		if (!slot || (*slot == SC_INTERN_NEW && !add_node(s, key.frame, at)))
			return false;
		if (*slot == SC_INTERN_NEW)
			*slot = (uint32_t)(s->nodes.len - 1);
		at = *slot;
	}
	/* Sums of hostile numbers wrap around. */
	for (size_t i = 0; i < s->types.len; i++) {
		int64_t *sum = &s->sums.data[at * s->types.len + i];

		*sum = (int64_t)((uint64_t)*sum + (uint64_t)s->values.data[i]);
	}
	return true;
}

/* ---- locations ------------------------------------------------------------------------------ */

/* The text of an address of which nothing is known. */
static uint32_t unknown_text(const struct prof_stacks *s, uint32_t mapping, uint64_t address)
{
	struct prof_places *p = s->places;
	const struct prof_mapping *m = mapping == PROF_NONE ? NULL : &p->mappings.data[mapping];
	const struct sc_str last = sc_last_part(m ? m->name : (struct sc_str){ NULL, 0 });
	const char *base = last.ptr;
	const int len = (int)last.len & 0xff;
	char text[300];
	uint64_t vaddr;
	int size;

	if (s->whole)
		size = !len ? snprintf(text, sizeof(text), "in no module") :
			snprintf(text, sizeof(text), "%.*s (%s)", len, base,
				 m->missing == PROF_NONE ? "no function" : "no symbols");
	else if (len && m->module != PROF_NONE && prof_vaddr(m, address, &vaddr))
		size = snprintf(text, sizeof(text), "%.*s+0x%" PRIx64, len, base, vaddr);
	else if (len)
		size = snprintf(text, sizeof(text), "[%.*s] 0x%" PRIx64, len, base, address);
	else
		size = snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return prof_text(p, text, (size_t)size);
}

/* ---- tables of a profile ------------------------------------------------------------------ */

void prof_reader_deinit(struct prof_reader *r)
{
	prof_ids_deinit(&r->ids);
	vec_deinit(&r->functions);
	vec_deinit(&r->frames);
	vec_deinit(&r->first);
}

int prof_reader_function(struct prof_reader *r, const struct prof_field *field,
			 struct sc_error *err)
{
	const struct prof_shape *shape = r->shape;
	struct prof_places *p = r->stacks->places;
	struct prof_wire w = prof_wire_in(field);
	struct prof_frame *to = vec_push(&r->functions);
	uint64_t id = 0, name = 0, file = 0;
	struct sc_str name_text, file_text;
	struct prof_field of;

	if (!to)
		return sc_no_memory(err);
	while (prof_wire_next(&w, &of)) {
		if (of.type != PROF_VARINT)
			continue;
		if (of.number == shape->id)
			id = of.value;
		else if (of.number == shape->name)
			name = of.value;
		else if (of.number == shape->file)
			file = of.value;
		else if (of.number == shape->start)
			to->start_line = (uint32_t)of.value;
	}
	if (w.bad)
		return prof_bad_wire(r->in, &w, err);
	if (!prof_string(r->tables, name, &name_text) || !prof_string(r->tables, file, &file_text))
		return prof_bad(r->in, field->from, "a function has a string that is not there", err);
	to->name = prof_text(p, name_text.ptr, name_text.len);
	to->file = prof_text(p, file_text.ptr, file_text.len);
	return to->name == PROF_NONE || to->file == PROF_NONE ||
	       (shape->id && !prof_ids_add(&r->ids, id)) ? sc_no_memory(err) : 0;
}

static bool put_frame(struct prof_reader *r, const struct prof_frame *f)
{
	const uint32_t number = frame_number(r->stacks, f);
	uint32_t *added = vec_push(&r->frames);

	if (number == PROF_NONE || !added)
		return false;
	*added = number;
	return true;
}

/* The numbers of the functions of the lines that a location has: stacks->stack. */
static int read_lines(struct prof_reader *r, const struct prof_field *location, struct sc_error *err)
{
	struct prof_wire w = prof_wire_in(location), in;
	struct prof_field line, of;

	while (prof_wire_find(&w, r->shape->lines, &line)) {
		uint32_t *function = vec_push(&r->stacks->stack);
		uint64_t id = 0;

		if (!function)
			return sc_no_memory(err);
		in = prof_wire_in(&line);
		while (prof_wire_next(&in, &of))
			if (prof_is_number(&of, 1))
				id = of.value;
		if (r->shape->id)
			id = prof_ids_find(&r->ids, id);
		if (in.bad || id >= r->functions.len)
			return prof_bad(r->in, line.from, in.bad ? "a line is malformed" :
					"a line has a function that is not there", err);
		*function = (uint32_t)id;
	}
	return 0;
}

/* The frames of a place, or what is known of the address. False: out of memory. */
static bool put_place(struct prof_reader *r, const struct prof_asked *asked, uint32_t module)
{
	struct prof_places *p = r->stacks->places;
	const struct prof_place *of =
		asked->place == PROF_NONE ? NULL : &p->places.data[asked->place];
	const bool missing = asked->mapping != PROF_NONE &&
			     p->mappings.data[asked->mapping].missing != PROF_NONE;
	struct prof_frame f = { .module = module, .unknown = missing ? 2 : 1 };

	if (!of || !of->num) {
		f.name = unknown_text(r->stacks, asked->mapping, asked->address);
		return f.name != PROF_NONE && put_frame(r, &f);
	}
	for (uint32_t i = 0; i < of->num; i++) {
		const struct prof_function *fn =
			&p->functions.data[p->lines.data[of->first + i].function];

		f.name = fn->name ? fn->name : unknown_text(r->stacks, asked->mapping, asked->address);
		f.unknown = fn->name ? 0 : 1;
		f.file = fn->file;
		f.start_line = fn->start_line;
		f.inlined = i + 1 < of->num;
		if (f.name == PROF_NONE || !put_frame(r, &f))
			return false;
	}
	return true;
}

int prof_reader_location(struct prof_reader *r, const struct prof_field *field,
			 const struct prof_asked *asked, struct sc_error *err)
{
	struct prof_places *p = r->stacks->places;
	uint32_t *first = vec_push(&r->first), module = 0;
	int rc;

	if (!first || r->frames.len >= PROF_NONE)
		return sc_no_memory(err);
	*first = (uint32_t)r->frames.len;
	if (asked->mapping != PROF_NONE)
		module = prof_text(p, p->mappings.data[asked->mapping].name.ptr,
				   p->mappings.data[asked->mapping].name.len);
	if (module == PROF_NONE)
		return sc_no_memory(err);
	vec_clear(&r->stacks->stack);
	rc = asked->has_lines && asked->place == PROF_NONE ? read_lines(r, field, err) : 0;
	if (rc)
		return rc;
	for (size_t i = 0; i < r->stacks->stack.len; i++) {
		struct prof_frame f = r->functions.data[r->stacks->stack.data[i]];

		f.module = module;
		f.inlined = i + 1 < r->stacks->stack.len;
		if (!put_frame(r, &f))
			return sc_no_memory(err);
	}
	return r->stacks->stack.len || put_place(r, asked, module) ? 0 : sc_no_memory(err);
}

bool prof_reader_name(struct prof_reader *r, struct sc_str name)
{
	const struct prof_frame f = { .name = prof_text(r->stacks->places, name.ptr, name.len) };
	uint32_t *first = vec_push(&r->first);

	if (!first || f.name == PROF_NONE)
		return false;
	*first = (uint32_t)r->frames.len;
	return put_frame(r, &f);
}

int prof_reader_end(struct prof_reader *r, struct sc_error *err)
{
	uint32_t *last = vec_push(&r->first);

	if (!last)
		return sc_no_memory(err);
	*last = (uint32_t)r->frames.len;
	return 0;
}

bool prof_reader_push(struct prof_reader *r, size_t location)
{
	const uint32_t first = r->first.data[location], n = r->first.data[location + 1] - first;

	if (!vec_reserve(&r->stacks->stack, n))
		return false;
	if (n)
		memcpy(vec_end(&r->stacks->stack), r->frames.data + first, n * sizeof(first));
	r->stacks->stack.len += n;
	return true;
}
