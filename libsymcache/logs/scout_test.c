/*
 * A short log about a file that is not in the store, this test program itself: its frames are those
 * of the whole cache, which is not made for them; for a long log it is.
 */
#include "libsymcache/logs/logs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char self[256];
static uint64_t code[64]; /* addresses in it */

static void say(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	(void)ctx, (void)warns_of;
	fail_msg("%.*s", (int)len, text);
}

/* The output of a log with n frames, spread over the code, on the heap. */
static char *filter(struct symcache_caches *caches, size_t n)
{
	const struct markup_options markup = { .dialect = MARKUP_DEFAULT };
	const char *const modules[] = { "self=/proc/self/exe" };
	const struct symlog_filter_options options = {
		.markup = &markup, .threads = 2, .name = "test", .say = say,
		.from.find = { .caches = caches, .modules = modules, .num_modules = 1 },
	};
	char in[] = "/tmp/symcache-scout-XXXXXX", *text = calloc(1, 1 << 20);
	FILE *log = fdopen(mkstemp(in), "w"), *out = tmpfile();
	struct symlog_filter *f;
	struct symlog run = { .path = in, .alone = true,
			      .output = { .fd = fileno(out), .name = "output" } };
	struct sc_error err;

	for (size_t i = 0; i < n; i++)
		fprintf(log, "    #%zu 0x1  (/opt/self+0x%llx)\n", i,
			(unsigned long long)code[i * 7 % 64]);
	fclose(log);
	assert_int_equal(symlog_filter_create(&options, &f, &err), 0);
	assert_int_equal(symlog_filter_run(f, &run, &err), SYMLOG_OK);
	assert_int_equal(symlog_filter_end(f, &err), 0);
	symlog_filter_destroy(f);
	rewind(out);
	assert_true(fread(text, 1, (1 << 20) - 1, out) > 0);
	fclose(out);
	unlink(in);
	return text;
}

static void test_frames(void **state)
{
	for (size_t n = 1; n <= 8; n++) {
		struct symcache_caches *first = symcache_caches_create(NULL),
				       *whole = symcache_caches_create(NULL);
		struct symcache_module *of_first = symcache_caches_module(first, SYMCACHE_MODULE_FILE,
									  self),
				       *of_whole = symcache_caches_module(whole, SYMCACHE_MODULE_FILE,
									  self);
		const struct symcache *cache;
		char *a, *b;

		assert_int_equal(symcache_module_cache(of_whole, &cache, NULL, NULL), 0);
		a = filter(first, n);
		assert_false(symcache_module_is_open(of_first));
		assert_true(symcache_module_is_first(of_first));
		b = filter(whole, n);
		assert_string_equal(a, b);
		assert_non_null(strstr(a, " in "));
		free(a);
		free(b);
		symcache_caches_destroy(first);
		symcache_caches_destroy(whole);
	}
	(void)state;
}

/* So many frames ask for most of it. */
static void test_long(void **state)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_module *m = symcache_caches_module(caches, SYMCACHE_MODULE_FILE, self);

	(void)state;
	free(filter(caches, 60));
	assert_true(symcache_module_is_open(m));
	symcache_caches_destroy(caches);
}

static int setup(void **state)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	const struct symcache *cache;
	struct symcache_frames frames;
	uint32_t n;

	(void)state;
	strcpy(self, "/proc/self/exe");
	if (symcache_module_cache(symcache_caches_module(caches, SYMCACHE_MODULE_FILE, self), &cache,
				  NULL, NULL))
		return -1;
	n = cache->header->num_ranges;
	for (size_t i = 0; i < 64; i++) {
		uint32_t at = n / 64 * (uint32_t)i;

		/* For what is between functions, data is looked for in the whole cache. */
		while (at + 1 < n && (!symcache_lookup(cache, cache->ranges[at], &frames) ||
				      cache->ranges[at + 1] - cache->ranges[at] < 2))
			at++;
		/* Return addresses are looked up one byte before. */
		code[i] = symcache_load_base(cache) + cache->ranges[at] + 1;
	}
	symcache_caches_destroy(caches);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
