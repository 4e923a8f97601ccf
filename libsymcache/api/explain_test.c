/* Why an address has its frames, by the public names: the lines about this program. */
#include <stdbool.h>

#include "libsymcache/api/testing.h"

static inline __attribute__((always_inline)) int inlined_function(int n)
{
	return n * getpid() + 5;
}

static __attribute__((noinline, used)) int calling_function(int n)
{
	return inlined_function(n) * 7;
}
enum { CALL_LINE = __LINE__ - 2, CALL_COLUMN = 9 };

static int keep_line(void *ctx, const char *line)
{
	strcat(strcat(ctx, line), "\n");
	return 0;
}

static int count_line(void *ctx, const char *line)
{
	(void)line;
	return ++*(int *)ctx == 2 ? 9 : 0;
}

/* The lines, in full: unit, entries, where they are called, the row. */
static void explains_all(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	const uint64_t bias = (uintptr_t)known_function - address_of_known(r, c),
		       at = (uintptr_t)calling_function - bias;
	char call[60], *row;
	unsigned line, column;
	static char lines[64][2000];
	bool any = false;
	int n = 0;

	(void)state;
	snprintf(call, sizeof(call), "/explain_test.c:%d:%d\n", CALL_LINE, CALL_COLUMN);
	for (unsigned i = 0; i < 64; i++) {
		ok(symcache_explain_address("/proc/self/exe", NULL, at + i, keep_line, lines[i], NULL));
		if (!strstr(lines[i], "*entry ") || !strstr(lines[i], " inlined inlined_function 0x"))
			continue;
		any = true;
		assert_int_equal(strncmp(lines[i], "*unit 0x", 8), 0);
		assert_non_null(strstr(lines[i], "\n called at "));
		assert_non_null(strstr(lines[i], call));
		row = strstr(lines[i], "\n row 0x");
		assert_non_null(row);
		row = strstr(row, "/explain_test.c:");
		assert_true(row && sscanf(row, "/explain_test.c:%u:%u", &line, &column) == 2);
		assert_in_range(line, CALL_LINE - 7, CALL_LINE + 1);
		assert_in_range(column, 1, 40);
	}
	assert_true(any);
	/* What stops it is what comes back. */
	assert_int_equal(symcache_explain_address("/proc/self/exe", NULL, at, count_line, &n, NULL), 9);
	assert_int_equal(n, 2);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

static int has_entry(void *ctx, const char *line)
{
	*(int *)ctx |= *line == '*' && strstr(line, "known_function");
	return 0;
}

static void explains(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	int found = 0;

	(void)state;
	ok(symcache_explain_address("/proc/self/exe", NULL, address_of_known(r, c), has_entry,
				    &found, NULL));
	assert_int_equal(found, 1);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(explains), cmocka_unit_test(explains_all) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
