/* Local variables by the public names, of this program. */
#include <symcache-find.h>

#include "libsymcache/api/testing.h"

static volatile int sink;

static inline __attribute__((always_inline)) int inlined_here(int inner)
{
	int twice = inner * 2;

	sink = twice;
	return twice + sink;
}

static __attribute__((noinline, used)) int has_locals(int outer)
{
	int list[4] = { outer, 1, 2, 3 };

	for (int i = 0; i < 4; i++)
		sink += list[i] * inlined_here(outer + i);
	return sink + list[sink & 3];
}
enum { PARAMETER_LINE = __LINE__ - 8 };

struct seen {
	size_t n, lists, parameters;
	int stop;
};

static int on_local(void *ctx, const struct symcache_local_variable *v)
{
	struct seen *seen = ctx;

	seen->n++;
	if (!strcmp(v->name, "outer") && v->line == PARAMETER_LINE) {
		assert_string_equal(v->function, "has_locals");
		assert_non_null(strstr(v->file, "libsymcache/api/locals_test.c"));
		assert_true(v->flags & SYMCACHE_LOCAL_HAS_SIZE);
		assert_int_equal(v->size, sizeof(int));
		assert_false(v->flags & (SYMCACHE_FRAME_NO_FILE | SYMCACHE_FRAME_NO_FUNCTION));
		seen->parameters++;
	}
	if (!strcmp(v->name, "list")) {
		assert_int_equal(v->size, 4 * sizeof(int));
		seen->lists++;
	}
	return seen->stop;
}

static uint64_t address_of(struct symcache_resolver *r, struct symcache_cache *c, const char *name)
{
	uint64_t vaddr;

	assert_true(symcache_addresses_of(r, c, name, &vaddr, 1) >= 1);
	return vaddr;
}

static void check(struct symcache_resolver *r, struct symcache_cache *c)
{
	const uint64_t at = address_of(r, c, "has_locals");
	struct seen seen = { 0 };
	struct symcache_error err;

	ok(symcache_each_local(r, c, at, on_local, &seen, &err));
	assert_true(seen.n >= 2);
	assert_int_equal(seen.parameters, 1);
	assert_int_equal(seen.lists, 1);
	seen = (struct seen){ .stop = 42 };
	assert_int_equal(symcache_each_local(r, c, at, on_local, &seen, &err), 42);
	assert_int_equal(seen.n, 1);
	assert_int_equal(symcache_each_local(r, c, at, NULL, &seen, &err), SYMCACHE_EINVAL);
	/* At 0 may be what the linker dropped. */
	assert_int_equal(symcache_each_local(r, c, 1ull << 40, on_local, &seen, &err), SYMCACHE_ENOTFOUND);
	assert_string_equal(err.msg, "0x10000000000: there are no local variables");
	assert_int_equal(symcache_each_local(r, c, UINT64_MAX, on_local, &seen, NULL), SYMCACHE_ENOTFOUND);
	assert_int_equal(seen.n, 1);
}

static void has_those_of_a_file(void **state)
{
	const struct symcache_make_options options = { sizeof(options), .flags = SYMCACHE_MAKE_LOCALS };
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c;

	(void)state;
	sink += has_locals(1);
	ok(symcache_make("/proc/self/exe", &options, &c, NULL));
	check(r, c);
	symcache_cache_unref(c);
	symcache_resolver_destroy(r);
}

static void has_those_of_a_store(void **state)
{
	const struct symcache_make_options options = { sizeof(options), .flags = SYMCACHE_MAKE_LOCALS };
	struct symcache_resolver *r = resolver(0);
	struct symcache_store *s = open_a(SYMCACHE_STORE_WRITE);
	struct symcache_cache *c = get(s);
	const char *self = "/proc/self/exe";
	struct symcache_error err;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(symcache_each_local(r, c, address_of(r, c, "has_locals"), on_local, &seen, &err),
			 SYMCACHE_EUNSUPPORTED);
	assert_string_equal(err.msg, "the cache was made without local variables");
	symcache_cache_unref(c);
	ok(symcache_store_index(s, &self, 1, &options, NULL, NULL));
	symcache_store_refresh(s);
	c = get(s);
	check(r, c);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_those_of_a_file), cmocka_unit_test(has_those_of_a_store),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
