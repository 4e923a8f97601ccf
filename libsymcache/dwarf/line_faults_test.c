/* Unit tests of line programs with faults: what comes before the fault is kept, and the
 * fault is named. */
#include "libsymcache/dwarf/line_test.h"

static void test_absurd_headers(void **state)
{
	struct line_shape shape = line_plain;
	struct line_table t;

	(void)state;
	shape.line_range = 0;
	line_begin(&t, &shape);
	line_standard_files(&t);
	op_set_address(&t, 8, 0x1000);
	op(&t, DW_LNS_copy);
	op(&t, DW_LNS_const_add_pc);
	op_uleb(&t, DW_LNS_advance_pc, 4);
	op_end_sequence(&t);
	op_set_address(&t, 8, 0x2000);
	op(&t, DW_LNS_copy);
	op_uleb(&t, DW_LNS_advance_pc, 4);
	op(&t, DW_LNS_copy);
	op(&t, 200);
	expect_fault(&t, "line_range", "1000 a.c:1 1004 end 2000 a.c:1 2004 end ");

	shape = line_plain;
	shape.opcode_base = 0;
	line_begin(&t, &shape);
	expect_fault(&t, "cut off", "");

	shape = line_plain;
	shape.version = 1;
	line_begin(&t, &shape);
	expect_fault(&t, "unknown version 1", "");
	shape.version = 6;
	line_begin(&t, &shape);
	expect_fault(&t, "unknown version 6", "");

	line_begin(&t, &line_plain);
	line_standard_files(&t);
	patch(&t.line, t.header_length, 4, 0xffffff);
	expect_fault(&t, "header is longer", "");

	/* A directory that is not there, and numbers out of all proportion. */
	line_begin(&t, &line_plain);
	put_str(&t.line, "");
	put_str(&t.line, "a.c");
	put_uleb(&t.line, UINT64_MAX);
	put_uleb(&t.line, 0);
	put_uleb(&t.line, 0);
	put_str(&t.line, "");
	line_program_begins(&t);
	op_set_address(&t, 8, 0x1000);
	op_uleb(&t, DW_LNS_set_file, UINT64_MAX);
	op(&t, DW_LNS_copy);
	op_uleb(&t, DW_LNS_set_file, 1);
	op_special(&t, 1, 0);
	op_uleb(&t, DW_LNS_advance_pc, 4);
	op_end_sequence(&t);
	expect_rows(&t, "1000 ?:1 1001 a.c:1 1005 end ");
}

/* Tables of DWARF 5 that promise more than they hold. */
static void test_absurd_tables(void **state)
{
	struct line_shape shape = line_plain;
	struct line_table t;

	(void)state;
	shape.version = 5;
	/* 2⁶⁴ − 1 directories without any format cost nothing, and are nothing. */
	line_begin(&t, &shape);
	put(&t.line, 1, 0);
	put_uleb(&t.line, UINT64_MAX);
	put(&t.line, 1, 0);
	put_uleb(&t.line, UINT64_MAX);
	line_program_begins(&t);
	op_set_address(&t, 8, 0x1000);
	op(&t, DW_LNS_copy);
	op_uleb(&t, DW_LNS_advance_pc, 4);
	op_end_sequence(&t);
	expect_rows(&t, "1000 ?:1 1004 end ");

	line_begin(&t, &shape);
	put(&t.line, 1, 1);
	put_uleb(&t.line, DW_LNCT_path);
	put_uleb(&t.line, DW_FORM_string);
	put_uleb(&t.line, UINT64_MAX);
	line_program_begins(&t);
	expect_fault(&t, "cut off", "");

	/* A form that has no place here. */
	line_begin(&t, &shape);
	put(&t.line, 1, 1);
	put_uleb(&t.line, DW_LNCT_path);
	put_uleb(&t.line, DW_FORM_addr);
	put_uleb(&t.line, 1);
	line_program_begins(&t);
	expect_fault(&t, "cut off", "");

	/* Strings past the end of their section: absent. */
	line_begin(&t, &shape);
	put(&t.line, 1, 1);
	put_uleb(&t.line, DW_LNCT_path);
	put_uleb(&t.line, DW_FORM_line_strp);
	put_uleb(&t.line, 1);
	put(&t.line, 4, 0x12345678);
	put(&t.line, 1, 1);
	put_uleb(&t.line, DW_LNCT_path);
	put_uleb(&t.line, DW_FORM_strp);
	put_uleb(&t.line, 1);
	put(&t.line, 4, 3);
	put_block(&t.str, "abcdef", 6); /* not terminated */
	line_program_begins(&t);
	op_set_address(&t, 8, 0x1000);
	op_uleb(&t, DW_LNS_set_file, 0);
	op(&t, DW_LNS_copy);
	op_uleb(&t, DW_LNS_advance_pc, 4);
	op_end_sequence(&t);
	expect_rows(&t, "1000 ?:1 1004 end ");
}

/* Cut off at every byte: an error or fewer rows, and nothing out of bounds (the
 * bytes are on the heap in their exact size). */
static void test_truncated(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 5; version++)
		for (int honest = 0; honest < 2; honest++) {
			struct line_shape shape = line_plain;
			struct line_table t;

			shape.version = (uint16_t)version;
			line_begin(&t, &shape);
			line_standard_files(&t);
			standard_program(&t);
			line_end(&t);
			for (size_t n = 0; n < t.line.b.len; n++) {
				uint8_t *exact = malloc(n ? n : 1);
				struct dw_sections s = line_sections(&t);
				struct dw_facts u = {0};
				struct sc_error err;
				int rc;

				memcpy(exact, t.line.b.data, n);
				s.line = (struct dw_section){ exact, n };
				/* The length says so, or does not know. */
				if (honest && n >= 4)
					memcpy(exact, &(uint32_t){ (uint32_t)n - 4 }, 4);
				rc = dw_read_lines(&s, 0, "/comp", &u, &err);
				line_check(&u);
				assert_true(rc == 0 || rc == SC_EFORMAT);
				assert_true(rc == SC_EFORMAT || honest);
				dw_facts_deinit(&u);
				free(exact);
			}
			line_deinit(&t);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absurd_headers),
		cmocka_unit_test(test_absurd_tables),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
