/* A process that runs, as the room's face gives it, against what the process itself says: a child, whose
 * threads wait at addresses that are known, with numbers in registers that are known. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "libsymcache/core/testing.h"

#include "libsymcache/core/parts.h"

enum { THREADS = 40, NUMBER = 0x5ca1ab1e, DEEP = 3000 /* words of stack */, ATTACHES = 20 };

/* What the child says of itself, in memory that both have. */
static struct said {
	uint32_t tids[THREADS];
	uint64_t stacks[THREADS]; /* an address on it, where its number is, DEEP times */
	unsigned ready, signals;
} *said;

static const char text[] = "memory that is on no stack";

#if defined(__x86_64__)
/* Spins with a number in a register, ready when it is there, and counts, in another register and at the
 * end of what is in use below the stack pointer. */
static __attribute__((noinline)) void wait_here(uint64_t number, unsigned *ready)
{
	__asm__ volatile(".globl spin_begin\nspin_begin: mov %0, %%r12\nxor %%r13, %%r13\nlock incl (%1)\n"
			 "1: inc %%r13\nmov %%r13, -128(%%rsp)\npause\njmp 1b\n"
			 ".globl spin_end\nspin_end:\n"
			 : : "r"(number), "r"(ready) : "r12", "r13", "memory");
}
extern const char spin_begin[], spin_end[];
enum { REGISTER = 12, COUNTER = 13, RED_ZONE = 128 };

static void *run(void *ctx)
{
	const size_t i = (size_t)ctx;
	volatile uint64_t on_stack[DEEP];
	char name[16];

	for (size_t k = 0; k < DEEP; k++)
		on_stack[k] = NUMBER + i;

	snprintf(name, sizeof(name), "thread %zu", i);
	prctl(PR_SET_NAME, name);
	said->tids[i] = (uint32_t)syscall(SYS_gettid);
	said->stacks[i] = (uint64_t)(uintptr_t)on_stack;
	if (i < 2) /* more would take the processor from the tests */
		wait_here(NUMBER + i, &said->ready);
	__atomic_fetch_add(&said->ready, 1, __ATOMIC_SEQ_CST);
	while (said)
		pause();
	return ctx;
}

static void count_signal(int signal)
{
	(void)signal;
	__atomic_fetch_add(&said->signals, 1, __ATOMIC_SEQ_CST);
}

static pid_t start(void)
{
	const pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGRTMIN, count_signal);
		for (size_t i = 1; i < THREADS; i++) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, run, (void *)i))
				_exit(1);
		}
		run(0);
	}
	while (__atomic_load_n(&said->ready, __ATOMIC_SEQ_CST) < THREADS)
		usleep(1000);
	return pid;
}

static const struct symcache_core_thread *thread_of(const struct symcache_core *core, uint32_t tid)
{
	for (size_t i = 0; i < core->num_threads; i++)
		if (core->threads[i].tid == tid)
			return &core->threads[i];
	fail_msg("thread %u is not there", tid);
	return NULL;
}

/* The stack is as it was when the thread stood, though it runs on. */
static void check_count(struct symcache_core *core, const struct symcache_core_thread *t)
{
	uint64_t count, again;

	assert_true(symcache_core_read(core, t->registers.value[7] - RED_ZONE, &count, 8));
	assert_in_range(t->registers.value[COUNTER] - count, 0, 1);
	usleep(1000);
	assert_true(symcache_core_read(core, t->registers.value[7] - RED_ZONE, &again, 8));
	assert_int_equal(again, count);
}

/* By their IDs, though several of ours take them; that of the first thread is not the least where the
 * IDs began again. */
static void check_order(const struct symcache_core *core)
{
	for (size_t i = 1; i < core->num_threads; i++)
		assert_true(core->threads[i - 1].tid < core->threads[i].tid);
}

