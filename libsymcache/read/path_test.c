/* path_test.c: the three parts of a file → its path. What is raw was printed by
 * llvm-symbolizer-19 for programs compiled with these names and
 * -fdebug-compilation-dir. */
#include "libsymcache/read/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct row {
	const char *comp_dir, *directory, *name, *want;
};

static void check(const struct row *rows, size_t n, enum symcache_path_style style)
{
	for (size_t i = 0; i < n; i++) {
		const struct symcache_file file = { sc_str_of(rows[i].comp_dir), sc_str_of(rows[i].directory),
						    sc_str_of(rows[i].name) };
		size_t len = strlen(rows[i].want);
		char got[200];

		assert_int_equal(symcache_path(&file, style, got, sizeof(got)), len);
		assert_string_equal(got, rows[i].want);
		/* Every size of buffer gives as much of it as there is room for. */
		for (size_t size = 0; size <= len + 4; size++) {
			char *cut = malloc(size + 1), want[200];

			cut[size] = 0x55;
			assert_int_equal(symcache_path(&file, style, cut, size), len);
			assert_int_equal(cut[size], 0x55);
			if (size) {
				strcpy(want, rows[i].want);
				if (len >= size)
					want[size - 1] = '\0';
				assert_string_equal(cut, want);
			}
			free(cut);
		}
	}
}

static void test_raw(void **state)
{
	static const struct row rows[] = {
		{ "./nss", NULL, "nss_module.c", "./nss/nss_module.c" },
		{ "./wcsmbs", "../stdlib", "strtod_l.c", "./wcsmbs/../stdlib/strtod_l.c" },
		{ "./string", "../sysdeps/x86_64/multiarch", "strcpy-avx2.S",
		  "./string/../sysdeps/x86_64/multiarch/strcpy-avx2.S" },
		{ "/tmp/in", NULL, "<stdin>", "/tmp/in/<stdin>" },
		{ "/tmp/in", "dir", "<bar>", "/tmp/in/dir/<bar>" },
		{ "/tmp/in", NULL, "C:\\x\\y.c", "C:\\x\\y.c" },
		{ "/tmp/in", NULL, "\\z\\y.c", "/tmp/in/\\z\\y.c" },
		{ "/tmp/in", "./q/..", "k.c", "/tmp/in/./q/../k.c" },
		{ "C:\\src", NULL, "y.c", "C:\\src/y.c" },
		{ "C:\\src\\", NULL, "y.c", "C:\\src\\/y.c" },
		{ "/src//", NULL, "y.c", "/src//y.c" },
		{ "C:\\src", "dir\\bar", "y.c", "C:\\src/dir\\bar/y.c" },
		{ "/a", "/b", "c.c", "/b/c.c" },
		{ "/a", "b", "/c.c", "/c.c" },
		{ NULL, NULL, "c.c", "c.c" },
		{ "", "", "c.c", "c.c" },
		{ "/a", NULL, NULL, "/a" },
		{ NULL, NULL, NULL, "" },
		{ "", "", "", "" },
	};

	(void)state;
	check(rows, sizeof(rows) / sizeof(*rows), SYMCACHE_PATH_RAW);
}

static void test_clean(void **state)
{
	static const struct row rows[] = {
		{ "./nss", NULL, "nss_module.c", "nss/nss_module.c" },
		{ "./wcsmbs", "../stdlib", "strtod_l.c", "stdlib/strtod_l.c" },
		{ "csu", "csu", "init-first.c", "csu/csu/init-first.c" },
		{ "/a/b", "c/d", "e.c", "/a/b/c/d/e.c" },
		{ "/a/b", "/c/d", "e.c", "/c/d/e.c" },
		{ "/a/b", "c", "/e.c", "/e.c" },
		{ "/a/b/", "c//d", "./e.c", "/a/b/c/d/e.c" },
		{ "/a/./b", "../c", "e.c", "/a/c/e.c" },
		{ "/", "a", "e.c", "/a/e.c" },
		{ "//a", NULL, "e.c", "/a/e.c" },
		/* ".." above the top. */
		{ "/foo", "../..", "b", "/b" },
		{ "foo", "../..", "b", "../b" },
		{ "..", "../x/..", "b", "../../b" },
		{ "a/b/c", "../../../..", "d", "../d" },
		{ "/a", NULL, "..", "/" },
		{ "a", "..", NULL, "." },
		{ ".", NULL, NULL, "." },
		{ "a/..b", ".c", "...", "a/..b/.c/..." },
		/* Names that lie in no directory. */
		{ "/a", "b", "<stdin>", "<stdin>" },
		{ "/a", NULL, "<built/../in>", "<built/../in>" },
		{ "/a", "b", "<x", "/a/b/<x" },
		{ "/a", "b", "<", "/a/b/<" },
		/* Windows. */
		{ "C:\\src", "lib", "x.c", "C:\\src\\lib\\x.c" },
		{ "C:\\src", "..\\lib\\.", "x.c", "C:\\lib\\x.c" },
		{ "C:/src", "lib/..", "x.c", "C:\\src\\x.c" },
		{ "C:\\", NULL, "x.c", "C:\\x.c" },
		{ "C:\\", "..", "x.c", "C:\\x.c" },
		{ "\\\\", NULL, "x.c", "\\\\x.c" },
		{ "\\", NULL, "x.c", "\\x.c" },
		{ "C:\\src\\", NULL, "x.c", "C:\\src\\x.c" },
		{ "C:\\a", "D:\\b", "x.c", "D:\\b\\x.c" },
		{ "C:\\a", "\\b", "x.c", "\\b\\x.c" },
		{ "C:\\a", "..\\..\\..", "x.c", "C:\\x.c" },
		{ "/a", NULL, "z:/x.c", "z:\\x.c" },
		{ "\\\\server\\share", "a\\..", "x.c", "\\\\server\\share\\x.c" },
		{ "..\\a", "..\\..", "x.c", "..\\..\\x.c" },
		{ NULL, "C:", "x.c", "C:\\x.c" },
		{ "1:", NULL, "x.c", "1:/x.c" },
		/* Parts missing. */
		{ NULL, NULL, NULL, "" },
		{ NULL, "", "a.c", "a.c" },
		{ "/a", "", "", "/a" },
	};

	(void)state;
	check(rows, sizeof(rows) / sizeof(*rows), SYMCACHE_PATH_CLEAN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
