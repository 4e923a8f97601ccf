/*
 * Tables of rows, made and united: a row that is lost or stands at a wrong address is a wrong
 * stack, and rows that are stored twice make caches large. A table is a picture: a letter for each
 * SLOT of addresses, one for each row, '.' where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/read/rows.h"
#include "libsymcache/unwind/rows.h"

enum { SLOT = 0x5000, MOST = 60 }; /* three in a page, and a bit */

/* The row of a letter: capitals have 0 to 3 rules; small ones expressions: of the CFA, or of a
 * rule. */
static struct symcache_ext_row row_of(struct sc_rows_maker *m, char letter,
				      struct symcache_ext_rule rules[4])
{
	const uint8_t expression[3] = { 0x77, (uint8_t)letter, 0x06 };
	const bool small = letter >= 'a';
	struct symcache_ext_row row = { SYMCACHE_CFA_REGISTER,
					(uint8_t)letter,
					0,
					small ? 1 : (uint8_t)(letter % 4),
					letter * 8,
					0 };

	for (unsigned i = 0; i < row.num_rules; i++)
		rules[i] = (struct symcache_ext_rule){ (uint8_t)(i + letter), SYMCACHE_RULE_AT_CFA,
						       0, -8 * (int)i };
	if (small && letter % 2) {
		row.cfa = SYMCACHE_CFA_EXPRESSION;
		row.n = sc_rows_expression(m, expression, 1 + letter % 3u);
	} else if (small) {
		rules[0].kind =
			letter % 4 ? SYMCACHE_RULE_EXPRESSION : SYMCACHE_RULE_VAL_EXPRESSION;
		rules[0].n = sc_rows_expression(m, expression, 1 + letter % 3u);
	}
	return row;
}

/* '-': a range that is said to have no row. */
static void make(const char *picture, uint32_t sources, struct sc_rows *ret)
{
	struct sc_rows_maker m = { .out = ret };

	*ret = (struct sc_rows){ .facts = {
					 .word = 8, .sources = sources, .broken = sources * 10 } };
	for (const char *at = picture, *end; *at; at = end) {
		const uint64_t start = (uint64_t)(at - picture) * SLOT;
		struct symcache_ext_row row = { .cfa = SYMCACHE_CFA_NONE };
		struct symcache_ext_rule rules[4] = { { 0 } };

		for (end = at; *end == *at; end++)
			;
		if (*at != '.' && *at != '-')
			row = row_of(&m, *at, rules);
		if (*at != '.')
			assert_true(sc_rows_add(&m, start, (uint64_t)(end - picture) * SLOT, &row,
						rules));
	}
	assert_true(sc_rows_finish(&m));
	sc_rows_maker_deinit(&m);
}

static char letter_at(const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_row row;
	const uint8_t *bytes;
	char letter;
	int32_t expression = -1;

	if (!symcache_find_row(c, rel_pc, &row))
		return '.';
	letter = (char)row.cfa_reg;
	if (letter < 'a') {
		assert_int_equal(row.num_rules, letter % 4);
		for (unsigned i = 0; i < row.num_rules; i++)
			assert_true(row.rules[i].reg == i + letter &&
				    row.rules[i].n == -8 * (int)i);
		assert_int_equal(row.n, letter * 8);
		return letter;
	}
	assert_int_equal(row.num_rules, 1);
	expression = row.cfa == SYMCACHE_CFA_EXPRESSION ? row.n : row.rules[0].n;
	assert_int_equal(symcache_expression(c, expression, &bytes), 1 + letter % 3);
	assert_int_equal(bytes[0], 0x77);
	assert_true(letter % 3 == 0 || bytes[1] == letter);
	return letter;
}

static void picture_of(const struct sc_rows *rows, size_t slots, char *ret)
{
	const struct symcache c = { .unwind = sc_rows_view(rows) };

	for (size_t i = 0; i < slots; i++) {
		ret[i] = letter_at(&c, i * SLOT);
		assert_int_equal(letter_at(&c, i * SLOT + SLOT - 1), ret[i]);
	}
	ret[slots] = '\0';
	assert_int_equal(letter_at(&c, slots * SLOT), '.');
}

static void same_tables(const struct sc_rows *a, const struct sc_rows *b)
{
	const struct symcache_unwind of_a = sc_rows_view(a), of_b = sc_rows_view(b);
	struct sc_rows_section x[SC_ROWS_SECTIONS], y[SC_ROWS_SECTIONS];

	sc_rows_sections(&of_a, x);
	sc_rows_sections(&of_b, y);
	for (int i = 0; i < SC_ROWS_SECTIONS - 1; i++) { /* the last one has the facts */
		assert_int_equal(x[i].size, y[i].size);
		assert_true(!x[i].size || !memcmp(x[i].data, y[i].data, x[i].size));
	}
}

