/*
 * A small file made by hand, and the same with one field changed: what the check says of it, and
 * what reading its tree gives. Of pages of 2 KiB:
 *
 *   2  main tree: "t" → the tree at 3             8  free pages: 15, 14
 *   3  branch: 10, from "t" on 11                10  branch: 4, from "m" on 5
 *   4  leaf: "c", "g"    5  leaf: "m"            11  branch: 9, from "y" on 13
 *   9  leaf: "t", "x" (3000 bytes, on 6 and 7)   13  leaf: "y", "z"
 *  12  a value of 2032 bytes: all of a page, of "z"
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/store/pages.h"

enum { SIZE = 2048, PAGES = 16, LEAF = SYMSTORE_PAGE_LEAF, BRANCH = SYMSTORE_PAGE_BRANCH };

static uint8_t file[PAGES * SIZE];
static struct symstore_snapshot snapshot;

static struct symstore_page *head_of(size_t page)
{
	return (struct symstore_page *)&file[page * SIZE];
}

static uint8_t *node_of(size_t page, size_t i)
{
	uint16_t at;

	memcpy(&at, &file[page * SIZE + sizeof(struct symstore_page) + 2 * i], sizeof(at));
	return &file[page * SIZE + at];
}

static void start_page(size_t page, uint16_t flags)
{
	*head_of(page) = (struct symstore_page){ .pgno = page, .flags = flags,
						 .u.free = { sizeof(struct symstore_page), SIZE } };
}

/* Adds a node behind the others; `size` is what it says of its value, or the child's page. */
static void add(size_t page, const char *key, size_t key_size, uint16_t flags, size_t size,
		const void *value, size_t stored)
{
	struct symstore_page *head = head_of(page);
	const struct symstore_node node = { (uint16_t)size, (uint16_t)(size >> 16), flags,
					    (uint16_t)key_size };
	const size_t all = (sizeof(node) + key_size + stored + 1) & ~(size_t)1;
	uint8_t *at;

	head->u.free.upper = (uint16_t)(head->u.free.upper - all);
	memcpy(&file[page * SIZE + head->u.free.lower], &head->u.free.upper, 2);
	head->u.free.lower += 2;
	at = &file[page * SIZE + head->u.free.upper];
	memcpy(at, &node, sizeof(node));
	memcpy(at + sizeof(node), key, key_size);
	if (stored)
		memcpy(at + sizeof(node) + key_size, value, stored);
}

static void leaf(size_t page, const char *key, const char *value)
{
	add(page, key, strlen(key), 0, strlen(value), value, strlen(value));
}

static void big(size_t page, const char *key, size_t size, size_t first, uint32_t pages)
{
	add(page, key, strlen(key), SYMSTORE_NODE_BIG, size, &first, sizeof(first));
	*head_of(first) = (struct symstore_page){ .pgno = first, .flags = SYMSTORE_PAGE_OVERFLOW,
						  .u.pages = pages };
}

static void make(void)
{
	const struct symstore_tree named = { .depth = 3, .entries = 7, .root = 3 };
	const size_t first_txn = 1, list[] = { 2, 15, 14 };
	static const struct { size_t page; const char *key; size_t child; } branches[] = {
		{ 3, "", 10 }, { 3, "t", 11 }, { 10, "", 4 }, { 10, "m", 5 }, { 11, "", 9 }, { 11, "y", 13 },
	};

	memset(file, 0, sizeof(file));
	start_page(2, LEAF);
	add(2, "t", 1, SYMSTORE_NODE_TREE, sizeof(named), &named, sizeof(named));
	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++) {
		if (!*branches[i].key)
			start_page(branches[i].page, BRANCH);
		add(branches[i].page, branches[i].key, strlen(branches[i].key), 0, branches[i].child,
		    NULL, 0);
	}
	start_page(4, LEAF);
	leaf(4, "c", "1");
	leaf(4, "g", "22");
	start_page(5, LEAF);
	leaf(5, "m", "333");
	start_page(8, LEAF);
	add(8, (const char *)&first_txn, sizeof(first_txn), 0, sizeof(list), list, sizeof(list));
	start_page(9, LEAF);
	leaf(9, "t", "");
	big(9, "x", 3000, 6, 2);
	start_page(13, LEAF);
	leaf(13, "y", "4");
	big(13, "z", SIZE - sizeof(struct symstore_page), 12, 1);
	snapshot = (struct symstore_snapshot){
		.page_size = SIZE, .last_page = PAGES - 1,
		.trees = { { .depth = 1, .entries = 1, .root = 8 }, { .depth = 1, .entries = 1, .root = 2 } },
	};
}

