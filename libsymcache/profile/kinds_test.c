/* What a profile is taken for, by its bytes: else it is read as something else, or refused in words that do
 * not help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/profile/kinds.h"

/* "" of looks_like: it is a kind. The bytes are copied, so that nothing is read behind them. */
static void expect(const void *bytes, size_t size, enum prof_kind kind, const char *looks_like)
{
	const char *got = "";
	void *copy = malloc(size ? size : 1);
	enum prof_kind is;

	if (size)
		memcpy(copy, bytes, size);
	is = prof_kind_of(copy, size, &got);
	if (is != kind || strcmp(got, looks_like))
		fail_msg("%.40s, %zu bytes: %d, '%s'", (const char *)bytes, size, is, got);
	free(copy);
}

#define NO_STACKS "is a text, but not of stacks: its lines do not end in numbers"
#define UNKNOWN "is not a known kind of profile"

static void test_texts(void **state)
{
	static const struct { const char *text; enum prof_kind kind; const char *looks_like; } cases[] = {
		{ "", PROF_UNKNOWN, "is empty" },
		{ "a;b 1\n", PROF_FOLDED, "" }, { "a 1", PROF_FOLDED, "" }, { "a;b 1\r\na 2\r\r\n", PROF_FOLDED, "" },
		{ "a b 12345\nc 0\n", PROF_FOLDED, "" },
		{ " 5\n", PROF_UNKNOWN, NO_STACKS }, { "5\n", PROF_UNKNOWN, NO_STACKS }, { "a5\n", PROF_UNKNOWN, NO_STACKS },
		{ "a 5 \n", PROF_UNKNOWN, NO_STACKS }, { "a 5\nb\n", PROF_UNKNOWN, NO_STACKS },
		{ "PERFILE2", PROF_PERF, "" }, { "PERFILE", PROF_UNKNOWN, NO_STACKS },
		{ "heap_v2/524288\n", PROF_HEAP, "" }, { "heap profile: 1: 2 [3: 4] @ heap/5\n", PROF_HEAP, "" },
		{ "heap profile\n", PROF_UNKNOWN, "looks like a heap profile, but its first line is not one's" },
		{ "\x7f" "ELF", PROF_UNKNOWN, "is an ELF file" },
		{ "2ELIFREP", PROF_UNKNOWN, "is perf.data of a big-endian machine, which is not read" },
		{ "--- symbol\n", PROF_UNKNOWN, "has symbols in it already: it is what jeprof and pprof call raw" },
		{ "--- contention\n", PROF_UNKNOWN, "is a contention profile, which is not read" },
		{ "goroutine profile: total 1\nx\n", PROF_UNKNOWN, "is a text of Go's, which is not read" },
		{ "{\"a\": 1}\n", PROF_UNKNOWN, "looks like JSON" },
		{ "JAVA PROFILE 1.0.2\n", PROF_UNKNOWN, "is a heap dump of Java" },
		{ "a\x01 5\n", PROF_UNKNOWN, UNKNOWN }, { "a\x1f 5\n", PROF_UNKNOWN, UNKNOWN }, { "\t 5\n", PROF_FOLDED, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(cases[i].text, strlen(cases[i].text), cases[i].kind, cases[i].looks_like);
	/* The first 16 lines are looked at. */
	for (int lines = 14; lines < 18; lines++) {
		char text[300] = "";

		for (int i = 0; i < lines; i++)
			strcat(text, "a;b 1\n");
		strcat(text, "no stack\n");
		expect(text, strlen(text), lines < 16 ? PROF_UNKNOWN : PROF_FOLDED, lines < 16 ? NO_STACKS : "");
	}
}

static void test_bytes(void **state)
{
#define B(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
	static const struct { uint8_t bytes[32]; size_t size; enum prof_kind kind; const char *looks_like; } cases[] = {
		/* pprof: the first of its strings is empty. */
		{ B(0x32, 0), PROF_PPROF, "" }, { B(0x0a, 0, 0x12, 0, 0x32, 0), PROF_PPROF, "" },
		{ B(0x32, 1, 'a'), PROF_UNKNOWN, UNKNOWN },
		/* OTLP: a dictionary, whose first string is empty. */
		{ B(0x12, 2, 0x2a, 0), PROF_OTLP, "" }, { B(0x12, 3, 0x2a, 1, 'a'), PROF_UNKNOWN, UNKNOWN },
		{ B(0x12, 2, 0x22, 0), PROF_UNKNOWN, UNKNOWN },
		/* Fields that neither has. */
		{ B(0x78, 1, 0x32, 0), PROF_PPROF, "" }, { B(0x80, 1, 1, 0x32, 0), PROF_UNKNOWN, UNKNOWN },
		{ B(0x88, 1, 1, 0x32, 0), PROF_UNKNOWN, UNKNOWN },
		/* Cut off behind two fields: its reader says where. */
		{ B(0x0a, 0, 0x12, 0, 0x0a, 9), PROF_PPROF, "" }, { B(0x0a, 0, 0x0a, 9), PROF_UNKNOWN, UNKNOWN },
		{ B(0x0a, 9, 0, 1), PROF_UNKNOWN, UNKNOWN },
		/* A CPU profile: 0, 3 words of header, the version 0, a period, and no padding; of each word and order. */
		{ B(0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0), PROF_CPU, "" },
		{ B(0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0), PROF_CPU, "" },
		{ B(0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0), PROF_CPU, "" },
		{ B(0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0), PROF_UNKNOWN, UNKNOWN },
		{ B(0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), PROF_UNKNOWN, UNKNOWN },
		{ B(0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0), PROF_UNKNOWN, UNKNOWN },
		{ B(0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0), PROF_UNKNOWN, UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *got = "";
		const enum prof_kind is = prof_kind_of(cases[i].bytes, cases[i].size, &got);

		if (is != cases[i].kind || strcmp(got, cases[i].looks_like))
			fail_msg("case %zu: %d, '%s'", i, is, got);
		expect(cases[i].bytes, cases[i].size, cases[i].kind, cases[i].looks_like);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts), cmocka_unit_test(test_bytes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
