/* What is read of each seed of the fuzz target, and of damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/read/cache_text_test.h"

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	struct symcache cache;
	struct sc_error err;

	if (symcache_open(&cache, bytes, size, &err))
		fprintf(to, "%d %s\n", err.code, err.msg);
	else
		put_cache(to, &cache);
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "read", NULL };

	(void)state;
	expect_answers("read", seeds, 24, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
