/* The scan for words against the plainest loop, with and without AVX2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/words.c"
#include "libmarkup/cases_test.h"

static const char *const words[] = { "{{{", "+0x", "pc ", "\033", "-xp", "+ 0", "# 0", "zz",
				     "pc 0", "+0xz", "zza", "xxpc", "#", "bzz", "xz", "a- 0" };
#define NUM (sizeof(words) / sizeof(*words))

static bool begins(const char *p, const char *end, const char *word)
{
	return (size_t)(end - p) >= strlen(word) && !memcmp(p, word, strlen(word));
}

/* All hits, `max` at a time. */
static void check(const struct mk_words *w, unsigned num, bool fast, const char *p,
		  const char *end, size_t max)
{
	const char *from = p, *next = p;
	uint64_t newlines = 7, lines = 7;
	struct mk_hit hits[16];
	size_t n;

	do {
		struct found f = { from, hits, 0, max };
		n = fast ? mk_words_hits(w, &from, end, &newlines, hits, max)
			 : plain_hits(w, &from, end, &newlines, &f);
		for (size_t i = 0; i < n; i++) {
			for (bool found = false; !found; next += !found) {
				assert_true(next < end);
				for (unsigned k = 0; k < num; k++)
					found |= begins(next, end, words[k]);
				lines += !found && *next == '\n';
			}
			assert_ptr_equal(hits[i].at, next);
			assert_int_equal(hits[i].line_no, lines);
			next += *next == '{' ? 3 : 1;
		}
		assert_ptr_equal(from, n == max ? next : end);
	} while (n == max);
	for (; next < end; next++) {
		for (unsigned k = 0; k < num; k++)
			assert_false(begins(next, end, words[k]));
		lines += *next == '\n';
	}
	assert_int_equal(newlines, lines);
}

static void test_random(void **state)
{
	static const char alphabet[] = "{{{{+0xpc \033-# zz\nab";
	char text[700];

	(void)state;
	srand(4);
	for (int round = 0; round < 4000; round++) {
		const size_t len = (size_t)rand() % sizeof(text);
		const unsigned num = 1 + (unsigned)rand() % NUM;
		struct mk_words w = { 0 };
		char *copy = malloc(len + 1); /* for sanitizers: nothing is read behind it */

		for (size_t i = 0; i < len; i++)
			text[i] = rand() % 3 ? 'x' :
					       alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		memcpy(copy, text, len);
		for (unsigned k = 0; k < num; k++)
			mk_words_add(&w, words[k]);
		mk_words_add(&w, words[0]);
		assert_int_equal(w.num, num);
		check(&w, num, true, copy, copy + len, 1 + (size_t)rand() % 16);
		check(&w, num, false, copy, copy + len, 1 + (size_t)rand() % 16);
		free(copy);
	}
}

/* Hex numbers of plain text are no candidates; what frames have is. */
static void test_guarded(void **state)
{
	static const struct { const char *text; bool counts; } cases[] = {
		{ "request 0x1f took", false }, { "id 0x12345678 done", false },
		{ "flags (0x10) set", false }, { "at (0x10", false }, { "x (0x10 [/a", true },
		{ "#3 0x1f in main", true }, { "3: 0x1f [node]", true }, { "a  0x1f", true },
		{ "pid 0x1f in /bin/a", true }, { "a.so 0x00007f0000001000", true },
		{ "a.so 0x12345678 main + 4", true }, { "a.so 0x12345678", true },
		{ "\033[1m 0x1f", true }, { "(0x7f00+0x12) [0x1]", true }, { "(0x12) [0x1]", true },
		{ "0123456789abcdef 0x1f", true }, { "456789abcdef 0x1f b", false },
	};
	struct mk_words w = { 0 };

	(void)state;
	mk_words_add(&w, " 0x");
	mk_words_add(&w, "(0x");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[128];
		uint64_t newlines = 0;
		int len = snprintf(text, sizeof(text), "%s\nand the next line, which is long enough",
				   cases[i].text);
		const char *hit = mk_words_find(&w, text, text + len, &newlines);

		/* At the beginning of the bytes anything may stand in front. */
		if (!hit == !!cases[i].counts)
			fail_msg("%s", cases[i].text);
	}
}

static bool finds(const struct mk_words *w, const char *text, size_t before, size_t len)
{
	char *copy = malloc(len); /* for sanitizers: nothing is read behind it */
	uint64_t newlines = 0;
	bool found;

	memcpy(copy, text, len);
	found = mk_words_find(w, copy, copy + len, &newlines) == copy + before;
	free(copy);
	return found;
}

/* The two words in front of 0 to 18 digits ('1': it is a candidate), between texts of all kinds:
 * testdata/markup/words.txt has what is known to be right. */
static void test_surroundings(void **state)
{
	static const char *const befores[] = { "", "x", "x0", "x9", "x:", "x ", "x\t", "xm", "x/", "x@", "x;",
		"0123456789abcdef", "g123456789abcdef", "0123456789abcdeg", "23456789abcdef", };
	static const char *const behinds[] = { " and so on", " in x", " in", "+1 x", ") x y", ") [x", ")\t[x", ")[x",
		")  ", ") \033[m", "[0x1]", "\033[m", "\nnext", ": x", " f + 12", " f \n + 12", " f +12", "", "x", "xy", "xyz",
		"FARg + 1", "FAR + 1" };
	struct fake_text got = { 0 };
	struct mk_words w = { 0 };

	(void)state;
	mk_words_add(&w, " 0x");
	mk_words_add(&w, "(0x");
	for (size_t i = 0; i < sizeof(befores) / sizeof(*befores) * sizeof(behinds) / sizeof(*behinds); i++) {
		const char *before = befores[i / (sizeof(behinds) / sizeof(*behinds))];
		const char *behind = behinds[i % (sizeof(behinds) / sizeof(*behinds))];
		char far[SUM_MAX + 100], text[SUM_MAX + 300], line[200];

		memset(far, '.', sizeof(far)); /* as far as is looked for a sum */
		far[0] = ' ';
		snprintf(far + SUM_MAX - 3, 100, "%s", behind + (strlen(behind) < 3 ? 0 : 3));
		snprintf(line, sizeof(line), "'%s' '%s':", before, behind);
		for (char *newline = line; (newline = strchr(newline, '\n'));)
			*newline = '$';
		fake_append(&got, line, strlen(line));
		for (int word = 0; word < 2; word++) {
			fake_append(&got, word ? "  (0x " : "   0x ", 6);
			for (int digits = 0; digits <= 18; digits++) {
				const int len = snprintf(text, sizeof(text), "%s%s%.*s%s", before, word ? "(0x" : " 0x",
							 digits, "123456789abcdef0123",
							 strncmp(behind, "FAR", 3) ? behind : far);

				fake_append(&got, finds(&w, text, strlen(before), (size_t)len) ? "1" : ".", 1);
			}
		}
		fake_append(&got, "\n", 1);
	}
	record("words.txt", &got);
	expect_recorded("words.txt", &got, "in their surroundings");
	free(got.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guarded), cmocka_unit_test(test_surroundings), cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
