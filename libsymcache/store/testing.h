/*
 * testing.h: what the tests of the store share: a folder of their own, and
 * entries whose bytes follow from a number, so that any process can tell
 * whether they are the right ones.
 */
#ifndef STORE_TESTING_H
#define STORE_TESTING_H

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/store/parts.h"

static char test_dir[] = "/tmp/symstore.XXXXXX";
static char test_path[64], test_lock[80];

/* The store, and what killed processes left next to it. */
static inline void test_remove(void)
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/store*", test_dir);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
}

static inline int test_setup(void **state)
{
	(void)state;
	snprintf(test_path, sizeof(test_path), "%s/store", test_dir);
	snprintf(test_lock, sizeof(test_lock), "%s-lock", test_path);
	test_remove();
	return 0;
}

static unsigned test_files; /* that were open at first */

static inline int test_group_setup(void **state)
{
	(void)state;
	test_files = testing_open_files();
	return mkdtemp(test_dir) ? 0 : -1;
}

/* What the tests opened is closed, too. */
static inline int test_group_teardown(void **state)
{
	const unsigned files = testing_open_files();

	(void)state;
	if (files != test_files) {
		fprintf(stderr, "%u files are open, not %u\n", files, test_files);
		exit(1);
	}
	test_remove();
	return rmdir(test_dir);
}

/* Entry `n`: its build ID begins with n, big-endian, and has 20 bytes. */
static inline struct symstore_entry test_entry(uint32_t n, size_t cache_size)
{
	struct symstore_entry e = {
		.build_id_len = 20, .sources = SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB,
		.cache_size = cache_size, .source_size = n, .source_hash = { n, ~(uint64_t)n },
		.time = 1700000000 + n, .source_path = "/usr/lib/libthing.so",
		.tool_version = "symcache test",
	};

	for (size_t i = 0; i < e.build_id_len; i++)
		e.build_id[i] = (uint8_t)(i < 4 ? n >> (24 - 8 * i) : 0xa0 + i);
	return e;
}

/* What a test wants to be filled in: also the ctx of test_fill(). */
struct test_cache {
	uint32_t n;
	size_t size;
};

static inline uint8_t test_byte(uint32_t n, size_t i)
{
	return (uint8_t)((n * 2654435761u >> 24) + i + (i >> 8) * 7);
}

static inline uint64_t test_fill(void *ctx, void *dst)
{
	const struct test_cache *c = ctx;

	for (size_t i = 0; i < c->size; i++)
		((uint8_t *)dst)[i] = test_byte(c->n, i);
	return XXH3_64bits(dst, c->size);
}

static inline bool test_right(uint32_t n, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((const uint8_t *)data)[i] != test_byte(n, i))
			return false;
	return true;
}

/* For calls that end with …, &test_err): shows the message of a failure. */
static struct sc_error test_err;
#define assert_ok(call) do { \
	if ((call)) \
		fail_msg("%s: %s", #call, test_err.msg); \
} while (0)

static inline struct symstore *test_open(enum symstore_mode mode)
{
	struct symstore *store;

	assert_ok(symstore_open(test_path, mode, &store, &test_err));
	return store;
}

static inline struct symstore_reader *test_reader(struct symstore *store)
{
	struct symstore_reader *reader;

	assert_ok(symstore_read_begin(store, &reader, &test_err));
	return reader;
}

static inline struct symstore_writer *test_writer(struct symstore *store)
{
	struct symstore_writer *writer;

	assert_ok(symstore_write_begin(store, &writer, &test_err));
	return writer;
}

/* Puts and commits entry `n`; returns the code of the commit. */
static inline int test_put(struct symstore *store, uint32_t n, size_t size, struct sc_error *err)
{
	struct symstore_entry entry = test_entry(n, size);
	struct test_cache cache = { n, size };
	struct symstore_writer *writer;
	int rc = symstore_write_begin(store, &writer, err);

	if (rc)
		return rc;
	if ((rc = symstore_put(writer, &entry, test_fill, &cache, NULL, err))) {
		symstore_abort(writer);
		return rc;
	}
	return symstore_commit(writer, err);
}

static inline void test_has(struct symstore_reader *reader, uint32_t n, size_t size)
{
	struct symstore_entry want = test_entry(n, size);
	const void *data;
	size_t got;

	assert_ok(symstore_get(reader, want.build_id, want.build_id_len, &data, &got, &test_err));
	assert_int_equal(got, size);
	assert_int_equal((uintptr_t)data % 8, 0);
	assert_true(test_right(n, data, got));
}

/* A symcache_fault_fn; ctx (may be NULL) is a struct sc_error for the first. */
static inline bool test_fault(void *ctx, const char *fault)
{
	struct sc_error *first = ctx;

	if (first && !first->code)
		sc_error_set(first, SC_EFORMAT, "%s", fault);
	return true;
}

static inline void test_valid(struct symstore *store)
{
	struct symstore_reader *reader = test_reader(store);
	struct sc_error first = { 0 };

	symstore_check(reader, test_fault, &first);
	assert_string_equal(first.msg, "");
	symstore_read_end(reader);
}

#endif
