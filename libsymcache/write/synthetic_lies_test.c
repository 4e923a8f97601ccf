/* Unit tests of the whole indexer on DWARF written here that lies, and that is damaged:
 * one broken unit costs that unit and is reported; the rest of the file is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/synthetic_test.h"

static void test_inverted(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin(&w);
	open_unit(&w);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "inverted");
	attr_addr(&w, DW_AT_low_pc, 0x1200);
	attr_addr(&w, DW_AT_high_pc, 0x1100);
	entry(&w, DW_TAG_inlined_subroutine, false);
	attr_str(&w, DW_AT_name, "in_it");
	attr_pcs(&w, 0x1140, 0x1150);
	children_end(&w);
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "wraps");
	attr_addr(&w, DW_AT_low_pc, 0x1200);
	attr(&w, DW_AT_high_pc, DW_FORM_data8, UINT64_MAX - 0x80);
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "empty");
	attr_pcs(&w, 0x1280, 0x1280);
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "no_end");
	attr_addr(&w, DW_AT_low_pc, 0x1290);
	function(&w, "fine", 0x1300, 0x1310);
	function(&w, "too_long", 0x1400, UINT64_MAX);
	close_unit(&w);
	finish(&w, &r);
	expect(&r, 0x1150, "");
	expect(&r, 0x1280, "");
	expect(&r, 0x1290, "");
	expect(&r, 0x1300, "fine -:0");
	expect(&r, 0x1400, "too_long -:0");
	expect(&r, DWARF_TEXT + DWARF_TEXT_SIZE - 1, "too_long -:0");
	expect(&r, DWARF_TEXT + DWARF_TEXT_SIZE, "");
	indexed_deinit(&r);
}

/* What stands in types of C is passed over, up to the entry that is said to be behind them, if that may be. */
static void test_siblings(void **state)
{
	enum { BEHIND, FIRST_CHILD, ITSELF, BEYOND, NOTHING_BEHIND };
	static const struct { unsigned lang, sibling, entries; const char *in, *next; } cases[] = {
		{ DW_LANG_C, BEHIND, 3, "", "next -:0" }, { DW_LANG_C89, BEHIND, 3, "", "next -:0" },
		{ DW_LANG_C99, BEHIND, 3, "", "next -:0" }, { DW_LANG_C11, BEHIND, 3, "", "next -:0" },
		{ DW_LANG_C_plus_plus, BEHIND, 4, "in -:0", "next -:0" }, { DW_LANG_Rust, BEHIND, 4, "in -:0", "next -:0" },
		{ DW_LANG_Ada95, BEHIND, 4, "in -:0", "next -:0" },
		{ DW_LANG_C99, FIRST_CHILD, 4, "in -:0", "next -:0" }, { DW_LANG_C99, ITSELF, 4, "in -:0", "next -:0" },
		{ DW_LANG_C99, BEYOND, 4, "in -:0", "next -:0" }, { DW_LANG_C99, NOTHING_BEHIND, 2, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dwarf w;
		struct indexed r;
		size_t type, sibling, child, behind;

		begin(&w);
		unit_begin(&w);
		entry(&w, DW_TAG_compile_unit, true);
		attr(&w, DW_AT_language, DW_FORM_data2, cases[i].lang);
		type = entry(&w, DW_TAG_structure_type, true);
		sibling = attr(&w, DW_AT_sibling, DW_FORM_ref4, 0);
		child = function(&w, "in", 0x1100, 0x1110);
		children_end(&w);
		behind = function(&w, "next", 0x1200, 0x1210);
		close_unit(&w);
		patch(&w.info, sibling, 4, (const size_t[]){ behind, child, type, w.info.b.len + 1, w.info.b.len }[cases[i].sibling] - w.unit);
		finish(&w, &r);
		expect(&r, 0x1100, cases[i].in);
		expect(&r, 0x1200, cases[i].next);
		assert_int_equal(r.info.entries, 2 + cases[i].entries + 2);
		assert_int_equal(r.info.bad_units, 0);
		indexed_deinit(&r);
	}
}

/* Headers that lie but for the length cost their unit alone. */
static void test_unit_headers(void **state)
{
	static const struct {
		const char *what;
		size_t at;
		unsigned size;
		uint64_t value;
	} lies[] = {
		{ "version 0", 4, 2, 0 },
		{ "version 6", 4, 2, 6 },
		{ "version 65535", 4, 2, 65535 },
		{ "abbreviations past the end", 6, 4, 0xffffff00 },
		{ "abbreviations just past the end", 6, 4, 0x1000 },
		{ "addresses of 0 bytes", 10, 1, 0 },
		{ "addresses of 3 bytes", 10, 1, 3 },
		{ "addresses of 255 bytes", 10, 1, 255 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct dwarf w;
		struct indexed r;
		size_t unit;

		begin(&w);
		unit = open_unit(&w);
		function(&w, "f", 0x1100, 0x1200);
		close_unit(&w);
		patch(&w.info, unit + lies[i].at, lies[i].size, lies[i].value);
		good_unit(&w, "behind", 0x20);
		index_dwarf(&w, &r);
		expect(&r, 0x1000, "before -:0");
		expect(&r, 0x1020, "behind -:0");
		if (r.info.bad_units != 1)
			fail_msg("no fault: %s", lies[i].what);
		indexed_deinit(&r);
	}
}

/* A unit without entries is empty, not broken. */
static void test_empty_unit(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin(&w);
	unit_begin(&w);
	unit_end(&w);
	finish(&w, &r);
	assert_int_equal(r.info.bad_units, 0);
	indexed_deinit(&r);
}

/* Lengths that lie: what is before stands, and there is a fault. */
static void test_unit_lengths(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 3, 7, 8, 9, 15, 0x10000, 0xffffff, 0xffffffef,
					    0xfffffff0, 0xfffffffe, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct dwarf w;
		struct indexed r;
		size_t unit;

		begin(&w);
		unit = open_unit(&w);
		function(&w, "f", 0x1100, 0x1200);
		close_unit(&w);
		patch(&w.info, unit, 4, lengths[i]);
		good_unit(&w, "behind", 0x20);
		index_dwarf(&w, &r);
		expect(&r, 0x1000, "before -:0");
		assert_true(r.info.bad_units > 0);
		indexed_deinit(&r);
	}
}

/* Entries whose abbreviation is missing: what is before them stands. */
static void test_abbreviations(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin(&w);
	open_unit(&w);
	function(&w, "f", 0x1100, 0x1200);
	abbreviation_end(&w);
	put_uleb(&w.info, 777);
	function(&w, "lost", 0x1300, 0x1400);
	close_unit(&w);
	finish(&w, &r);
	assert_int_equal(r.info.bad_units, 1);
	expect(&r, 0x1100, "f -:0");
	indexed_deinit(&r);

	/* The unit's own entry has none. */
	begin(&w);
	open_unit(&w);
	function(&w, "f", 0x1100, 0x1200);
	close_unit(&w);
	w.info.b.data[w.unit + 11] = 0x55;
	finish(&w, &r);
	assert_int_equal(r.info.bad_units, 1);
	indexed_deinit(&r);

	/* An unknown form: its size is unknown, so what follows is lost. */
	begin(&w);
	open_unit(&w);
	function(&w, "f", 0x1100, 0x1200);
	entry(&w, DW_TAG_subprogram, false);
	attr(&w, DW_AT_decl_line, 0x99, 0);
	put(&w.info, 4, 0);
	close_unit(&w);
	finish(&w, &r);
	assert_int_equal(r.info.bad_units, 1);
	expect(&r, 0x1100, "f -:0");
	indexed_deinit(&r);

	/* A table that does not end. */
	dwarf_init(&w, &version_4);
	good_unit(&w, "before", 0);
	open_unit(&w);
	function(&w, "f", 0x1100, 0x1200);
	children_end(&w);
	end_length(&w.info, 4, w.length);
	index_dwarf(&w, &r);
	expect(&r, 0x1000, "before -:0");
	indexed_deinit(&r);
}

/* Strings, files, ranges, lines, origins that are not there. */
static void test_dangling(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin(&w);
	open_unit(&w);
	attr_offset(&w, DW_AT_stmt_list, 0x123456);
	put_block(&w.str, "not terminated", 14);
	entry(&w, DW_TAG_subprogram, false);
	attr(&w, DW_AT_name, DW_FORM_strp, 0x10000000);
	attr_pcs(&w, 0x1100, 0x1110);
	entry(&w, DW_TAG_subprogram, false);
	attr(&w, DW_AT_name, DW_FORM_strp, 4);
	attr_pcs(&w, 0x1110, 0x1120);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_pcs(&w, 0x1120, 0x1180);
	attr(&w, DW_AT_decl_file, DW_FORM_udata, UINT64_MAX);
	attr(&w, DW_AT_decl_line, DW_FORM_udata, UINT64_MAX);
	entry(&w, DW_TAG_inlined_subroutine, false);
	attr_ref(&w, DW_AT_abstract_origin, w.unit + 0x7000000);
	attr(&w, DW_AT_call_file, DW_FORM_udata, 1u << 31);
	attr(&w, DW_AT_call_line, DW_FORM_udata, 1ull << 32);
	attr(&w, DW_AT_call_column, DW_FORM_udata, 1ull << 40);
	attr_pcs(&w, 0x1130, 0x1140);
	entry(&w, DW_TAG_inlined_subroutine, false);
	attr(&w, DW_AT_abstract_origin, DW_FORM_ref_addr, 0xfffffff0);
	attr_pcs(&w, 0x1140, 0x1150);
	entry(&w, DW_TAG_inlined_subroutine, false);
	attr_ref(&w, DW_AT_abstract_origin, w.unit + 1); /* in the header */
	attr_pcs(&w, 0x1150, 0x1160);
	children_end(&w);
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "no_ranges");
	attr_offset(&w, DW_AT_ranges, 0x7fffffff);
	close_unit(&w);
	finish(&w, &r);
	assert_int_equal(r.info.bad_units, 1);
	assert_non_null(strstr(r.info.first_fault, "line"));
	expect(&r, 0x1100, "? -:0");
	expect(&r, 0x1120, "f -:0");
	expect(&r, 0x1130, "? -:0 < f -:0");
	expect(&r, 0x1140, "? -:0 < f -:0");
	expect(&r, 0x1160, "f -:0");
	indexed_deinit(&r);
}

