/* For tests of stores: the cache of the test program itself, some hundred KB. */
#ifndef STORE_SELF_TEST_H
#define STORE_SELF_TEST_H

#include "libsymcache/store/testing.h"

#include "libsymcache/write/build.h"

static uint8_t *cache_bytes;
static size_t cache_size;

static int setup(void **state)
{
	struct symcache_build *build;

	if (symcache_build_create("/proc/self/exe", NULL, &build, NULL))
		return -1;
	cache_size = symcache_build_size(build);
	cache_bytes = malloc(cache_size);
	symcache_build_write(build, cache_bytes);
	symcache_build_destroy(build);
	return test_group_setup(state);
}

static int teardown(void **state)
{
	free(cache_bytes);
	return test_group_teardown(state);
}

#endif
