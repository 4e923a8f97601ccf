/* Files of which there is no cache: which error it is, and what is said. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/explain.h"
#include "libsymcache/write/input/files.h"
#include "libsymcache/write/locals.h"
#include "libsymcache/write/sources.h"
#include "libsymcache/write/synthetic_test.h"

/* Of files that tools make: $T is the folder of the tests. */
static void test_tools(void **state)
{
	static const uint64_t nowhere[] = { 0x7fff0000 };
	static const struct { const char *made; struct symcache_build_options o; int rc; const char *said; } cases[] = {
		{ "gcc -g -c -o x f.c", { .reader = SYMCACHE_READER_LIBDW }, SC_EUNSUPPORTED, "$T/x: libdw's reader does not relocate objects" },
		{ "cp $OLDPWD/build/testprogs/layouts.zstd x", { .reader = SYMCACHE_READER_LIBDW }, SC_EUNSUPPORTED,
		  "$T/x: libdw's reader does not know zstd" },
		{ "gcc -g -shared -nostdlib -o x f.c", { .format_version = 6 }, SC_EINVAL, "format version 6 is not one of 7, 8, 9" },
		{ "gcc -g -shared -nostdlib -o x f.c", { .format_version = 10 }, SC_EINVAL, "format version 10 is not one of 7, 8, 9" },
		{ "gcc -g -shared -nostdlib -o x f.c && objcopy -R .dynsym x 2> /dev/null; strip --keep-section='.debug_*' x",
		  { .only = nowhere, .num_only = 1 }, SC_ENOTFOUND, "$T/x: nothing at these addresses" },
		{ "gcc -shared -nostdlib -x assembler -o x /dev/null && strip x", { 0 }, SC_ENOSYMBOLS, "$T/x: no debug information and no symbols" },
		{ "printf '.section .far,\"ax\"\n.globl f, g\n.type f,@function\nf: .byte 3,4\n.size f,2\n.type g,@function\ng: .byte 5\n.size g,1\n' > f.s && "
		  "gcc -shared -nostdlib -Wl,--section-start=.far=0x200000000 -o x f.s && strip x", { 0 }, SC_ELIMIT,
		  "$T/x: all of its 2 ranges and symbols lie outside of the 4 GiB above the load base 0x0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[100], said[300];
		struct symcache_build *b = (void *)1;
		struct sc_error err = { .msg = "" };
		const char *behind = !strncmp(cases[i].said, "$T", 2) ? cases[i].said + 2 : NULL;

		if (testing_run("cd %s && echo 'int f(int x) { return 2 * x; }' > f.c && rm -f x && %s", testing_dir, cases[i].made)) {
			printf("skipped: tools cannot do this: %s\n", cases[i].made);
			continue;
		}
		snprintf(path, sizeof(path), "%s/x", testing_dir);
		snprintf(said, sizeof(said), "%s%s", behind ? testing_dir : "", behind ? behind : cases[i].said);
		assert_int_equal(symcache_build_create(path, &cases[i].o, &b, &err), cases[i].rc);
		assert_null(b);
		assert_int_equal(err.code, cases[i].rc);
		assert_string_equal(err.msg, said);
	}
}

/* Of files that are not there, or no ELF files, nothing is opened, whatever is to be. */
static void test_nothing(void **state)
{
	const struct { char path[100]; int rc; const char *said; } cases[] = {
		{ "/nonexistent", SC_ESYS, "/nonexistent: cannot open: No such file or directory" },
		{ "ARCHITECTURE.md", SC_EFORMAT, "ARCHITECTURE.md: not an ELF file" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *path = cases[i].path;
		struct symcache_symbol_table *table = (void *)1, *dynamic = (void *)1;
		struct symcache_explanation *explanation = (void *)1;
		struct symcache_nearest *nearest = (void *)1;
		struct symcache_sources *sources = (void *)1;
		struct symcache_locals *locals = (void *)1;
		struct symcache_build *build = (void *)1;
		struct symcache_code *code = (void *)1;
		struct sc_error errs[8];
		const int rcs[8] = {
			symcache_build_create(path, NULL, &build, &errs[0]), symcache_explain(path, NULL, 0, &explanation, &errs[1]),
			symcache_locals_open(path, NULL, &locals, &errs[2]), symcache_sources_open(path, NULL, &sources, &errs[3]),
			symcache_symbol_table_open(path, &table, &errs[4]), symcache_symbol_table_open_dynamic(path, &dynamic, &errs[5]),
			symcache_nearest_open(path, NULL, &nearest, &errs[6]),
			symcache_code_open(path, (const uint8_t *)"1", 1, &code, &errs[7]),
		};

		for (size_t k = 0; k < 8; k++) {
			assert_int_equal(rcs[k], cases[i].rc);
			assert_string_equal(errs[k].msg, cases[i].said);
		}
		assert_true(!build && !explanation && !locals && !sources && !table && !dynamic && !nearest && !code);
	}
}

/* A descriptor that cannot be had once more. */
static void test_no_descriptor(void **state)
{
	struct symcache_elf_facts facts;
	struct sc_elf *elf = (void *)1;
	struct sc_error errs[2];

	(void)state;
	assert_int_equal(sc_files_open_borrowed(-1, "x", &elf, &errs[0]), SC_ESYS);
	assert_null(elf);
	assert_int_equal(symcache_elf_facts(-1, "x", &facts, &errs[1]), SC_ESYS);
	for (int i = 0; i < 2; i++)
		assert_string_equal(errs[i].msg, "x: Bad file descriptor");
}

/* Symbols whose names are the ends of one long name: as long together as the file may have names, or longer. */
static void test_names(void **state)
{
	enum { LONG_NAME = 1 << 20 };
	static const struct { unsigned symbols; int rc; } cases[] = { { 8, 0 }, { 9, SC_ELIMIT }, { 60, SC_ELIMIT } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dwarf w;
		struct indexed r;

		dwarf_init(&w, &version_4);
		for (unsigned k = 0; k < LONG_NAME; k++)
			put(&w.strtab, 1, k ? 'a' : 0);
		put(&w.strtab, 1, 0);
		put(&w.symtab, 8, 0), put(&w.symtab, 16, 0);
		for (unsigned k = 0; k < cases[i].symbols; k++) {
			put(&w.symtab, 4, 1 + k);
			put(&w.symtab, 1, STT_FUNC);
			put(&w.symtab, 1, 0), put(&w.symtab, 2, 1);
			put(&w.symtab, 8, DWARF_TEXT + 16 * k), put(&w.symtab, 8, 16);
		}
		index_dwarf(&w, &r);
		assert_int_equal(r.rc, cases[i].rc);
		if (r.rc)
			assert_non_null(strstr(r.err.msg, ": more names than a file of 10"));
		indexed_deinit(&r);
	}
}

/* Names of libraries that are as long as is kept, or longer. */
static void test_soname(void **state)
{
	static const struct { int len, kept; } cases[] = { { 1, 1 }, { 254, 254 }, { 255, 255 }, { 256, 0 }, { 300, 0 } };
	struct indexed r;
	char path[100];

	(void)state;
	snprintf(path, sizeof(path), "%s/x", testing_dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(testing_run("cd %s && printf '.globl f\nf: .byte 1\n' > f.s && "
			"gcc -shared -nostdlib -Wl,-soname,$(printf '%%0%dd' 0) -o x f.s", testing_dir, cases[i].len), 0);
		index_file(path, NULL, &r);
		assert_int_equal(r.rc, 0);
		assert_int_equal(strlen(r.info.soname), cases[i].kept);
		indexed_deinit(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tools),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_no_descriptor),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_soname),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
