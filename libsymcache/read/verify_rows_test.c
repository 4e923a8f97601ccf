/* What is wrong with unwind information is said, each by itself: a table that is not in order gives wrong
 * stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "libsymcache/read/rows.h"
#include "libsymcache/read/verify.h"

struct tables {
	struct symcache_ext_unwind facts;
	uint32_t pages[3];
	struct symcache_ext_start starts[4];
	struct symcache_ext_row rows[4];
	struct symcache_ext_rule rules[3];
	uint8_t expressions[8];
};

/* Four ranges, of which two begin in each page of 64 KiB. */
static const struct tables good = {
	.facts = { .word = 8 },
	.pages = { 0, 2, 4 },
	.starts = { { 0x10, 1 }, { 0x20, 2 }, { 0, 3 }, { 0x30, 0 } },
	.rows = { { .cfa = SYMCACHE_CFA_NONE },
		  { SYMCACHE_CFA_REGISTER, 7, 0, 2, 16, 0 },
		  { SYMCACHE_CFA_REGISTER, 6, 0, 1, 16, 1 },
		  { SYMCACHE_CFA_EXPRESSION, 0, 0, 0, 0, 0 } },
	.rules = { { 6, SYMCACHE_RULE_AT_CFA, 0, -16 }, { 16, SYMCACHE_RULE_AT_CFA, 0, -8 },
		   { 3, SYMCACHE_RULE_EXPRESSION, 0, 4 } },
	.expressions = { 2, 0, 0x77, 8, 1, 0, 0x30, 0 },
};

static bool add_fault(void *ctx, const char *fault)
{
	strcat(strcat(ctx, fault), "\n");
	return true;
}

static void expect(const struct tables *t, const char *want)
{
	const struct symcache c = { .unwind = {
		.facts = &t->facts, .pages = t->pages, .num_pages = 3, .starts = t->starts, .num_starts = 4,
		.rows = t->rows, .num_rows = 4, .rules = t->rules, .num_rules = 3,
		.expressions = t->expressions, .expression_bytes = sizeof(t->expressions) } };
	char got[2000] = "";
	struct verifier v = { .cache = &c, .fn = add_fault, .ctx = got };

	sc_verify_unwind(&v);
	assert_string_equal(got, want);
}

#define EXPECT(change, want) do { \
	struct tables t = good; \
	change; \
	expect(&t, want); \
} while (0)

static void test_tables(void **state)
{
	(void)state;
	EXPECT((void)0, "");
	EXPECT(t.facts.word = 4, "");
	EXPECT(t.facts.word = 5, "unwind facts: words of 5 bytes, or row 0 is one\n");
	EXPECT(t.rows[0].cfa = SYMCACHE_CFA_REGISTER, "unwind facts: words of 8 bytes, or row 0 is one\n");
	EXPECT(t.starts[1].start = 0x10, "unwind range 1: starts at 0x10, not after 0x10\n");
	EXPECT(t.starts[3].start = 0, "unwind range 3: starts at 0x10000, not after 0x10000\n");
	EXPECT(t.starts[1].row = 3, "");
	EXPECT(t.starts[1].row = 4, "unwind range 1: no row 4\n");
	EXPECT(t.pages[2] = 5, "unwind pages: 3 instead of 3, or a bad end\n");
	EXPECT(t.rows[1].first_rule = 2, "unwind row 1: kind 1, 2 rules from 2\n");
	EXPECT(t.rows[1].cfa = 9, "unwind row 1: kind 9, 2 rules from 0\n");
	EXPECT(t.rules[1].reg = 6, "unwind row 1: rules do not ascend\n");
	EXPECT(t.rules[0].kind = 0, "unwind rule 0: kind 0\n");
	EXPECT(t.rules[0].kind = SYMCACHE_RULE_SAME, "");
	EXPECT(t.rules[0].kind = SYMCACHE_RULE_SAME + 1, "unwind rule 0: kind 8\n");
	EXPECT(t.rules[0].zero = 1, "unwind rule 0: kind 1\n");
	EXPECT(t.rules[2].n = 7, "unwind rule 2: no expression at 7\n");
	EXPECT(t.rows[3].n = -1, "unwind row 3: no expression at -1\n");
	EXPECT(t.expressions[2] = 0x05, "unwind row 3: no expression at 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_tables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
