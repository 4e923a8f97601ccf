/* Which modules logs name, as `export --for-log` takes them: one that is overlooked is missing in the
 * bundle that is taken to the machine without a store. */
#include "libsymcache/logs/logs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/testing.h"
#include "libsymcache/symbolize/symbolize.h"

#define ID "3b43fad5c0c38faed8b0a5d27d6bcb9e33b5ffab"

static char found[1000];

static const struct {
	const char *log, *found; /* "NAME BUILD-ID" of each; "?NAME": it is not known; "!": a fault */
} cases[] = {
	{ "", "" },
	{ "some text\n", "" },
	{ "{{{module:0:a.so:elf:aabb}}}\n", "a.so aabb, " },
	{ "{{{module:0:a.so:elf:aabb}}}\n{{{reset}}}\n{{{module:0:b.so:elf:ccdd}}}\n", "a.so aabb, b.so ccdd, " },
	{ "{{{module:0:a.so:elf:aabb}}}\n{{{reset}}}\n{{{module:3:a.so:elf:aabb}}}\n", "a.so aabb, " },
	{ "{{{module:0:[vdso]:elf:aabb}}}\n{{{module:1:linux-vdso.so.1:elf:cc}}}\n", "" },
	{ "    #0 0x1234 in f (/lib/x.so+0x1234) (BuildId: " ID ")\n", "/lib/x.so " ID ", " },
	{ "    #0 0x1234 in f (/lib/x.so+0x1234)\n", "?x.so, " },
	{ "/lib/x.so(+0x1234) [0x55001234]\n/lib/x.so(+0x1238) [0x55001238]\n", "?x.so, " },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1 " ID "\n f+0x1/0x20\n", "6.1.0 " ID ", " },
	{ " f+0x1/0x20 [ext4 " ID "]\n", "ext4 " ID ", " },
	{ "\x1f\x8b\x08 not gzip\n", "!" },
};

static void add(const char *what, const char *name)
{
	snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", what, name);
}

static void unknown(void *ctx, const char *name, const struct sc_error *why)
{
	(void)ctx;
	assert_true(*why->msg);
	add("?", name);
	add("", ", ");
}

static void fault(void *ctx, const char *message)
{
	(void)ctx, (void)message;
	add("!", "");
}

static void test_logs(void **state)
{
	const struct symcache_caches_options none = { .store_optional = true };
	struct symlog_modules_options options = { .unknown = unknown, .fault = fault };

	(void)state;
	options.caches = symcache_caches_create(&none);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[32], id[SYMCACHE_BUILD_ID_TEXT];
		const int fd = testing_memfd(cases[i].log, strlen(cases[i].log), path);
		struct symcache_process *list = symcache_process_create(NULL);
		const struct symcache_image *image;
		struct sc_error err;

		*found = 0;
		if (symlog_modules_of_logs((const char *const[]){ path }, 1, &options, list, &err))
			add("!", "");
		for (size_t k = 0; (image = symcache_process_image_at(list, k)); k++) {
			symcache_build_id_text(id, image->build_id, image->build_id_len);
			add(image->path, " ");
			add(id, ", ");
		}
		if (strcmp(found, cases[i].found))
			fail_msg("%s  gives %s\n  not %s\n", cases[i].log, found, cases[i].found);
		symcache_process_destroy(list);
		close(fd);
	}
	symcache_caches_destroy(options.caches);
}

/* What is wrong with a log that can be read all the same is said. */
static void test_faults(void **state)
{
	const struct symcache_caches_options none = { .store_optional = true };
	struct symlog_modules_options options = { .unknown = unknown, .fault = fault };
	struct symcache_process *list = symcache_process_create(NULL);
	char path[] = "/tmp/modules_XXXXXX.gz";
	const int fd = mkstemps(path, 3);
	struct sc_error err;

	(void)state;
	assert_true(dprintf(fd, "{{{module:0:a.so:elf:aabb}}}\n") > 0);
	close(fd);
	options.caches = symcache_caches_create(&none);
	*found = 0;
	assert_int_equal(symlog_modules_of_logs((const char *const[]){ path }, 1, &options, list, &err), 0);
	assert_string_equal(found, "!"); /* it is not compressed, in spite of its name */
	assert_non_null(symcache_process_image_at(list, 0));
	assert_null(symcache_process_image_at(list, 1));
	symcache_process_destroy(list);
	symcache_caches_destroy(options.caches);
	unlink(path);
}

static void test_missing(void **state)
{
	const struct symcache_caches_options none = { .store_optional = true };
	struct symlog_modules_options options = { .unknown = unknown, .fault = fault };
	struct symcache_process *list = symcache_process_create(NULL);
	struct sc_error err;

	(void)state;
	options.caches = symcache_caches_create(&none);
	assert_int_equal(symlog_modules_of_logs((const char *const[]){ "/nonexistent/log" }, 1, &options,
						list, &err), SC_ESYS);
	assert_string_equal(err.msg, "/nonexistent/log: No such file or directory");
	assert_int_equal(symlog_modules_of_logs((const char *const[]){ "/" }, 1, &options, list, &err),
			 SC_EINVAL);
	symcache_process_destroy(list);
	symcache_caches_destroy(options.caches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests_name("modules of logs", tests, NULL, NULL);
}
