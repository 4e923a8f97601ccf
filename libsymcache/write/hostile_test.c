/* Unit tests of the whole indexer on small files that ask for much: memory and time must
 * be in proportion to the file, whatever refers to the same thing how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/synthetic_test.h"
#include "libsymcache/dwarf/line_writer.h"

/* Many entries with one long list of ranges: memory must not grow with the product. */
static void test_shared_ranges(void **state)
{
	const unsigned n = 30000;
	struct dwarf w;
	struct indexed r;

	(void)state;
	dwarf_init(&w, &version_4);
	open_unit(&w);
	attr_addr(&w, DW_AT_low_pc, 0);
	for (unsigned i = 0; i < n; i++)
		range_pair(&w, 0x1000 + 2 * i, 0x1001 + 2 * i);
	range_pair(&w, 0, 0);
	for (unsigned i = 0; i < n; i++) {
		entry(&w, DW_TAG_subprogram, false);
		attr_offset(&w, DW_AT_ranges, 0);
	}
	close_unit(&w);
	good_unit(&w, "behind", 1);
	index_dwarf(&w, &r);
	assert_true(r.info.bad_units > 0);
	indexed_deinit(&r);
}

/* As above, with ranges that are empty, and so never count as any. */
static void test_shared_empty_ranges(void **state)
{
	const unsigned n = 60000;
	struct dwarf w;
	struct indexed r;

	(void)state;
	dwarf_init(&w, &version_4);
	open_unit(&w);
	attr_addr(&w, DW_AT_low_pc, 0);
	for (unsigned i = 0; i < n; i++)
		range_pair(&w, 0x1000, 0x1000);
	range_pair(&w, 0, 0);
	entry(&w, DW_TAG_subprogram, false);
	attr_offset(&w, DW_AT_ranges, 0);
	for (unsigned i = 0; i < n; i++) {
		put_uleb(&w.info, w.code);
		put(&w.info, 4, 0);
	}
	close_unit(&w);
	good_unit(&w, "behind", 1);
	index_dwarf(&w, &r);
	expect(&r, 0x1001, "behind -:0");
	indexed_deinit(&r);
}

/* Units that share one long line table: each would run all of it, but for partial units, of which its
 * header alone is read. */
static void test_shared_lines(void **state)
{
	static const struct { unsigned tag, version; bool refused; } cases[] = {
		{ DW_TAG_compile_unit, 4, true }, { DW_TAG_compile_unit, 5, true }, { DW_TAG_partial_unit, 4, false },
		{ DW_TAG_partial_unit, 5, false }, { DW_TAG_type_unit, 5, true }, /* by its tag alone */
	};
	const unsigned n = 40000;

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct line_shape shape = line_plain;
		struct line_table t;
		struct dwarf w;
		struct indexed r;

		dwarf_init(&w, &version_4);
		for (unsigned i = 0; i < n; i++) {
			unit_begin(&w);
			if (i)
				patch(&w.info, w.unit + 6, 4, 0); /* the first one's abbreviations */
			entry(&w, cases[k].tag, false);
			attr_offset(&w, DW_AT_stmt_list, 0);
			unit_end(&w);
			if (i)
				w.abbrev.b.len = 0x10;
		}
		good_unit(&w, "behind", 0);
		shape.version = cases[k].version;
		line_begin(&t, &shape);
		line_standard_files(&t);
		for (unsigned i = 0; i < 1000000; i++)
			put(&t.line, 1, DW_LNS_negate_stmt);
		line_end(&t);
		put_block(&w.line, t.line.b.data, t.line.b.len);
		line_deinit(&t);
		index_dwarf(&w, &r);
		expect(&r, 0x1000, "behind -:0");
		assert_int_equal(r.info.bad_units > 0, cases[k].refused);
		indexed_deinit(&r);
	}
}

/* Units whose tables of abbreviations are the ends of one long table. */
static void test_overlapping_abbreviations(void **state)
{
	const unsigned n = 40000;
	struct dwarf w;
	struct indexed r;

	(void)state;
	dwarf_init(&w, &version_4);
	good_unit(&w, "before", 0);
	for (unsigned i = 0; i < n; i++) {
		unit_begin(&w);
		entry(&w, DW_TAG_compile_unit, false);
		attr_offset(&w, DW_AT_stmt_list, 0);
		abbreviation_end(&w); /* but no end of the table */
		end_length(&w.info, 4, w.length);
	}
	unit_end(&w);
	index_dwarf(&w, &r);
	expect(&r, 0x1000, "before -:0");
	assert_true(r.info.bad_units > 0);
	indexed_deinit(&r);
}

