/*
 * page_tree.h: the stacks of a profile as its page has them: functions that are equal but for being
 * inlined, modules, and the tree in preorder, the children of a node by their totals, the largest
 * first. Values below 0 count as 0. Memory: 20 bytes a node, and 36 more while they are sorted.
 */
#ifndef SC_PROFILE_PAGE_TREE_H
#define SC_PROFILE_PAGE_TREE_H

#include "libsymcache/profile/stacks.h"

/* How a function is coloured. */
enum page_kind { KIND_OWN, KIND_SYSTEM, KIND_UNKNOWN = 3 };

/* Frames that are equal but for being inlined. */
struct page_function {
	uint32_t number, frame, module;
	uint32_t until;         /* of the preorder: it is counted up to there */
	uint64_t self, total;   /* of the type that is shown */
	enum page_kind kind;
};

struct page_tree {
	const struct prof_stacks *s;
	const char *const *own;      /* patterns */
	VEC(struct page_function) functions;
	struct sc_intern set;
	VEC(uint32_t) function_of;   /* of each frame */
	VEC(uint32_t) modules;       /* their texts */
	VEC(uint32_t) module_of;     /* of each text, PROF_NONE: not one yet */
	VEC(uint64_t) totals;        /* of each node */
	VEC(uint32_t) sizes;         /* of each node with all below it */
	VEC(uint32_t) order;         /* nodes in preorder */
	VEC(uint32_t) depths;        /* of nodes */
};

/* All zero but for s and own. False: out of memory. */
bool page_tree_make(struct page_tree *t);
void page_tree_deinit(struct page_tree *t);

static inline struct sc_str page_text(const struct page_tree *t, uint32_t text)
{
	return prof_text_of(t->s->places, text);
}

static inline uint64_t page_value(const struct page_tree *t, size_t node, size_t type)
{
	const int64_t v = prof_stacks_value(t->s, node, type);

	return v > 0 ? (uint64_t)v : 0;
}

#endif
