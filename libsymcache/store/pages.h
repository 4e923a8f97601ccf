/*
 * pages.h: looks at the pages of an LMDB file without LMDB.
 *
 * LMDB trusts its file: on a damaged one it may read outside of the map (a
 * SIGBUS) or stop the process by an assertion. So what can be checked cheaply
 * is checked before it opens the file, and all of it when the store is verified.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "symcache/store.h"

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

#endif
