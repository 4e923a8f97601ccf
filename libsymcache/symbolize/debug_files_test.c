/* Debug files that are kept open: of each module its own, whatever was asked of others before, and each opened
 * once as long as no more are asked for than are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "libsymcache/symbolize/debug_files.h"

static const char *const programs[] = {
	"build/testprogs/inlines", "build/testprogs/facts.gcc5", "build/testprogs/facts.gcc4", "build/testprogs/threads",
	"build/testprogs/layouts.gcc5", "build/testprogs/units",
};
enum { PROGRAMS = sizeof(programs) / sizeof(*programs), KEPT = 4 };

struct asked {
	struct symcache_debug_files *files;
	struct symcache_module *m[PROGRAMS];
	uint64_t main[PROGRAMS]; /* where main() is */
};

/* The function and name of the locals of main(), as text. */
static void put_locals(const struct asked *a, int i, char *to, size_t size)
{
	struct sc_error why = { .msg = "" };
	struct symcache_locals *l = symcache_debug_files_locals(a->files, a->m[i], &why);
	const struct symcache_local *list = NULL;
	size_t n = 0;

	if (l)
		symcache_locals_at(l, a->main[i], &list, &n, &why);
	*to = 0;
	for (size_t k = 0; k < n; k++)
		snprintf(to + strlen(to), size - strlen(to), "%.*s %.*s; ", (int)list[k].function.len,
			 list[k].function.ptr ? list[k].function.ptr : "", (int)list[k].name.len, list[k].name.ptr);
	symcache_debug_files_end(a->files);
}

static void test_own(void **state)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_symbolizer *s = symcache_symbolizer_create(caches, names);
	struct asked a = { .files = symcache_debug_files_create(NULL, NULL) };
	const struct symcache_nearest *nearest[PROGRAMS];
	static char want[PROGRAMS][2000], got[2000];

	(void)state;
	for (int i = 0; i < PROGRAMS; i++) {
		struct asked alone = { .files = symcache_debug_files_create(NULL, NULL) };
		uint32_t at = 0;

		alone.m[i] = a.m[i] = symcache_caches_module(caches, SYMCACHE_MODULE_FILE, programs[i]);
		if (!symcache_symbolize_name(s, a.m[i], sc_str_of("main"), &at, &a.main[i]))
			fail_msg("%s", programs[i]);
		alone.main[i] = a.main[i];
		put_locals(&alone, i, want[i], sizeof(want[i]));
		symcache_debug_files_destroy(alone.files);
	}
	assert_string_not_equal(want[0], want[1]);
	assert_string_not_equal(want[1], want[3]);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < PROGRAMS; i++) {
			put_locals(&a, i, got, sizeof(got));
			assert_string_equal(got, want[i]);
			put_locals(&a, 0, got, sizeof(got));
			assert_string_equal(got, want[0]);
		}
	/* As many as are kept are opened once. */
	symcache_debug_files_destroy(a.files);
	a.files = symcache_debug_files_create(NULL, NULL);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < KEPT; i++) {
			const struct symcache_nearest *n = symcache_debug_files_nearest(a.files, a.m[i]);

			assert_non_null(n);
			if (round)
				assert_ptr_equal(n, nearest[i]);
			for (int k = 0; k < i; k++)
				assert_ptr_not_equal(n, nearest[k]);
			nearest[i] = n;
			assert_false(symcache_debug_files_tagged(a.files, a.m[i], a.main[i]));
		}
	symcache_debug_files_destroy(a.files);
	symcache_symbolizer_destroy(s);
	symcache_names_destroy(names);
	symcache_caches_destroy(caches);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
