/*
 * The pages of an LMDB 0.9 file (data version 1): see pages.h.
 *
 * From a snapshot (snapshot.c) hang two B-trees: the free pages, by the
 * transaction that freed them, and the main tree, whose leaves hold the roots of
 * the named ones. Integers are the writer's own: size_t is the page number. A
 * page:
 *
 *   | header 16 | offsets of nodes, u16 … lower|  free  |upper … nodes |
 *
 * Values that do not fit a leaf lie on runs of overflow pages, with one header.
 * Each page up to the last is used by one tree or is free; that LMDB itself
 * says so lets us find pages used twice. The walk reads nothing outside of
 * file[0, size) whatever the bytes are, and each page once, so it ends.
 */
#include "libsymcache/store/pages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	const uint8_t *file;
	size_t pages;          /* whole pages in the file */
	const struct symstore_snapshot *snapshot;
	uint8_t *seen;         /* a bit per page: used, or free */
	struct symstore_report *report;
	bool free_tree;        /* keys are transaction numbers */
	size_t entries;        /* in the current tree */
	struct symstore_tree named[16]; /* found in the main tree */
	size_t num_named;
};

#define fault(w, ...) symstore_fault((w)->report, __VA_ARGS__)

static bool claim(struct walk *w, size_t page, const char *what)
{
	if (page < 2 || page > w->snapshot->last_page) {
		fault(w, "page %zu (%s) is outside of the store's %zu pages", page, what,
		      w->snapshot->last_page + 1);
		return false;
	}
	if (w->seen[page / 8] >> page % 8 & 1) {
		fault(w, "page %zu (%s) is used twice", page, what);
		return false;
	}
	w->seen[page / 8] |= (uint8_t)(1 << page % 8);
	return true;
}

/* The page's bytes, if it is a page of the file that has no other use. */
static const uint8_t *page_at(struct walk *w, size_t page, const char *what,
			      struct symstore_page *ret)
{
	const uint8_t *p;

	if (!claim(w, page, what))
		return NULL;
	if (page >= w->pages) {
		fault(w, "page %zu (%s) lies past the end of the file, which is cut off at %zu pages",
		      page, what, w->pages);
		return NULL;
	}
	p = w->file + page * w->snapshot->page_size;
	memcpy(ret, p, sizeof(*ret));
	if (ret->pgno != page) {
		fault(w, "page %zu (%s) says it is page %zu", page, what, ret->pgno);
		return NULL;
	}
	return p;
}

int symstore_key_compare(struct symstore_bytes a, struct symstore_bytes b, bool integer)
{
	size_t n = a.size < b.size ? a.size : b.size, x, y;
	int c;

	if (integer && a.size == sizeof(x) && b.size == sizeof(y)) {
		memcpy(&x, a.data, sizeof(x));
		memcpy(&y, b.data, sizeof(y));
		return (x > y) - (x < y);
	}
	c = memcmp(a.data, b.data, n);
	return c ? c : (a.size > b.size) - (a.size < b.size);
}

/* Claims the run of overflow pages that holds `size` bytes; gives its data. */
static const uint8_t *overflow(struct walk *w, size_t first, size_t size)
{
	struct symstore_page h;
	size_t want = (sizeof(h) - 1 + size) / w->snapshot->page_size + 1;
	const uint8_t *p = page_at(w, first, "value", &h);

	if (!p)
		return NULL;
	if (h.flags != SYMSTORE_PAGE_OVERFLOW || h.u.pages < want) {
		fault(w, "page %zu should begin a value of %zu pages; it has type %#x and %u pages",
		      first, want, h.flags, h.u.pages);
		return NULL;
	}
	if (h.u.pages > w->snapshot->last_page - first + 1 || h.u.pages > w->pages - first) {
		fault(w, "the value of %u pages at page %zu lies past the end of the file",
		      h.u.pages, first);
		return NULL;
	}
	for (size_t i = 1; i < h.u.pages; i++)
		if (!claim(w, first + i, "value"))
			return NULL;
	return p + sizeof(h);
}

/* A record of free pages: their number, then they, in descending order. */
static void free_pages(struct walk *w, size_t page, const uint8_t *data, size_t size)
{
	size_t n = 0, last = SIZE_MAX, p;

	if (size >= sizeof(n))
		memcpy(&n, data, sizeof(n));
	if (size < sizeof(n) || n > size / sizeof(n) - 1) {
		fault(w, "page %zu: a list of %zu free pages in %zu bytes", page, n, size);
		return;
	}
	for (size_t i = 1; i <= n && !w->report->stop; i++) {
		memcpy(&p, data + i * sizeof(p), sizeof(p));
		if (p >= last)
			fault(w, "page %zu: the list of free pages is not in order", page);
		last = p;
		claim(w, p, "free");
	}
}

static void leaf_node(struct walk *w, size_t page, const struct symstore_node *node,
		      const uint8_t *data, size_t room)
{
	size_t size = symstore_node_size(node), first;
	bool named = node->flags & SYMSTORE_NODE_TREE;

	w->entries++;
	if (node->flags & ~(SYMSTORE_NODE_BIG | SYMSTORE_NODE_TREE) ||
	    (named && size != sizeof(*w->named))) {
		fault(w, "page %zu: a node of unknown kind %#x", page, node->flags);
		return;
	}
	if ((node->flags & SYMSTORE_NODE_BIG ? sizeof(first) : size) > room) {
		fault(w, "page %zu: a value of %zu bytes leaves the page", page, size);
		return;
	}
	if (node->flags & SYMSTORE_NODE_BIG) {
		memcpy(&first, data, sizeof(first));
		data = overflow(w, first, size);
	}
	if (data && w->free_tree)
		free_pages(w, page, data, size);
	if (data && named && w->num_named == sizeof(w->named) / sizeof(*w->named))
		fault(w, "page %zu: more named trees than a store has", page);
	else if (data && named)
		memcpy(&w->named[w->num_named++], data, sizeof(*w->named));
}

