/* Functions, and the tree in preorder: see page_tree.h. */
#include "libsymcache/profile/page_tree.h"

#include <xxhash.h>

#include "libmarkup/bytes/own.h"
#include "libsymcache/base/sort.h"

void page_tree_deinit(struct page_tree *t)
{
	vec_deinit(&t->functions);
	sc_intern_deinit(&t->set);
	vec_deinit(&t->function_of);
	vec_deinit(&t->modules);
	vec_deinit(&t->module_of);
	vec_deinit(&t->totals);
	vec_deinit(&t->sizes);
	vec_deinit(&t->order);
	vec_deinit(&t->depths);
}

/* ---- modules and functions ------------------------------------------------------------------ */

/* The number of a module. PROF_NONE: out of memory, or it has no name. */
static uint32_t module_of(struct page_tree *t, uint32_t text)
{
	uint32_t *number = &t->module_of.data[text], *added;

	if (*number != PROF_NONE || !page_text(t, text).len)
		return *number;
	added = vec_push(&t->modules);
	if (!added)
		return PROF_NONE;
	*added = text;
	return *number = (uint32_t)(t->modules.len - 1);
}

static struct prof_frame outermost(const struct prof_frame *f)
{
	struct prof_frame ret = *f;

	ret.inlined = 0;
	return ret;
}

struct function_key {
	const struct page_tree *t;
	struct prof_frame frame;
};

static bool function_equal(const void *ctx, uint32_t i)
{
	const struct function_key *k = ctx;
	const struct prof_frame of =
		outermost(&k->t->s->frames.data[k->t->functions.data[i].frame]);

	return !memcmp(&of, &k->frame, sizeof(of));
}

static bool add_function(struct page_tree *t, uint32_t frame)
{
	const struct prof_frame *f = &t->s->frames.data[frame];
	struct page_function *fn = vec_push(&t->functions);

	if (!fn)
		return false;
	*fn = (struct page_function){ .number = (uint32_t)t->functions.len, .frame = frame,
				 .module = module_of(t, f->module) };
	fn->kind = f->unknown ? KIND_UNKNOWN :
		   mk_is_own(t->own, mk_own_module(t->own, page_text(t, f->module)),
			     mk_own_place(t->own, page_text(t, f->name), page_text(t, f->file))) ?
			KIND_OWN : KIND_SYSTEM;
	return true;
}

/* Functions have numbers from 1 on in the page: 0 stands for the whole. */
static bool find_functions(struct page_tree *t)
{
	const size_t frames = t->s->frames.len, texts = t->s->places->texts.list.len;

	if (!vec_reserve(&t->function_of, frames) || !vec_reserve(&t->module_of, texts))
		return false;
	memset(t->module_of.data, 0xff, texts * sizeof(*t->module_of.data));
	for (uint32_t i = 0; i < frames; i++) {
		const struct function_key key = { t, outermost(&t->s->frames.data[i]) };
		uint32_t *slot = sc_intern_find(&t->set, XXH3_64bits(&key.frame, sizeof(key.frame)),
						function_equal, &key);

		if (!slot || (*slot == SC_INTERN_NEW && !add_function(t, i)))
			return false;
		if (*slot == SC_INTERN_NEW)
			*slot = (uint32_t)(t->functions.len - 1);
		t->function_of.data[i] = *slot;
	}
	return true;
}

/* ---- the tree --------------------------------------------------------------------------------- */

struct child {
	uint32_t parent, node;
	uint64_t total;
	struct sc_str name;
};

static inline bool child_before(const struct child *a, const struct child *b)
{
	int order;

	if (a->parent != b->parent || a->total != b->total)
		return a->parent != b->parent ? a->parent < b->parent : a->total > b->total;
	order = memcmp(a->name.ptr, b->name.ptr, a->name.len < b->name.len ? a->name.len : b->name.len);
	return order ? order < 0 : a->name.len != b->name.len ? a->name.len < b->name.len :
		       a->node < b->node;
}

SC_SORT(sort_children, struct child, child_before)

/* Totals, and how many nodes are in each subtree. Children have larger numbers than their parents. */
static void add_up(struct page_tree *t)
{
	const size_t n = t->s->nodes.len;

	for (size_t i = 0; i < n; i++) {
		t->totals.data[i] = page_value(t, i, t->s->chosen);
		t->sizes.data[i] = 1;
	}
	for (size_t i = n; i-- > 1;) {
		const uint32_t parent = t->s->nodes.data[i].parent;
		uint64_t *to = &t->totals.data[parent];

		*to = *to + t->totals.data[i] < *to ? UINT64_MAX : *to + t->totals.data[i];
		t->sizes.data[parent] += t->sizes.data[i];
	}
}

/* Nodes in preorder: where a node's parent is, is known before. */
static bool put_in_order(struct page_tree *t)
{
	const size_t n = t->s->nodes.len;
	VEC(struct child) children = { 0 };
	VEC(uint32_t) next = { 0 }; /* of each node: where its next child goes */
	bool ok = vec_reserve(&children, n) && vec_reserve(&next, n) && vec_reserve(&t->totals, n) &&
		  vec_reserve(&t->sizes, n) && vec_reserve(&t->order, n) && vec_reserve(&t->depths, n);

	if (ok && n) {
		add_up(t);
		for (uint32_t i = 1; i < n; i++) {
			const struct prof_node *of = &t->s->nodes.data[i];

			children.data[i - 1] = (struct child){ of->parent, i, t->totals.data[i],
				page_text(t, t->s->frames.data[of->frame].name) };
		}
		ok = sort_children(children.data, n - 1);
		t->order.data[0] = t->depths.data[0] = 0;
		next.data[0] = 1;
	}
	for (size_t i = 0; ok && i + 1 < n; i++) {
		const struct child *c = &children.data[i];
		const uint32_t at = next.data[c->parent];

		t->order.data[at] = c->node;
		t->depths.data[c->node] = t->depths.data[c->parent] + 1;
		next.data[c->node] = at + 1;
		next.data[c->parent] = at + t->sizes.data[c->node];
	}
	vec_deinit(&children);
	vec_deinit(&next);
	return ok;
}

/* What functions have, each place of a stack once. */
static void count_functions(struct page_tree *t)
{
	for (uint32_t i = 1; i < t->s->nodes.len; i++) {
		const uint32_t node = t->order.data[i];
		struct page_function *f = &t->functions.data[
			t->function_of.data[t->s->nodes.data[node].frame]];

		f->self += page_value(t, node, t->s->chosen);
		if (i < f->until)
			continue;
		f->total += t->totals.data[node];
		f->until = i + t->sizes.data[node];
	}
}

bool page_tree_make(struct page_tree *t)
{
	if (!find_functions(t) || !put_in_order(t))
		return false;
	count_functions(t);
	return true;
}
