/* What a program that is ours may change of its process: how many files it may have open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/process.h"

/* The limit afterwards, of a process that had these two; 0: it could not be set. */
static rlim_t limit_after(rlim_t soft, rlim_t hard)
{
	struct rlimit limit = { soft, hard };
	int fds[2];
	rlim_t after = 0;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		if (setrlimit(RLIMIT_NOFILE, &limit))
			_exit(1);
		sc_process_descriptors();
		if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max != hard)
			_exit(2);
		_exit(write(fds[1], &limit.rlim_cur, sizeof(after)) != sizeof(after));
	}
	close(fds[1]);
	if (read(fds[0], &after, sizeof(after)) != sizeof(after))
		after = 0;
	close(fds[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return after;
}

static void test_descriptors(void **state)
{
	static const struct { rlim_t soft, hard, after; } cases[] = {
		{ 100, 200, 200 }, { 100, 4095, 4095 }, { 100, 4096, 4096 }, { 100, 4097, 4096 }, { 100, 5000, 4096 },
		{ 4095, 5000, 4096 }, { 4096, 5000, 4096 }, { 4097, 5000, 4097 }, { 5000, 5000, 5000 },
	};
	struct rlimit most;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
	/* Not of a program that has the library only. */
	assert_false(sc_process_is_ours());
	sc_process_heap();
	assert_int_equal(limit_after(100, 200), 100);
	sc_own_process();
	assert_true(sc_process_is_ours());
	sc_process_heap();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (cases[i].hard <= most.rlim_max)
			assert_int_equal(limit_after(cases[i].soft, cases[i].hard), cases[i].after);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_descriptors) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
