/*
 * A fresh trace: recorded with gdb and gdbserver over the loopback interface and
 * compared with GDB's answers by scripts/trace_live.py. Skipped where these, or the
 * right to trace a process, are missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static const char *build = "build/release"; /* where this program is */

static void test_fresh_recording(void **state)
{
	static const char *const needed[] = { "gdb", "gdbserver", "python3", "gcc", "nm" };
	char command[1000];
	int status;

	(void)state;
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		snprintf(command, sizeof(command), "command -v %s > /dev/null", needed[i]);
		if (system(command)) {
			printf("skipped: there is no %s\n", needed[i]);
			skip();
		}
	}
	assert_int_equal(system("scripts/testprogs.sh build/testprogs"), 0);
	snprintf(command, sizeof(command), "scripts/trace_live.py %s/symcache build/testprogs/traced "
		 "testdata/programs/traced.c", build);
	status = system(command);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		printf("skipped: nothing can be traced here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh_recording),
	};
	char *end;

	/* build/MODE/cmd/trace_live_test */
	if (argc > 0 && (end = strstr(argv[0], "/cmd/"))) {
		*end = '\0';
		build = argv[0];
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
