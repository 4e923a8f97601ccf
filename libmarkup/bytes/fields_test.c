/*
 * The values inside elements, and what complaints say: a number that is read wrongly is another
 * address, and one that should be refused hides a mistake in the log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/bytes/where.h"

#define NONE UINT64_C(0xbadbadbad)
#define MAX UINT64_MAX

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t address, number, hex, decimal;
	} cases[] = {
		{ "", NONE, NONE, NONE, NONE },
		{ "0", 0, 0, 0, 0 },
		{ "00", 0, 0, 0, 0 },
		{ "7", NONE, 7, 7, 7 },
		{ "10", NONE, 10, 16, 10 },
		{ "010", NONE, 8, 16, 10 },
		{ "08", NONE, NONE, 8, 8 },
		{ "0x", NONE, NONE, NONE, NONE },
		{ "0x0", 0, 0, NONE, NONE },
		{ "0x1f", 0x1f, 0x1f, NONE, NONE },
		{ "0xAf", 0xaf, 0xaf, NONE, NONE },
		{ "0X1f", NONE, 0x1f, NONE, NONE },
		{ "0b101", NONE, 5, 0xb101, NONE },
		{ "0b", NONE, NONE, 0xb, NONE },
		{ "0b2", NONE, NONE, 0xb2, NONE },
		{ "0o17", NONE, 15, NONE, NONE },
		{ "0o8", NONE, NONE, NONE, NONE },
		{ "0xffffffffffffffff", MAX, MAX, NONE, NONE },
		{ "0x10000000000000000", NONE, NONE, NONE, NONE },
		{ "0x00000000000000000000001", 1, 1, NONE, NONE },
		{ "18446744073709551615", NONE, MAX, NONE, MAX },
		{ "18446744073709551616", NONE, NONE, NONE, NONE },
		{ "18446744073709551620", NONE, NONE, NONE, NONE },
		{ "ffffffffffffffff", NONE, NONE, MAX, NONE },
		{ "fffffffffffffffff", NONE, NONE, NONE, NONE },
		{ "1f", NONE, NONE, 0x1f, NONE },
		{ "-1", NONE, NONE, NONE, NONE },
		{ "+1", NONE, NONE, NONE, NONE },
		{ " 1", NONE, NONE, NONE, NONE },
		{ "1 ", NONE, NONE, NONE, NONE },
		{ "0x1g", NONE, NONE, NONE, NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* What stands behind the field is none of it. */
		char text[40];
		const struct sc_str s = {
			text, (size_t)snprintf(text, sizeof(text), "%s55", cases[i].text) - 2
		};
		uint64_t got[4] = { NONE, NONE, NONE, NONE };
		const uint64_t want[4] = { cases[i].address, cases[i].number, cases[i].hex,
					   cases[i].decimal };
		const bool is[4] = { mk_field_address(s, &got[0]), mk_field_number(s, &got[1]),
				     mk_field_hex(s, &got[2]), mk_field_decimal(s, &got[3]) };

		for (int k = 0; k < 4; k++)
			if (is[k] != (want[k] != NONE) || got[k] != want[k])
				fail_msg("'%s', %d: %llx", cases[i].text, k,
					 (unsigned long long)got[k]);
	}
}

