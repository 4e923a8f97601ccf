/* testing.h: what the tests of the libraries share: a store with the cache of the test itself. */
#ifndef SC_API_TESTING_H
#define SC_API_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symcache-build.h>
#include <unistd.h>

#include <cmocka.h>

#define ok(call) assert_int_equal((call), 0)

static char dir[] = "/tmp/symcache-api.XXXXXX";
static uint8_t id[SYMCACHE_ID_MAX];
static size_t id_len;

static inline const char *in_dir(const char *name)
{
	static char paths[4][100];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

/* What is looked up: this function, whose line the test knows. */
static __attribute__((noinline, used)) int known_function(int n)
{
	return n * 3 + getpid();
}
enum { KNOWN_LINE = __LINE__ - 4 };

/* A store with the caches of this program. */
static inline void make_store(const char *path)
{
	struct symcache_counts counts = { sizeof(counts), 0, 0, 0, 0 };
	const char *self = "/proc/self/exe";
	struct symcache_store *s;
	int derived;

	ok(symcache_store_open(path, SYMCACHE_STORE_WRITE, &s, NULL));
	ok(symcache_store_index(s, &self, 1, NULL, &counts, NULL));
	assert_int_equal(counts.done, 1);
	ok(symcache_file_build_id(self, id, &id_len, &derived, NULL));
	symcache_store_close(s);
}

static inline int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(dir));
	make_store(in_dir("a.store"));
	return 0;
}

static inline int tear_down(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static inline struct symcache_store *open_a(uint32_t flags)
{
	struct symcache_store *s;

	ok(symcache_store_open(in_dir("a.store"), flags, &s, NULL));
	return s;
}

static inline struct symcache_cache *get(struct symcache_store *s)
{
	struct symcache_cache *c;

	ok(symcache_store_get(s, id, id_len, &c, NULL));
	return c;
}

static inline uint64_t address_of_known(struct symcache_resolver *r, struct symcache_cache *c)
{
	uint64_t vaddr;

	assert_true(symcache_addresses_of(r, c, "known_function", &vaddr, 1) >= 1);
	return vaddr;
}

static inline void check_known(struct symcache_resolver *r, struct symcache_cache *c)
{
	const struct symcache_frame *f;

	assert_true(symcache_frames(r, c, address_of_known(r, c), &f) >= 1);
	assert_string_equal(f[0].function, "known_function");
	assert_non_null(strstr(f[0].file, "libsymcache/api/testing.h"));
	assert_in_range(f[0].line, KNOWN_LINE, KNOWN_LINE + 3);
	assert_int_equal(symcache_reason(r), SYMCACHE_REASON_FOUND);
}

static inline struct symcache_resolver *resolver(uint32_t flags)
{
	const struct symcache_resolver_options options = { sizeof(options), flags, NULL };
	struct symcache_resolver *r;

	ok(symcache_resolver_create(&options, &r, NULL));
	return r;
}

#endif
