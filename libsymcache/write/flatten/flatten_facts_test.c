/*
 * Unit tests of flattening beyond what the text of a scene says (flatten_test.c): what is
 * deep or much, what the tables keep of a function, facts that make no sense.
 */
#include "libsymcache/write/flatten/flatten.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "libsymcache/write/flatten/flat_check.h"
#include "libsymcache/write/flatten/scene.h"

/* f with an inlinee with an inlinee … each two bytes smaller on either side. */
static void nest(uint32_t depth)
{
	struct sc_flat flat = {0};
	struct scene s;
	struct dw_facts *u;

	scene_init(&s, "code 100-100000\nfn f 100-100000\nseq 100 a:1, 100000 end\n");
	u = &s.units[0];
	for (uint32_t i = 1; i <= depth; i++) {
		struct dw_scope *scope = vec_push(&u->scopes);
		*scope = u->scopes.data[0];
		scope->name = "g";
		scope->parent = i - 1;
		scope->first_range = (uint32_t)u->ranges.len;
		scope->call_file = 0;
		scope->call_line = i;
		*vec_push(&u->ranges) = (struct dw_range){ 0x100 + 2 * i, 0x100000 - 2 * i };
	}
	assert_true(scene_flatten(&s, &flat));
	check_flat(&flat, s.base, 0, 0);
	assert_int_equal(flat.pieces.len, 1);
	assert_int_equal(flat.ranges.len, 2 * depth + 1);
	assert_int_equal(s.tables->calls.len, depth);
	for (uint32_t i = 0; i < flat.ranges.len; i++) {
		uint32_t level = i <= depth ? i : 2 * depth - i, line = level;
		const struct sc_location *l = &flat.ranges.data[i].loc;

		while (l->inlined_into != SC_NONE) {
			l = &s.tables->calls.data[l->inlined_into];
			assert_int_equal(l->line, line--);
		}
		assert_int_equal(line, 0);
		if (depth > 100)
			i += 97; /* a sample: the chains are long */
	}
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

static void test_nested_50(void **state)
{
	(void)state;
	nest(50);
}

static void test_nested_10000(void **state)
{
	(void)state;
	nest(10000);
}

/* A function of n ranges, and n calls that span all of it: n² would be too much. */
static void test_many_ranges(void **state)
{
	const uint32_t n = 100000;
	struct sc_flat flat = {0};
	struct scene s;
	struct dw_facts *u;

	(void)state;
	scene_init(&s, "code 100-1000000\nfn f 100-101\n  in g 100-1000000 a:1\n");
	u = &s.units[0];
	u->scopes.data[0].first_range = (uint32_t)u->ranges.len;
	u->scopes.data[0].num_ranges = n;
	for (uint32_t i = 0; i < n; i++)
		*vec_push(&u->ranges) = (struct dw_range){ 0x100 + 4 * i, 0x102 + 4 * i };
	for (uint32_t i = 0; i < n; i++) {
		struct dw_scope *scope = vec_push(&u->scopes);
		*scope = u->scopes.data[1];
	}
	assert_true(scene_flatten(&s, &flat));
	check_flat(&flat, s.base, 0, 0);
	assert_int_equal(flat.pieces.len, 2 * n); /* f and stray in turn */
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* What the tables keep of a function. */
static void test_function_record(void **state)
{
	struct sc_flat flat = {0};
	const struct sc_function *f;
	const struct sc_file *file;
	struct dw_facts *u;
	struct scene s;

	(void)state;
	scene_init(&s, "base 80\nfn f 100-200\n  in g 120-140 a:1\n");
	u = &s.units[0];
	u->files.data[0].comp_dir = "/src";
	u->files.data[0].dir = "sub";
	u->scopes.data[0].entry_vaddr = 0x110;
	u->scopes.data[0].lang = 0x21;
	u->scopes.data[0].decl_file = 0;
	u->scopes.data[0].decl_line = 77;
	u->scopes.data[1].decl_file = 99; /* there is no such file */
	u->scopes.data[1].lang = 0x7777;
	assert_true(scene_flatten(&s, &flat));
	f = s.tables->functions.data;
	assert_int_equal(s.tables->functions.len, 2);
	assert_string_equal(s.tables->strings.data[f[0].name].ptr, "f");
	assert_int_equal(f[0].entry, 0x90);
	assert_int_equal(f[0].lang, SYMCACHE_LANG_CPP);
	assert_int_equal(f[0].decl_line, 77);
	file = &s.tables->files.data[f[0].decl_file];
	assert_string_equal(s.tables->strings.data[file->comp_dir].ptr, "/src");
	assert_string_equal(s.tables->strings.data[file->dir].ptr, "sub");
	assert_string_equal(s.tables->strings.data[file->name].ptr, "a");
	assert_int_equal(f[1].entry, SC_NONE);
	assert_int_equal(f[1].lang, SYMCACHE_LANG_UNKNOWN);
	assert_int_equal(f[1].decl_file, SC_NONE);
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* Facts that make no sense: parents that come later, ranges that are inverted. */
static void test_nonsense(void **state)
{
	struct sc_flat flat = {0};
	struct dw_facts *u;
	struct scene s;

	(void)state;
	scene_init(&s, "fn f 100-200\n  in g 120-140 a:1\n    in h 128-130 a:2\n"
		       "fn i 220-210\nseq 300 a:1, 2f0 end\n");
	u = &s.units[0];
	u->scopes.data[0].parent = 2;
	u->scopes.data[1].parent = 1;
	u->scopes.data[2].parent = 0xfffffffe;
	assert_true(scene_flatten(&s, &flat));
	check_flat(&flat, s.base, 0, 0);
	assert_int_equal(s.tables->calls.len, 0); /* all of them are functions now */
	assert_int_equal(flat.pieces.len, 5);
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* Functions that the linker folded into one have the lines of each: of the one that is shown those
 * count that begin next to where it is declared. */
static void test_folded(void **state)
{
	static const struct { uint32_t file, line; const char *shown; } cases[] = {
		{ 0, 9, "g a:10" },  { 0, 10, "g a:10" }, { 0, 12, "g a:10" }, { 0, 29, "g a:10" }, { 0, 31, "g a:50" },
		{ 0, 49, "g a:50" }, { 0, 60, "g a:50" }, { 0, 69, "g a:50" }, { 0, 71, "g a:90" }, { 0, 200, "g a:90" },
		{ 1, 11, "g b:11" }, { 1, 900, "g b:11" },
		{ 0, 30, "g a:10" }, { 0, 70, "g a:50" }, { DW_NONE, 0, "g a:10" }, /* none is nearer */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sc_flat flat = {0};
		struct scene s;
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		scene_init(&s, "code e0-1000\nfn f 100-120\nfn g 100-120\nfn before e0-100\nfn alone 200-220\n"
			       "seq e0 a:5, 100 end\nseq 100 a:10, 120 end\nseq 100 a:50, 120 end\nseq 200 a:10, 220 end\n"
			       "seq 100 a:90, 120 end\nseq 100 b:11, 120 end\n");
		s.units[0].scopes.data[0].decl_file = 0; /* of f, which is hidden */
		s.units[0].scopes.data[0].decl_line = 90;
		s.units[0].scopes.data[1].decl_file = cases[i].file;
		s.units[0].scopes.data[1].decl_line = cases[i].line;
		assert_true(scene_flatten(&s, &flat));
		assert_int_equal(flat.ranges.len, 3);
		scene_location(&s, &flat.ranges.data[1].loc, out);
		fclose(out);
		if (strcmp(text, cases[i].shown))
			fail_msg("declared in line %u: '%s', not '%s'", cases[i].line, text, cases[i].shown);
		free(text);
		sc_flat_deinit(&flat);
		scene_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_50),
		cmocka_unit_test(test_nested_10000),
		cmocka_unit_test(test_many_ranges),
		cmocka_unit_test(test_function_record),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
