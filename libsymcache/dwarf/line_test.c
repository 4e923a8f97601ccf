/* Unit tests of the line programs: programs written here, in every version, without
 * faults (those are in line_faults_test.c). Those of real files are in line_libdw_test.c. */
#include "libsymcache/dwarf/line_test.h"

static void test_versions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		struct line_shape shape = line_plain;
		struct dw_facts u = {0};
		struct sc_error err = { .msg = "" };
		struct line_table t;

		shape.version = (uint16_t)(2 + i % 4);
		shape.offset_size = i & 4 ? 8 : 4;
		shape.big_endian = i & 8;
		line_begin(&t, &shape);
		line_standard_files(&t);
		standard_program(&t);
		assert_int_equal(read_table(&t, &u, &err), 0);
		expect(&u, standard_rows);
		assert_int_equal(u.files.len, 4);
		assert_string_equal(u.files.data[1].comp_dir, "/comp");
		assert_null(u.files.data[1].dir);
		assert_string_equal(u.files.data[2].comp_dir, "/comp");
		assert_string_equal(u.files.data[2].dir, "inc");
		assert_string_equal(u.files.data[3].dir, "/abs");
		assert_string_equal(u.files.data[3].name, "c.h");
		if (shape.version == 5) {
			assert_string_equal(u.files.data[0].name, "a.c");
			assert_string_equal(u.files.data[3].source, "int x;");
		} else {
			assert_null(u.files.data[0].name);
		}
		dw_facts_deinit(&u);
		line_deinit(&t);
	}
}

/* The files alone are the same files. */
static void test_files_alone(void **state)
{
	struct line_table t;
	struct dw_sections s;
	struct dw_facts u = {0};
	struct sc_error err;

	(void)state;
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op(&t, 0xff); /* whatever the program is */
	line_end(&t);
	s = line_sections(&t);
	assert_int_equal(dw_read_line_files(&s, 0, NULL, &u, &err), 0);
	assert_int_equal(u.files.len, 4);
	assert_int_equal(u.rows.len, 0);
	assert_null(u.files.data[1].comp_dir);
	dw_facts_deinit(&u);
	line_deinit(&t);
}

/* A second table behind the first, found by its offset. */
static void test_offset(void **state)
{
	struct line_table t, second;
	struct dw_sections s;
	struct dw_facts u = {0};
	struct sc_error err;
	size_t offset;

	(void)state;
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	line_end(&t);
	offset = t.line.b.len;
	line_begin(&second, &line_plain);
	line_standard_files(&second);
	standard_program(&second);
	line_end(&second);
	put_block(&t.line, second.line.b.data, second.line.b.len);
	s = line_sections(&t);
	assert_int_equal(dw_read_lines(&s, offset, "/comp", &u, &err), 0);
	expect(&u, standard_rows);
	dw_facts_clear(&u);
	assert_int_equal(dw_read_lines(&s, t.line.b.len, NULL, &u, &err), SC_EFORMAT);
	assert_int_equal(dw_read_lines(&s, UINT64_MAX, NULL, &u, &err), SC_EFORMAT);
	s.line = (struct dw_section){ NULL, 0 };
	assert_int_equal(dw_read_lines(&s, 0, NULL, &u, &err), SC_EFORMAT);
	assert_int_equal(u.rows.len, 0);
	dw_facts_deinit(&u);
	line_deinit(&t);
	line_deinit(&second);
}

/* Long instruction words: an operation advance is one of index and address. */
static void test_vliw(void **state)
{
	struct line_shape shape = line_plain;
	struct line_table t;

	(void)state;
	shape.max_ops = 3;
	shape.min_inst = 16;
	line_begin(&t, &shape);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1000);
	op_special(&t, 0, 0);                 /* 1000, 0 */
	op_special(&t, 2, 1);                 /* 1000, 2 */
	op_special(&t, 2, 1);                 /* 1010, 1 */
	op_uleb(&t, DW_LNS_advance_pc, 5);    /* 1030, 0 */
	op(&t, DW_LNS_copy);
	op(&t, DW_LNS_const_add_pc);          /* + 17: 1080, 2 */
	op_special(&t, 1, 1);                 /* 1090, 0 */
	op_special(&t, 1, 1);                 /* 1090, 1 */
	op(&t, DW_LNS_fixed_advance_pc);      /* the index starts anew */
	put(&t.line, 2, 1);
	op_special(&t, 2, 1);                 /* 1091, 2 */
	op_uleb(&t, DW_LNS_advance_pc, 1);
	op_end_sequence(&t);
	expect_rows(&t, "1000 a.c:1 1000 a.c:2 1010 a.c:3 1030 a.c:3 1090 a.c:4 1090 a.c:5 "
			"1091 a.c:6 10a1 end ");
}