struct text {
	char buf[600];
	size_t len;
};

static bool on_fault(void *ctx, const char *fault)
{
	struct text *t = ctx;

	t->len += (size_t)snprintf(t->buf + t->len, sizeof(t->buf) - t->len, "%s; ", fault);
	return true;
}

/* Faults, then what a walk over the tree gives: keys and sizes of values, and how it ends; and of
 * which keys a look-up finds it. */
static void answers(size_t size, struct text *t)
{
	struct symstore_report report = { .fn = on_fault, .ctx = t };
	const struct symstore_view view = { file, size / SIZE, SIZE, snapshot.last_page };
	struct symstore_bytes value;
	struct symstore_tree tree;
	struct symstore_walk walk;
	int rc;

	symstore_snapshot_check(file, size, &snapshot, &report);
	t->len += (size_t)snprintf(t->buf + t->len, sizeof(t->buf) - t->len, "%zu:", report.faults);
	if ((rc = symstore_find_tree(&view, &snapshot.trees[1], "t", &tree))) {
		snprintf(t->buf + t->len, sizeof(t->buf) - t->len, " tree %d", rc);
		return;
	}
	for (rc = symstore_seek(&walk, &view, &tree, false, (struct symstore_bytes){ 0 }); !rc;
	     rc = symstore_next(&walk))
		t->len += (size_t)snprintf(t->buf + t->len, sizeof(t->buf) - t->len, " %.*s=%zu",
					   (int)walk.key.size, (const char *)walk.key.data, walk.value.size);
	t->len += (size_t)snprintf(t->buf + t->len, sizeof(t->buf) - t->len, " %d ", rc);
	for (const char *key = "acgmntxyz"; *key; key++) {
		rc = symstore_find(&view, &tree, key, 1, &value);
		if (rc != SC_ENOTFOUND)
			t->len += (size_t)snprintf(t->buf + t->len, sizeof(t->buf) - t->len, "%c", rc ? '!' : *key);
	}
}

/* Fields of a page's header, of the place of a node, and of a node. */
enum field { PGNO, FLAGS, LOWER, UPPER, OVERFLOW_PAGES, OFFSET, NODE_SIZE, NODE_FLAGS, KEY_SIZE, KEY,
	     VALUE };

static void change(size_t page, enum field field, size_t i, size_t value)
{
	struct symstore_page *head = head_of(page);
	struct symstore_node *node = (struct symstore_node *)node_of(page, i);

	switch (field) {
	case PGNO: head->pgno = value; break;
	case FLAGS: head->flags = (uint16_t)value; break;
	case LOWER: head->u.free.lower = (uint16_t)value; break;
	case UPPER: head->u.free.upper = (uint16_t)value; break;
	case OVERFLOW_PAGES: head->u.pages = (uint32_t)value; break;
	case OFFSET: memcpy(&file[page * SIZE + sizeof(*head) + 2 * i], &value, 2); break;
	case NODE_SIZE: node->lo = (uint16_t)value, node->hi = (uint16_t)(value >> 16); break;
	case NODE_FLAGS: node->flags = (uint16_t)value; break;
	case KEY_SIZE: node->key_size = (uint16_t)value; break;
	case KEY: *((uint8_t *)node + sizeof(*node)) = (uint8_t)value; break;
	case VALUE: memcpy((uint8_t *)node + sizeof(*node) + node->key_size, &value, 8); break;
	}
}

/* All is there; without the leaf at 4, without any, and without the value on 6 and 7. */
#define WHOLE "c=1 g=2 m=3 t=0 x=3000 y=1 z=2032 -1 cgmtxyz"
#define NOT_4 "the named tree has 5 entries, not 7; 2: -5 !!!mtxyz"
#define NONE "the named tree has 0 entries, not 7; 2: -5 !!!!!!!!!"
#define NOT_X "1: c=1 g=2 m=3 t=0 -5 cgmt!yz"

