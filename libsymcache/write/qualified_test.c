/* Unit tests of qualified names (libsymcache/dwarf/qualify.h) on DWARF written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/read/read.h"
#include "libsymcache/write/synthetic_test.h"

enum { CPP = 0x04, C = 0x02 };

static void begin_unit(struct dwarf *w, unsigned lang)
{
	dwarf_init(w, &version_4);
	unit_begin(w);
	entry(w, DW_TAG_compile_unit, true);
	attr(w, DW_AT_language, DW_FORM_data1, lang);
}

static size_t scope(struct dwarf *w, unsigned tag, const char *name)
{
	const size_t at = entry(w, tag, true);

	if (name)
		attr_str(w, DW_AT_name, name);
	return at;
}

/* A function without code, as a class has it. */
static size_t declared(struct dwarf *w, const char *name, bool external)
{
	const size_t at = entry(w, DW_TAG_subprogram, false);

	attr_str(w, DW_AT_name, name);
	if (external)
		attr(w, DW_AT_external, DW_FORM_flag, 1);
	return at;
}

/* Code at DWARF_TEXT + `at` of what `of` describes. */
static void code(struct dwarf *w, size_t of, uint64_t at)
{
	entry(w, DW_TAG_subprogram, false);
	attr_ref(w, DW_AT_specification, of);
	attr_pcs(w, DWARF_TEXT + at, DWARF_TEXT + at + 0x10);
}

/* What the innermost function at `rel_pc` is called, and what with its scopes ("-": it has no
 * such name). */
static void expect_names(const struct indexed *r, uint64_t rel_pc, const char *bare,
			 const char *qualified)
{
	struct symcache_frames frames;
	struct symcache_frame_ids ids;
	struct symcache c;
	struct sc_str name;

	assert_int_equal(symcache_open(&c, r->bytes, r->size, NULL), 0);
	assert_int_equal(symcache_verify(&c, NULL, NULL), 0);
	assert_true(symcache_lookup(&c, rel_pc, &frames));
	assert_true(symcache_next_ids(&frames, &ids));
	name = symcache_string(&c, c.functions[ids.function].name);
	assert_int_equal(name.len, strlen(bare));
	assert_memory_equal(name.ptr, bare, name.len);
	name = symcache_qualified(&c, ids.function);
	if (!name.ptr)
		name = sc_str_of("-");
	assert_int_equal(name.len, strlen(qualified));
	assert_memory_equal(name.ptr, qualified, name.len);
}

/* Classes of an anonymous namespace; two functions of one name; what others see. */
static void test_scopes(void **state)
{
	struct dwarf w;
	struct indexed r;
	size_t a, b, seen, plain;

	(void)state;
	begin_unit(&w, CPP);
	scope(&w, DW_TAG_namespace, "ns");
	scope(&w, DW_TAG_namespace, NULL);
	scope(&w, DW_TAG_class_type, "Item");
	a = declared(&w, "total", false);
	children_end(&w);
	scope(&w, DW_TAG_union_type, NULL);
	b = declared(&w, "total", false);
	children_end(&w);
	children_end(&w);
	seen = declared(&w, "extern_c", true);
	function(&w, "own", 0x1130, 0x1140);
	children_end(&w);
	plain = declared(&w, "outside", false);
	code(&w, a, 0x100);
	code(&w, b, 0x110);
	code(&w, seen, 0x120);
	code(&w, plain, 0x140);
	close_unit(&w);
	index_dwarf(&w, &r);
	expect_names(&r, 0x1100, "total", "ns::(anonymous namespace)::Item::total");
	expect_names(&r, 0x1110, "total", "ns::(anonymous namespace)::(anonymous union)::total");
	expect_names(&r, 0x1120, "extern_c", "-");
	expect_names(&r, 0x1130, "own", "ns::own");
	expect_names(&r, 0x1140, "outside", "-");
	indexed_deinit(&r);
}

