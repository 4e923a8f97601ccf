/* Patterns, also such as would take a matcher that goes back and forth for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "libsymcache/base/glob.h"

static void fits(void **state)
{
	static const struct { const char *pattern, *text; bool fits; } cases[] = {
		{ "", "", true }, { "", "a", false }, { "a", "", false }, { "*", "", true },
		{ "*", "abc", true }, { "a*", "abc", true }, { "a*c", "abc", true },
		{ "a*c", "acb", false }, { "*b*", "abc", true }, { "?", "a", true }, { "?", "", false },
		{ "a?c", "abc", true }, { "a??c", "abc", false }, { "**a**", "bab", true },
		{ "*ab", "aab", true }, { "*aab", "aaab", true }, { "a*a*b", "aaab", true },
		{ "operator\\*", "operator*", true }, { "operator\\*", "operators", false },
		{ "a\\?", "a?", true }, { "a\\?", "ab", false }, { "a\\", "a\\", true },
		{ "f()[]", "f()[]", true },
	};
	char text[20001], pattern[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(sc_glob(sc_str_of(cases[i].pattern), sc_str_of(cases[i].text)),
				 cases[i].fits);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (size_t i = 0; i < 60; i += 2)
		memcpy(pattern + i, "*a", 2);
	memcpy(pattern + 60, "*b", 3);
	assert_false(sc_glob(sc_str_of(pattern), sc_str_of(text)));
	assert_true(sc_is_glob(sc_str_of("a*")) && sc_is_glob(sc_str_of("\\**")));
	assert_false(sc_is_glob(sc_str_of("a\\*\\?")) || sc_is_glob(sc_str_of("operator[]")));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(fits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