static const struct {
	size_t page;
	enum field field;
	size_t node, value;
	const char *want;
} changes[] = {
	{ 4, PGNO, 0, 5, "page 4 (index) says it is page 5; " NOT_4 },
	{ 4, FLAGS, 0, 1, "page 4 has type 0x1, not 0x2; " NOT_4 },
	{ 3, FLAGS, 0, 2, "page 3 has type 0x2, not 0x1; " NONE },
	{ 4, LOWER, 0, 16, "page 4 has only 0 nodes; " NOT_4 },
	{ 4, LOWER, 0, 17, "page 4: free space from 17 to 2026; " NOT_4 },
	{ 4, LOWER, 0, 18,
	  "the named tree has 6 entries, not 7; 1: c=1 m=3 t=0 x=3000 y=1 z=2032 -1 cmtxyz" },
	{ 10, LOWER, 0, 18,
	  "page 10 has only 1 nodes; the named tree has 6 entries, not 7; 2: c=1 g=2 t=0 "
	  "x=3000 y=1 z=2032 -1 cgtxyz" },
	{ 4, UPPER, 0, 20, "0: " WHOLE },
	{ 4, UPPER, 0, 19, "page 4: free space from 20 to 19; " NOT_4 },
	{ 4, UPPER, 0, 2048, "0: " WHOLE },
	{ 4, UPPER, 0, 2049, "page 4: free space from 20 to 2049; " NOT_4 },
	{ 4, OFFSET, 0, 2041, "page 4: node 0 leaves the page; " NOT_4 },
	{ 4, OFFSET, 1, 2041,
	  "page 4: node 1 leaves the page; the named tree has 6 entries, not 7; 2: c=1 -5 "
	  "!!!mtxyz" },
	{ 10, OFFSET, 0, 2041,
	  "page 10: node 0 leaves the page; the named tree has 4 entries, not 7; 2: -5 !!!mtxyz" },
	{ 10, OFFSET, 1, 2041,
	  "page 10: node 1 leaves the page; the named tree has 6 entries, not 7; 2: c=1 g=2 -5 "
	  "!!!!!txyz" },
	{ 4, KEY_SIZE, 0, 4, "page 4: node 0 leaves the page; " NOT_4 },
	{ 4, KEY_SIZE, 0, 5, "page 4: node 0 leaves the page; " NOT_4 },
	{ 4, NODE_SIZE, 0, 3, "page 4: a value of 3 bytes leaves the page; 1: -5 !!gmtxyz" },
	{ 4, NODE_SIZE, 0, 4, "page 4: a value of 4 bytes leaves the page; 1: -5 !!gmtxyz" },
	{ 4, NODE_FLAGS, 0, 2, "page 4: a node of unknown kind 0x2; 1: " WHOLE },
	{ 4, NODE_FLAGS, 0, 4, "page 4: a node of unknown kind 0x4; 1: " WHOLE },
	{ 4, NODE_FLAGS, 0, 1, "page 4: a value of 1 bytes leaves the page; 1: -5 !!gmtxyz" },
	{ 9, NODE_FLAGS, 1, 3, "page 9: a node of unknown kind 0x3; 1: " WHOLE },
	{ 2, NODE_FLAGS, 0, 0, "0: tree -5" },
	{ 2, NODE_SIZE, 0, 47, "page 2: a node of unknown kind 0x2; 1: tree -5" },
	{ 4, KEY, 1, 97, "page 4: key 1 is not in order; 1: c=1 -5 mtxyz" },
	{ 4, KEY, 1, 99, "page 4: key 1 is not in order; 1: c=1 -5 cmtxyz" },
	{ 4, KEY, 1, 108, "0: c=1 l=2 m=3 t=0 x=3000 y=1 z=2032 -1 cmtxyz" },
	{ 4, KEY, 1, 109, "page 4: key 1 is not below the next page's; 1: c=1 m=2 -5 cmtxyz" },
	{ 5, KEY, 0, 108,
	  "page 5: key 0 is not in order; 1: c=1 g=2 l=3 t=0 x=3000 y=1 z=2032 -1 cgtxyz" },
	{ 5, KEY, 0, 109, "0: " WHOLE },
	{ 5, KEY, 0, 115, "0: c=1 g=2 s=3 t=0 x=3000 y=1 z=2032 -1 cgtxyz" },
	{ 5, KEY, 0, 116,
	  "page 5: key 0 is not below the next page's; 1: c=1 g=2 t=3 -5 cgtxyz" },
	{ 9, KEY, 0, 115,
	  "page 9: key 0 is not in order; 1: c=1 g=2 m=3 s=0 x=3000 y=1 z=2032 -1 cgmxyz" },
	{ 9, KEY, 1, 121,
	  "page 9: key 1 is not below the next page's; 1: c=1 g=2 m=3 t=0 y=3000 -5 cgmtyz" },
	{ 13, KEY, 0, 120,
	  "page 13: key 0 is not in order; 1: c=1 g=2 m=3 t=0 x=3000 -5 cgmtxz" },
	{ 3, KEY, 1, 115, "0: " WHOLE },
	{ 10, KEY, 1, 103,
	  "page 4: key 1 is not below the next page's; 1: c=1 g=2 m=3 t=0 x=3000 y=1 z=2032 -1 "
	  "cmtxyz" },
	{ 10, KEY, 1, 116,
	  "page 10: key 1 is not below the next page's; page 5: key 0 is not in order; 2: " WHOLE },
	{ 10, NODE_SIZE, 1, 15,
	  "page 15 (index) is used twice; the named tree has 6 entries, not 7; 2: c=1 g=2 -5 "
	  "cg!!txyz" },
	{ 10, NODE_SIZE, 1, 16,
	  "page 16 (index) is outside of the store's 16 pages; the named tree has 6 entries, "
	  "not 7; 2: c=1 g=2 -5 cg!!txyz" },
	{ 10, NODE_SIZE, 1, 4,
	  "page 4 (index) is used twice; the named tree has 6 entries, not 7; 2: c=1 g=2 -5 "
	  "cgtxyz" },
	{ 11, NODE_SIZE, 0, 13,
	  "page 13: key 0 is not below the next page's; page 13: key 1 is not below the next "
	  "page's; page 13 (index) is used twice; the named tree has 5 entries, not 7; 4: c=1 "
	  "g=2 m=3 y=1 z=2032 -5 cgmyz" },
	{ 9, VALUE, 1, 1, "page 1 (value) is outside of the store's 16 pages; " NOT_X },
	{ 9, VALUE, 1, 2, "page 2 (value) is used twice; " NOT_X },
	{ 9, VALUE, 1, 16, "page 16 (value) is outside of the store's 16 pages; " NOT_X },
	{ 9, VALUE, 1, 7, "page 7 (value) says it is page 0; " NOT_X },
	{ 9, VALUE, 1, 12,
	  "page 12 should begin a value of 2 pages; it has type 0x4 and 1 pages; page 12 "
	  "(value) is used twice; 2: c=1 g=2 m=3 t=0 -5 cgmt!yz" },
	{ 6, OVERFLOW_PAGES, 0, 1,
	  "page 6 should begin a value of 2 pages; it has type 0x4 and 1 pages; " NOT_X },
	{ 6, OVERFLOW_PAGES, 0, 3, "page 8 (value) is used twice; 1: " WHOLE },
	{ 6, OVERFLOW_PAGES, 0, 10, "page 8 (value) is used twice; 1: " WHOLE },
	{ 6, OVERFLOW_PAGES, 0, 11,
	  "the value of 11 pages at page 6 lies past the end of the file; " NOT_X },
	{ 9, NODE_SIZE, 1, 4080, "0: c=1 g=2 m=3 t=0 x=4080 y=1 z=2032 -1 cgmtxyz" },
	{ 9, NODE_SIZE, 1, 4081,
	  "page 6 should begin a value of 3 pages; it has type 0x4 and 2 pages; " NOT_X },
	{ 13, NODE_SIZE, 1, 2033,
	  "page 12 should begin a value of 2 pages; it has type 0x4 and 1 pages; 1: c=1 g=2 "
	  "m=3 t=0 x=3000 y=1 -5 cgmtxy!" },
	{ 7, PGNO, 0, 99, "0: " WHOLE },
	{ 6, FLAGS, 0, 2,
	  "page 6 should begin a value of 2 pages; it has type 0x2 and 2 pages; " NOT_X },
	{ 8, KEY_SIZE, 0, 7,
	  "page 8: node 0 leaves the page; the free tree has 0 entries, not 1; 2: " WHOLE },
	{ 8, NODE_SIZE, 0, 23, "page 8: a list of 2 free pages in 23 bytes; 1: " WHOLE },
	{ 8, NODE_SIZE, 0, 7, "page 8: a list of 0 free pages in 7 bytes; 1: " WHOLE },
	{ 8, VALUE, 0, 3, "page 8: a list of 3 free pages in 24 bytes; 1: " WHOLE },
	{ 8, VALUE, 0, 1, "0: " WHOLE },
	{ 8, FLAGS, 0, 1,
	  "page 8 has type 0x1, not 0x2; the free tree has 0 entries, not 1; 2: " WHOLE },
};