static void check_threads(struct symcache_core *core)
{
#ifdef __SANITIZE_THREAD__
	assert_true(core->num_threads >= THREADS); /* it has threads of its own */
#else
	assert_int_equal(core->num_threads, THREADS);
#endif
	check_order(core);
	for (size_t i = 0; i < THREADS; i++) {
		const struct symcache_core_thread *t = thread_of(core, said->tids[i]);
		uint64_t numbers[DEEP];
		char name[16];

		snprintf(name, sizeof(name), "thread %zu", i);
		assert_string_equal(t->name, name);
		assert_true(symcache_core_read(core, said->stacks[i], numbers, sizeof(numbers)));
		for (size_t k = 0; k < DEEP; k++)
			assert_int_equal(numbers[k], NUMBER + i);
		assert_in_range(said->stacks[i] - t->registers.value[7], 0, 65536); /* it is above the stack pointer */
		if (i >= 2)
			continue;
		assert_in_range(t->registers.pc, (uintptr_t)spin_begin, (uintptr_t)spin_end - 1);
		assert_int_equal(t->registers.value[REGISTER], NUMBER + i);
		check_count(core, t);
		assert_true(symcache_core_executable(core, t->registers.pc));
		assert_false(symcache_core_executable(core, said->stacks[i]));
	}
}

/* Each file that this process, which the child is a copy of, has mapped is a module, as far as it has
 * headers: with the addresses from its first to its last row. */
static void check_modules(const struct symcache_core *core)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[1000], path[500];
	uint64_t start, end, offset;
	size_t found = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %499s", &start, &end, &offset, path) != 4 ||
		    (!strstr(path, "live_test") && !strstr(path, ".so")))
			continue;
		for (size_t i = 0; i < core->num_modules; i++) {
			const struct symcache_image *m = core->modules[i];

			if (start < m->start || start >= m->end)
				continue;
			assert_string_equal(m->path, path);
			assert_true(end <= m->end && (offset || m->start == start));
			assert_true(m->build_id_len);
			found++;
		}
		for (size_t i = 1; i < core->num_modules; i++)
			assert_true(core->modules[i - 1]->end <= core->modules[i]->start);
	}
	fclose(f);
	assert_true(found >= 6); /* of the program, libc and the loader */
	assert_true(core->num_modules >= 3);
}

/* May this process trace its child? In some containers none may. */
static bool may_trace(pid_t pid)
{
	const bool may = !ptrace(PTRACE_SEIZE, pid, NULL, NULL);

	if (!may)
		return false;
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	return true;
}

struct sender {
	pid_t pid;
	unsigned sent;
	bool enough;
};

/* One behind the other: the thread that gets them is about to get one whenever it is seized. */
static void *send_signals(void *ctx)
{
	struct sender *s = ctx;

	while (!__atomic_load_n(&s->enough, __ATOMIC_SEQ_CST))
		s->sent += !sigqueue(s->pid, SIGRTMIN, (union sigval){ .sival_int = 0 });
	return NULL;
}

/* What it is sent while its threads are stopped arrives; and nothing else does. */
static void check_signals(pid_t pid)
{
	struct sender s = { .pid = pid };
	struct symcache_core *core;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, send_signals, &s), 0);
	for (int i = 0; i < ATTACHES; i++) {
		assert_int_equal(symcache_core_attach((uint32_t)pid, &core, NULL), 0);
		check_order(core);
		symcache_core_close(core);
	}
	__atomic_store_n(&s.enough, true, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (int i = 0; i < 5000 && __atomic_load_n(&said->signals, __ATOMIC_SEQ_CST) < s.sent; i++)
		usleep(1000);
	assert_int_equal(said->signals, s.sent);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0); /* it runs on */
}

