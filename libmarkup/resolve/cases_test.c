/*
 * A log with every element and rule, in each dialect, against what is known to be right:
 * testdata/logs/elements.log, and testdata/markup with what becomes of it. Behind the output stand the
 * complaints, and the modules and counts that are reported at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

static void test_dialects(void **state)
{
	static const struct { const char *name; struct markup_options options; } cases[] = {
		{ "default", { .dialect = MARKUP_DEFAULT } },
		{ "llvm", { .dialect = MARKUP_LLVM } },
		{ "fuchsia", { .dialect = MARKUP_FUCHSIA } },
		{ "llvm-innermost", { .dialect = MARKUP_LLVM, .pc_innermost = true } },
		{ "modules", { .dialect = MARKUP_DEFAULT, .keep_modules = true, .omit_module_lines = true } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_case(&cases[i].options, "elements", cases[i].name);
}

/* Lines of several processes, each of which has modules of its own. */
static void test_processes(void **state)
{
	static const struct { const char *name; struct markup_options options; } cases[] = {
		{ "default", { .dialect = MARKUP_DEFAULT } },
		{ "demux", { .dialect = MARKUP_DEFAULT, .demux = "" } },
		{ "demux-by", { .dialect = MARKUP_DEFAULT, .demux = "([0-9]+)\\.[0-9]>" } },
		{ "demux-llvm", { .dialect = MARKUP_LLVM, .demux = "" } },
		{ "demux-fuchsia", { .dialect = MARKUP_FUCHSIA, .demux = "" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_case(&cases[i].options, "processes", cases[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_dialects), cmocka_unit_test(test_processes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
