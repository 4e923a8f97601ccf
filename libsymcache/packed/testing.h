/* testing.h: for the tests of packed caches, which include it behind cmocka.h: caches of programs,
 * and files that someone made. */
#ifndef PACKED_TESTING_H
#define PACKED_TESTING_H

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/write/build.h"

static struct sc_error err;

struct cache {
	uint8_t *bytes;
	size_t size;
};

static inline struct cache build_cache(const char *path, uint32_t version, bool locals)
{
	const struct symcache_build_options options = { .format_version = version,
							.locals = locals };
	struct symcache_build *b;
	struct cache c;

	if (symcache_build_create(path, &options, &b, &err))
		fail_msg("%s: %s", path, err.msg);
	c.size = symcache_build_size(b);
	c.bytes = malloc(c.size);
	symcache_build_write(b, c.bytes);
	symcache_build_destroy(b);
	return c;
}

/* Packs it and unpacks it; how large it was meanwhile. */
static inline size_t come_back(const void *bytes, size_t size, int level)
{
	const struct packed_bytes cache = { bytes, size };
	struct packed_caches back;
	void *packed, *again;
	size_t packed_size, again_size;

	assert_int_equal(packed_pack(&cache, 1, level, &packed, &packed_size, &err), 0);
	assert_true(packed_begins(packed, packed_size));
	assert_int_equal(packed_pack(&cache, 1, level, &again, &again_size, &err), 0);
	assert_int_equal(packed_size, again_size);
	assert_memory_equal(packed, again, packed_size);
	if (packed_unpack(packed, packed_size, &back, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(back.num, 1);
	assert_int_equal(back.caches[0].size, size);
	assert_memory_equal(back.caches[0].data, bytes, size);
	packed_caches_deinit(&back);
	free(packed);
	free(again);
	return packed_size;
}

/* A file of kind `kind`, one cache that is said to have `size` bytes, and what follows. */
static inline size_t file_of(uint8_t *file, uint8_t kind, uint64_t size, const char *rest, size_t n)
{
	memcpy(file, "SYMPACK\1", 8);
	memcpy(file + 8, (uint8_t[]){ kind, 1, 0, 0 }, 4);
	memcpy(file + 12, &size, 8);
	memset(file + 20, 0, 8);
	memcpy(file + 28, rest, n);
	return 28 + n;
}

#endif
