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

/* The same of other logs, whose frames have names of all kinds, and sources. */
static void test_logs(void **state)
{
	static const struct {
		const char *log, *name;
		bool sources;
		struct markup_options options;
	} cases[] = {
		{ "page", "json", true, { .format = MARKUP_JSON, .collect_dumpfiles = true } },
		{ "page", "llvm", true, { .dialect = MARKUP_LLVM } },
		{ "page", "llvm-color", false, { .dialect = MARKUP_LLVM, .color = MARKUP_COLOR_ON } },
		{ "page", "fuchsia", true, { .dialect = MARKUP_FUCHSIA, .collect_dumpfiles = true } },
		{ "every-format", "json-found", false, { .format = MARKUP_JSON } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct markup_resolver resolver = case_resolver(cases[i].sources);

		expect_case_of(&resolver, &cases[i].options, cases[i].log, cases[i].name);
	}
}

static void test_groups(void **state)
{
	static const char *const logs[] = { "elements", "page", "every-format", "crash", "page", "neighbours", NULL };

	(void)state;
	expect_groups("groups.txt", MARKUP_TEXT_OUT, false, logs, NULL, NULL);
	expect_groups("groups.color", MARKUP_TEXT_OUT, true, logs, NULL, NULL);
	expect_groups("groups.json", MARKUP_JSON, false, logs, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms), cmocka_unit_test(test_logs), cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
