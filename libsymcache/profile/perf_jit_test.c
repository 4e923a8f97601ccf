/* Names of code that was made at run time: only of memory that no file has, of the process that made it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/profile/perf.h"

static void test_names(void **state)
{
	static const struct { uint32_t pid; const char *path; uint64_t address; const char *name; } cases[] = {
		{ 77, "", 0x1008, "jitted" }, { 77, "", 0x1010, "" }, { 77, "", 0xfff, "" },
		{ 77, "//anon", 0x1008, "jitted" }, { 77, "//anon_hugepage", 0x1008, "jitted" },
		{ 77, "/memfd:doublemapper (deleted)", 0x1008, "jitted" }, { 77, "[heap]", 0x1008, "jitted" },
		{ 77, "/dev/zero (deleted)", 0x1008, "jitted" }, { 77, "/dev/zero", 0x1008, "jitted" },
		{ 77, "/usr/bin/node", 0x1008, "" }, { 77, "[stack]", 0x1008, "" }, { 77, "[heap]x", 0x1008, "" },
		{ 77, "//ano", 0x1008, "" }, { 77, "/memfd", 0x1008, "" }, { 77, "/dev/zer", 0x1008, "" },
		{ 78, "", 0x1008, "other" }, { 79, "", 0x1008, "" }, { 77, NULL, 0x1008, "jitted" },
	};

	(void)state;
	assert_non_null(mkdtemp(testing_dir));
	assert_int_equal(testing_run("cd %s && echo '1000 10 jitted' > perf-77.map && echo '1000 10 other' > perf-78.map",
				     testing_dir), 0);
	for (int with = 0; with < 2; with++) {
		struct perf_profile p = { .jit_dir = with ? testing_dir : NULL };

		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			struct symcache_image image = { .path = cases[i].path };
			const struct symcache_mapping m = { .image = &image };
			const char *name = NULL;

			assert_true(perf_jitted(&p, cases[i].pid, cases[i].path ? &m : NULL, cases[i].address, &name));
			if (strcmp(name, with ? cases[i].name : ""))
				fail_msg("%s of %u: '%s'", cases[i].path ? cases[i].path : "-", cases[i].pid, name);
		}
		perf_jit_clear(&p);
		perf_deinit(&p);
	}
	assert_int_equal(testing_run("rm -r %s", testing_dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
