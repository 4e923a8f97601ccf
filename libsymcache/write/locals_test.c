/* Unit tests of local variables, on DWARF written here: which there are, where, how large; and
 * what refers to itself. What LLVM says of real files is compared by scripts/dropin_diff.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/locals_test.h"

/* Of a function whose frame base is this register. */
static void check_locals(uint8_t base)
{
	const uint8_t fbreg[] = { DW_OP_fbreg, 0x78 }, deref[] = { DW_OP_fbreg, 0x70, DW_OP_deref },
		breg[] = { DW_OP_breg0 + base, 0x60 }, other[] = { DW_OP_breg0 + (base ^ 3), 0x60 },
		value[] = { DW_OP_fbreg, 0x70, DW_OP_stack_value }, reg[] = { DW_OP_reg0 };
	struct dwarf w;
	size_t type, array, g;

	begin(&w);
	open_unit(&w);
	type = base_type(&w, 4);
	array = entry(&w, DW_TAG_array_type, true);
	attr_ref(&w, DW_AT_type, type);
	entry(&w, DW_TAG_subrange_type, false);
	attr(&w, DW_AT_upper_bound, DW_FORM_data1, 9);
	entry(&w, DW_TAG_subrange_type, false);
	attr(&w, DW_AT_count, DW_FORM_data1, 3);
	children_end(&w);
	g = entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "g");
	children_end(&w);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_pcs(&w, 0x1100, 0x1200);
	attr(&w, DW_AT_frame_base, DW_FORM_exprloc, 0);
	put_uleb(&w.info, 1);
	put(&w.info, 1, DW_OP_reg0 + base);
	variable(&w, DW_TAG_formal_parameter, "a", type, fbreg, sizeof(fbreg));
	variable(&w, DW_TAG_variable, "b", array, deref, sizeof(deref));
	entry(&w, DW_TAG_lexical_block, true);
	variable(&w, DW_TAG_variable, "c", 0, breg, sizeof(breg));
	variable(&w, DW_TAG_variable, "d", type, other, sizeof(other));
	variable(&w, DW_TAG_variable, "e", type, value, sizeof(value));
	variable(&w, DW_TAG_variable, "f", type, reg, sizeof(reg));
	entry(&w, DW_TAG_inlined_subroutine, true);
	attr_ref(&w, DW_AT_abstract_origin, g);
	attr_pcs(&w, 0x1140, 0x1150);
	variable(&w, DW_TAG_variable, "h", type, breg, sizeof(breg));
	children_end(&w);
	variable(&w, DW_TAG_variable, "i", type, NULL, 0);
	children_end(&w);
	children_end(&w);
	close_unit(&w);
	good_unit(&w, "behind", 0x20);
	expect_locals(&w, 0x1100,
		      "f a -8 4, f b -16 120, f c -32 ??, f d ?? 4, f e ?? 4, f f ?? 4, "
		      "g h ?? 4, f i ?? 4");
	expect_locals(&w, 0x1140, "g h ?? 4");
	expect_locals(&w, 0x1000, "");
	dwarf_deinit(&w);
}

static void test_locals(void **state)
{
	(void)state;
	for (uint8_t base = 0; base < 32; base++)
		check_locals(base);
}

/* Types of themselves, arrays without an end, names that lead in a circle. */
static void test_cycles(void **state)
{
	struct dwarf w;
	size_t type, array, at;

	(void)state;
	begin(&w);
	open_unit(&w);
	type = entry(&w, DW_TAG_typedef, false);
	attr_ref(&w, DW_AT_type, type);
	array = entry(&w, DW_TAG_array_type, true);
	attr_ref(&w, DW_AT_type, array);
	entry(&w, DW_TAG_subrange_type, true); /* its children are not closed */
	at = entry(&w, DW_TAG_subprogram, true);
	attr_ref(&w, DW_AT_specification, at);
	attr_pcs(&w, 0x1100, 0x1200);
	variable(&w, DW_TAG_variable, "a", type, NULL, 0);
	variable(&w, DW_TAG_variable, "b", array, NULL, 0);
	at = entry(&w, DW_TAG_variable, false);
	attr_ref(&w, DW_AT_abstract_origin, at);
	close_unit(&w);
	expect_locals(&w, 0x1100, "(null) a ?? ??, (null) b ?? ??, (null) (null) ?? ??");
	dwarf_deinit(&w);
}

