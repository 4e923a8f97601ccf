/*
 * The block-wise searches against the plainest loops, with runs of braces at
 * every position of a block and across its edges, in random text; those that this
 * processor takes, and those that all have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/bytes/scan.c"

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

static const char *slow_special(const char *p, const char *end)
{
	while (p < end && !strchr(":{}", *p))
		p++;
	return p;
}

static uint64_t slow_newlines(const char *p, const char *end)
{
	uint64_t n = 0;
	for (; p < end; p++)
		n += *p == '\n';
	return n;
}

/* All hits, some at a time, by one kind of passes. */
static void check_hits(const struct passes *k, const char *p, const char *end,
		       enum mk_scan_for what, size_t max)
{
	const char *from = p, *next = p;
	struct mk_hit hits[3];
	uint64_t newlines = 5;
	size_t n;

	do {
		n = k->scan(&from, end, what, &newlines, hits, max);
		for (size_t i = 0; i < n; i++) {
			while (!(end - next >= 3 && !memcmp(next, "{{{", 3)) &&
			       !(what == MK_SCAN_ESC && *next == '\033'))
				assert_true(++next < end);
			assert_ptr_equal(hits[i].at, next);
			assert_int_equal(hits[i].line_no, 5 + slow_newlines(p, next));
			next += *next == '{' ? 3 : 1;
		}
		assert_ptr_equal(from, n == max ? next : end);
		assert_int_equal(newlines, 5 + slow_newlines(p, from));
	} while (n == max);
	assert_null(slow_find3(next, end, '{'));
	if (what == MK_SCAN_ESC)
		assert_null(memchr(next, '\033', (size_t)(end - next)));
}

static void check_kind(const struct passes *k, const char *p, const char *end)
{
	for (size_t max = 1; max <= 3; max++) {
		check_hits(k, p, end, MK_SCAN_BRACES, max);
		check_hits(k, p, end, MK_SCAN_ESC, max);
	}
	assert_int_equal(k->count_newlines(p, end), slow_newlines(p, end));
}

static void check(const char *p, const char *end)
{
	const char *brace = slow_find3(p, end, '{');
	uint64_t newlines = 5;

	check_kind(&base_passes, p, end);
	check_kind(passes(), p, end);
	assert_ptr_equal(mk_scan(p, end, MK_SCAN_BRACES, &newlines), brace);
	assert_int_equal(newlines, 5 + slow_newlines(p, brace ? brace : end));
	assert_ptr_equal(mk_find3(p, end, '{'), brace);
	assert_ptr_equal(mk_rfind3(p, end, '{'), slow_rfind3(p, end, '{'));
	assert_ptr_equal(mk_scan_special(p, end), slow_special(p, end));
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
	static const char chars[] = "{{{{{{{{}}mr\n\033 :";

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)rand() % 300;
		int density = rand() % 3;
		char *text = malloc(len); /* ends where it must not be left */
		for (size_t i = 0; i < len; i++)
			text[i] = rand() % (1 << 3 * density)
				? 'x' : chars[(size_t)rand() % (sizeof(chars) - 1)];
		check(text, text + len);
		free(text);
	}
}

#ifdef __x86_64__
/* Of libgcc: what the processor has. */
extern struct { unsigned vendor, type, subtype, features; } __cpu_model;

/* Passes for AVX2 are taken by no processor that lacks one of the three: some have two of them. */
static void test_processors(void **state)
{
	enum { POPCNT = 1 << 2, AVX2 = 1 << 10, BMI = 1 << 16, ALL = POPCNT | AVX2 | BMI };
	const unsigned features = __cpu_model.features;
	unsigned taken = 0;

	(void)state;
	assert_int_equal((features & ALL) == ALL, mk_has_avx2());
	for (unsigned i = 0; i < 8; i++) {
		__cpu_model.features = (features & ~(unsigned)ALL) | (i & 1 ? POPCNT : 0) | (i & 2 ? AVX2 : 0) |
				       (i & 4 ? BMI : 0);
		__asm__ volatile("" : : : "memory");
		taken |= (unsigned)(passes() == &avx2_passes) << i;
	}
	__cpu_model.features = features;
	assert_int_equal(taken, 1 << 7);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_random),
#ifdef __x86_64__
		cmocka_unit_test(test_processors),
#endif
	};
	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
