/* Unit tests of the whole indexer on DWARF written here: right, if unusual, and what
 * refers to itself. What lies is in synthetic_lies_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/synthetic_test.h"

/* ---- what is right ------------------------------------------------------------------- */

static void test_shapes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		struct dwarf_shape shape = {
			.version = 2 + i % 4, .offset_size = i & 4 ? 8 : 4,
			.address_size = i & 8 ? 4 : 8, .big_endian = i & 16,
		};
		struct dwarf w;
		struct indexed r;
		size_t g;

		if (shape.version == 2 && shape.offset_size == 8)
			continue; /* not yet there */
		dwarf_init(&w, &shape);
		open_unit(&w);
		g = entry(&w, DW_TAG_subprogram, false);
		attr_str(&w, DW_AT_name, "g");
		attr_str(&w, shape.version < 4 ? DW_AT_MIPS_linkage_name : DW_AT_linkage_name,
			 "_Z1gv");
		attr(&w, DW_AT_inline, DW_FORM_data1, DW_INL_inlined);
		entry(&w, DW_TAG_subprogram, true);
		attr_str(&w, DW_AT_name, "f");
		attr_pcs(&w, 0x1100, 0x1200);
		entry(&w, DW_TAG_lexical_block, true);
		entry(&w, DW_TAG_inlined_subroutine, false);
		attr_ref(&w, DW_AT_abstract_origin, g);
		attr_pcs(&w, 0x1120, 0x1140);
		attr(&w, DW_AT_call_line, DW_FORM_udata, 70000);
		attr(&w, DW_AT_call_column, DW_FORM_data1, 9);
		children_end(&w);
		children_end(&w);
		close_unit(&w);
		good_unit(&w, "second", 0);
		index_dwarf(&w, &r);
		assert_int_equal(r.info.bad_units, 0);
		assert_string_equal(r.info.first_fault, "");
		expect(&r, 0x1000, "second -:0");
		expect(&r, 0x1100, "f -:0");
		expect(&r, 0x1120, "_Z1gv -:0 < f -:70000:9");
		expect(&r, 0x1140, "f -:0");
		expect(&r, 0x1200, "");
		indexed_deinit(&r);
	}
}

/* Indices of addresses mean something only where the unit says where they count from. */
static void test_address_base(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	for (int base = 0; base < 2; base++) {
		dwarf_init(&w, &(struct dwarf_shape){ .version = 5 });
		put(&w.addr, 4, 12);
		put(&w.addr, 2, 5);
		put(&w.addr, 1, 8);
		put(&w.addr, 1, 0);
		put(&w.addr, 8, 0x1200);
		open_unit(&w);
		if (base)
			attr_offset(&w, DW_AT_addr_base, 8);
		entry(&w, DW_TAG_subprogram, false);
		attr_str(&w, DW_AT_name, "f");
		attr_offset(&w, DW_AT_ranges, 0);
		put(&w.rnglists, 1, DW_RLE_start_length);
		put(&w.rnglists, 8, 0x1100);
		put_uleb(&w.rnglists, 0x10);
		put(&w.rnglists, 1, DW_RLE_base_addressx);
		put_uleb(&w.rnglists, 0);
		put(&w.rnglists, 1, DW_RLE_offset_pair);
		put_uleb(&w.rnglists, 0);
		put_uleb(&w.rnglists, 0x10);
		put(&w.rnglists, 1, DW_RLE_end_of_list);
		close_unit(&w);
		index_dwarf(&w, &r);
		expect(&r, 0x1100, "f -:0");
		expect(&r, 0x1200, base ? "f -:0" : "");
		indexed_deinit(&r);
	}
}

