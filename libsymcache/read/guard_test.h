/* guard_test.h: the cache of a test program itself, with the hashes of its blocks: for tests, which
 * include it behind cmocka.h. */
#ifndef SYMCACHE_GUARD_TEST_H
#define SYMCACHE_GUARD_TEST_H

#include <stdlib.h>

#include "libsymcache/read/read.h"
#include "libsymcache/write/build.h"

static uint8_t *bytes, *table;
static size_t size;
static uint64_t last_pc;

static inline int setup(void **state)
{
	struct symcache_build *build;
	struct symcache cache;
	struct sc_error err;

	(void)state;
	if (symcache_build_create("/proc/self/exe", NULL, &build, &err))
		return -1;
	size = symcache_build_size(build);
	bytes = aligned_alloc(8, (size + 7) & ~(size_t)7);
	symcache_build_write(build, bytes);
	symcache_build_destroy(build);
	table = malloc(symcache_guard_table_size(size));
	symcache_guard_hash(bytes, size, table);
	if (symcache_open(&cache, bytes, size, &err) || !cache.image)
		return -1;
	last_pc = cache.image->image_size;
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	free(bytes);
	free(table);
	return 0;
}

#endif
