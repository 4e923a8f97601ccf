/* What is read of each seed of the fuzz targets, and of damaged ones: rows of line tables, rows of
 * call frame information, functions of Go's table. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/dwarf/cfi.h"
#include "libsymcache/dwarf/gopclntab.h"
#include "libsymcache/dwarf/line.h"
#include "libsymcache/dwarf/readers_test.h"

enum { MOST = 40 }; /* rows and the like */

static void put_rows(FILE *to, const struct dw_facts *u)
{
	for (size_t i = 0; i < u->files.len && i < MOST; i++) {
		const struct dw_file *f = &u->files.data[i];

		fprintf(to, "file %s|%s|%s%s%.40s\n", f->comp_dir ? f->comp_dir : "",
			f->dir ? f->dir : "", f->name ? f->name : "", f->source ? " source " : "",
			f->source ? f->source : "");
	}
	for (size_t i = 0; i < u->sequences.len && i < MOST; i++) {
		const struct dw_sequence *s = &u->sequences.data[i];

		fprintf(to, "[%" PRIx64 " %" PRIx64 ")", s->start, s->end);
		for (size_t k = s->first_row;
		     k < s->first_row + s->num_rows && k < s->first_row + MOST; k++)
			fprintf(to, " %" PRIx64 " %" PRIu32 ":%" PRIu32 ":%" PRIu32 " %" PRIx32,
				u->rows.data[k].vaddr, u->rows.data[k].file, u->rows.data[k].line,
				u->rows.data[k].column, u->rows.data[k].marks);
		fputc('\n', to);
	}
}

/* As line_fuzz.c: the first byte says in which byte order the rest is. */
static void lines_of(const uint8_t *bytes, size_t size, FILE *to)
{
	struct dw_facts unit = { 0 }, files = { 0 };
	struct dw_sections s = { 0 };
	struct sc_error err = { .msg = "" };

	if (!size)
		return;
	s.swap = *bytes & 1;
	s.line = s.str = s.line_str = (struct dw_section){ bytes + 1, size - 1 };
	dw_section_end_with_nul(&s.str);
	dw_section_end_with_nul(&s.line_str);
	dw_read_lines(&s, 0, "/comp", &unit, &err);
	fprintf(to, "%d %s\n", err.code, err.msg);
	put_rows(to, &unit);
	dw_read_line_files(&s, 0, NULL, &files, NULL);
	fprintf(to, "%zu files alone\n", files.files.len);
	dw_facts_deinit(&unit);
	dw_facts_deinit(&files);
}

struct cfi_rows {
	const struct dw_cfi_section *section;
	FILE *to;
	unsigned left;
};

static bool put_cfi_row(void *ctx, uint64_t start, uint64_t end, const struct dw_cfi_row *row)
{
	struct cfi_rows *r = ctx;

	fprintf(r->to, "[%" PRIx64 " %" PRIx64 ") cfa %u %u %" PRId32 " flags %u%s:", start, end,
		row->cfa, row->cfa_reg, row->cfa_n, row->flags,
		row->has_expressions ? " expressions" : "");
	for (size_t i = 0; i < row->num_rules; i++) {
		const struct dw_cfi_rule *rule = &row->rules[i];

		fprintf(r->to, " %u=%u %" PRId32, rule->reg, rule->kind, rule->n);
		if (rule->kind == DW_CFI_EXPRESSION || rule->kind == DW_CFI_VAL_EXPRESSION)
			fprintf(r->to, "(%zu)",
				dw_cfi_expression(r->section, (uint32_t)rule->n).size);
	}
	fputc('\n', r->to);
	return --r->left > 0;
}

static bool any_code(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

/* As cfi_fuzz.c: the first byte says what the rest is. */
static void cfi_of(const uint8_t *bytes, size_t size, FILE *to)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_RISCV, EM_PPC64 };
	struct dw_cfi_section s = { .vaddr = 0x1000, .text = 0x2000, .data = 0x3000 };
	struct sc_error err;
	struct dw_cfi cfi;

	if (!size)
		return;
	s.eh = *bytes & 1;
	s.is_64 = *bytes & 2;
	s.swap = *bytes & 4;
	s.machine = dw_cfi_machine(machines[(*bytes >> 3) % 5]);
	s.bytes = (struct dw_section){ bytes + 1, size - 1 };
	if (dw_cfi_read(&s, any_code, NULL, &cfi, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	for (size_t i = 0; i < cfi.entries.len && i < MOST; i++) {
		const struct dw_cfi_entry *e = &cfi.entries.data[i];
		struct cfi_rows rows = { &s, to, MOST };

		fprintf(to, "entry [%" PRIx64 " %" PRIx64 ") from %" PRIx64 "\n", e->start, e->end,
			e->first);
		dw_cfi_run(&cfi, e, put_cfi_row, &rows);
	}
	fprintf(to, "%" PRIu64 " broken: %s\n", cfi.broken, cfi.broken ? cfi.first_fault.msg : "");
	dw_cfi_deinit(&cfi);
}

/* As gopclntab_fuzz.c. */
static void go_of(const uint8_t *bytes, size_t size, FILE *to)
{
	struct dw_go_sections s = { .text = 0x1000, .most = 64 << 10 };
	struct dw_facts facts = { 0 };
	struct dw_go_reader *r;
	struct sc_error err;
	size_t behind;
	int rc;

	if (size < 3)
		return;
	behind = (size_t)(bytes[1] | bytes[2] << 8) % (size - 2);
	s.swap = bytes[0] & 1;
	s.table = (struct dw_section){ bytes + 3, size - 3 - behind };
	s.funcdata = (struct dw_section){ bytes + size - behind, behind };
	if (dw_go_open(&s, &r, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	fprintf(to, "inlines %d\n", dw_go_has_inlines(r));
	while (!(rc = dw_go_next(r, &facts, &err))) {
		put_facts(to, &facts, "");
		put_rows(to, &facts);
	}
	fprintf(to, "%d\n", rc);
	dw_facts_deinit(&facts);
	dw_go_close(r);
}

static void test_lines(void **state)
{
	static const char *const seeds[] = { "line", NULL };

	(void)state;
	expect_answers("line", seeds, 40, lines_of);
}

static void test_cfi(void **state)
{
	static const char *const seeds[] = { "cfi", NULL };

	(void)state;
	expect_answers("cfi", seeds, 256, cfi_of);
}

static void test_go(void **state)
{
	static const char *const seeds[] = { "gopclntab", NULL };

	(void)state;
	expect_answers("gopclntab", seeds, 96, go_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_cfi),
		cmocka_unit_test(test_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