/* Range lists of .debug_ranges and .debug_rnglists: bases, empty and unsorted ranges. */
static void test_ranges(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin(&w);
	open_unit(&w);
	attr_addr(&w, DW_AT_low_pc, 0x1000);
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "f");
	attr_offset(&w, DW_AT_ranges, 0);
	range_pair(&w, 0x400, 0x410);
	range_pair(&w, 0x300, 0x300);          /* empty */
	range_pair(&w, 0x350, 0x340);          /* inverted */
	range_pair(&w, UINT64_MAX, 0x1200);    /* a base */
	range_pair(&w, 0x100, 0x110);
	range_pair(&w, 0, 0);
	close_unit(&w);
	finish(&w, &r);
	expect(&r, 0x1400, "f -:0");
	expect(&r, 0x1410, "");
	expect(&r, 0x1300, "f -:0");
	expect(&r, 0x1340, "");
	indexed_deinit(&r);

	dwarf_init(&w, &(struct dwarf_shape){ .version = 5 });
	open_unit(&w);
	attr_addr(&w, DW_AT_low_pc, 0x1000);
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "f");
	attr_offset(&w, DW_AT_ranges, 12);
	put(&w.rnglists, 4, 100);
	put(&w.rnglists, 2, 5);
	put(&w.rnglists, 1, 8);
	put(&w.rnglists, 1, 0);
	put(&w.rnglists, 4, 0);
	put(&w.rnglists, 1, DW_RLE_offset_pair);
	put_uleb(&w.rnglists, 0x100);
	put_uleb(&w.rnglists, 0x110);
	put(&w.rnglists, 1, DW_RLE_start_length);
	put(&w.rnglists, 8, 0x1200);
	put_uleb(&w.rnglists, 0x10);
	put(&w.rnglists, 1, DW_RLE_base_address);
	put(&w.rnglists, 8, 0x2000);
	put(&w.rnglists, 1, DW_RLE_offset_pair);
	put_uleb(&w.rnglists, 0);
	put_uleb(&w.rnglists, 0x10);
	put(&w.rnglists, 1, DW_RLE_start_end);
	put(&w.rnglists, 8, 0x3000);
	put(&w.rnglists, 8, 0x3010);
	put(&w.rnglists, 1, DW_RLE_end_of_list);
	patch(&w.rnglists, 0, 4, w.rnglists.b.len - 4);
	close_unit(&w);
	index_dwarf(&w, &r);
	expect(&r, 0x1100, "f -:0");
	expect(&r, 0x1110, "");
	expect(&r, 0x1200, "f -:0");
	expect(&r, 0x2000, "f -:0");
	expect(&r, 0x3000, "f -:0");
	expect(&r, 0x3010, "");
	indexed_deinit(&r);
}

/* Ranges that overlap: of functions, the one inside wins; of two that cross, the one that
 * starts later; of calls inlined into one function, the later entry. */