bool symstore_node_at(const uint8_t *p, size_t page_size, size_t i, struct symstore_node *ret,
		      struct symstore_bytes *key, size_t *room)
{
	uint16_t offset;

	memcpy(&offset, p + sizeof(struct symstore_page) + 2 * i, sizeof(offset));
	if (offset > page_size - SYMSTORE_NODE_HEADER)
		return false;
	memcpy(ret, p + offset, sizeof(*ret));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	*ret = (struct symstore_node){ ret->hi, ret->lo, ret->flags, ret->key_size };
#endif
	*key = (struct symstore_bytes){ p + offset + SYMSTORE_NODE_HEADER, ret->key_size };
	*room = page_size - SYMSTORE_NODE_HEADER - offset;
	if (ret->key_size > *room)
		return false;
	*room -= ret->key_size;
	return true;
}

/* Checks a page of a tree and what hangs from it. Its keys are in [low, high). */
static void tree_page(struct walk *w, size_t page, unsigned depth, struct symstore_bytes low,
		      struct symstore_bytes high)
{
	struct symstore_page h;
	const uint8_t *p = page_at(w, page, "index", &h);
	const size_t page_size = w->snapshot->page_size;
	unsigned want = depth == 1 ? SYMSTORE_PAGE_LEAF : SYMSTORE_PAGE_BRANCH;
	size_t n;

	if (!p)
		return;
	if (h.flags != want) {
		fault(w, "page %zu has type %#x, not %#x", page, h.flags, want);
		return;
	}
	if (h.u.free.lower < sizeof(h) || h.u.free.lower > h.u.free.upper ||
	    h.u.free.upper > page_size || h.u.free.lower % 2) {
		fault(w, "page %zu: free space from %u to %u", page, h.u.free.lower,
		      h.u.free.upper);
		return;
	}
	n = (h.u.free.lower - sizeof(h)) / 2;
	if (!n || (want == SYMSTORE_PAGE_BRANCH && n < 2 && !w->free_tree))
		fault(w, "page %zu has only %zu nodes", page, n);
	for (size_t i = 0; i < n && !w->report->stop; i++) {
		struct symstore_node node, after;
		struct symstore_bytes key, next;
		size_t room, room_after;

		if (!symstore_node_at(p, page_size, i, &node, &key, &room) ||
		    (w->free_tree && want == SYMSTORE_PAGE_LEAF && key.size != sizeof(size_t))) {
			fault(w, "page %zu: node %zu leaves the page", page, i);
			return;
		}
		/* The first key of a branch page is not used: it stands for `low`. */
		if (want == SYMSTORE_PAGE_BRANCH && i == 0)
			key = low;
		else if (low.data && symstore_key_compare(key, low, w->free_tree) < (i > 0))
			fault(w, "page %zu: key %zu is not in order", page, i);
		if (high.data && key.data && symstore_key_compare(key, high, w->free_tree) >= 0)
			fault(w, "page %zu: key %zu is not below the next page's", page, i);
		low = key;
		if (want == SYMSTORE_PAGE_LEAF) {
			leaf_node(w, page, &node, key.data + key.size, room);
			continue;
		}
		if (i + 1 == n ||
		    !symstore_node_at(p, page_size, i + 1, &after, &next, &room_after))
			next = high;
		tree_page(w, symstore_node_child(&node), depth - 1, key, next);
	}
}

static void tree(struct walk *w, const struct symstore_tree *t, const char *name)
{
	w->entries = 0;
	if (t->root != SIZE_MAX) {
		if (!t->depth || t->depth > SYMSTORE_MAX_DEPTH) {
			fault(w, "the %s tree has depth %u", name, t->depth);
			return;
		}
		tree_page(w, t->root, t->depth, (struct symstore_bytes){ 0 },
			  (struct symstore_bytes){ 0 });
	}
	if (!w->report->stop && w->entries != t->entries)
		fault(w, "the %s tree has %zu entries, not %zu", name, w->entries, t->entries);
}

void symstore_snapshot_check(const uint8_t *file, size_t size,
			     const struct symstore_snapshot *snapshot,
			     struct symstore_report *report)
{
	struct walk w = {
		.file = file, .pages = size / snapshot->page_size, .snapshot = snapshot,
		.report = report, .free_tree = true,
	};

	w.seen = calloc(snapshot->last_page / 8 + 1, 1);
	if (!w.seen) {
		report->no_memory = report->stop = true;
		return;
	}
	tree(&w, &snapshot->trees[0], "free");
	w.free_tree = false;
	tree(&w, &snapshot->trees[1], "main");
	for (size_t i = 0; i < w.num_named && !report->stop; i++) {
		size_t before = w.num_named;

		tree(&w, &w.named[i], "named");
		if (w.num_named != before)
			fault(&w, "a tree within a named tree");
		w.num_named = before;
	}
	free(w.seen);
}

void symstore_fault(struct symstore_report *report, const char *fmt, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report->faults++;
	if (!report->stop && !report->fn(report->ctx, text))
		report->stop = true;
}
