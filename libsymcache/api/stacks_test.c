/* Stacks of processes that run, and of recorded core files, by the public names. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "libsymcache/api/testing.h"

static int ready[2];

static void *__attribute__((noinline)) waits_for_ever(void *unused)
{
	(void)unused;
	while (write(ready[1], "x", 1) == 1)
		pause();
	return NULL;
}

/* A process of two threads that wait. */
static pid_t start(void)
{
	char byte;
	pid_t pid;

	ok(pipe(ready));
	pid = fork();
	if (!pid) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, waits_for_ever, NULL))
			waits_for_ever(NULL);
		_exit(1);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(read(ready[0], &byte, 1), 1);
	usleep(20000); /* from there into pause() */
	return pid;
}

struct seen {
	size_t threads, frames, waiting, died;
	int stop;
};

static int on_frame(void *ctx, const struct symcache_walked_thread *thread,
		    const struct symcache_walked_frame *frame)
{
	struct seen *seen = ctx;

	seen->threads += !frame;
	assert_int_equal(!frame, !!thread->end);
	assert_true(thread->tid);
	if (!frame) {
		seen->died += thread->died;
		return 0;
	}
	seen->frames++;
	assert_true(frame->how <= SYMCACHE_WALK_SCAN);
	assert_null(frame->frames[frame->num_frames].function);
	for (size_t i = 0; i < frame->num_frames; i++) {
		const struct symcache_frame *f = &frame->frames[i];

		assert_int_equal(!!(f->flags & SYMCACHE_FRAME_INLINED), i + 1 < frame->num_frames);
		assert_int_equal(!!(f->flags & SYMCACHE_FRAME_NO_FUNCTION), !strcmp(f->function, "??"));
		assert_int_equal(!!(f->flags & SYMCACHE_FRAME_NO_FILE), !strcmp(f->file, "??"));
		if (!strcmp(frame->frames[i].function, "waits_for_ever")) {
			assert_non_null(strstr(frame->frames[i].file, "stacks_test.c"));
			assert_non_null(strstr(frame->path, "stacks_test"));
			assert_memory_equal(frame->build_id, id, id_len);
			assert_true(frame->vaddr);
			assert_int_equal(f->flags, SYMCACHE_FRAME_SYMBOL);
			seen->waiting++;
		}
	}
	return seen->stop;
}

static void walks_processes(void **state)
{
	struct symcache_store *s = open_a(0);
	const struct symcache_stack_options options = { sizeof(options), s, NULL };
	struct seen seen = { 0 }, stopped = { .stop = 9 };
	struct symcache_error err;
	const pid_t pid = start();
	int status;
	const int rc = symcache_process_stacks((uint32_t)pid, &options, on_frame, &seen, &err);

	(void)state;
	if (rc == SYMCACHE_ESYS) {
		kill(pid, SIGKILL);
		symcache_store_close(s);
		print_message("skipped: a process may not be traced here: %s\n", err.msg);
		skip();
	}
	ok(rc);
#ifdef __SANITIZE_THREAD__
	assert_true(seen.threads >= 2); /* it has threads of its own */
#else
	assert_int_equal(seen.threads, 2);
#endif
	assert_int_equal(seen.waiting, 2);
	assert_int_equal(seen.died, 0);
	assert_int_equal(symcache_process_stacks((uint32_t)pid, &options, on_frame, &stopped, NULL), 9);
	assert_int_equal(stopped.frames, 1);
	ok(kill(pid, 0)); /* it runs on */
	ok(kill(pid, SIGKILL));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(symcache_process_stacks((uint32_t)pid, &options, on_frame, &seen, &err), SYMCACHE_ESYS);
	symcache_store_close(s);
}

static int on_jitted(void *ctx, const struct symcache_walked_thread *thread,
		     const struct symcache_walked_frame *frame)
{
	char *to = ctx;

	(void)thread;
	for (size_t i = 0; frame && i < frame->num_frames; i++)
		snprintf(to, 100, "%s %x%s in '%s'", frame->frames[i].function, frame->frames[i].flags,
			 frame->frames[i + 1].function ? " and more" : "", frame->path);
	return 1;
}

/* Code that a process made at run time has the name that the map of its JIT has. */
static void names_jitted(void **state)
{
#ifdef __x86_64__
	static const uint8_t loop[] = { 0xeb, 0xfe };
#else
	static const uint8_t loop[] = { 0, 0, 0, 0x14 }; /* AArch64 */
#endif
	const int protection = PROT_READ | PROT_WRITE | PROT_EXEC;
	void *page = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[40], got[100] = "", want[100];
	struct symcache_error err;
	pid_t pid;
	FILE *f;
	int rc;

	(void)state;
	assert_true(page != MAP_FAILED);
	memcpy(page, loop, sizeof(loop));
	__builtin___clear_cache(page, (char *)page + sizeof(loop));
	pid = fork();
	if (!pid)
		((void (*)(void))page)();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%llx 10 py::loop\n", (unsigned long long)(uintptr_t)page);
	ok(fclose(f) || chmod(path, 0600));
	usleep(20000); /* until it is there */
	rc = symcache_process_stacks((uint32_t)pid, NULL, on_jitted, got, &err);
	ok(kill(pid, SIGKILL));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	ok(unlink(path) || munmap(page, 4096));
	if (rc == SYMCACHE_ESYS) {
		print_message("skipped: a process may not be traced here: %s\n", err.msg);
		skip();
	}
	assert_int_equal(rc, 1);
	snprintf(want, sizeof(want), "py::loop %x in ''", SYMCACHE_FRAME_NO_FILE);
	assert_string_equal(got, want);
}

static void walks_cores(void **state)
{
	const char *path = "../shared/data/cores/shared.core.xz";
	struct symcache_error err;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(symcache_core_stacks("/proc/self/exe", NULL, on_frame, &seen, &err), SYMCACHE_EFORMAT);
	assert_int_equal(symcache_core_stacks(NULL, NULL, on_frame, &seen, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_core_stacks(path, NULL, NULL, &seen, &err), SYMCACHE_EINVAL);
	if (access(path, F_OK)) {
		print_message("skipped: there is no %s\n", path);
		skip();
	}
	ok(symcache_core_stacks(path, NULL, on_frame, &seen, &err));
	assert_true(seen.threads >= 1 && seen.frames >= seen.threads);
	assert_int_equal(seen.died, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_processes), cmocka_unit_test(names_jitted),
		cmocka_unit_test(walks_cores),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
