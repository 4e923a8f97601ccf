/* Which symbol table names functions: that of the debug file, or only what the named file has itself, as
 * llvm-symbolizer has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/symbolize/symbolize.h"

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(testing_dir) ||
	       testing_run("cd %s && printf 'int shown(int x) { return x * 2; }\n"
			   "static __attribute__((used, noinline)) int hidden(int x) { return x * 3; }\n' > a.c && "
			   "gcc -g -O1 -shared -fPIC -nostdlib -o whole.so a.c && objcopy --only-keep-debug whole.so a.debug && "
			   "objcopy --strip-all --add-gnu-debuglink=a.debug whole.so a.so", testing_dir);
}

/* What the table has for a function, and its frame, which comes from the DWARF else. */
static void expect(const char *file, bool own, const char *function, bool in_table)
{
	const struct symcache_names_options how = { .table = SYMCACHE_TABLE_OUTERMOST };
	struct symcache_names *names = symcache_names_create(&how);
	struct symcache_caches *c = symcache_caches_create(&(struct symcache_caches_options){ .own_symbols = own });
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
	struct symcache_answer a;
	struct symcache_module *m;
	char path[200];
	uint64_t start;
	uint32_t at = 0;

	snprintf(path, sizeof(path), "%s/%s", testing_dir, file);
	m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, path);
	assert_true(symcache_symbolize_name(s, m, sc_str_of(function), &at, &start));
	for (uint64_t inside = 0; inside < 3; inside++) {
		assert_int_equal(symcache_symbolize(s, m, start + inside, &a), SYMCACHE_FOUND);
		assert_true(a.num_frames == 1 && sc_str_is(a.frames->function, function));
		assert_int_equal(a.frames->line, strcmp(function, "shown") ? 2 : 1);
		if (a.has_symbol != in_table || a.frames->of_table != in_table || (in_table && a.symbol_vaddr != start))
			fail_msg("%s, %s, %s: %d, %llx", file, own ? "own" : "all", function, a.has_symbol,
				 (unsigned long long)a.symbol_vaddr);
	}
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

static void test_own(void **state)
{
	(void)state;
	for (int own = 0; own < 2; own++) {
		expect("a.so", own, "shown", true);
		expect("a.so", own, "hidden", !own);
		expect("whole.so", own, "shown", true);
		expect("whole.so", own, "hidden", true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own) };

	return cmocka_run_group_tests(tests, set_up, testing_tear_down);
}
