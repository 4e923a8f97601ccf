/* Dumps of registers: their pairs, and what belongs to one that goes over lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/hexdict.h"

/* All pairs, as "KEY=VALUE " with the number in decimal. */
static const struct { const char *text, *pairs; } dumps[] = {
	{ "", "" },
	{ "RIP: 0x10", "RIP=0x10(16) " },
	{ "RIP:0x10", "RIP=0x10(16) " },
	{ " CS:   0 RIP: 0x10 A:0x5 ", "CS=0(0) RIP=0x10(16) A=0x5(5) " },
	{ "RIP:\n\t 0x10\r\nX:\v0x1\fY:0x2", "RIP=0x10(16) X=0x1(1) Y=0x2(2) " },
	{ "A: B: 0x1 C: 0x2", "B=0x1(1) C=0x2(2) " },
	{ "A: 1 B: 0x1", "B=0x1(1) " },
	{ ": 0x1 :0x2 A:", "" },
	{ "A:0x1:0x2 B:x:0x3", "" },
	{ "A: 0x1 0x2 B 0x3 C: 0x4", "A=0x1(1) C=0x4(4) " },
	{ "A:0x1B: 0x2", "" },
	{ "A : 0x1", "" },
	{ "A: 0x10000000000000000 B: 00", "B=00(0) " },
	{ "A:\x1c 0x1", "" },
	{ "A: \b0x1", "" },
	{ "A:0x1", "A=0x1(1) " },
};

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(dumps) / sizeof(*dumps); i++) {
		/* What is behind the end does not count. */
		char text[200], got[200] = "";
		const size_t len = strlen(dumps[i].text);
		const char *pos = text, *end = text + len;
		struct mk_pair pair;

		sprintf(text, "%s1 Z: 0x7", dumps[i].text);
		while (mk_next_pair(&pos, end, &pair))
			sprintf(got + strlen(got), "%.*s=%.*s(%llu) ", (int)pair.key.len, pair.key.ptr,
				(int)pair.value.len, pair.value.ptr, (unsigned long long)pair.number);
		assert_ptr_equal(pos, end);
		assert_string_equal(got, dumps[i].pairs);
	}
}

/* Lines behind an open one: does the last of them belong to it? */
static const struct { const char *lines[3]; bool belongs; } cases[] = {
	{ { "{{{hexdict:A: 0x1\n", "B: 0x2\n" }, true },
	{ { "{{{hexdict:A: 0x1\n", "B:0x2 and more\n" }, true },
	{ { "{{{hexdict:A: 0x1\n", "text\n" }, false },
	{ { "{{{hexdict:A: 0x1\n", "\n" }, false },
	{ { "{{{hexdict:A: 0x1\n", "B:\n" }, true },
	{ { "{{{hexdict:A: 0x1\n", "B: \r\n" }, true },
	{ { "{{{hexdict:A: 0x1\n", "B :\n" }, true },
	{ { "{{{hexdict:A: 0x1\n", "text: 12\n" }, false },
	{ { "{{{hexdict:A: 0x1\n", "text }}} \n" }, true },
	{ { "{{{hexdict:A: 0x1\n", "text }} }\n" }, false },
	{ { "{{{hexdict:A:\n", "0x1\n" }, true },
	{ { "{{{hexdict:A: \t\n", "  0x1\n" }, true },
	{ { "{{{hexdict:A: x\n", "0x1\n" }, false },
	{ { "{{{hexdict:A: 0x1 B:\n", "1 0x1\n" }, false },
	{ { "{{{hexdict:A: 0x1\n", "B:\n", "0x2\n" }, true },
	{ { "{{{hexdict:A: 0x1\n", "no\n", "B: 0x2\n" }, true },
	{ { "{{{hexdict:A:\n", "no\n", "0x2\n" }, true },
	{ { "{{{hexdict:\n", "A: 0x1\n" }, true },
	{ { "{{{hexdict:0\n", "no\n" }, false }, /* "{{{hexdict" is not a key */
};

static void test_lines(void **state)
{
	struct mk_hexdict h = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char want[200];
		bool belongs = false;

		assert_true(mk_hexdict_open(&h, sc_str_of(cases[i].lines[0])));
		strcpy(want, cases[i].lines[0]);
		for (size_t k = 1; k < 3 && cases[i].lines[k]; k++) {
			belongs = mk_hexdict_add(&h, cases[i].lines[k], strlen(cases[i].lines[k]));
			if (belongs)
				strcat(want, cases[i].lines[k]);
		}
		if (belongs != cases[i].belongs)
			fail_msg("%s%s", cases[i].lines[0], cases[i].lines[1]);
		assert_int_equal(h.text.len, strlen(want)); /* what does not belong to it is not kept */
		assert_memory_equal(h.text.buf, want, h.text.len);
	}
	mk_hexdict_deinit(&h);
	assert_true(!h.text.buf && !h.open);
}

/* It has a bound, which a line may fill. */
static void test_bound(void **state)
{
	char *line = malloc(MARKUP_HEXDICT_MAX + 2);
	struct mk_hexdict h = { 0 };

	(void)state;
	memset(line, ' ', MARKUP_HEXDICT_MAX + 2);
	memcpy(line, "A: 0x1", 6);
	assert_false(mk_hexdict_open(&h, (struct sc_str){ line, MARKUP_HEXDICT_MAX + 1 }));
	assert_false(h.open);
	assert_true(mk_hexdict_open(&h, (struct sc_str){ line, MARKUP_HEXDICT_MAX }));
	assert_false(mk_hexdict_add(&h, "A: 0x1", 6));
	assert_true(mk_hexdict_open(&h, (struct sc_str){ line, 10 }));
	assert_false(mk_hexdict_add(&h, line, MARKUP_HEXDICT_MAX - 9));
	assert_true(mk_hexdict_add(&h, line, MARKUP_HEXDICT_MAX - 10));
	assert_true(h.open);
	mk_hexdict_deinit(&h);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs), cmocka_unit_test(test_lines), cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests_name("hexdict", tests, NULL, NULL);
}
