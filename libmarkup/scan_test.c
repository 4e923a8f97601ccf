/*
 * The block-wise searches against the plainest loops, with runs of braces at
 * every position of a block and across its edges, in random text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/scan.h"

static const char *slow_find3(const char *p, const char *end, char c)
{
	for (; end - p >= 3; p++)
		if (p[0] == c && p[1] == c && p[2] == c)
			return p;
	return NULL;
}

static const char *slow_rfind3(const char *p, const char *end, char c)
{
	const char *last = NULL;
	for (; (p = slow_find3(p, end, c)); p++)
		last = p;
	return last;
}

static uint64_t slow_newlines(const char *p, const char *end)
{
	uint64_t n = 0;
	for (; p < end; p++)
		n += *p == '\n';
	return n;
}

static void check(const char *p, const char *end)
{
	const char *brace = slow_find3(p, end, '{');
	const char *esc = memchr(p, '\033', (size_t)(end - p));
	const char *first = brace && (!esc || brace < esc) ? brace : esc;
	uint64_t newlines = 5;

	assert_ptr_equal(markup_scan(p, end, MARKUP_SCAN_BRACES, &newlines), brace);
	assert_int_equal(newlines, 5 + slow_newlines(p, brace ? brace : end));
	for (; brace; brace = slow_find3(brace + 1, end, '{'))
		if (end - brace > 3 && (brace[3] == 'm' || brace[3] == 'r'))
			break;
	assert_ptr_equal(markup_scan_context(p, end), brace);
	brace = slow_find3(p, end, '{');
	newlines = 0;
	assert_ptr_equal(markup_scan(p, end, MARKUP_SCAN_ESC, &newlines), first);
	assert_int_equal(newlines, slow_newlines(p, first ? first : end));
	assert_int_equal(markup_count_newlines(p, end), slow_newlines(p, end));
	assert_ptr_equal(markup_find3(p, end, '{'), brace);
	assert_ptr_equal(markup_rfind3(p, end, '{'), slow_rfind3(p, end, '{'));
}

static void test_positions(void **state)
{
	char text[400];

	(void)state;
	for (size_t len = 0; len < 5; len++) {
		for (size_t at = 0; at + len <= sizeof(text); at++) {
			memset(text, 'x', sizeof(text));
			text[at ? at - 1 : 0] = '\n';
			memset(text + at, '{', len);
			if (at + len < sizeof(text))
				text[at + len] = "mrx"[at % 3];
			check(text, text + sizeof(text));
			check(text, text + at + len);
			check(text + at % 64, text + sizeof(text));
		}
	}
}

static void test_random(void **state)
{
	static const char chars[] = "{{{{{{{{}}mr\n\033 ";
	char text[300];

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)rand() % sizeof(text);
		int density = rand() % 3;
		for (size_t i = 0; i < len; i++)
			text[i] = rand() % (1 << 3 * density)
				? 'x' : chars[(size_t)rand() % (sizeof(chars) - 1)];
		check(text, text + len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