static void test_modes(void **state)
{
	static const struct { const char *text, *mode; } cases[] = {
		{ "r", "r" }, { "w", "w" }, { "x", "x" }, { "rw", "rw" }, { "rx", "rx" }, { "wx", "wx" }, { "rwx", "rwx" },
		{ "RwX", "rwx" }, { "", NULL }, { "xr", NULL }, { "wr", NULL }, { "rr", NULL }, { "rwxr", NULL }, { "r-x", NULL },
		{ "p", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char mode[4] = "?";

		if (mk_field_mode(sc_str_of(cases[i].text), mode) != (cases[i].mode != NULL))
			fail_msg("%s", cases[i].text);
		assert_string_equal(mode, cases[i].mode ? cases[i].mode : "?");
	}
}

static void test_build_ids(void **state)
{
	static const struct { const char *text; size_t len; uint8_t id[4]; } cases[] = {
		{ "ab", 1, { 0xab } }, { "ABcd", 2, { 0xab, 0xcd } }, { "1", 1, { 1 } }, { "123", 2, { 1, 0x23 } },
		{ "0a0b0c0d", 4, { 10, 11, 12, 13 } }, { "", 0, { 0 } }, { "xy", 0, { 0 } }, { "0x12", 0, { 0 } }, { "ab ", 0, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sc_str s = sc_str_of(cases[i].text);
		uint8_t id[4];

		assert_int_equal(mk_field_build_id(s, NULL), cases[i].len > 0);
		if (!cases[i].len)
			continue;
		assert_true(mk_field_build_id(s, id));
		assert_memory_equal(id, cases[i].id, cases[i].len);
		assert_true(mk_field_build_id_is(s, id, cases[i].len));
		assert_false(mk_field_build_id_is(s, id, cases[i].len - 1));
		for (size_t k = 0; k < cases[i].len; k++) {
			id[k] ^= 0x10;
			assert_false(mk_field_build_id_is(s, id, cases[i].len));
			id[k] ^= 0x11;
			assert_false(mk_field_build_id_is(s, id, cases[i].len));
			id[k] ^= 1;
		}
	}
}

/* ---- complaints ----------------------------------------------------------------------------- */

static char said[2000];

static void complain(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%.*s", (int)len, text);
}

static void test_complaints(void **state)
{
	struct mk_where w = { .sink.complain = complain, .input = "log", .line_no = 6 };
	char name[1501];

	(void)state;
	mk_complain(&w, "what %d", 3);
	w.input = NULL;
	mk_complain(&w, "what");
	w.silent = true;
	mk_complain(&w, "nothing");
	w.silent = false;
	w.sink.complain = NULL;
	mk_complain(&w, "nothing");
	assert_string_equal(said, "log:7: what 3\nline 7: what\n");
	/* What is too long is cut off, and ends with its newline. */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	w = (struct mk_where){ .sink.complain = complain, .input = name };
	said[0] = '\0';
	mk_complain(&w, "%s", name);
	assert_int_equal(strlen(said), 1023);
	assert_int_equal(strspn(said, "n"), 511);
	assert_int_equal(strncmp(said + 511, "1: nnn", 6), 0);
	assert_int_equal(said[1022], '\n');
}

/* The name of an input may take half of it. */
static void test_long_inputs(void **state)
{
	char name[600];

	(void)state;
	for (size_t len = 505; len < 520; len++) {
		const struct mk_where w = { .sink.complain = complain, .input = name, .line_no = 6 };
		char want[600];

		memset(name, 'n', len);
		name[len] = '\0';
		snprintf(want, sizeof(want), "%.*s%s7: what\n", (int)(len < 511 ? len : 511), name, len < 511 ? ":" : "");
		said[0] = '\0';
		mk_complain(&w, "what");
		assert_string_equal(said, want);
	}
}

static void test_shortened(void **state)
{
	static const struct { const char *text; size_t len; const char *shown; } cases[] = {
		{ "", 0, "" }, { "short", 5, "short" }, { "12345678", 8, "12345678" }, { "123456789", 9, "12345..." },
		{ "a\0b", 3, "a?b" }, { "1234\xc3\xa9" "789", 9, "1234..." }, { "123\xc3\xa9" "6789", 9, "123\xc3\xa9..." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char buf[8];
		const struct sc_str got = mk_shortened(
			(struct sc_str){ cases[i].text, cases[i].len }, buf, sizeof(buf));

		assert_int_equal(got.len, strlen(cases[i].shown));
		assert_memory_equal(got.ptr, cases[i].shown, got.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	  cmocka_unit_test(test_modes),
		cmocka_unit_test(test_build_ids), cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_shortened), cmocka_unit_test(test_long_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