/* Opcodes that later versions may add are skipped by their lengths. */
static void test_unknown_opcodes(void **state)
{
	struct line_shape shape = line_plain;
	struct line_table t;

	(void)state;
	shape.opcode_base = 20;
	line_begin(&t, &shape);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1000);
	op(&t, 13);              /* 13 % 3: one number */
	put_uleb(&t.line, 1u << 20);
	op(&t, 14);              /* two */
	put_uleb(&t.line, 300);
	put_uleb(&t.line, 1);
	op(&t, 15);              /* none */
	op_special(&t, 0, 1);
	op_uleb(&t, DW_LNS_advance_pc, 2);
	op_end_sequence(&t);
	expect_rows(&t, "1000 a.c:2 1002 end ");
}

/* opcode_base below 10: what are standard opcodes elsewhere are special here. */
static void test_small_opcode_base(void **state)
{
	struct line_shape shape = line_plain;
	struct line_table t;

	(void)state;
	shape.opcode_base = 1;
	shape.line_range = 10;
	line_begin(&t, &shape);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1000);
	op(&t, 4);               /* special: operation 0, line + 0 */
	op(&t, 1 + 13);          /* special: operation 1, line + 0 */
	op(&t, 1 + 25);          /* operation 2, line + 2 */
	op_set_address(&t, 8, 0x1010);
	op_end_sequence(&t);
	expect_rows(&t, "1000 a.c:1 1001 a.c:1 1003 a.c:3 1010 end ");
}

static void test_sequences(void **state)
{
	struct line_table t;

	(void)state;
	/* Rows out of order are sorted, at one address in program order. */
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1010);
	op_special(&t, 0, 0);
	op_set_address(&t, 8, 0x1000);
	op_special(&t, 0, 1);
	op_set_address(&t, 8, 0x1010);
	op_special(&t, 0, 1);
	op_uleb(&t, DW_LNS_advance_pc, 16);
	op_end_sequence(&t);
	expect_rows(&t, "1000 a.c:2 1010 a.c:1 1010 a.c:3 1020 end ");

	/* The end lies before some rows, or before all of them. */
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1000);
	op_special(&t, 0, 0);
	op_special(&t, 8, 1);
	op_set_address(&t, 8, 0x1004);
	op_end_sequence(&t);
	op_set_address(&t, 8, 0x1000);
	op_special(&t, 0, 0);
	op_set_address(&t, 8, 0x800);
	op_end_sequence(&t);
	op_set_address(&t, 8, 0x2000);
	op_special(&t, 0, 0);
	op_end_sequence(&t); /* no extent */
	op_end_sequence(&t); /* no rows */
	expect_rows(&t, "1000 a.c:1 1004 end ");

	/* No end: the last row has no extent, the others stand. */
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1000);
	op_special(&t, 0, 0);
	op_special(&t, 4, 1);
	op_special(&t, 4, 1);
	expect_rows(&t, "1000 a.c:1 1004 a.c:2 1008 end ");

	/* Numbers that wrap around. */
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op_set_address(&t, 8, 0xfffffffffffffff0);
	op_special(&t, 0, 0);
	op_uleb(&t, DW_LNS_advance_pc, 0x20);
	op_line(&t, -100);
	op_uleb(&t, DW_LNS_set_column, 0x123456789);
	op_special(&t, 0, 0);
	op_uleb(&t, DW_LNS_advance_pc, 0x20);
	op_end_sequence(&t);
	expect_rows(&t, "10 a.c:4294967197 30 end ");
}

/* DW_LNE_define_file adds to the table of files. */
static void test_define_file(void **state)
{
	struct line_table t;

	(void)state;
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1000);
	put(&t.line, 1, 0);
	put_uleb(&t.line, 1 + 8 + 3);
	put(&t.line, 1, DW_LNE_define_file);
	put_str(&t.line, "extra.h");
	put(&t.line, 3, 1);
	op_uleb(&t, DW_LNS_set_file, 4);
	op_special(&t, 0, 0);
	op_uleb(&t, DW_LNS_advance_pc, 1);
	op_end_sequence(&t);
	expect_rows(&t, "1000 extra.h:1 1001 end ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_files_alone),
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_vliw),
		cmocka_unit_test(test_unknown_opcodes),
		cmocka_unit_test(test_small_opcode_base),
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_define_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
