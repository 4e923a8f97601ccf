/* A process that runs, with little memory to read it in: all of its mappings are there, or it is an error. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libsymcache/core/testing.h"

#include "libsymcache/base/account.h"
#include "libsymcache/core/parts.h"

enum { MAPPINGS = 1000, PAGE = 4096, STEP = 4096, MOST = 2 << 20 };

/* A child that maps more than fits into one piece of /proc/PID/maps, and waits. */
static pid_t start_child(void)
{
	int ready[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (!child) {
		char *at = mmap(NULL, MAPPINGS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t i = 0; i < MAPPINGS; i += 2)
			mprotect(at + i * PAGE, PAGE, PROT_READ);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

static void test_little_memory(void **state)
{
	const pid_t child = start_child();
	struct symcache_core *core;
	struct sc_error err;
	size_t all, refused = 0, read = 0;

	(void)state;
	if (symcache_core_attach((uint32_t)child, &core, &err)) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (!strstr(err.msg, strerror(EPERM)))
			fail_msg("%s", err.msg);
		print_message("skipped: a process may not be traced here\n");
		skip();
	}
	all = core->private->memory.list.len;
	assert_true(all >= MAPPINGS / 2);
	symcache_core_close(core);
	for (size_t limit = STEP; limit < MOST && read < 3; limit += STEP) {
		struct sc_account account = { .limit = limit };
		int rc;

		sc_account = &account;
		rc = symcache_core_attach((uint32_t)child, &core, &err);
		if (rc) {
			if (rc != SC_ENOMEM && !strstr(err.msg, strerror(ENOMEM)))
				fail_msg("%s", err.msg);
			refused++;
		} else {
			assert_int_equal(core->private->memory.list.len, all);
			symcache_core_close(core);
			read++;
		}
		sc_account = NULL;
	}
	assert_true(refused && read);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