static void test_overlaps(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin(&w);
	open_unit(&w);
	function(&w, "around", 0x1100, 0x1200);
	function(&w, "inside", 0x1140, 0x1150);
	function(&w, "crosses", 0x11f0, 0x1210);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_pcs(&w, 0x1300, 0x1400);
	entry(&w, DW_TAG_inlined_subroutine, false);
	attr_str(&w, DW_AT_name, "first");
	attr_pcs(&w, 0x1310, 0x1330);
	attr(&w, DW_AT_call_line, DW_FORM_data1, 1);
	entry(&w, DW_TAG_inlined_subroutine, false);
	attr_str(&w, DW_AT_name, "second");
	attr_pcs(&w, 0x1320, 0x1340);
	attr(&w, DW_AT_call_line, DW_FORM_data1, 2);
	entry(&w, DW_TAG_inlined_subroutine, false); /* beyond its function */
	attr_str(&w, DW_AT_name, "third");
	attr_pcs(&w, 0x13f0, 0x1410);
	attr(&w, DW_AT_call_line, DW_FORM_data1, 3);
	children_end(&w);
	/* One function, its list of ranges overlapping itself. */
	entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "list");
	attr_offset(&w, DW_AT_ranges, 0);
	range_pair(&w, UINT64_MAX, 0);
	range_pair(&w, 0x1500, 0x1520);
	range_pair(&w, 0x1510, 0x1530);
	range_pair(&w, 0x1500, 0x1530);
	range_pair(&w, 0, 0);
	close_unit(&w);
	finish(&w, &r);
	assert_int_equal(r.info.bad_units, 0);
	expect(&r, 0x1130, "around -:0");
	expect(&r, 0x1140, "inside -:0");
	expect(&r, 0x1150, "around -:0");
	expect(&r, 0x11f0, "crosses -:0");
	expect(&r, 0x120f, "crosses -:0");
	expect(&r, 0x1310, "first -:0 < f -:1");
	expect(&r, 0x1320, "second -:0 < f -:2");
	expect(&r, 0x133f, "second -:0 < f -:2");
	expect(&r, 0x1340, "f -:0");
	expect(&r, 0x13ff, "third -:0 < f -:3");
	expect(&r, 0x1400, "third -:0 < f -:3");
	expect(&r, 0x1410, "");
	expect(&r, 0x14ff, "");
	expect(&r, 0x1500, "list -:0");
	expect(&r, 0x152f, "list -:0");
	expect(&r, 0x1530, "");
	indexed_deinit(&r);
}

/* ---- what refers to itself ------------------------------------------------------------ */

static void test_cycles(void **state)
{
	static const unsigned links[] = { DW_AT_abstract_origin, DW_AT_specification };
	struct dwarf w;
	struct indexed r;
	size_t at, f, g;

	(void)state;
	begin(&w);
	open_unit(&w);
	for (int i = 0; i < 2; i++) {
		uint64_t low = 0x1100 + 0x40u * (unsigned)i;

		f = entry(&w, DW_TAG_subprogram, false); /* to itself */
		attr_ref(&w, links[i], f);
		attr_pcs(&w, low, low + 0x10);
		f = entry(&w, DW_TAG_subprogram, false); /* one to the other */
		at = attr_ref(&w, links[i], 0);
		attr_pcs(&w, low + 0x10, low + 0x20);
		g = entry(&w, DW_TAG_subprogram, false);
		attr_ref(&w, links[!i], f);
		attr_pcs(&w, low + 0x20, low + 0x30);
		patch(&w.info, at, 4, g - w.unit);
	}
	/* A variable whose type is a type of itself. */
	f = entry(&w, DW_TAG_typedef, false);
	attr_ref(&w, DW_AT_type, f);
	g = entry(&w, DW_TAG_array_type, false);
	attr_ref(&w, DW_AT_type, g);
	for (int i = 0; i < 2; i++) {
		entry(&w, DW_TAG_variable, false);
		attr_str(&w, DW_AT_name, "v");
		attr_ref(&w, DW_AT_type, i ? f : g);
		attr(&w, DW_AT_location, DW_FORM_exprloc, 0);
		put_uleb(&w.info, 9);
		put(&w.info, 1, DW_OP_addr);
		put(&w.info, 8, DWARF_DATA + 8u * (unsigned)i);
	}
	close_unit(&w);
	finish(&w, &r);
	expect(&r, 0x1100, "? -:0");
	expect(&r, 0x1110, "? -:0");
	expect(&r, 0x1120, "? -:0");
	assert_int_equal(r.cache.num_data, 2);
	indexed_deinit(&r);
}

/* Chains of origins: the name is at the end of it, or it is too long. */
static void test_origin_chain(void **state)
{
	struct dwarf w;
	struct indexed r;
	size_t at;

	(void)state;
	begin(&w);
	open_unit(&w);
	at = entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "deep");
	for (int i = 0; i < 10000; i++) {
		size_t next = entry(&w, DW_TAG_subprogram, false);
		attr_ref(&w, i % 2 ? DW_AT_abstract_origin : DW_AT_specification, at);
		at = next;
		if (i == 3 || i == 9999)
			attr_pcs(&w, 0x1100 + 0x10 * (i > 3), 0x1110 + 0x10 * (i > 3));
	}
	close_unit(&w);
	finish(&w, &r);
	expect(&r, 0x1100, "deep -:0");
	assert_true(plain_lookup(&r.cache, 0x1110) != PLAIN_NONE);
	indexed_deinit(&r);
}

