/*
 * What is made anew for the test, next to GDB: a trace, recorded with gdbserver over the loopback
 * interface (scripts/trace_live.py), and core files (scripts/core_live.py). Skipped where the
 * tools are missing, the right to trace a process, or the kernel's core files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static const char *build = "build/release"; /* where this program is */

/* Runs "scripts/SCRIPT symcache ARGUMENTS"; exit status 77: it cannot be done here. */
static void compare(const char *const *needed, const char *script, const char *arguments,
		    const char *otherwise)
{
	char command[1000];
	int status;

	for (; *needed; needed++) {
		snprintf(command, sizeof(command), "command -v %s > /dev/null", *needed);
		if (system(command)) {
			printf("skipped: there is no %s\n", *needed);
			skip();
		}
	}
	assert_int_equal(system("scripts/testprogs.sh build/testprogs"), 0);
	snprintf(command, sizeof(command), "scripts/%s %s/symcache %s", script, build, arguments);
	status = system(command);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		printf("skipped: %s\n", otherwise);
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_trace(void **state)
{
	static const char *const needed[] = { "gdb", "gdbserver", "python3", "gcc", "nm", NULL };

	(void)state;
	compare(needed, "trace_live.py", "build/testprogs/traced testdata/programs/traced.c",
		"nothing can be traced here");
}

static void test_core(void **state)
{
	static const char *const needed[] = { "gdb", "python3", "gcc", "ldd", NULL };

	(void)state;
	compare(needed, "core_live.py", "", "the kernel writes no core files here");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_core),
	};
	char *end;

	/* build/MODE/cmd/cli/live_test */
	if (argc > 0 && (end = strstr(argv[0], "/cmd/"))) {
		*end = '\0';
		build = argv[0];
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