/* Names of C are what they are, wherever they stand. */
static void test_c(void **state)
{
	struct dwarf w;
	struct indexed r;

	(void)state;
	begin_unit(&w, C);
	scope(&w, DW_TAG_namespace, "ns");
	function(&w, "own", 0x1100, 0x1110);
	children_end(&w);
	close_unit(&w);
	index_dwarf(&w, &r);
	expect_names(&r, 0x1100, "own", "-");
	indexed_deinit(&r);
}

/* Lambdas, whose classes have no names, in functions with a linkage name and without; the code
 * stands before what it refers to. */
static void test_lambdas(void **state)
{
	struct dwarf w;
	struct indexed r;
	size_t first, second, at[2], method;

	(void)state;
	begin_unit(&w, CPP);
	for (int i = 0; i < 2; i++) {
		entry(&w, DW_TAG_subprogram, false);
		at[i] = attr(&w, DW_AT_specification, DW_FORM_ref4, 0);
		attr_pcs(&w, 0x1100 + 0x10 * (unsigned)i, 0x1110 + 0x10 * (unsigned)i);
	}
	scope(&w, DW_TAG_class_type, "Order");
	method = entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "sum");
	attr_str(&w, DW_AT_linkage_name, "_ZN5Order3sumEv");
	attr(&w, DW_AT_external, DW_FORM_flag, 1);
	children_end(&w);
	entry(&w, DW_TAG_subprogram, true);
	attr_ref(&w, DW_AT_specification, method);
	entry(&w, DW_TAG_lexical_block, true);
	scope(&w, DW_TAG_structure_type, NULL);
	first = declared(&w, "operator()", false);
	children_end(&w);
	children_end(&w);
	children_end(&w);
	scope(&w, DW_TAG_namespace, "ns");
	scope(&w, DW_TAG_subprogram, "local"); /* static */
	scope(&w, DW_TAG_structure_type, NULL);
	second = declared(&w, "operator()", false);
	children_end(&w);
	children_end(&w);
	children_end(&w);
	patch(&w.info, at[0], 4, first - w.unit);
	patch(&w.info, at[1], 4, second - w.unit);
	close_unit(&w);
	index_dwarf(&w, &r);
	expect_names(&r, 0x1100, "operator()", "_ZN5Order3sumEv::<lambda>::operator()");
	expect_names(&r, 0x1110, "operator()", "ns::local::<lambda>::operator()");
	indexed_deinit(&r);
}

/* Scopes that are too deep or too long, that lead in circles, or whose place is not known. */
static void test_not_known(void **state)
{
	static char longer[5000];
	struct dwarf w;
	struct indexed r;
	size_t deep, far, nested, circle, self;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	begin_unit(&w, CPP);
	for (int i = 0; i < 65; i++)
		scope(&w, DW_TAG_namespace, "n");
	deep = declared(&w, "deep", false);
	for (int i = 0; i < 65; i++)
		children_end(&w);
	scope(&w, DW_TAG_namespace, longer);
	far = declared(&w, "far", false);
	children_end(&w);
	entry(&w, DW_TAG_class_type, true);
	attr_ref(&w, DW_AT_specification, far);
	nested = declared(&w, "nested", false);
	children_end(&w);
	self = entry(&w, DW_TAG_subprogram, true);
	attr_ref(&w, DW_AT_specification, self);
	circle = declared(&w, "circle", false);
	children_end(&w);
	code(&w, deep, 0x100);
	code(&w, far, 0x110);
	code(&w, nested, 0x120);
	code(&w, circle, 0x130);
	close_unit(&w);
	index_dwarf(&w, &r);
	expect_names(&r, 0x1100, "deep", "-");
	expect_names(&r, 0x1110, "far", "-");
	expect_names(&r, 0x1120, "nested", "-");
	expect_names(&r, 0x1130, "circle", "-");
	indexed_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_c),
		cmocka_unit_test(test_lambdas),
		cmocka_unit_test(test_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