/* Entries within entries, to a depth that no stack of calls would bear. */
static void test_depth(void **state)
{
	static const unsigned tags[] = { DW_TAG_inlined_subroutine, DW_TAG_lexical_block,
					 DW_TAG_namespace, DW_TAG_subprogram };

	(void)state;
	for (size_t t = 0; t < 4; t++)
		for (int sibling = 0; sibling < 2; sibling++) {
			const unsigned depth = 10000;
			struct dwarf w;
			struct indexed r;
			size_t *siblings = calloc(depth, sizeof(*siblings));
			uint32_t frames = 0;

			begin(&w);
			open_unit(&w);
			entry(&w, DW_TAG_subprogram, true);
			attr_str(&w, DW_AT_name, "outer");
			attr_pcs(&w, 0x1100, 0x1200);
			for (unsigned i = 0; i < depth; i++) {
				entry(&w, tags[t], true);
				if (sibling)
					siblings[i] = attr_ref(&w, DW_AT_sibling, 0);
				if (tags[t] == DW_TAG_inlined_subroutine)
					attr_pcs(&w, 0x1140, 0x1150);
			}
			function(&w, "inner", 0x1180, 0x1190);
			for (unsigned i = depth; i--;) {
				children_end(&w);
				if (sibling)
					patch(&w.info, siblings[i], 4, w.info.b.len - w.unit);
			}
			children_end(&w);
			close_unit(&w);
			finish(&w, &r);
			assert_int_equal(r.info.bad_units, 0);
			expect(&r, 0x1100, "outer -:0");
			expect(&r, 0x1180, "inner -:0");
			for (uint32_t l = plain_lookup(&r.cache, 0x1140); l != PLAIN_NONE; frames++)
				l = plain_frame(&r.cache, l).inlined_into;
			assert_int_equal(frames, tags[t] == DW_TAG_inlined_subroutine ?
					 depth + 1 : 1);
			indexed_deinit(&r);
			free(siblings);
		}
}

/* DW_AT_sibling that leads back, to itself, past the end, or into the middle. */
static void test_siblings(void **state)
{
	static const int64_t leads[] = { -1000, -20, 0, 1, 3, 1 << 20, 0x7fffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(leads) / sizeof(*leads); i++) {
		struct dwarf w;
		struct indexed r;
		size_t f;

		begin(&w);
		open_unit(&w);
		f = entry(&w, DW_TAG_subprogram, true);
		attr_ref(&w, DW_AT_sibling, f + (uint64_t)leads[i]);
		attr_str(&w, DW_AT_name, "f");
		attr_pcs(&w, 0x1100, 0x1200);
		function(&w, "g", 0x1140, 0x1150);
		children_end(&w);
		function(&w, "h", 0x1300, 0x1310);
		close_unit(&w);
		finish(&w, &r);
		/* a sibling is a shortcut, no more */
		expect(&r, 0x1140, "g -:0");
		expect(&r, 0x1300, "h -:0");
		indexed_deinit(&r);
	}
}

/* A list of children that nothing closes: the unit's end does. */
static void test_unclosed(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin(&w);
	open_unit(&w);
	entry(&w, DW_TAG_namespace, true);
	function(&w, "f", 0x1100, 0x1110);
	unit_end(&w);
	finish(&w, &r);
	assert_int_equal(r.info.bad_units, 0);
	expect(&r, 0x1100, "f -:0");
	indexed_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_address_base),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_origin_chain),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_unclosed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
