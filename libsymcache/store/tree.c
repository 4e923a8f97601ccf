/* Trees of a snapshot, read with care: see pages.h; pages.c has a picture of a page. */
#include "libsymcache/store/pages.h"

#include <string.h>

/* The page, if it is one of the snapshot and of this type, with valid bounds. */
static const uint8_t *page_at(const struct symstore_view *v, size_t page, unsigned type,
			      struct symstore_page *head)
{
	const uint8_t *p;

	if (page < 2 || page > v->last_page || page >= v->pages)
		return NULL;
	p = v->file + page * v->page_size;
	memcpy(head, p, sizeof(*head));
	return head->pgno == page && head->flags == type ? p : NULL;
}

/* Puts a page on level `level` of the stack (0: the leaf), at its first node. */
static int enter(struct symstore_walk *w, unsigned level, size_t page)
{
	const unsigned type = level ? SYMSTORE_PAGE_BRANCH : SYMSTORE_PAGE_LEAF;
	struct symstore_page head;
	const uint8_t *p = page_at(&w->view, page, type, &head);

	if (!p || head.u.free.lower <= sizeof(head) || head.u.free.lower > head.u.free.upper ||
	    head.u.free.upper > w->view.page_size || head.u.free.lower % 2)
		return SC_EFORMAT;
	w->stack[level].page = p;
	w->stack[level].at = 0;
	w->stack[level].nodes = (head.u.free.lower - sizeof(head)) / 2;
	return 0;
}

static bool node_at(const struct symstore_walk *w, unsigned level, size_t i,
		    struct symstore_node *node, struct symstore_bytes *key, size_t *room)
{
	return symstore_node_at(w->stack[level].page, w->view.page_size, i, node, key, room);
}

/* Descends from `level` by `key`, or to the left if that has no data. */
static int descend(struct symstore_walk *w, unsigned level, struct symstore_bytes key)
{
	for (;; level--) {
		/* A leaf: the first node that is not below; a branch: the last that is not
		 * above. Its first key is not used: it stands for the least of all. */
		size_t low = level > 0, high = w->stack[level].nodes, room;
		struct symstore_node node;
		struct symstore_bytes at;
		int rc;

		while (key.data && low < high) {
			size_t mid = low + (high - low) / 2;

			if (!node_at(w, level, mid, &node, &at, &room))
				return SC_EFORMAT;
			rc = symstore_key_compare(at, key, w->integer);
			if (rc < 0 || (level && !rc))
				low = mid + 1;
			else
				high = mid;
		}
		w->stack[level].at = level ? low - 1 : low;
		if (!level)
			return 0;
		if (!node_at(w, level, w->stack[level].at, &node, &at, &room))
			return SC_EFORMAT;
		if ((rc = enter(w, level - 1, symstore_node_child(&node))))
			return rc;
	}
}

/* The value on overflow pages that `data` names. */
static int big_value(const struct symstore_view *v, const uint8_t *data, size_t size,
		     struct symstore_bytes *ret)
{
	struct symstore_page head;
	const uint8_t *p;
	size_t first;

	memcpy(&first, data, sizeof(first));
	p = page_at(v, first, SYMSTORE_PAGE_OVERFLOW, &head);
	if (!p || head.u.pages < (sizeof(head) - 1 + size) / v->page_size + 1 ||
	    head.u.pages > v->last_page - first + 1 || head.u.pages > v->pages - first)
		return SC_EFORMAT;
	*ret = (struct symstore_bytes){ p + sizeof(head), size };
	return 0;
}

/* Takes key and value where the stack stands, going on to the next leaf first if this
 * one is at its end. */
static int take(struct symstore_walk *w)
{
	const struct symstore_bytes before = w->key;
	struct symstore_node node;
	size_t room, size;
	unsigned level = 0;
	int rc;

	while (w->stack[level].at >= w->stack[level].nodes) {
		if (++level == w->depth)
			return SC_ENOTFOUND;
		w->stack[level].at++;
	}
	for (; level; level--) {
		if (!node_at(w, level, w->stack[level].at, &node, &w->key, &room))
			return SC_EFORMAT;
		if ((rc = enter(w, level - 1, symstore_node_child(&node))))
			return rc;
	}
	if (!node_at(w, 0, w->stack[0].at, &node, &w->key, &room) ||
	    (before.data && symstore_key_compare(w->key, before, w->integer) <= 0))
		return SC_EFORMAT;
	size = symstore_node_size(&node);
	if ((node.flags & SYMSTORE_NODE_BIG ? sizeof(size_t) : size) > room)
		return SC_EFORMAT;
	w->flags = node.flags;
	w->value = (struct symstore_bytes){ w->key.data + w->key.size, size };
	return node.flags & SYMSTORE_NODE_BIG ? big_value(&w->view, w->value.data, size, &w->value)
					      : 0;
}

int symstore_seek(struct symstore_walk *w, const struct symstore_view *view,
		  const struct symstore_tree *tree, bool integer, struct symstore_bytes key)
{
	w->view = *view;
	w->integer = integer;
	w->depth = tree->root == SIZE_MAX ? 0 : tree->depth;
	w->key = (struct symstore_bytes){ 0 };
	if (!w->depth)
		return tree->root == SIZE_MAX ? SC_ENOTFOUND : SC_EFORMAT;
	if (w->depth > SYMSTORE_MAX_DEPTH || enter(w, w->depth - 1, tree->root) ||
	    descend(w, w->depth - 1, key))
		return SC_EFORMAT;
	return take(w);
}

int symstore_next(struct symstore_walk *w)
{
	w->stack[0].at++;
	return take(w);
}

/* To that key alone. */
static int find(struct symstore_walk *w, const struct symstore_view *view,
		const struct symstore_tree *tree, const void *key, size_t size)
{
	int rc = symstore_seek(w, view, tree, false, (struct symstore_bytes){ key, size });

	return !rc && (w->key.size != size || memcmp(w->key.data, key, size)) ? SC_ENOTFOUND : rc;
}

int symstore_find(const struct symstore_view *view, const struct symstore_tree *tree,
		  const void *key, size_t size, struct symstore_bytes *ret)
{
	struct symstore_walk walk;
	int rc = find(&walk, view, tree, key, size);

	if (!rc)
		*ret = walk.value;
	return rc;
}

int symstore_find_tree(const struct symstore_view *view, const struct symstore_tree *main,
		       const char *name, struct symstore_tree *ret)
{
	struct symstore_walk walk;
	int rc = find(&walk, view, main, name, strlen(name));

	if (!rc && (walk.flags != SYMSTORE_NODE_TREE || walk.value.size != sizeof(*ret)))
		return SC_EFORMAT;
	if (!rc)
		memcpy(ret, walk.value.data, sizeof(*ret));
	return rc;
}
