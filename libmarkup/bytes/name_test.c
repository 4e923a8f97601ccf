/* Short names of 2,080 functions of libstdc++, LLVM's runtimes, Rust (both manglings), Go and
 * D, and of some that are hard: testdata/names.tsv, a name and what is right in each line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/name.h"

/* The parts are the name, and one of them is kept. */
static void check_parts(const char *name, size_t len)
{
	struct mk_name_part parts[MK_NAME_PARTS];
	const size_t n = mk_name_parts(name, len, parts);
	const char *at = name;
	size_t kept = 0;

	assert_in_range(n, 1, MK_NAME_PARTS);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(parts[i].ptr, at);
		at += parts[i].len;
		kept += parts[i].kind == MK_NAME_KEPT;
	}
	assert_ptr_equal(at, name + len);
	assert_true(kept);
}

static void test_names(void **state)
{
	FILE *f = fopen("testdata/names.tsv", "re");
	char line[4096];
	size_t n = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const size_t len = strcspn(line, "\t");
		struct mk_out o = { 0 };

		line[strcspn(line, "\n")] = 0;
		mk_name_short(&o, line, len);
		mk_out_char(&o, 0);
		if (strcmp(o.buf, line + len + 1))
			print_error("%.*s\n", (int)len, line);
		assert_string_equal(o.buf, line + len + 1);
		mk_out_deinit(&o);
		/* Cut anywhere it still has parts. */
		for (size_t cut = 0; cut <= len; cut++)
			check_parts(line, cut);
		n++;
	}
	fclose(f);
	assert_in_range(n, 2000, 10000);
}

/* More parts than there may be, and deeper brackets. */
static void test_large(void **state)
{
	char *name = malloc(100000);

	(void)state;
	assert_non_null(name);
	for (size_t i = 0; i < 100000; i++)
		name[i] = "a<b>::"[i % 6];
	check_parts(name, 100000);
	memset(name, '<', 100000);
	check_parts(name, 2000);
	memset(name, '(', 100000);
	check_parts(name, 2000);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