/* Each section cut off at every byte, and each byte of it wrong in turn: what is before the damage is
 * found as ever. */
static void test_damage(void **state)
{
	struct dwarf w, copy;
	struct bytes *const parts[] = { &copy.info, &copy.abbrev, &copy.ranges };
	size_t first[3] = { 0 }; /* bytes of each part that the good unit has */
	struct indexed r;

	(void)state;
	dwarf_init(&w, &version_4);
	good_unit(&w, "before", 0);
	first[0] = w.info.b.len;
	first[1] = w.abbrev.b.len;
	open_unit(&w);
	attr_addr(&w, DW_AT_low_pc, 0);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_offset(&w, DW_AT_ranges, 0);
	range_pair(&w, 0x1100, 0x1180);
	range_pair(&w, 0, 0);
	entry(&w, DW_TAG_inlined_subroutine, false);
	attr_ref(&w, DW_AT_abstract_origin, w.unit + 11);
	attr_pcs(&w, 0x1110, 0x1120);
	children_end(&w);
	close_unit(&w);
	for (size_t part = 0; part < 3; part++) {
		copy = w;
		for (size_t n = parts[part]->b.len; n--;) {
			uint8_t *byte = &parts[part]->b.data[n], old = *byte;
			struct bytes file = {0};

			for (unsigned k = 0; k < 4; k++) {
				*byte = (uint8_t)(k < 3 ? old ^ (1u << 3 * k) : 0xff);
				dwarf_file(&copy, &file);
				index_bytes(file.b.data, file.b.len, &r);
				bytes_deinit(&file);
				if (n >= first[part])
					expect(&r, 0x1000, "before -:0");
				indexed_deinit(&r);
			}
			*byte = old;
			parts[part]->b.len = n;
			dwarf_file(&copy, &file);
			index_bytes(file.b.data, file.b.len, &r);
			bytes_deinit(&file);
			if (n >= first[part])
				expect(&r, 0x1000, "before -:0");
			indexed_deinit(&r);
		}
	}
	dwarf_deinit(&w);
}

