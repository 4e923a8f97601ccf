/* Unit tests of the whole indexer on line tables written here, with absurd headers and
 * programs: they cost at most their unit's lines, and are reported; its functions, and the
 * rest of the file, are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/dwarf/line_writer.h"
#include "libsymcache/read/read.h"
#include "libsymcache/write/synthetic_test.h"

/* A unit with a function at 0x1100 and the line table `t`, between two good units of
 * which the last has a good line table behind it. */
static void index_lines(struct line_table *t, struct indexed *r)
{
	const struct dwarf_shape shape = { .version = 5 };
	struct line_table good;
	struct dwarf w;
	size_t at;

	dwarf_init(&w, &shape);
	good_unit(&w, "before", 0);
	open_unit(&w);
	attr_offset(&w, DW_AT_stmt_list, 0);
	function(&w, "f", DWARF_TEXT + 0x100, DWARF_TEXT + 0x200);
	close_unit(&w);

	put_block(&w.line, t->line.b.data, t->line.b.len);
	put_block(&w.str, t->str.b.data, t->str.b.len);
	put_block(&w.line_str, t->line_str.b.data, t->line_str.b.len);
	line_deinit(t);

	line_begin(&good, &line_plain);
	line_standard_files(&good);
	op_set_address(&good, 8, DWARF_TEXT + 0x20);
	op_line(&good, 41);
	op(&good, DW_LNS_copy);
	op_uleb(&good, DW_LNS_advance_pc, 0x10);
	op_end_sequence(&good);
	line_end(&good);
	at = w.line.b.len;
	put_block(&w.line, good.line.b.data, good.line.b.len);
	line_deinit(&good);
	unit_begin(&w);
	compile_unit(&w, "good.c");
	attr_offset(&w, DW_AT_stmt_list, at);
	function(&w, "behind", DWARF_TEXT + 0x20, DWARF_TEXT + 0x30);
	close_unit(&w);

	index_dwarf(&w, r);
	expect(r, 0x1000, "before -:0");
	expect(r, 0x1020, "behind a.c:42");
}

/* Rows 10 and 20 over what function f has. */
static void program(struct line_table *t)
{
	op_set_address(t, 8, DWARF_TEXT + 0x100);
	op_line(t, 9);
	op(t, DW_LNS_copy);
	op_uleb(t, DW_LNS_advance_pc, 0x80);
	op_line(t, 10);
	op(t, DW_LNS_copy);
	op_uleb(t, DW_LNS_advance_pc, 0x80);
	op_end_sequence(t);
}

/* Headers that lie. The fields of a version 4 header: length 0, version 4, header length
 * 6, smallest instruction 10, operations 11, is_stmt 12, line base 13, line range 14,
 * opcode base 15. */
