/*
 * pages.h: looks at the pages of an LMDB file without LMDB, and reads its trees.
 *
 * LMDB trusts its file: on a damaged one it may read outside of the map (a
 * SIGBUS) or stop the process by an assertion. So what can be checked cheaply
 * is checked before it opens the file, and all of it when the store is verified.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "libsymcache/store/store.h"

/* A B-tree of the file. */
struct symstore_tree {
	uint32_t pad;
	uint16_t flags;
	uint16_t depth;
	size_t branch_pages, leaf_pages, overflow_pages;
	size_t entries;
	size_t root;          /* SIZE_MAX: empty */
};

/* One snapshot of a file, from one of its two meta pages. */
struct symstore_snapshot {
	size_t page_size;
	size_t last_page;
	size_t txn;
	uint64_t file_size; /* bytes, after it was read */
	struct symstore_tree trees[2]; /* free pages; main */
};

enum {
	SYMSTORE_PAGE_BRANCH = 0x01, SYMSTORE_PAGE_LEAF = 0x02, SYMSTORE_PAGE_OVERFLOW = 0x04,
	SYMSTORE_PAGE_META = 0x08,
	SYMSTORE_MAX_DEPTH = 32, /* LMDB's cursors have no more */
};

/* The header of LMDB's pages. */
struct symstore_page {
	size_t pgno;
	uint16_t pad, flags;
	union {
		struct { uint16_t lower, upper; } free;
		uint32_t pages; /* overflow: how many */
	} u;
};
_Static_assert(sizeof(struct symstore_page) == 8 + sizeof(size_t), "page");

/* What stands on a branch or leaf page; a branch's holds the child's number in lo, hi
 * and flags. */
struct symstore_node {
	uint16_t lo, hi; /* size of the value; swapped on big-endian machines */
	uint16_t flags, key_size;
};

enum {
	SYMSTORE_NODE_BIG = 0x01, SYMSTORE_NODE_TREE = 0x02,
	SYMSTORE_NODE_HEADER = 8,
};
_Static_assert(sizeof(struct symstore_node) == SYMSTORE_NODE_HEADER, "node");

static inline size_t symstore_node_size(const struct symstore_node *n)
{
	return n->lo | (size_t)n->hi << 16;
}

static inline size_t symstore_node_child(const struct symstore_node *n)
{
	return symstore_node_size(n) + (sizeof(size_t) > 4 ? (size_t)n->flags << 16 << 16 : 0);
}

/* A key, or a value. */
struct symstore_bytes {
	const uint8_t *data; /* NULL: none */
	size_t size;
};

/* The order of LMDB's keys: as bytes, or, in the tree of free pages, as size_t. */
int symstore_key_compare(struct symstore_bytes a, struct symstore_bytes b, bool integer);

/* Node `i` of the page at `p`, its key, and the number of bytes behind the key; false:
 * it does not lie within the page. */
bool symstore_node_at(const uint8_t *p, size_t page_size, size_t i, struct symstore_node *ret,
		      struct symstore_bytes *key, size_t *room);

/* Where faults go. */
struct symstore_report {
	symcache_fault_fn *fn;
	void *ctx;
	size_t faults;
	bool stop;            /* fn has heard enough */
	bool no_memory;       /* nothing can be said */
	bool failed;          /* a system call did, which is no fault of the file's */
};
void symstore_fault(struct symstore_report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

enum { SYMSTORE_ANY_TXN = 0 };

/*
 * Reads the newest snapshot of the file open as `fd`, or that of transaction
 * `txn`. SC_EFORMAT: not an LMDB file, or damaged; SC_EUNSUPPORTED: an LMDB
 * file of another kind of machine or version; SC_ENOTFOUND: `txn` is neither
 * of the two; SC_ESYS.
 */
int symstore_snapshot_read(int fd, size_t txn, struct symstore_snapshot *ret,
			   struct sc_error *err);

/*
 * Walks all pages of the snapshot in file[0, size): each within the file, used
 * once, of the right type and depth, with keys in order. Cost: the index pages,
 * a bit per page of memory.
 */
void symstore_snapshot_check(const uint8_t *file, size_t size,
			     const struct symstore_snapshot *snapshot,
			     struct symstore_report *report);

/* ---- tree.c: reading, with care ----
 * Whatever the bytes of the file are, nothing outside of it is read, and every walk
 * ends: pages are looked at before they are used, and keys must ascend. */

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
