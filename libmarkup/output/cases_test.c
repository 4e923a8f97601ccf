/*
 * A log with every element and rule, in each form of output, against what is known to be right:
 * testdata/logs/elements.log, and testdata/markup with what becomes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

static void test_forms(void **state)
{
	static const char *const own[] = { "prog", NULL };
	static const struct { const char *name; struct markup_options options; } cases[] = {
		{ "default", { .dialect = MARKUP_DEFAULT } },
		{ "color", { .dialect = MARKUP_DEFAULT, .color = MARKUP_COLOR_ON, .own = own } },
		{ "llvm", { .dialect = MARKUP_LLVM } },
		{ "llvm-color", { .dialect = MARKUP_LLVM, .color = MARKUP_COLOR_ON } },
		{ "llvm-innermost", { .dialect = MARKUP_LLVM, .pc_innermost = true } },
		{ "fuchsia", { .dialect = MARKUP_FUCHSIA } },
		{ "json", { .dialect = MARKUP_DEFAULT, .format = MARKUP_JSON } },
		{ "json-named", { .dialect = MARKUP_DEFAULT, .format = MARKUP_JSON, .name_inputs = true } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_case(&cases[i].options, "elements", cases[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_forms) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