/* What is reached by ever so many references, which may be cycles: the size of a type, an array's too, and the
 * name of a function. */
static void test_references(void **state)
{
	static const struct { unsigned types, functions; const char *want; } cases[] = {
		{ 1, 1, "f v ?? 4, f w ?? 12" }, { 14, 14, "f v ?? 4, f w ?? 12" }, { 15, 15, "f v ?? 4, f w ?? ??" },
		{ 16, 16, "(null) v ?? ??, (null) w ?? ??" }, { 17, 17, "(null) v ?? ??, (null) w ?? ??" },
	};
	struct dwarf w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t type, array, f, next;

		begin(&w);
		open_unit(&w);
		type = base_type(&w, 4);
		for (unsigned n = cases[i].types; n; n--, type = next) {
			next = entry(&w, n % 2 ? DW_TAG_typedef : DW_TAG_const_type, false);
			attr_ref(&w, DW_AT_type, type);
		}
		array = entry(&w, DW_TAG_array_type, true);
		attr_ref(&w, DW_AT_type, type);
		entry(&w, DW_TAG_subrange_type, false);
		attr(&w, DW_AT_count, DW_FORM_data1, 3);
		children_end(&w);
		f = entry(&w, DW_TAG_subprogram, false);
		attr_str(&w, DW_AT_name, "f");
		for (unsigned n = cases[i].functions; n > 1; n--, f = next) {
			next = entry(&w, DW_TAG_subprogram, false);
			attr_ref(&w, n % 2 ? DW_AT_abstract_origin : DW_AT_specification, f);
		}
		entry(&w, DW_TAG_subprogram, true);
		attr_ref(&w, DW_AT_abstract_origin, f);
		attr_pcs(&w, 0x1100, 0x1200);
		variable(&w, DW_TAG_variable, "v", type, NULL, 0);
		variable(&w, DW_TAG_variable, "w", array, NULL, 0);
		children_end(&w);
		close_unit(&w);
		expect_locals(&w, 0x1100, cases[i].want);
		dwarf_deinit(&w);
	}
}

/* A function within another has its own; what the unit does not cover is no code of it; of two
 * units with the same code the first one counts. */
static void test_who_has_the_code(void **state)
{
	struct dwarf w;

	(void)state;
	begin(&w);
	unit_begin(&w);
	entry(&w, DW_TAG_compile_unit, true);
	attr_pcs(&w, 0x1110, 0x1200);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_pcs(&w, 0x1100, 0x1180);
	variable(&w, DW_TAG_variable, "a", 0, NULL, 0);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "g");
	attr_pcs(&w, 0x1140, 0x1160);
	variable(&w, DW_TAG_variable, "b", 0, NULL, 0);
	children_end(&w);
	entry(&w, DW_TAG_subprogram, false); /* without locals, it hides those of f */
	attr_pcs(&w, 0x1170, 0x1180);
	variable(&w, DW_TAG_variable, "c", 0, NULL, 0);
	children_end(&w);
	close_unit(&w);
	open_unit(&w);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "h");
	attr_pcs(&w, 0x1100, 0x1190);
	variable(&w, DW_TAG_variable, "d", 0, NULL, 0);
	children_end(&w);
	close_unit(&w);
	expect_locals(&w, 0x1100, "h d ?? ??");
	expect_locals(&w, 0x1110, "f a ?? ??, f b ?? ??, f c ?? ??");
	expect_locals(&w, 0x1140, "g b ?? ??");
	expect_locals(&w, 0x1160, "f a ?? ??, f b ?? ??, f c ?? ??");
	expect_locals(&w, 0x1170, "");
	expect_locals(&w, 0x1180, "h d ?? ??");
	dwarf_deinit(&w);
}