static void test_headers(void **state)
{
	static const struct {
		const char *what;
		size_t at;
		unsigned size;
		uint64_t value;
		bool reported;     /* it is a fault of the unit */
		const char *frames;/* at 0x1100 */
	} lies[] = {
		{ "length 0", 0, 4, 0, true, "f -:0" },
		{ "length 1", 0, 4, 1, true, "f -:0" },
		{ "length past the end", 0, 4, 0x10000, true, "f -:0" },
		{ "reserved length", 0, 4, 0xfffffff0, true, "f -:0" },
		{ "64-bit length", 0, 4, 0xffffffff, true, "f -:0" },
		{ "version 0", 4, 2, 0, true, "f -:0" },
		{ "version 1", 4, 2, 1, true, "f -:0" },
		{ "version 6", 4, 2, 6, true, "f -:0" },
		{ "version 65535", 4, 2, 65535, true, "f -:0" },
		{ "header of 4 GiB", 6, 4, 0xffffffff, true, "f -:0" },
		{ "header longer than the table", 6, 4, 0x400, true, "f -:0" },
		{ "instructions of 0 bytes", 10, 1, 0, false, "f -:0" },
		{ "no operations in an instruction", 11, 1, 0, false, "f a.c:10" },
		{ "255 operations in an instruction", 11, 1, 255, false, "f a.c:20" },
		{ "is_stmt 255", 12, 1, 255, false, "f a.c:10" },
		{ "line range 0, not used", 14, 1, 0, false, "f a.c:10" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct line_table t;
		struct indexed r;

		line_begin(&t, &line_plain);
		line_standard_files(&t);
		program(&t);
		line_end(&t);
		patch(&t.line, lies[i].at, lies[i].size, lies[i].value);
		index_lines(&t, &r);
		expect(&r, 0x1100, lies[i].frames);
		if (r.info.bad_units != lies[i].reported)
			fail_msg("%s: %u faults: %s", lies[i].what, (unsigned)r.info.bad_units,
				 r.info.first_fault);
		indexed_deinit(&r);
	}
}

/* Special opcodes divide by the line range; opcode bases that say all or nothing is
 * special. */
static void test_opcodes(void **state)
{
	struct line_table t;
	struct indexed r;

	(void)state;
	line_begin(&t, &(struct line_shape){ 4, 4, false, 1, 1, 0, 13 });
	line_standard_files(&t);
	op_set_address(&t, 8, DWARF_TEXT + 0x100);
	op(&t, 0x20);
	line_end(&t);
	index_lines(&t, &r);
	expect(&r, 0x1100, "f -:0");
	assert_int_equal(r.info.bad_units, 1);
	assert_non_null(strstr(r.info.first_fault, "line_range"));
	indexed_deinit(&r);

	/* opcode_base 1: there are no standard opcodes; 0: not even extended ones. */
	for (uint8_t base = 0; base < 2; base++) {
		line_begin(&t, &(struct line_shape){ 4, 4, false, 1, 1, 14, 1 });
		line_standard_files(&t);
		op_set_address(&t, 8, DWARF_TEXT + 0x100);
		op(&t, 1 + 3 + 6); /* line 1 + 6 */
		op(&t, 1 + 3 + 14 * 16);
		op_end_sequence(&t);
		line_end(&t);
		patch(&t.line, 15, 1, base);
		index_lines(&t, &r);
		expect(&r, 0x1100, base ? "f a.c:7" : "f -:0");
		assert_int_equal(r.info.bad_units, !base);
		indexed_deinit(&r);
	}
}

/* Tables of DWARF 5 that count to 2⁶⁴, with formats of no bytes or of none at all. */
static void test_counts(void **state)
{
	static const unsigned forms[] = { 0, DW_FORM_string, DW_FORM_udata, DW_FORM_block,
					  DW_FORM_data16, DW_FORM_implicit_const, 0x7777 };

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		for (int files = 0; files < 2; files++) {
			struct line_table t;
			struct indexed r;

			line_begin(&t, &(struct line_shape){ 5, 4, false, 1, 1, 14, 13 });
			if (files) { /* no directories */
				put(&t.line, 1, 0);
				put_uleb(&t.line, 0);
			}
			put(&t.line, 1, forms[i] != 0);
			if (forms[i]) {
				put_uleb(&t.line, DW_LNCT_path);
				put_uleb(&t.line, forms[i]);
			}
			put_uleb(&t.line, UINT64_MAX);
			put(&t.line, 8, 0);
			line_program_begins(&t);
			program(&t);
			line_end(&t);
			index_lines(&t, &r);
			assert_true(plain_lookup(&r.cache, 0x100 + DWARF_TEXT) != PLAIN_NONE);
			indexed_deinit(&r);
		}
}

/* Programs: cut off anywhere, addresses that go down or around, lines and files that are
 * not there, sequences without an end. */
static void test_programs(void **state)
{
	struct line_table t;
	struct indexed r;
	size_t whole = 0;

	(void)state;
	for (size_t cut = 0; cut <= whole; cut++) {
		size_t begin;

		line_begin(&t, &line_plain);
		line_standard_files(&t);
		begin = t.line.b.len;
		program(&t);
		whole = t.line.b.len - begin;
		t.line.b.len = begin + cut;
		line_end(&t);
		index_lines(&t, &r);
		assert_true(plain_lookup(&r.cache, 0x100 + DWARF_TEXT) != PLAIN_NONE);
		indexed_deinit(&r);
	}

	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op_set_address(&t, 8, DWARF_TEXT + 0x180);
	op_line(&t, 19);
	op(&t, DW_LNS_copy);
	op_set_address(&t, 8, DWARF_TEXT + 0x100); /* down */
	op_line(&t, -10);
	op(&t, DW_LNS_copy);
	op_set_address(&t, 8, DWARF_TEXT + 0x140);
	op_uleb(&t, DW_LNS_set_file, UINT64_MAX);
	op_line(&t, -100); /* below 0: it wraps */
	op_uleb(&t, DW_LNS_set_column, UINT64_MAX);
	op(&t, DW_LNS_copy);
	op_set_address(&t, 8, DWARF_TEXT + 0x200);
	op_end_sequence(&t);
	op_set_address(&t, 8, UINT64_MAX - 8); /* around the end of the addresses */
	op(&t, DW_LNS_copy);
	op_uleb(&t, DW_LNS_advance_pc, 0x2000);
	op_end_sequence(&t);
	line_end(&t);
	index_lines(&t, &r);
	assert_int_equal(r.info.bad_units, 0);
	expect(&r, 0x1100, "f a.c:10");
	expect(&r, 0x1140, "f -:4294967206");
	expect(&r, 0x1180, "f a.c:20");
	indexed_deinit(&r);
}

static void op_discriminator(struct line_table *t, uint64_t value)
{
	const size_t before = t->line.b.len;

	op(t, 0);
	op(t, 0); /* length */
	op_uleb(t, DW_LNE_set_discriminator, value);
	t->line.b.data[before + 1] = (uint8_t)(t->line.b.len - before - 2);
}

/* Discriminators split no ranges; rows of a line with several have all of them. */
static void test_discriminators(void **state)
{
	static const struct { uint32_t at, value; int lines; } rows[] = {
		{ 0x100, 3, 9 }, { 0x110, 0, 0 }, { 0x120, 254, 1 }, { 0x130, 255, 1 },
		{ 0x140, 70000, 0 }, { 0x150, 70000, 0 }, { 0x160, 0, 1 }, { 0x170, 7, 0 },
	};
	const size_t n = sizeof(rows) / sizeof(*rows);
	struct line_table t, without;
	struct symcache cache;
	struct sc_error err;
	struct indexed r, plain;

	(void)state;
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	line_begin(&without, &line_plain);
	line_standard_files(&without);
	for (size_t i = 0; i < n; i++)
		for (int with = 0; with < 2; with++) {
			struct line_table *to = with ? &t : &without;

			if (!i)
				op_set_address(to, 8, DWARF_TEXT + rows[i].at);
			else
				op_uleb(to, DW_LNS_advance_pc, 0x10);
			op_line(to, rows[i].lines);
			if (with && rows[i].value)
				op_discriminator(to, rows[i].value);
			op(to, DW_LNS_copy);
		}
	for (int with = 0; with < 2; with++) {
		op_uleb(with ? &t : &without, DW_LNS_advance_pc, 0x10);
		op_end_sequence(with ? &t : &without);
		line_end(with ? &t : &without);
	}
	index_lines(&t, &r);
	index_lines(&without, &plain);
	assert_int_equal(symcache_open(&cache, r.bytes, r.size, &err), 0);
	assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
	for (uint32_t at = 0x1100; at < 0x1190; at++) {
		const uint32_t value = at < 0x1180 ? rows[(at - 0x1100) / 0x10].value : 0;
		struct symcache_frames frames;
		uint32_t location;

		assert_true(symcache_lookup(&cache, at, &frames));
		location = symcache_next_location(&frames);
		assert_int_equal(symcache_discriminator(&cache, location, at), value);
		assert_int_equal(plain_discriminator(&r.cache, location, at), value);
	}
	/* Without, there is no such section, and all else is the same. */
	assert_true(r.cache.at_discriminators && !plain.cache.at_discriminators);
	assert_int_equal(r.cache.ranges, plain.cache.ranges);
	assert_memory_equal(r.bytes + 80, plain.bytes + 80, r.cache.base_end - 80);
	indexed_deinit(&r);
	indexed_deinit(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_opcodes),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_discriminators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
