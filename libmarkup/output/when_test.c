/* Times at the beginning of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "libmarkup/output/when.h"

static void test_when(void **state)
{
	static const struct { const char *line, *want; } cases[] = {
		{ "2025-01-09T23:59:00.123Z host app[3]: x", "2025-01-09T23:59:00" },
		{ "2025-01-09 23:59:00,123 ERROR", "2025-01-09 23:59:00" },
		{ "2025/01/09 23:59:00 [error]", "2025/01/09 23:59:00" },
		{ "[2025-01-09 23:59:00.1] x", "2025-01-09 23:59:00" },
		{ "{\"2025-01-09T23:59:00\"}", "2025-01-09T23:59:00" },
		{ "Jan  9 23:59:00 host kernel: [   12.345678] x", "Jan  9 23:59:00" },
		{ "<13>Mar 13 10:11:12 x", "Mar 13 10:11:12" },
		{ "I1108 13:24:05.123456  77 a.cc:3] x", "I1108 13:24:05" },
		{ "[   12.345678] x", "12.345678" },
		{ "<4>[1234.500099][ T1] x", "1234.500099" },
		{ "", "" }, { "[", "" }, { "[ 12.34567] x", "" }, { "[12.3456789] x", "" },
		{ "[ .345678] x", "" }, { "[1234567890.345678]", "" }, { "[123456789.345678]", "123456789.345678" }, { "[12.345678", "" },
		{ "2025-01-09T23:59", "" }, { "2025-13-9 23:59:00", "" }, { "jan  9 23:59:00", "" },
		{ "at 2025-01-09T23:59:00", "" }, { "1234567892025-01-09T23:59:00", "" },
		{ "Jan 9 23:59:00", "" }, { "0123456@2025-01-09T23:59:00", "2025-01-09T23:59:00" },
		{ "@@@@@@@@@Jan  9 23:59:00", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sc_str got = mk_when(sc_str_of(cases[i].line));

		assert_int_equal(got.len, strlen(cases[i].want));
		assert_true(got.len < MK_WHEN_MAX);
		assert_memory_equal(got.len ? got.ptr : "", cases[i].want, got.len);
	}
}

/* A line that is cut off has the time that is left of it, whatever is behind it. */
static void test_cut(void **state)
{
	static const char *const lines[] = {
		"2025-01-09T23:59:00.123Z", "Jan  9 23:59:00 host", "I1108 13:24:05.1234", "[   12.345678] x",
	};
	static const size_t whole[] = { 19, 15, 15, 14 };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		for (size_t len = 0; len <= strlen(lines[i]); len++)
			assert_int_equal(mk_when((struct sc_str){ lines[i], len }).len != 0, len >= whole[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_when), cmocka_unit_test(test_cut) };

	return cmocka_run_group_tests_name("when", tests, NULL, NULL);
}
