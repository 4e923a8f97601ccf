/* Unit tests of the line programs: programs written here, in every version, with faults
 * and without. Those of real files are in line_libdw_test.c. */
#include "libsymcache/dwarf/line.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/dwarf/line_check.h"
#include "libsymcache/dwarf/line_writer.h"

/* Closes the table, reads it; the result code. */
static int read_table(struct line_table *t, struct dw_unit *u, struct sc_error *err)
{
	struct dw_sections s;
	int rc;

	line_end(t);
	s = line_sections(t);
	rc = dw_read_lines(&s, 0, "/comp", u, err);
	line_check(u);
	return rc;
}

/* Rows as text: "1000 a.c:1:2 1004 b.h:3 1010 end ". */
static char *show(const struct dw_unit *u)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < u->sequences.len; i++) {
		const struct dw_sequence *s = &u->sequences.data[i];

		for (size_t k = s->first_row; k < s->first_row + s->num_rows; k++) {
			const struct dw_row *r = &u->rows.data[k];
			fprintf(out, "%" PRIx64 " %s:%" PRIu32, r->vaddr,
				r->file == DW_NONE ? "?" : u->files.data[r->file].name, r->line);
			fprintf(out, r->column ? ":%" PRIu32 " " : " ", r->column);
		}
		fprintf(out, "%" PRIx64 " end ", s->end);
	}
	fclose(out);
	return text;
}

static void expect(const struct dw_unit *u, const char *want)
{
	char *got = show(u);

	assert_string_equal(got, want);
	free(got);
}

/* Reads a table whose rows must be `want`, without any fault. */
static void expect_rows(struct line_table *t, const char *want)
{
	struct dw_unit u = {0};
	struct sc_error err = { .msg = "" };
	int rc = read_table(t, &u, &err);

	assert_string_equal(err.msg, "");
	assert_int_equal(rc, 0);
	expect(&u, want);
	dw_unit_deinit(&u);
	line_deinit(t);
}

/* Reads a table with a fault; `want` are the rows up to there. */
static void expect_fault(struct line_table *t, const char *fault, const char *want)
{
	struct dw_unit u = {0};
	struct sc_error err = { .msg = "" };

	assert_int_equal(read_table(t, &u, &err), SC_EFORMAT);
	assert_non_null(strstr(err.msg, fault));
	assert_non_null(strstr(err.msg, ".debug_line at 0x0: "));
	expect(&u, want);
	dw_unit_deinit(&u);
	line_deinit(t);
}

/* A program with every kind of opcode. */
static void standard_program(struct line_table *t)
{
	op_set_address(t, 8, 0x1000);
	op_special(t, 0, 4);                     /* 1000 a.c:5 */
	op_uleb(t, DW_LNS_set_column, 7);
	op_special(t, 2, -2);                    /* 1002 a.c:3:7 */
	op_uleb(t, DW_LNS_set_file, 2);
	op_line(t, 1000);
	op_uleb(t, DW_LNS_advance_pc, 0x10);
	op(t, DW_LNS_negate_stmt);
	op(t, DW_LNS_copy);                      /* 1012 b.h:1003:7 */
	op(t, DW_LNS_set_basic_block);
	op(t, DW_LNS_set_prologue_end);
	op(t, DW_LNS_set_epilogue_begin);
	op_uleb(t, DW_LNS_set_isa, 3);
	op_line(t, -1003);
	op(t, DW_LNS_const_add_pc);              /* (255 − 13) / 14 = 17 */
	op_uleb(t, DW_LNS_set_column, 0);
	op(t, DW_LNS_copy);                      /* 1023 b.h:0 */
	op(t, DW_LNS_fixed_advance_pc);
	put(&t->line, 2, 0x101);
	op_uleb(t, DW_LNS_set_file, 3);
	put(&t->line, 1, 0);                     /* a discriminator */
	put_uleb(&t->line, 2);
	put(&t->line, 1, DW_LNE_set_discriminator);
	put_uleb(&t->line, 5);
	put(&t->line, 1, 0);                     /* a vendor's own */
	put_uleb(&t->line, 4);
	put(&t->line, 1, 0x90);
	put(&t->line, 3, 0);
	op_special(t, 0, 0);                     /* 1124 c.h:0 */
	op_uleb(t, DW_LNS_set_file, 77);         /* there is none */
	op_special(t, 1, 1);                     /* 1125 ?:1 */
	op_uleb(t, DW_LNS_advance_pc, 3);
	op_end_sequence(t);                      /* 1128 */
	op_set_address(t, 4, 0x500);             /* everything starts anew */
	op_special(t, 0, 0);
	op_uleb(t, DW_LNS_advance_pc, 4);
	op_end_sequence(t);
}

static const char standard_rows[] =
	"1000 a.c:5 1002 a.c:3:7 1012 b.h:1003:7 1023 b.h:0 1124 c.h:0 1125 ?:1 1128 end "
	"500 a.c:1 504 end ";

static void test_versions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		struct line_shape shape = line_plain;
		struct dw_unit u = {0};
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
		if (shape.version == 5)
			assert_string_equal(u.files.data[0].name, "a.c");
		else
			assert_null(u.files.data[0].name);
		dw_unit_deinit(&u);
		line_deinit(&t);
	}
}

/* The files alone are the same files. */
static void test_files_alone(void **state)
{
	struct line_table t;
	struct dw_sections s;
	struct dw_unit u = {0};
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
	dw_unit_deinit(&u);
	line_deinit(&t);
}

/* A second table behind the first, found by its offset. */
static void test_offset(void **state)
{
	struct line_table t, second;
	struct dw_sections s;
	struct dw_unit u = {0};
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
	dw_unit_clear(&u);
	assert_int_equal(dw_read_lines(&s, t.line.b.len, NULL, &u, &err), SC_EFORMAT);
	assert_int_equal(dw_read_lines(&s, UINT64_MAX, NULL, &u, &err), SC_EFORMAT);
	s.line = (struct dw_section){ NULL, 0 };
	assert_int_equal(dw_read_lines(&s, 0, NULL, &u, &err), SC_EFORMAT);
	assert_int_equal(u.rows.len, 0);
	dw_unit_deinit(&u);
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

/* ---- faults ---------------------------------------------------------------------------- */

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
				struct dw_unit u = {0};
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
				dw_unit_deinit(&u);
				free(exact);
			}
			line_deinit(&t);
		}
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
		cmocka_unit_test(test_absurd_headers),
		cmocka_unit_test(test_absurd_tables),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
