/* Unit tests of what is given back of .debug_line behind the units that were read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/dwarf/line_writer.h"
#include "libsymcache/write/first_check.h"
#include "libsymcache/write/lines_behind.h"
#include "libsymcache/write/synthetic_test.h"

#define MB ((size_t)1 << 20)

static void test_order(void **state)
{
	uint8_t *bytes = sc_big_alloc(16 * MB);
	const struct dw_section line = { bytes, 16 * MB };
	struct sc_lines_behind b = { .line = &line };
	struct dw_unit u = { .has_stmt_list = true };

	(void)state;
	memset(bytes, 1, 16 * MB);
	sc_lines_note(&b, &u);
	u.stmt_list = 7 * MB;
	sc_lines_note(&b, &u);
	sc_lines_drop(&b, &u);
	assert_true(b.dropped && b.dropped <= u.stmt_list);
	assert_int_equal(bytes[0], 0);
	assert_int_equal(bytes[u.stmt_list], 1);
	sc_lines_note(&b, &(struct dw_unit){ .stmt_list = 0 }); /* it has none */
	sc_lines_note(&b, &u);
	assert_false(b.disordered || b.too_early);
	u.stmt_list--;
	sc_lines_note(&b, &u); /* it is still there: but from now on all stays */
	assert_true(b.disordered && !b.too_early);
	u.stmt_list = 16 * MB;
	sc_lines_note(&b, &u);
	sc_lines_drop(&b, &u);
	assert_int_equal(bytes[16 * MB - 1], 1);
	u.stmt_list = 0;
	sc_lines_note(&b, &u);
	assert_true(b.too_early);
	sc_big_free(bytes, 16 * MB);
}

/* A line program of one row at `at`, behind .debug_line so far; where it begins. */
static size_t add_program(struct dwarf *w, uint64_t at, unsigned line)
{
	const size_t begin = w->line.b.len;
	struct line_table t;

	line_begin(&t, &line_plain);
	line_standard_files(&t);
	op_set_address(&t, 8, DWARF_TEXT + at);
	op_line(&t, (int)line - 1);
	op(&t, DW_LNS_copy);
	op_uleb(&t, DW_LNS_advance_pc, 0x10);
	op_end_sequence(&t);
	line_end(&t);
	put_block(&w->line, t.line.b.data, t.line.b.len);
	line_deinit(&t);
	return begin;
}

static void add_unit(struct dwarf *w, const char *name, uint64_t at, uint64_t program)
{
	unit_begin(w);
	compile_unit(w, "a.c");
	attr(w, DW_AT_stmt_list, DW_FORM_sec_offset, program);
	function(w, name, DWARF_TEXT + at, DWARF_TEXT + at + 0x10);
	children_end(w);
	unit_end(w);
}

/* The last unit's line program is the first one, which was given back: it is read again. */
static void test_again(void **state)
{
	static const uint8_t zeros[1 << 16];
	size_t first, second, third, len;
	struct bytes file = {0};
	uint8_t *compressed;
	struct dwarf w;
	struct indexed r;

	(void)state;
	dwarf_init(&w, &version_4);
	first = add_program(&w, 0x20, 30);
	for (int i = 0; i < 80; i++)
		put_block(&w.line, zeros, sizeof(zeros));
	second = add_program(&w, 0, 10);
	third = add_program(&w, 0x10, 20);
	add_unit(&w, "f", 0, second);
	add_unit(&w, "g", 0x10, third);
	unit_begin(&w); /* one that is read later than the two, and lasts */
	compile_unit(&w, "large.c");
	abbreviation_end(&w);
	for (int i = 0; i < 300; i++)
		put_block(&w.info, zeros, sizeof(zeros));
	unit_end(&w);
	add_unit(&w, "h", 0x20, first);
	dwarf_file(&w, &file);
	compressed = first_compressed(file.b.data, file.b.len, &len);
	assert_non_null(compressed);
	index_bytes(compressed, len, &r);
	free(compressed);
	bytes_deinit(&file);
	dwarf_deinit(&w);
	expect(&r, 0x1000, "f a.c:10");
	expect(&r, 0x1010, "g a.c:20");
	expect(&r, 0x1020, "h a.c:30");
	indexed_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
