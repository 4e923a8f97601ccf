/* The symbols of one file: which of them is at an address, and whether their names can be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/explain.h"
#include "libsymcache/write/locals.h"
#include "libsymcache/write/sources.h"

/* f has 4 bytes, 4 behind it are no one's, g is a label, and h ends the code. */
static const char source[] =
	".file \"x.c\"\n.text\n.globl f\n.type f,@function\nf: .byte 1,2,3,4\n.size f,4\n.byte 0,0,0,0\n"
	".type g,@function\ng: .byte 5,6,7,8\n.globl h\n.type h,@function\nh: .byte 9,9\n.size h,2\n";

static char path[100];

static int set_up(void **state)
{
	FILE *f;

	if (testing_set_up(state))
		return -1;
	snprintf(path, sizeof(path), "%s/x.s", testing_dir);
	f = fopen(path, "we");
	fputs(source, f);
	fclose(f);
	return testing_run("cd %s && gcc -shared -nostdlib -o x x.s && strip -o dynamic x", testing_dir);
}

static const char *file(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", testing_dir, name);
	return path;
}

/* "NAME+size of it" at each offset of the code; "-": none. */
static void assert_at(const struct symcache_symbol_table *t, uint64_t text, int offset, const char *want)
{
	struct symcache_named_symbol s;
	char got[100] = "-";

	if (symcache_symbol_table_find(t, text + (uint64_t)(int64_t)offset, &s))
		snprintf(got, sizeof(got), "%s %lld+%llu %s%s", s.name, (long long)(s.vaddr - text), (unsigned long long)s.size,
			 s.file ? s.file : "", s.tagged ? " tagged" : "");
	if (strcmp(got, want))
		fail_msg("at %d: %s, not %s", offset, got, want);
}

static void test_find(void **state)
{
	static const struct { int offset; const char *want, *dynamic; } cases[] = {
		{ -1, "-", "-" }, { 0, "f 0+4 ", "f 0+4 " }, { 3, "f 0+4 ", "f 0+4 " }, { 4, "-", "-" }, { 7, "-", "-" },
		{ 8, "g 8+0 x.c", "-" }, { 11, "g 8+0 x.c", "-" }, { 12, "h 12+2 ", "h 12+2 " }, { 13, "h 12+2 ", "h 12+2 " }, { 14, "-", "-" },
	};
	struct symcache_symbol_table *t;
	struct sc_error err;
	uint64_t text;

	(void)state;
	assert_int_equal(symcache_elf_section(file("x"), ".text", &text, &err), 0);
	for (int dynamic = 0; dynamic < 2; dynamic++) {
		assert_int_equal(symcache_symbol_table_open(file(dynamic ? "dynamic" : "x"), &t, &err), 0);
		assert_int_equal(symcache_symbol_table_is_dynamic(t), dynamic);
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			assert_at(t, text, cases[i].offset, dynamic ? cases[i].dynamic : cases[i].want);
		symcache_symbol_table_close(t);
	}
}

/* The dynamic table is only of interest where there is no other. */
static void test_open(void **state)
{
	struct symcache_symbol_table *t = (void *)1;
	struct sc_error err;
	uint64_t vaddr;

	(void)state;
	assert_int_equal(symcache_symbol_table_open_dynamic(file("x"), &t, &err), 0);
	assert_null(t);
	assert_int_equal(symcache_symbol_table_open_dynamic(file("dynamic"), &t, &err), 0);
	assert_non_null(t);
	assert_true(symcache_symbol_table_is_dynamic(t));
	symcache_symbol_table_close(t);
	assert_int_equal(symcache_symbol_table_open(file("none"), &t, &err), SC_ESYS);
	assert_null(t);
	symcache_symbol_table_close(NULL);
	assert_int_equal(symcache_elf_section(file("x"), ".none", &vaddr, &err), SC_ENOTFOUND);
	assert_non_null(strstr(err.msg, "/x: there is no section .none"));
	assert_int_equal(symcache_elf_section(file("none"), ".text", &vaddr, &err), SC_ESYS);
}

/* Of a file that is not there nothing is opened, and nothing is left behind to be closed. */
static void test_not_there(void **state)
{
	struct symcache_symbol_table *table = (void *)1;
	struct symcache_nearest *nearest = (void *)1;
	struct symcache_explanation *explained = (void *)1;
	struct symcache_sources *sources = (void *)1;
	struct symcache_locals *locals = (void *)1;
	struct symcache_build *build = (void *)1;
	struct symcache_code *code = (void *)1;
	const char *none = file("none");
	struct sc_error err;

	(void)state;
	assert_int_equal(symcache_symbol_table_open(none, &table, &err), SC_ESYS);
	assert_int_equal(symcache_nearest_open(none, NULL, &nearest, &err), SC_ESYS);
	assert_int_equal(symcache_explain(none, NULL, 0, &explained, &err), SC_ESYS);
	assert_int_equal(symcache_sources_open(none, NULL, &sources, &err), SC_ESYS);
	assert_int_equal(symcache_locals_open(none, NULL, &locals, &err), SC_ESYS);
	assert_int_equal(symcache_build_create(none, NULL, &build, &err), SC_ESYS);
	assert_int_equal(symcache_code_open(none, (uint8_t[]){ 1 }, 1, &code, &err), SC_ESYS);
	assert_true(!table && !nearest && !explained && !sources && !locals && !build && !code);
}

/* A symbol whose name begins behind the end of the names. */
static void test_names(void **state)
{
	struct sc_error err;

	(void)state;
	assert_int_equal(symcache_symbol_names_check(file("x"), &err), 0);
	assert_int_equal(symcache_symbol_names_check(file("dynamic"), &err), 0);
	assert_int_equal(symcache_symbol_names_check(file("none"), &err), SC_ESYS);
	assert_int_equal(testing_run("cd %s && at=$(readelf -SW x | sed -n 's/^ *\\[ *[0-9]*\\] \\.symtab *SYMTAB *[0-9a-f]* "
				     "\\([0-9a-f]*\\) .*/\\1/p') && cp x bad && printf '\\377\\377\\0\\0' | "
				     "dd of=bad bs=1 conv=notrunc status=none seek=$((0x$at + 24))", testing_dir), 0);
	assert_int_equal(symcache_symbol_names_check(file("bad"), &err), SC_EFORMAT);
	assert_int_equal(strncmp(err.msg, "st_name (0xffff) is past the end of the string table of size 0x", 62), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find), cmocka_unit_test(test_open), cmocka_unit_test(test_names),
		cmocka_unit_test(test_not_there),
	};

	return cmocka_run_group_tests(tests, set_up, testing_tear_down);
}
