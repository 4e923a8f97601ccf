/* Unit tests of bytes that may be UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
	assert_false(sc_printable("\xc3\xb6g\033", 4));
	assert_false(sc_printable("\xc3\xb6g\xc3\xb6\xe9", 6));
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

/* A text ends where its length says, also within a character that goes on behind it. */
static void test_end(void **state)
{
	static const struct { const char *bytes; size_t len; const char *printable, *escaped; } cases[] = {
		{ "a\xc3\xb6", 2, "a\\xc3", "a%C3" },
		{ "ab\xe2\x82\xac", 4, "ab\\xe2\\x82", "ab%E2%82" },
		{ "\xf0\x9f\x98\x80\xc3\xb6", 5, "\xf0\x9f\x98\x80\\xc3", "\xf0\x9f\x98\x80%C3" },
		{ "ab", 1, "a", "a" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		text[sc_make_printable(cases[i].bytes, cases[i].len, text)] = 0;
		assert_string_equal(text, cases[i].printable);
		text[sc_utf8_escape(cases[i].bytes, cases[i].len, text)] = 0;
		assert_string_equal(text, cases[i].escaped);
		assert_int_equal(sc_printable(cases[i].bytes, cases[i].len), cases[i].len == 1);
		assert_int_equal(sc_utf8_valid(cases[i].bytes, cases[i].len) == cases[i].len, cases[i].len == 1);
	}
	text[sc_utf8_unescape("a%E9", 3, text)] = 0;
	assert_string_equal(text, "a%E");
	text[sc_utf8_unescape("a%E9b", 4, text)] = 0;
	assert_string_equal(text, "a\xe9");
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
	assert_int_equal(sc_utf8_unescape(NULL, 0, NULL), 0); /* a text that is none */
}

/* The length of the character that the bytes begin with; else less than 0, how many bytes are not one
 * together: by its number. */
static int len_by_number(const unsigned char *s, int len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const int want = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;
	uint32_t low = want ? s[0] & (0xff >> want >> (want > 1)) : 0, high = low;

	if (!want || s[0] == 0xc0 || s[0] == 0xc1 || s[0] > 0xf4)
		return -1;
	for (int i = 1; i < want; i++) { /* can it still be one? */
		if (i >= len || s[i] >> 6 != 2)
			return -i;
		low = low << 6 | (s[i] & 0x3f);
		high = low;
		for (int left = want - i - 1; left; left--)
			high = high << 6 | 0x3f;
		if (high < least[want] || low << 6 * (want - i - 1) > 0x10ffff ||
		    (low << 6 * (want - i - 1) >= 0xd800 && high <= 0xdfff))
			return -i;
	}
	return want;
}

/* Bytes of all kinds, up to four of them. */
static void test_all(void **state)
{
	static const unsigned char kinds[] = { 0, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
					       0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff };
	enum { KINDS = sizeof(kinds) };

	(void)state;
	for (unsigned n = 0; n < KINDS * KINDS * KINDS * KINDS; n++) {
		const unsigned char s[] = { kinds[n % KINDS], kinds[n / KINDS % KINDS],
					    kinds[n / KINDS / KINDS % KINDS], kinds[n / KINDS / KINDS / KINDS] };

		for (int len = 1; len <= 4; len++)
			if (sc_utf8_len((const char *)s, (size_t)len) != len_by_number(s, len))
				fail_msg("%02x %02x %02x %02x, of which %d: %d, not %d", s[0], s[1], s[2], s[3], len,
					 sc_utf8_len((const char *)s, (size_t)len), len_by_number(s, len));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_printable_anywhere),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
