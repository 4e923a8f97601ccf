/* Unit tests of bytes that may be UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/utf8.h"

static const char *escaped(size_t (*how)(const char *, size_t, char *), const char *s)
{
	static char text[256];

	text[how(s, strlen(s), text)] = 0;
	return text;
}

static void test_valid(void **state)
{
	(void)state;
	assert_int_equal(sc_utf8_valid("", 0), 0);
	assert_int_equal(sc_utf8_valid("J\xc3\xb6rg \xe2\x82\xac \xf0\x9f\x98\x80", 14), 14);
	assert_int_equal(sc_utf8_valid("twelve bytes\xe9", 13), 12);
	assert_int_equal(sc_utf8_valid("\xc0\xaf", 2), 0);     /* overlong */
	assert_int_equal(sc_utf8_valid("\xed\xa0\x80", 3), 0); /* surrogate */
	assert_int_equal(sc_utf8_valid("\xf4\x90\x80\x80", 4), 0);
	assert_int_equal(sc_utf8_valid("\xe2\x82", 2), 0);     /* cut off */
}

static void test_printable(void **state)
{
	(void)state;
	assert_true(sc_printable("J\xc3\xb6rg", 5));
	assert_false(sc_printable("a\033[1m", 5));
	assert_false(sc_printable("\xc2\x9b", 2)); /* C1 */
	assert_string_equal(escaped(sc_make_printable, "a\033[\xe9\n\xc2\x9b\xc3\xb6\x7f"),
			    "a\\x1b[\\xe9\\x0a\\xc2\\x9b\xc3\xb6\\x7f");
}

/* What may not be shown is found wherever it stands. */
static void test_printable_anywhere(void **state)
{
	static const struct { const char *bytes; size_t len; bool printable; } parts[] = {
		{ "\x1f", 1, false }, { "\x7f", 1, false }, { "\x80", 1, false }, { "\0", 1, false },
		{ "\xc2\x85", 2, false }, { " ", 1, true }, { "~", 1, true }, { "\xc3\xa9", 2, true },
	};
	enum { LONGEST = 100 };

	(void)state;
	for (size_t len = 0; len < LONGEST; len++) {
		for (size_t at = 0; at <= len; at++) {
			for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
				char text[LONGEST + 2];

				memset(text, 'a', sizeof(text));
				memcpy(text + at, parts[i].bytes, parts[i].len);
				assert_int_equal(sc_printable(text, len + parts[i].len),
						 parts[i].printable);
			}
		}
	}
}

static void escapes(const char *original, const char *text)
{
	assert_string_equal(escaped(sc_utf8_escape, original), text);
	assert_string_equal(escaped(sc_utf8_unescape, text), original);
}

static void test_escape(void **state)
{
	(void)state;
	escapes("", "");
	escapes("/home/Jos\xe9/a.c", "/home/Jos%E9/a.c");
	escapes("\xe2\x82", "%E2%82");
	escapes("100% \xc3\xb6\xff", "100% \xc3\xb6%FF");
	/* What is UTF-8 was never escaped. */
	escapes("a%20b%C3%B6%7F%e9%G0%", "a%20b%C3%B6%7F%e9%G0%");
	assert_string_equal(escaped(sc_utf8_unescape, "%8"), "%8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_printable_anywhere),
		cmocka_unit_test(test_escape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