/* A unit whose header, if it were whole, would end behind the section: the small one behind it is read. */
static void test_header_into_next(void **state)
{
	struct indexed r;
	struct dwarf w;

	(void)state;
	dwarf_init(&w, &(struct dwarf_shape){ .version = 4, .address_size = 4 });
	put(&w.info, 4, 0xffffffff), put(&w.info, 8, 4);
	put(&w.info, 2, 5), put(&w.info, 1, DW_UT_type), put(&w.info, 1, 4);
	unit_begin(&w);
	entry(&w, DW_TAG_compile_unit, true);
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "f");
	attr_addr(&w, DW_AT_low_pc, 0x1000);
	attr(&w, DW_AT_high_pc, DW_FORM_data1, 0x10);
	close_unit(&w);
	assert_true(w.info.b.len - w.unit < 24);
	index_dwarf(&w, &r);
	expect(&r, 0x1000, "f -:0");
	assert_int_equal(r.info.bad_units, 1);
	assert_string_equal(r.info.first_fault, "unit at 0x0: header is cut off");
	indexed_deinit(&r);
}

/* Damage in .debug_types is said, even if no unit refers to it. */
static void test_damaged_types(void **state)
{
	const struct elf_shape shape = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN,
					 .load_size = DWARF_DATA };
	struct bytes types = {0}, file = {0};
	struct indexed r;
	struct dwarf w;

	(void)state;
	dwarf_init(&w, &version_4);
	good_unit(&w, "f", 0);
	put(&types, 4, 19);
	put(&types, 2, 9); /* the version */
	put(&types, 4, 0), put(&types, 1, 8), put(&types, 8, 1), put(&types, 4, 23);
	put_elf(&file, &shape, (struct elf_section[]){
		{ ".debug_info", SHT_PROGBITS, 0, 0, &w.info, 0, 0, 0 },
		{ ".debug_abbrev", SHT_PROGBITS, 0, 0, &w.abbrev, 0, 0, 0 },
		{ ".debug_types", SHT_PROGBITS, 0, 0, &types, 0, 0, 0 },
		{ ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, DWARF_TEXT, NULL, DWARF_TEXT_SIZE, 0, 0 },
	}, 4);
	index_bytes(file.b.data, file.b.len, &r);
	expect(&r, 0x1000, "f -:0");
	assert_int_equal(r.info.bad_units, 1);
	assert_string_equal(r.info.first_fault, "unit at 0x0: unknown DWARF version 9");
	indexed_deinit(&r);
	bytes_deinit(&types);
	bytes_deinit(&file);
	dwarf_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_into_next),
		cmocka_unit_test(test_damaged_types),
		cmocka_unit_test(test_inverted),
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_unit_headers), cmocka_unit_test(test_empty_unit),
		cmocka_unit_test(test_unit_lengths),
		cmocka_unit_test(test_abbreviations),
		cmocka_unit_test(test_dangling),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
