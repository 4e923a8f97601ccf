/* For tests of the line programs: a program, and what is read of one. */
#ifndef DW_LINE_TEST_H
#define DW_LINE_TEST_H

#include "libsymcache/dwarf/line.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/dwarf/line_check.h"
#include "libsymcache/dwarf/line_writer.h"

/* Closes the table, reads it; the result code. */
static inline int read_table(struct line_table *t, struct dw_facts *u, struct sc_error *err)
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
static inline char *show(const struct dw_facts *u)
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

static inline void expect(const struct dw_facts *u, const char *want)
{
	char *got = show(u);

	assert_string_equal(got, want);
	free(got);
}

/* Reads a table whose rows must be `want`, without any fault. */
static inline void expect_rows(struct line_table *t, const char *want)
{
	struct dw_facts u = {0};
	struct sc_error err = { .msg = "" };
	int rc = read_table(t, &u, &err);

	assert_string_equal(err.msg, "");
	assert_int_equal(rc, 0);
	expect(&u, want);
	dw_facts_deinit(&u);
	line_deinit(t);
}

/* Reads a table with a fault; `want` are the rows up to there. */
static inline void expect_fault(struct line_table *t, const char *fault, const char *want)
{
	struct dw_facts u = {0};
	struct sc_error err = { .msg = "" };

	assert_int_equal(read_table(t, &u, &err), SC_EFORMAT);
	assert_non_null(strstr(err.msg, fault));
	assert_non_null(strstr(err.msg, ".debug_line at 0x0: "));
	expect(&u, want);
	dw_facts_deinit(&u);
	line_deinit(t);
}

/* A program with every kind of opcode. */
static inline void standard_program(struct line_table *t)
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

#endif
