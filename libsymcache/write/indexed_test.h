/*
 * A file that was indexed, its cache opened and checked: for tests, which include
 * it behind cmocka.h.
 */
#ifndef SC_INDEXED_TEST_H
#define SC_INDEXED_TEST_H

#include <unistd.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/image/plain_cache.h"

/* Where scripts/testprogs.sh leaves the compiled programs. */
#define PROGRAMS "build/testprogs/"

struct indexed {
	int rc;
	struct sc_error err;
	struct symcache_build_info info; /* debug_path: whether there is one */
	uint8_t *bytes;
	size_t size;
	struct plain_cache cache;
};

static inline void indexed_deinit(struct indexed *r)
{
	free(r->bytes);
}

/* Indexes a file: a cache that is as it must be, or an error with a message. */
static inline void index_file(const char *path, const struct symcache_build_options *o,
			      struct indexed *r)
{
	struct symcache_build *b;
	const char *fault;

	memset(r, 0, sizeof(*r));
	r->rc = symcache_build_create(path, o, &b, &r->err);
	if (r->rc) {
		assert_null(b);
		assert_int_equal(r->rc, r->err.code);
		assert_string_not_equal(r->err.msg, "");
		return;
	}
	r->info = *symcache_build_info(b);
	r->info.debug_path = r->info.debug_path ? "found" : NULL;
	r->size = symcache_build_size(b);
	r->bytes = malloc(r->size);
	symcache_build_write(b, r->bytes);
	fault = plain_open(&r->cache, r->bytes, r->size);
	if (fault)
		fail_msg("not a valid cache: %s", fault);
	assert_int_equal(r->cache.functions, r->info.functions);
	assert_int_equal(r->cache.files, r->info.files);
	assert_int_equal(r->cache.ranges, r->info.ranges);
	assert_int_equal(r->cache.locations, r->info.source_locations);
	assert_int_equal(r->cache.string_bytes, r->info.string_bytes);
	assert_int_equal(r->cache.num_data, r->info.data_symbols);
	symcache_build_destroy(b);
}

/* The same of bytes, and in a minute at most. */
static inline void index_bytes(const void *data, size_t size, struct indexed *r)
{
	const struct symcache_build_options options = { .no_debug_search = true };
	char path[32];
	int fd = testing_memfd(data, size, path);

	alarm(60);
	index_file(path, &options, r);
	alarm(0);
	close(fd);
}

/* Indexes a file that must be fine, by itself. */
static inline void must_index(const char *path, struct indexed *r)
{
	const struct symcache_build_options options = { .no_debug_search = true };

	index_file(path, &options, r);
	if (r->rc)
		fail_msg("%s: %s", path, r->err.msg);
}

/* The path of the separate debug file of an installed program. */
static inline void debug_file_of(const char *program, char path[256])
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error err;
	size_t len;
	bool derived;

	if (symcache_elf_build_id(program, id, &len, &derived, &err))
		len = 0;
	strcpy(path, "/usr/lib/debug/.build-id/");
	for (size_t i = 0; i < len; i++)
		sprintf(path + strlen(path), "%02x%s", id[i], i ? "" : "/");
	strcat(path, ".debug");
}

static inline void same_bytes(const struct indexed *a, const struct indexed *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->bytes, b->bytes, a->size);
}

#endif
