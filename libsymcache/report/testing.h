/* For tests of what is shown of cores and traces: the cache of tiny_test.h is in a file, and is that of
 * their modules. */
#ifndef REPORT_TESTING_H
#define REPORT_TESTING_H

#include "libsymcache/read/tiny_test.h"

#include <unistd.h>

#include "libsymcache/symbolize/finder.h"

static char cache_file[] = "/tmp/symcache-report-XXXXXX";

static inline int set_up_cache(void **state)
{
	struct tiny t = tiny_example_ext(9);

	(void)state;
	return !tiny_file(&t, cache_file);
}

/* The same, as that of a program whose first page is loaded at `code`. */
static inline int set_up_cache_at(uint64_t code)
{
	struct tiny t = tiny_example_ext(9);

	t.num_segments = 1;
	t.segments[0] = (struct symcache_ext_segment){ 0, code, 0x1000, 0, 0 };
	return !tiny_file(&t, cache_file);
}

static inline int tear_down_cache(void **state)
{
	(void)state;
	return unlink(cache_file);
}

/* The cache, for all files. */
static inline int find_cache(const struct symcache_finder *f, const struct symcache_file_id *of,
			     struct symcache_module **ret, struct sc_error *err)
{
	const struct symcache *cache;

	(void)of;
	*ret = symcache_caches_module(f->caches, SYMCACHE_MODULE_CACHE, cache_file);
	return symcache_module_cache(*ret, &cache, NULL, err);
}

/* The cache, for modules whose path ends with "tiny". */
static inline int find_tiny(const struct symcache_finder *f, const struct symcache_file_id *of,
			    struct symcache_module **ret, struct sc_error *err)
{
	if (of->path.len < 4 || memcmp(of->path.ptr + of->path.len - 4, "tiny", 4))
		return sc_error_set(err, SC_ENOTFOUND, "it is not there");
	return find_cache(f, of, ret, err);
}

#endif