/* What is stored of a picture: each row, list of rules and expression once; row 0 is none. */
static void test_stored(void **state)
{
	static const struct {
		const char *picture, *shown;
		size_t starts, rows, rules, expressions;
	} cases[] = {
		{ "A", "A", 2, 2, 1, 0 },
		{ "AB", "AB", 3, 3, 3, 0 },
		{ "A..A", "A..A", 4, 2, 1, 0 },
		{ "A-A", "A.A", 4, 2, 1, 0 },
		{ "-A", ".A", 2, 2, 1, 0 },
		{ "AAAABBBB....DDDD", "AAAABBBB....DDDD", 5, 4, 3, 0 },
		{ "ABABCAB", "ABABCAB", 8, 4, 6, 0 },
		{ "abcdabc", "abcdabc", 8, 5, 4, 4 + 5 + 3 + 4 },
		{ "....................A", "....................A", 2, 2, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sc_rows rows, again = { 0 };
		struct symcache_unwind u;
		char got[MOST];

		make(cases[i].picture, 1, &rows);
		picture_of(&rows, strlen(cases[i].picture), got);
		assert_string_equal(got, cases[i].shown);
		u = sc_rows_view(&rows);
		if (u.num_starts != cases[i].starts || u.num_rows != cases[i].rows ||
		    u.num_rules != cases[i].rules || u.expression_bytes != cases[i].expressions)
			fail_msg("%s: %u starts, %u rows, %u rules, %zu bytes", cases[i].picture,
				 u.num_starts, u.num_rows, u.num_rules, (size_t)u.expression_bytes);
		/* Rows that are taken from a finished table give the same table. */
		assert_true(sc_rows_unite(&u, &(struct symcache_unwind){ .facts = &rows.facts },
					  &again));
		same_tables(&rows, &again);
		sc_rows_deinit(&again);
		sc_rows_deinit(&rows);
	}
}

/* The rows that are used most have the smallest numbers, then the first ones. */
static void test_order(void **state)
{
	struct symcache_row row;
	struct sc_rows rows;

	(void)state;
	make("ABCBDCB.D", 1, &rows);
	for (uint32_t i = 0; i < 4; i++) {
		const struct symcache c = { .unwind = sc_rows_view(&rows) };

		assert_true(symcache_get_row(&c, i + 1, &row));
		assert_int_equal(row.cfa_reg, "BCDA"[i]);
	}
	sc_rows_deinit(&rows);
}

static void test_unite(void **state)
{
	static const struct { const char *first, *second, *united; } cases[] = {
		{ "A.B", ".C.", "ACB" },
		{ "AAAA", "BBBBBB", "AAAABB" },
		{ "BBBBBB", ".AAAA.", "BBBBBB" },
		{ ".AAAA.", "BBBBBB", "BAAAAB" },
		{ "..AA", "BBB", "BBAA" },
		{ "A.......", "......BB", "A.....BB" },
		{ "......BB", "A.......", "A.....BB" },
		{ "A-A", "BBB", "ABA" },
		{ "A.A.A", ".B.B.B", "ABABAB" },
		{ "aab..c", "cccccccd", "aabcccc" "d" },
		{ "abcdef", "fedcbaabcdef", "abcdefabcdef" },
		{ "AAA", "AAAAAA", "AAAAAA" },
		{ "....B", "....C", "....B" },
		{ ".............................A", "B", "B............................A" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sc_rows a, b, united = { 0 }, at_once;
		struct symcache_unwind of_a, of_b;
		char got[MOST];

		make(cases[i].first, 1, &a);
		make(cases[i].second, 2, &b);
		make(cases[i].united, 3, &at_once);
		of_a = sc_rows_view(&a), of_b = sc_rows_view(&b);
		assert_true(sc_rows_unite(&of_a, &of_b, &united));
		picture_of(&united, strlen(cases[i].united), got);
		assert_string_equal(got, cases[i].united);
		assert_int_equal(united.facts.sources, 3);
		assert_int_equal(united.facts.broken, 30);
		assert_int_equal(sc_rows_view(&united).num_starts,
				 sc_rows_view(&at_once).num_starts);
		assert_int_equal(sc_rows_view(&united).num_rows, sc_rows_view(&at_once).num_rows);
		assert_int_equal(sc_rows_view(&united).num_rules, sc_rows_view(&at_once).num_rules);
		sc_rows_deinit(&a);
		sc_rows_deinit(&b);
		sc_rows_deinit(&united);
		sc_rows_deinit(&at_once);
	}
}

/* More rows than 16 bits can number, and addresses that are too far for 32. */
static void test_large(void **state)
{
	static const size_t sizes[] = { 65535, 65536, 70000 };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct sc_rows rows = { .facts.word = 8 }, again = { 0 };
		struct sc_rows_maker m = { .out = &rows };
		struct symcache c = { 0 };
		struct symcache_row row;
		struct sc_rows_section sections[SC_ROWS_SECTIONS];

		for (uint32_t i = 0; i < sizes[k]; i++)
			assert_true(
				sc_rows_add(&m, i * 20, i * 20 + 20,
					    &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, 7, 0,
									0, (int32_t)i, 0 },
					    NULL));
		assert_true(sc_rows_add(
			&m, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
			&(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, 7, 0, 0, 1, 0 }, NULL));
		assert_true(sc_rows_finish(&m));
		sc_rows_maker_deinit(&m);
		assert_int_equal(rows.too_far, 2); /* the range, and its end */
		c.unwind = sc_rows_view(&rows);
		assert_int_equal(c.unwind.wide, sizes[k] > 65535);
		for (uint32_t i = 0; i < sizes[k]; i++) {
			assert_true(symcache_find_row(&c, i * 20 + 19, &row));
			assert_int_equal(row.n, i);
		}
		assert_false(symcache_find_row(&c, sizes[k] * 20, &row));
		sc_rows_sections(&c.unwind, sections);
		assert_int_equal(sections[1].entry_size,
				 c.unwind.wide ? sizeof(struct symcache_ext_wide_start)
					       : sizeof(struct symcache_ext_start));
		assert_int_equal(sections[1].size, sections[1].entry_size * (sizes[k] + 1));
		assert_true(sc_rows_unite(
			&c.unwind, &(struct symcache_unwind){ .facts = &rows.facts }, &again));
		same_tables(&rows, &again);
		sc_rows_deinit(&again);
		sc_rows_deinit(&rows);
	}
}