static void fields(void **state)
{
	struct text t = { .len = 0 };

	(void)state;
	make();
	answers(sizeof(file), &t);
	assert_string_equal(t.buf, "0: " WHOLE);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		t = (struct text){ .len = 0 };
		make();
		change(changes[i].page, changes[i].field, changes[i].node, changes[i].value);
		answers(sizeof(file), &t);
		if (strcmp(t.buf, changes[i].want))
			fail_msg("case %zu: %s", i, t.buf);
	}
}

/* Depths, roots and numbers of entries; and where the file ends. */
static void trees_and_ends(void **state)
{
	static const struct {
		size_t size;
		int tree; /* of the snapshot; 2: the named one */
		struct symstore_tree is;
		const char *want;
	} cases[] = {
		{ 16, 2, { .depth = 0, .entries = 7, .root = 3 },
		  "the named tree has depth 0; 1: -5 !!!!!!!!!" },
		{ 16, 2, { .depth = 2, .entries = 7, .root = 3 },
		  "page 10 has type 0x1, not 0x2; page 11 has type 0x1, not 0x2; the named tree has 0 "
		  "entries, not 7; 3: -5 !!!!!!!!!" },
		{ 16, 2, { .depth = 32, .entries = 7, .root = 3 },
		  "page 4 has type 0x2, not 0x1; page 5 has type 0x2, not 0x1; page 9 has type 0x2, "
		  "not 0x1; page 13 has type 0x2, not 0x1; the named tree has 0 entries, not 7; 5: -5 "
		  "!!!!!!!!!" },
		{ 16, 2, { .depth = 33, .entries = 7, .root = 3 },
		  "the named tree has depth 33; 1: -5 !!!!!!!!!" },
		{ 16, 2, { .depth = 3, .entries = 6, .root = 3 },
		  "the named tree has 7 entries, not 6; 1: " WHOLE },
		{ 16, 2, { .depth = 3, .entries = 7, .root = 2 },
		  "page 2 (index) is used twice; " NONE },
		{ 16, 2, { .depth = 3, .entries = 7, .root = 16 },
		  "page 16 (index) is outside of the store's 16 pages; " NONE },
		{ 16, 2, { .depth = 3, .entries = 0, .root = SIZE_MAX }, "0: -1 " },
		{ 16, 2, { .depth = 3, .entries = 1, .root = SIZE_MAX },
		  "the named tree has 0 entries, not 1; 1: -1 " },
		{ 16, 1, { .depth = 0, .entries = 1, .root = 2 },
		  "the main tree has depth 0; 1: tree -5" },
		{ 16, 1, { .depth = 0, .entries = 0, .root = SIZE_MAX }, "0: tree -1" },
		{ 16, 0, { .depth = 1, .entries = 2, .root = 8 },
		  "the free tree has 1 entries, not 2; 1: " WHOLE },
		{ 16, 0, { .depth = 33, .entries = 1, .root = 8 },
		  "the free tree has depth 33; 1: " WHOLE },
		{ 16, 0, { .depth = 0, .entries = 0, .root = SIZE_MAX }, "0: " WHOLE },
		{ 14, 0, { .depth = 1, .entries = 1, .root = 8 }, "0: " WHOLE },
		{ 13, 0, { .depth = 1, .entries = 1, .root = 8 },
		  "page 13 (index) lies past the end of the file, which is cut off at 13 pages; the "
		  "named tree has 5 entries, not 7; 2: c=1 g=2 m=3 t=0 x=3000 -5 cgmtx!!" },
		{ 12, 0, { .depth = 1, .entries = 1, .root = 8 },
		  "page 13 (index) lies past the end of the file, which is cut off at 12 pages; the "
		  "named tree has 5 entries, not 7; 2: c=1 g=2 m=3 t=0 x=3000 -5 cgmtx!!" },
		{ 2, 0, { .depth = 1, .entries = 1, .root = 8 },
		  "page 8 (index) lies past the end of the file, which is cut off at 2 pages; the free "
		  "tree has 0 entries, not 1; page 2 (index) lies past the end of the file, which is "
		  "cut off at 2 pages; the main tree has 0 entries, not 1; 4: tree -5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text t = { .len = 0 };

		make();
		if (cases[i].tree == 2)
			memcpy(node_of(2, 0) + sizeof(struct symstore_node) + 1, &cases[i].is,
			       sizeof(cases[i].is));
		else
			snapshot.trees[cases[i].tree] = cases[i].is;
		answers(cases[i].size * SIZE, &t);
		if (strcmp(t.buf, cases[i].want))
			fail_msg("case %zu: %s", i, t.buf);
	}
}

/* Transactions are numbers, whose bytes have another order; their tree may have one branch alone. */
static void free_tree(void **state)
{
	const size_t txns[] = { 511, 513, 514 }, list[] = { 1, 15 }, none[] = { 0 };
	struct text t = { .len = 0 };
	struct symstore_report report = { .fn = on_fault, .ctx = &t };

	(void)state;
	make();
	start_page(8, LEAF);
	for (size_t i = 0; i < 3; i++)
		add(8, (const char *)&txns[i], sizeof(*txns), 0, i ? sizeof(none) : sizeof(list),
		    i ? none : list, i ? sizeof(none) : sizeof(list));
	start_page(14, BRANCH);
	add(14, "", 0, 0, 8, NULL, 0);
	snapshot.trees[0] = (struct symstore_tree){ .depth = 2, .entries = 3, .root = 14 };
	symstore_snapshot_check(file, sizeof(file), &snapshot, &report);
	assert_string_equal(t.buf, "");
	change(8, KEY, 2, 1); /* 513, again */
	symstore_snapshot_check(file, sizeof(file), &snapshot, &report);
	assert_string_equal(t.buf, "page 8: key 2 is not in order; ");
}

static bool first_alone(void *ctx, const char *fault)
{
	on_fault(ctx, fault);
	return false;
}

/* Sixteen named trees are a store's, and one more is not; a named tree has none within. Who has
 * heard enough hears no more. */
static void named_trees(void **state)
{
	const struct symstore_tree empty = { .root = SIZE_MAX };
	struct text t = { .len = 0 };
	struct symstore_report report = { .fn = on_fault, .ctx = &t };
	struct symstore_report stops = { .fn = first_alone, .ctx = &t };

	(void)state;
	make();
	for (char i = 0; i < 15; i++)
		add(2, (char[]){ 'u', 'a' + i }, 2, SYMSTORE_NODE_TREE, sizeof(empty), &empty, sizeof(empty));
	snapshot.trees[1].entries = 16;
	symstore_snapshot_check(file, sizeof(file), &snapshot, &report);
	assert_string_equal(t.buf, "");
	add(2, "v", 1, SYMSTORE_NODE_TREE, sizeof(empty), &empty, sizeof(empty));
	snapshot.trees[1].entries = 17;
	symstore_snapshot_check(file, sizeof(file), &snapshot, &report);
	assert_string_equal(t.buf, "page 2: more named trees than a store has; ");

	make();
	t = (struct text){ .len = 0 };
	add(5, "n", 1, SYMSTORE_NODE_TREE, sizeof(empty), &empty, sizeof(empty));
	symstore_snapshot_check(file, sizeof(file), &snapshot, &report);
	assert_string_equal(t.buf, "the named tree has 8 entries, not 7; a tree within a named tree; ");

	make();
	t = (struct text){ .len = 0 };
	change(4, KEY, 1, 'a');
	change(9, KEY, 0, 'a');
	snapshot.trees[0].entries = snapshot.trees[1].entries = 5;
	symstore_snapshot_check(file, sizeof(file), &snapshot, &stops);
	assert_string_equal(t.buf, "the free tree has 1 entries, not 5; ");
	assert_true(stops.stop);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields), cmocka_unit_test(trees_and_ends), cmocka_unit_test(free_tree),
		cmocka_unit_test(named_trees),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
