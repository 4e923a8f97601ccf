/*
 * tree.h: reads the trees of a snapshot without LMDB, which trusts them.
 *
 * Whatever the bytes of the file are, nothing outside of it is read, and every walk
 * ends: pages are looked at before they are used, and keys must ascend.
 */
#ifndef STORE_TREE_H
#define STORE_TREE_H

#include "libsymcache/store/pages.h"

/* The mapped file, as far as it is there. */
struct symstore_view {
	const uint8_t *file;
	size_t pages;           /* whole pages that may be touched */
	size_t page_size;
	size_t last_page;       /* of the snapshot */
};

/* A place in a tree. */
struct symstore_walk {
	struct symstore_view view;
	bool integer;           /* keys are transaction numbers: the tree of free pages */
	unsigned depth;         /* of the tree; 0: it is empty */
	struct { const uint8_t *page; size_t at, nodes; } stack[SYMSTORE_MAX_DEPTH];
	struct symstore_bytes key, value;
	uint16_t flags;         /* SYMSTORE_NODE_… of the value */
};

/*
 * Goes to the first key that is not below `key` (data NULL: to the first of all), and
 * on to the next one. 0: the walk has key and value; SC_ENOTFOUND: no more;
 * SC_EFORMAT: damaged.
 */
int symstore_seek(struct symstore_walk *walk, const struct symstore_view *view,
		  const struct symstore_tree *tree, bool integer, struct symstore_bytes key);
int symstore_next(struct symstore_walk *walk);

/* The value of a key; codes as above. */
int symstore_find(const struct symstore_view *view, const struct symstore_tree *tree,
		  const void *key, size_t size, struct symstore_bytes *ret);

/* The tree named so in the main tree. */
int symstore_find_tree(const struct symstore_view *view, const struct symstore_tree *main,
		       const char *name, struct symstore_tree *ret);

#endif
