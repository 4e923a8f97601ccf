/* All that reads, from eight threads on one store: names, lines, address spaces, filters, stacks. */
#include <pthread.h>
#include <symcache-filter.h>
#include <symcache-find.h>
#include <symcache-process.h>

#include "libsymcache/api/testing.h"

enum { THREADS = 8, ROUNDS = 10 };

static const char *const core = "../shared/data/cores/shared.core.xz";

static int count_name(void *ctx, const struct symcache_definition *d)
{
	(void)d;
	return ++*(int *)ctx, 0;
}

static int count_range(void *ctx, const struct symcache_line_range *r)
{
	(void)r;
	return ++*(int *)ctx, 0;
}

static int count_located(void *ctx, size_t i, const struct symcache_located *l)
{
	(void)i;
	*(int *)ctx += !strcmp(l->frames[0].function ? l->frames[0].function : "", "known_function");
	return 0;
}

static int count_bytes(void *ctx, const char *data, size_t len)
{
	(void)data;
	return *(int *)ctx += (int)len, 0;
}

static int count_walked(void *ctx, const struct symcache_walked_thread *thread,
			const struct symcache_walked_frame *frame)
{
	(void)thread;
	return *(int *)ctx += frame != NULL, 0;
}

static void finds(struct symcache_cache *c)
{
	struct symcache_resolver *r = resolver(0);
	char line[40];
	int names = 0, ranges = 0;

	snprintf(line, sizeof(line), "testing.h:%d", KNOWN_LINE + 2);
	ok(symcache_each_definition(r, c, "known_function", count_name, &names, NULL));
	ok(symcache_each_match(r, c, "known_f*n", count_name, &names, NULL));
	ok(symcache_each_line_range(r, c, line, count_range, &ranges, NULL));
	assert_true(names == 2 && ranges >= 1);
	symcache_resolver_destroy(r);
}

static void locates(struct symcache_store *s)
{
	const struct symcache_space_options options = { sizeof(options), &s, 1, 0 };
	const uint64_t here = (uint64_t)(uintptr_t)known_function;
	const struct symcache_addresses at = { sizeof(at), &here, 1, 0 };
	struct symcache_space *space;
	int found = 0;

	ok(symcache_space_create(&options, &space, NULL));
	ok(symcache_space_add_process(space, 0, NULL));
	ok(symcache_space_symbolize(space, &at, count_located, &found, NULL));
	assert_int_equal(found, 1);
	symcache_space_destroy(space);
}

static void filters(struct symcache_store *s)
{
	static const char log[] = "/x/threads_test(+0x1000) [0x550000001000]\n";
	int bytes = 0;
	const struct symcache_filter_options options = { sizeof(options), 0, 2, count_bytes, NULL, &bytes };
	struct symcache_filter *f;

	ok(symcache_filter_create(s, &options, &f, NULL));
	ok(symcache_filter_feed(f, log, sizeof(log) - 1, NULL));
	ok(symcache_filter_end(f, NULL));
	assert_true(bytes > 0);
	symcache_filter_destroy(f);
}

static void locates_in_core(struct symcache_store *s)
{
	const struct symcache_space_options options = { sizeof(options), &s, 1, 0 };
	const uint64_t nowhere = 1;
	const struct symcache_addresses at = { sizeof(at), &nowhere, 1, 0 };
	struct symcache_space *space;
	int found = 0;

	ok(symcache_space_create(&options, &space, NULL));
	ok(symcache_space_add_core(space, core, NULL));
	ok(symcache_space_symbolize(space, &at, count_located, &found, NULL));
	assert_int_equal(found, 0);
	symcache_space_destroy(space);
}

static int count_written(void *ctx, const void *data, size_t len)
{
	(void)data;
	return *(int *)ctx += (int)len, 0;
}

static void profiles(struct symcache_store *s)
{
	static const char folded[] = "threads_test+0x1000;threads_test+0x2000 3\n";
	struct symcache_profile_options options = { .size = sizeof(options), .write = count_written };
	int bytes = 0;

	options.ctx = &bytes;
	ok(symcache_profile(s, folded, sizeof(folded) - 1, &options, NULL));
	assert_true(bytes > 0);
}

static void *thread(void *store)
{
	const struct symcache_stack_options options = { sizeof(options), store, NULL };
	int frames = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct symcache_cache *c = get(store);

		finds(c);
		locates(store);
		filters(store);
		symcache_cache_unref(c);
	}
	if (!access(core, F_OK)) {
		ok(symcache_core_stacks(core, &options, count_walked, &frames, NULL));
		assert_true(frames > 0); /* more, if this machine has the libc of the core */
		locates_in_core(store);
	}
	profiles(store);
	return NULL;
}

static void from_threads(void **state)
{
	struct symcache_store *s = open_a(0);
	pthread_t threads[THREADS];

	(void)state;
	known_function(1);
	for (size_t i = 0; i < THREADS; i++)
		ok(pthread_create(&threads[i], NULL, thread, s));
	for (size_t i = 0; i < THREADS; i++)
		ok(pthread_join(threads[i], NULL));
	symcache_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(from_threads) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
