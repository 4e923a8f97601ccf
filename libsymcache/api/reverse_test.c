/* Names and lines → addresses by the public names, also from eight threads on one cache. */
#include <pthread.h>

#include <symcache-find.h>

#include "libsymcache/api/testing.h"

struct seen {
	size_t n;
	uint64_t vaddr;
	int stop;
};

static int on_definition(void *ctx, const struct symcache_definition *d)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->vaddr = d->vaddr;
	if (!strcmp(d->name, "known_function")) {
		assert_string_equal(d->linkage_name, "known_function");
		assert_non_null(strstr(d->file, "libsymcache/api/testing.h"));
		assert_in_range(d->line, KNOWN_LINE, KNOWN_LINE + 1);
		assert_int_equal(d->flags, 0);
		assert_true(d->size);
	}
	return seen->stop;
}

static int on_range(void *ctx, const struct symcache_line_range *r)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->vaddr = r->vaddr;
	assert_true(r->vaddr < r->end);
	assert_string_equal(r->function, "known_function");
	assert_int_equal(r->line, KNOWN_LINE + 2);
	assert_int_equal(r->flags, 0);
	return seen->stop;
}

/* Both ways to the same place. */
static void check_reverse(struct symcache_resolver *r, struct symcache_cache *c)
{
	struct seen name = { 0 }, glob = { 0 }, line = { 0 };
	const struct symcache_frame *f;
	char text[40];

	snprintf(text, sizeof(text), "api/testing.h:%d", KNOWN_LINE + 2);
	ok(symcache_each_definition(r, c, "known_function", on_definition, &name, NULL));
	assert_int_equal(name.n, 1);
	assert_int_equal(name.vaddr, address_of_known(r, c));
	ok(symcache_each_match(r, c, "kno*_f?nction", on_definition, &glob, NULL));
	assert_int_equal(glob.vaddr, name.vaddr);
	ok(symcache_each_line_range(r, c, text, on_range, &line, NULL));
	assert_true(line.n >= 1);
	assert_true(symcache_frames(r, c, line.vaddr, &f) >= 1);
	assert_int_equal(f[0].line, KNOWN_LINE + 2);
}

static void finds(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	struct symcache_error err;
	struct seen seen = { 0 };

	(void)state;
	known_function(1);
	check_reverse(r, c);
	assert_int_equal(symcache_each_definition(r, c, "unknown_function", on_definition, &seen, &err),
			 SYMCACHE_ENOTFOUND);
	assert_string_equal(err.msg, "unknown_function: there is no such name");
	assert_int_equal(symcache_each_line_range(r, c, "testing.h:60000", on_range, &seen, &err),
			 SYMCACHE_ENOTFOUND);
	assert_int_equal(symcache_each_definition(r, c, NULL, on_definition, &seen, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_each_definition(r, c, "x", NULL, &seen, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_each_match(r, c, NULL, on_definition, &seen, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_each_line_range(r, c, "testing.h:0", on_range, &seen, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_each_line_range(r, c, "testing.h", on_range, &seen, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_each_line_range(r, c, NULL, on_range, &seen, &err), SYMCACHE_EINVAL);
	assert_int_equal(seen.n, 0);
	seen.stop = 42;
	assert_int_equal(symcache_each_match(r, c, "*", on_definition, &seen, &err), 42);
	assert_int_equal(seen.n, 1);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

static void *thread(void *cache)
{
	struct symcache_resolver *r = resolver(0);

	for (int i = 0; i < 20; i++)
		check_reverse(r, cache);
	symcache_resolver_destroy(r);
	return NULL;
}

static void finds_in_threads(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_cache *c = get(s);
	pthread_t threads[8];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		ok(pthread_create(&threads[i], NULL, thread, c));
	for (size_t i = 0; i < 8; i++)
		ok(pthread_join(threads[i], NULL));
	symcache_cache_unref(c);
	symcache_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds), cmocka_unit_test(finds_in_threads),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