/* Names that are the ends of one long name. */
static void test_overlapping_names(void **state)
{
	const unsigned n = 60000, length = 1000000;
	struct dwarf w;
	struct indexed r;

	(void)state;
	dwarf_init(&w, &version_4);
	for (unsigned i = 0; i < length; i++)
		put(&w.str, 1, 'a');
	put(&w.str, 1, 0);
	open_unit(&w);
	entry(&w, DW_TAG_subprogram, false);
	attr(&w, DW_AT_name, DW_FORM_strp, 0);
	attr_pcs(&w, 0x1000, 0x1001);
	for (unsigned i = 1; i < n; i++) {
		put_uleb(&w.info, w.code);
		put(&w.info, 4, i);
		put(&w.info, 8, 0x1000 + i);
		put(&w.info, 8, 1);
	}
	close_unit(&w);
	index_dwarf(&w, &r);
	assert_int_equal(r.rc, SC_ELIMIT);
	assert_non_null(strstr(r.err.msg, ": more line rows, functions, ranges, variables or names than a file of "));
	assert_ptr_equal(strstr(r.err.msg, "/proc/self/fd/"), r.err.msg); /* its path comes first */
	indexed_deinit(&r);
}

/* An abbreviation of very many attributes that take no bytes, used very often: the entries are few
 * bytes, and would be very many steps. One of as many as compilers never write is still read. */
static void test_long_abbreviation(void **state)
{
	static const struct { unsigned attributes, bad_units; } cases[] = {
		{ 100, 0 }, { 126, 0 }, { 127, 1 }, { 200000, 1 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct dwarf w;
		struct indexed r;

		begin(&w);
		open_unit(&w);
		entry(&w, DW_TAG_subprogram, false);
		for (unsigned i = 0; i < cases[k].attributes; i++) {
			attr(&w, DW_AT_decl_line, DW_FORM_implicit_const, 0);
			put_sleb(&w.abbrev, 7);
		}
		attr_pcs(&w, 0x1100, 0x1110);
		for (unsigned i = 0; i < 100000; i++) {
			put_uleb(&w.info, w.code);
			put(&w.info, 8, 0x1100);
			put(&w.info, 8, 0x10);
		}
		close_unit(&w);
		finish(&w, &r);
		assert_int_equal(r.info.bad_units, cases[k].bad_units);
		expect(&r, 0x1100, cases[k].bad_units ? "" : "? -:0");
		if (cases[k].bad_units)
			assert_non_null(strstr(r.info.first_fault, "unknown abbreviation"));
		indexed_deinit(&r);
	}
}

/* A build that may take little memory fails by itself; with enough, it is as without a limit. */
static void test_memory(void **state)
{
	static const uint64_t limits[] = { 1, 64 << 10, 1 << 20, 1 << 30, 0 };
	struct symcache_build_options o = { .no_debug_search = true };
	struct bytes file = {0};
	struct dwarf w;
	struct indexed r[5];
	char path[32];
	int fd;

	(void)state;
	dwarf_init(&w, &version_4);
	open_unit(&w);
	entry(&w, DW_TAG_subprogram, false);
	attr(&w, DW_AT_low_pc, DW_FORM_addr, 0x1000);
	attr(&w, DW_AT_high_pc, DW_FORM_data1, 1);
	for (unsigned i = 1; i < 30000; i++) {
		put_uleb(&w.info, w.code);
		put(&w.info, 8, 0x1000 + i);
		put(&w.info, 1, 1);
	}
	close_unit(&w);
	dwarf_file(&w, &file);
	fd = testing_memfd(file.b.data, file.b.len, path);
	for (unsigned i = 0; i < 5; i++) {
		for (o.threads = 1; o.threads < 4; o.threads += 2) {
			if (o.threads > 1)
				indexed_deinit(&r[i]);
			o.memory = limits[i];
			index_file(path, &o, &r[i]);
			assert_int_equal(r[i].rc, i < 3 ? SC_ELIMIT : 0);
		}
	}
	assert_non_null(strstr(r[2].err.msg, "more than 1 MiB of memory"));
	assert_int_equal(r[3].size, r[4].size);
	assert_memory_equal(r[3].bytes, r[4].bytes, r[3].size);
	for (unsigned i = 0; i < 5; i++)
		indexed_deinit(&r[i]);
	close(fd);
	bytes_deinit(&file);
	dwarf_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_ranges),
		cmocka_unit_test(test_shared_empty_ranges),
		cmocka_unit_test(test_shared_lines),
		cmocka_unit_test(test_overlapping_abbreviations),
		cmocka_unit_test(test_overlapping_names),
		cmocka_unit_test(test_long_abbreviation),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