/* The same bytes with one thread and with three; and without the option, none of it. */
static void test_threads(void **state)
{
	struct symcache_build_options o = { .no_debug_search = true, .locals = true, .threads = 1 };
	struct indexed one, three, without;

	(void)state;
	index_file(PROGRAMS "inlines", &o, &one);
	o.threads = 3;
	index_file(PROGRAMS "inlines", &o, &three);
	same_bytes(&one, &three);
	must_index(PROGRAMS "inlines", &without);
	assert_false(without.info.sources & SYMCACHE_FROM_LOCALS);
	assert_true(without.size < one.size);
	indexed_deinit(&one);
	indexed_deinit(&three);
	indexed_deinit(&without);
}

/* 2,000 addresses of libc. */
static void test_libc(void **state)
{
	struct symcache_locals *locals;
	struct symcache cache;
	struct indexed r;
	char path[256];

	(void)state;
	debug_file_of("/lib/x86_64-linux-gnu/libc.so.6", path);
	if (access(path, R_OK)) {
		printf("skipped: no debug file of libc\n");
		skip();
	}
	open_both(path, &r, &cache, &locals);
	assert_true(cache.locals.num_ranges > 1000);
	for (uint64_t i = 0; i < 2000; i++)
		expect_same(locals, &cache, symcache_load_base(&cache) + i % 5 +
			    cache.locals.ranges[i * 7919 % cache.locals.num_ranges].start, NULL);
	symcache_locals_close(locals);
	indexed_deinit(&r);
}

/* Functions in front of the code that is loaded, up to it, and across its beginning, and at the last address
 * that a cache has; the largest numbers. */
static void test_base(void **state)
{
	static const uint64_t pcs[][2] = {
		{ 0x1000, 0x1010 }, { 0x1080, 0x1100 }, { 0x1100, 0x1140 }, { 0x1180, 0x1190 },
		{ 0x1100 + 0xffffffffull, 0x1100 + 0x100000010ull },
	};
	static const struct { uint64_t base, vaddr; const char *want; } cases[] = {
		{ 0x1100, 0x1130, "f v ?? ?? at :4294967294 tag 4294967295" },
		{ 0x1120, 0x1130, "f v ?? ?? at :4294967294 tag 4294967295" },
		{ 0x1140, 0x1180, "f v ?? ?? at :4294967295 tag 4294967295" },
		{ 0x1180, 0x1180, "f v ?? ?? at :4294967295 tag 4294967295" },
		{ 0x1100, 0x1100 + 0xffffffffull, "f v ?? ?? tag 4294967295" },
	};
	struct dwarf w;

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		begin(&w);
		open_unit(&w);
		for (size_t i = 0; i < sizeof(pcs) / sizeof(*pcs); i++) {
			entry(&w, DW_TAG_subprogram, true);
			attr_str(&w, DW_AT_name, "f");
			attr_pcs(&w, pcs[i][0], pcs[i][1]);
			entry(&w, DW_TAG_variable, false);
			attr_str(&w, DW_AT_name, "v");
			attr(&w, DW_AT_decl_line, DW_FORM_data4, UINT32_MAX - 3 + i);
			attr(&w, 0x3e03, DW_FORM_data4, UINT32_MAX); /* DW_AT_LLVM_tag_offset */
			children_end(&w);
		}
		close_unit(&w);
		good_unit(&w, "behind", 0x200);
		expect_locals_from(&w, cases[k].base, cases[k].vaddr, cases[k].want);
		dwarf_deinit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locals),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_who_has_the_code),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
