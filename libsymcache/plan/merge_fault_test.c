/* What is said of a record or a part that is missing or damaged: which task is to be run again, however
 * long the rest is. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/plan/merge.h"

static char said[2 * PATH_MAX];

static void fault(void *ctx, const char *message)
{
	(void)ctx;
	snprintf(said, sizeof(said), "%s", message);
}

static void test_long(void **state)
{
	static const char again[] = ": remove out/.symcache/done/7.json and run task 7 again";
	struct markup_merge m = { .options = { .out = "out", .fault = fault }, .lock = PTHREAD_MUTEX_INITIALIZER };
	static char why[2 * PATH_MAX];
	const size_t most = PATH_MAX + 127;

	(void)state;
	for (size_t len = most - 2; len < most + 4; len++) {
		const size_t shown = len < most ? len : most;

		memset(why, 'x', len);
		why[len] = '\0';
		mk_merge_fault(&m, 7, "%s", why);
		assert_int_equal(strspn(said, "x"), shown);
		assert_string_equal(said + shown, again);
	}
	assert_int_equal(m.faults, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_long) };

	return cmocka_run_group_tests_name("merge fault", tests, NULL, NULL);
}
