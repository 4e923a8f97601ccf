/*
 * Lines → nodes, in our syntax and LLVM's. (Fuchsia's: output/fuchsia_test.c and the fuzz
 * target.) A node is written as the tests want it:
 * text as it is, an element as <tag|field|field>, an open one as <tag...>.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/parse.h"

static const struct {
	const char *line, *ours, *llvm;
} cases[] = {
	{ "", "", "" },
	{ "text", "text", "text" },
	{ "a{{{b}}}c", "a<b>c", "a<b>c" },
	{ "{{{a:}}}{{{b::}}}{{{c:1:2}}}", "<a|><b||><c|1|2>", "<a|><b||><c|1|2>" },
	{ "{{{}}}{{{:x}}}{{{a}}}", "{{{}}}{{{:x}}}<a>", "{{{}}}{{{:x}}}<a>" },
	{ "{{{A}}}{{{a1}}}{{{ a}}}", "{{{A}}}{{{a1}}}{{{ a}}}", "<A><a1>< a>" },
	{ "a {{{ b {{{c:d}}} e", "a {{{ b <c|d> e", "a < b {{{c|d> e" },
	{ "{{{{a}}}}", "{<a>}", "<{a>}" },
	{ "}}} {{{a", "}}} {{{a", "}}} {{{a" },
	{ "{{{a {{{b", "{{{a {{{b", "{{{a {{{b" },
	{ "{{{a} }} }}", "{{{a} }} }}", "{{{a} }} }}" },
	{ "x{{{hexdict:A: 0", "x<hexdict...>", "x{{{hexdict:A: 0" },
	{ "{{{hexdict:A {{{hexdict:B", "{{{hexdict:A <hexdict...>", "{{{hexdict:A {{{hexdict:B" },
	{ "{{{hexdict:A {{{b:", "{{{hexdict:A {{{b:", "{{{hexdict:A {{{b:" },
	{ "{{{hexdict", "{{{hexdict", "{{{hexdict" },
	{ "{{{a:1:2:3:4:5:6:7:8:9}}}", "<a|1|2|3|4|5|6|7|8>", "<a|1|2|3|4|5|6|7|8>" },
	{ "{{{module:0:foo{{{bar:elf:1}}}", "{{{module:0:foo<bar|elf|1>",
	  "<module|0|foo{{{bar|elf|1>" },
};

static void write_nodes(const char *line, enum mk_syntax syntax, char *ret, size_t size)
{
	struct mk_parser p;
	struct mk_node n;
	size_t len = 0, total = 0;

	*ret = 0;
	mk_parse_line(&p, line, strlen(line), syntax);
	while (mk_next_element(&p, &n)) {
		assert_true(n.text.ptr >= line + total && n.text.len > 0);
		len += (size_t)snprintf(ret + len, size - len, "%.*s<%.*s",
					(int)(n.text.ptr - line - (ptrdiff_t)total), line + total,
					(int)n.tag.len, n.tag.ptr);
		total = (size_t)(n.text.ptr + n.text.len - line);
		for (size_t i = 0; i < n.num_fields && i < MK_NUM_FIELDS; i++)
			len += (size_t)snprintf(ret + len, size - len, "|%.*s",
						(int)n.fields[i].len, n.fields[i].ptr);
		len += (size_t)snprintf(ret + len, size - len,
					n.kind == MK_OPEN ? "...>" : ">");
	}
	snprintf(ret + len, size - len, "%s", line + total);
}

static void test_nodes(void **state)
{
	char got[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_nodes(cases[i].line, MK_SYNTAX, got, sizeof(got));
		assert_string_equal(got, cases[i].ours);
		write_nodes(cases[i].line, MK_SYNTAX_LLVM, got, sizeof(got));
		assert_string_equal(got, cases[i].llvm);
	}
}

static struct sc_str str(const char *text)
{
	return sc_str_of(text);
}

/* What `read` makes of the text; −1 in *ok if it refuses. */
static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int address, number, decimal; /* accepted? */
		uint64_t value;
	} numbers[] = {
		{ "", 0, 0, 0, 0 },
		{ "0", 1, 1, 1, 0 },
		{ "0000", 1, 1, 1, 0 },
		{ "0x", 0, 0, 0, 0 },
		{ "0x1F", 1, 1, 0, 0x1f },
		{ "0X1f", 0, 1, 0, 0x1f },
		{ "0xffffffffffffffff", 1, 1, 0, UINT64_MAX },
		{ "0x10000000000000000", 0, 0, 0, 0 },
		{ "0x00000000000000001", 1, 1, 0, 1 },
		{ "0x1g", 0, 0, 0, 0 },
		{ "0b101", 0, 1, 0, 5 },
		{ "0B101", 0, 1, 0, 5 },
		{ "0o17", 0, 1, 0, 15 },
		{ "0O17", 0, 0, 0, 0 },
		{ "0b", 0, 0, 0, 0 },
		{ "0b2", 0, 0, 0, 0 },
		{ "08", 0, 0, 1, 8 },
		{ "42", 0, 1, 1, 42 },
		{ "18446744073709551615", 0, 1, 1, UINT64_MAX },
		{ "18446744073709551616", 0, 0, 0, 0 },
		{ "-1", 0, 0, 0, 0 },
		{ " 1", 0, 0, 0, 0 },
		{ "1 ", 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sc_str s = str(numbers[i].text);
		uint64_t v = 77;
		assert_int_equal(mk_field_address(s, &v), numbers[i].address);
		assert_int_equal(v, numbers[i].address ? numbers[i].value : 77);
		v = 77;
		assert_int_equal(mk_field_number(s, &v), numbers[i].number);
		assert_int_equal(v, numbers[i].number ? numbers[i].value : 77);
		v = 77;
		assert_int_equal(mk_field_decimal(s, &v), numbers[i].decimal);
		assert_int_equal(v, numbers[i].decimal ? numbers[i].value : 77);
	}
	uint64_t v;
	assert_true(mk_field_number(str("017"), &v));
	assert_int_equal(v, 15);
	assert_true(mk_field_hex(str("fFfFfFfFfFfFfFfF"), &v));
	assert_true(v == UINT64_MAX);
	assert_false(mk_field_hex(str("10000000000000000"), &v));
	assert_false(mk_field_hex(str("0x1"), &v));
	assert_false(mk_field_hex(str(""), &v));
}

static void test_modes(void **state)
{
	static const char *const good[] = { "r", "w", "x", "rw", "rx", "wx", "rwx", "RwX" };
	static const char *const bad[] = { "", "xr", "rr", "rwxr", "-", "r ", "\022" };
	char mode[4];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(mk_field_mode(str(good[i]), mode));
	assert_string_equal(mode, "rwx");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(mk_field_mode(str(bad[i]), mode));
}

static void test_build_ids(void **state)
{
	uint8_t id[8];

	(void)state;
	assert_true(mk_field_build_id(str("aBcD"), id));
	assert_memory_equal(id, "\xab\xcd", 2);
	assert_true(mk_field_build_id(str("abc"), id));
	assert_memory_equal(id, "\x0a\xbc", 2);
	assert_true(mk_field_build_id_is(str("ABC"), id, 2));
	assert_true(mk_field_build_id_is(str("0abc"), id, 2));
	assert_false(mk_field_build_id_is(str("abd"), id, 2));
	assert_false(mk_field_build_id_is(str("bc"), id, 2));
	assert_false(mk_field_build_id(str(""), id));
	assert_false(mk_field_build_id(str("0x12"), id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_build_ids),
	};
	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