/* The last address that has 32 bits has a row like others. */
static void test_last_address(void **state)
{
	static const struct { uint64_t start; int32_t n; } ranges[] = { { UINT32_MAX - 1, 1 }, { UINT32_MAX, 2 },
								      { UINT64_C(1) << 32, 3 } };
	struct sc_rows rows = { .facts.word = 8 }, united = { 0 };
	struct sc_rows_maker m = { .out = &rows };
	struct symcache c = { 0 };
	struct symcache_row row;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_true(sc_rows_add(&m, ranges[i].start, ranges[i].start + 1,
					&(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, 7, 0, 0, ranges[i].n, 0 }, NULL));
	assert_true(sc_rows_finish(&m));
	sc_rows_maker_deinit(&m);
	assert_int_equal(rows.too_far, 2);
	c.unwind = sc_rows_view(&rows);
	assert_false(symcache_find_row(&c, UINT32_MAX - 2, &row));
	for (size_t i = 0; i < 2; i++) {
		assert_true(symcache_find_row(&c, ranges[i].start, &row));
		assert_int_equal(row.n, ranges[i].n);
	}
	assert_false(symcache_find_row(&c, UINT64_C(1) << 32, &row));
	/* And so has a table of two. */
	assert_true(sc_rows_unite(&c.unwind, &c.unwind, &united));
	c.unwind = sc_rows_view(&united);
	for (size_t i = 0; i < 2; i++) {
		assert_true(symcache_find_row(&c, ranges[i].start, &row));
		assert_int_equal(row.n, ranges[i].n);
	}
	sc_rows_deinit(&rows);
	sc_rows_deinit(&united);
}

/* A store that is made to do harm has a table whose starts go back: what is made of it is in order. */
static void test_disordered(void **state)
{
	static const struct symcache_ext_wide_start starts[] = {
		{ 0x10, 1 }, { 0x7fff0000, 2 }, { 0x20, 1 }, { 0x20, 2 }, { 0x90000, 1 },
		{ 0x30, 2 }, { 0x40, 0 },
	};
	static const uint32_t pages[] = { 0, 7 };
	static const struct symcache_ext_row rows[] = {
		{ .cfa = SYMCACHE_CFA_NONE }, { SYMCACHE_CFA_REGISTER, 7, 0, 0, 8, 0 },
		{ SYMCACHE_CFA_REGISTER, 7, 0, 0, 16, 0 },
	};
	const struct symcache_ext_unwind facts = { .word = 8 };
	const struct symcache_unwind damaged = {
		.facts = &facts, .pages = pages, .num_pages = 2, .starts = starts, .wide = true,
		.num_starts = sizeof(starts) / sizeof(*starts), .rows = rows, .num_rows = 3,
	};
	struct sc_rows good, united;

	(void)state;
	make(".AABB.", 1, &good);
	for (int swap = 0; swap < 2; swap++) {
		const struct symcache_unwind other = sc_rows_view(&good);

		united = (struct sc_rows){ 0 };
		assert_true(sc_rows_unite(swap ? &other : &damaged, swap ? &damaged : &other, &united));
		for (size_t i = 1; i < united.starts.len; i++)
			assert_true(united.starts.data[i].start > united.starts.data[i - 1].start);
		sc_rows_deinit(&united);
	}
	sc_rows_deinit(&good);
}

static void test_none(void **state)
{
	struct sc_rows rows;

	(void)state;
	make("", 1, &rows);
	assert_null(sc_rows_view(&rows).facts);
	sc_rows_deinit(&rows);
	make("--", 1, &rows);
	assert_null(sc_rows_view(&rows).facts);
	sc_rows_deinit(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stored), cmocka_unit_test(test_order),
		cmocka_unit_test(test_unite),  cmocka_unit_test(test_large),
		cmocka_unit_test(test_disordered), cmocka_unit_test(test_last_address), cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
