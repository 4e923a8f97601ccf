/*
 * Logs with a sample of each format, as JSON, which has all that was found in a line:
 * testdata/logs, and testdata/markup with what becomes of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

static void test_logs(void **state)
{
	static const char *const logs[] = { "elements", "every-format" };

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++)
		expect_case(&(struct markup_options){ .format = MARKUP_JSON }, logs[i], "json");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_logs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