static void is_as_it_says(void **state)
{
	const unsigned long refusals = sc_memory_refusals();
	const pid_t pid = start();
	struct symcache_core *core;
	struct sc_error err;
	char got[sizeof(text)], command[64];

	(void)state;
	if (!may_trace(pid)) {
		kill(pid, SIGKILL);
		print_message("skipped: a process may not be traced here\n");
		skip();
	}
	if (symcache_core_attach((uint32_t)pid, &core, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(core->pid, pid);
	assert_true(core->machine == EM_X86_64 && core->word == 8);
	assert_string_equal(core->command, "thread 0");
	snprintf(command, sizeof(command), "%s", program_invocation_name);
	assert_int_equal(strncmp(core->arguments, command, strlen(command)), 0);
	assert_true(core->signal == 0 && !core->died && !core->has_signal_address);
	assert_int_equal(core->private->auxv[AT_PHDR], getauxval(AT_PHDR));
	assert_int_equal(core->private->auxv[AT_PHNUM], getauxval(AT_PHNUM));
	assert_int_equal(core->private->auxv[AT_SYSINFO_EHDR], getauxval(AT_SYSINFO_EHDR));
	assert_non_null(core->vdso);
	assert_int_equal(core->vdso->start, getauxval(AT_SYSINFO_EHDR));
	assert_true(symcache_core_read(core, (uintptr_t)text, got, sizeof(got)));
	assert_string_equal(got, text);
	assert_false(symcache_core_read(core, 0x10, got, 1));
	check_threads(core);
	check_modules(core);
	assert_null(symcache_core_jitted(core, (uintptr_t)spin_begin));
	symcache_core_close(core);
	assert_int_equal(sc_memory_refusals(), refusals);
	check_signals(pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(symcache_core_attach((uint32_t)pid, &core, &err), SC_ESYS);
	assert_null(core);
	assert_non_null(strstr(err.msg, "process "));
}

/* A process has one tracer: where it has another one, the message says so. */
static void is_traced(void **state)
{
	struct symcache_core *core;
	struct sc_error err;
	char want[100];
	const pid_t pid = fork();

	(void)state;
	if (!pid)
		for (;;)
			pause();
	if (may_trace(pid)) {
		assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
		assert_int_equal(symcache_core_attach((uint32_t)pid, &core, &err), SC_ESYS);
		snprintf(want, sizeof(want), "process %d: cannot stop its threads: Operation not permitted", pid);
		assert_string_equal(err.msg, want);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* How it was run, in one line: its arguments, cut off where they are long. */
static void as_it_was_run(void **state)
{
	static const struct { unsigned len, shown; } cases[] = {
		{ 1, 1 }, { 62, 62 }, { 63, 63 }, { 64, 63 }, { 65, 63 }, { 500, 63 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char argument[501] = "", want[600], byte;
		int input[2], started[2];
		struct symcache_core *core;
		pid_t pid;
		bool may;

		memset(argument, 'a', cases[i].len);
		assert_int_equal(pipe2(input, O_CLOEXEC) | pipe2(started, O_CLOEXEC), 0);
		pid = fork();
		if (!pid) {
			dup2(input[0], 0);
			execl("/bin/sh", "sh", "-c", "read line", argument, NULL);
			_exit(127);
		}
		close(started[1]);
		assert_int_equal(read(started[0], &byte, 1), 0); /* until it runs the shell */
		may = may_trace(pid);
		if (may) {
			assert_int_equal(symcache_core_attach((uint32_t)pid, &core, NULL), 0);
			snprintf(want, sizeof(want), "sh -c read line %.*s", (int)cases[i].shown, argument);
			assert_string_equal(core->arguments, want);
			assert_string_equal(core->command, "sh");
			symcache_core_close(core);
		}
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		close(started[0]);
		close(input[0]);
		close(input[1]);
		if (!may) {
			print_message("skipped: a process may not be traced here\n");
			skip();
		}
	}
}

static int set_up(void **state)
{
	(void)state;
	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return said == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(is_as_it_says), cmocka_unit_test(as_it_was_run),
					   cmocka_unit_test(is_traced) };

	return cmocka_run_group_tests(tests, set_up, NULL);
}
#else
int main(void)
{
	puts("skipped: it is written for x86-64");
	return 0;
}
#endif
