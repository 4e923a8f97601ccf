/* The stacks of a profile as a tree: see stacks.h. */
#include "libsymcache/profile/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

bool prof_stacks_begin(struct prof_stacks *s, struct prof_places *p)
{
	struct prof_node *root;

	s->places = p;
	vec_clear(&s->nodes);
	vec_clear(&s->frames);
	vec_clear(&s->stack);
	sc_intern_clear(&s->node_set);
	sc_intern_clear(&s->frame_set);
	s->type = s->unit = prof_text(p, "", 0);
	root = vec_push(&s->nodes);
	if (root)
		root->frame = root->parent = PROF_NONE;
	return root && s->type != PROF_NONE;
}

void prof_stacks_deinit(struct prof_stacks *s)
{
	vec_deinit(&s->nodes);
	vec_deinit(&s->frames);
	vec_deinit(&s->stack);
	sc_intern_deinit(&s->node_set);
	sc_intern_deinit(&s->frame_set);
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

bool prof_stacks_add(struct prof_stacks *s, int64_t value)
{
	uint32_t at = 0;

	for (size_t i = s->stack.len; i--;) {
		const struct node_key key = { s, s->stack.data[i], at };
		uint32_t *slot = sc_intern_find(&s->node_set, prof_hash((uint32_t[]){ key.frame, at }, 8),
						node_equal, &key);
		struct prof_node *n;

		if (!slot)
			return false;
		if (*slot == SC_INTERN_NEW) {
			n = s->nodes.len < PROF_NONE ? vec_push(&s->nodes) : NULL;
			if (!n)
				return false;
			*n = (struct prof_node){ key.frame, at, 0 };
			*slot = (uint32_t)(s->nodes.len - 1);
		}
		at = *slot;
	}
	/* Sums of hostile numbers wrap around. */
	s->nodes.data[at].value = (int64_t)((uint64_t)s->nodes.data[at].value + (uint64_t)value);
	return true;
}

/* ---- locations ------------------------------------------------------------------------------ */

/* The text of an address of which nothing is known. */
static uint32_t unknown_text(struct prof_places *p, uint32_t mapping, uint64_t address)
{
	const struct prof_mapping *m = mapping == PROF_NONE ? NULL : &p->mappings.data[mapping];
	const struct sc_str path = m ? m->name : (struct sc_str){ NULL, 0 };
	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
	const char *base = slash ? slash + 1 : path.ptr;
	const int len = path.len ? (int)(path.ptr + path.len - base) & 0xff : 0;
	char text[300];
	uint64_t vaddr;
	int size;

	if (len && m->module != PROF_NONE && prof_vaddr(p, m, address, &vaddr))
		size = snprintf(text, sizeof(text), "%.*s+0x%" PRIx64, len, base, vaddr);
	else if (len)
		size = snprintf(text, sizeof(text), "[%.*s] 0x%" PRIx64, len, base, address);
	else
		size = snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return prof_text(p, text, (size_t)size);
}

bool prof_stacks_put(struct prof_stacks *s, const struct prof_frame *f, struct prof_frame_list *to)
{
	const uint32_t number = frame_number(s, f);
	uint32_t *added = vec_push(&to->frames);

	if (number == PROF_NONE || !added)
		return false;
	*added = number;
	return true;
}

bool prof_stacks_location(struct prof_stacks *s, uint32_t mapping, uint32_t place,
			  uint64_t address, struct prof_frame_list *to)
{
	struct prof_places *p = s->places;
	const struct prof_place *of = place == PROF_NONE ? NULL : &p->places.data[place];
	struct prof_frame f = { .unknown = 1 };

	if (mapping != PROF_NONE)
		f.module = prof_text(p, p->mappings.data[mapping].name.ptr,
				     p->mappings.data[mapping].name.len);
	if (!of || !of->num) {
		f.name = unknown_text(p, mapping, address);
		return f.name != PROF_NONE && f.module != PROF_NONE && prof_stacks_put(s, &f, to);
	}
	for (uint32_t i = 0; i < of->num; i++) {
		const struct prof_function *fn =
			&p->functions.data[p->lines.data[of->first + i].function];

		f.name = fn->name ? fn->name : unknown_text(p, mapping, address);
		f.unknown = !fn->name;
		f.file = fn->file;
		f.start_line = fn->start_line;
		f.inlined = i + 1 < of->num;
		if (f.name == PROF_NONE || f.module == PROF_NONE || !prof_stacks_put(s, &f, to))
			return false;
	}
	return true;
}
