/*
 * Children crash in all sorts of ways; what they wrote is read back with our
 * parser and filter, and must name functions of this very program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmarkup/emit.h"
#include "libmarkup/input/parse.h"
#include "libmarkup/testing.h"
#include "libmarkup/bytes/fields.h"

#define NOINLINE __attribute__((noinline))

static char log_text[1 << 20];
static size_t log_len;

/* What the frames of the log are: addresses, and whether they are precise. */
struct frame {
	uintptr_t address;
	bool precise;
};
static struct frame frames[1024];
static size_t num_frames;
static uint64_t num_outside;

static volatile int sink;

NOINLINE static void write_nowhere(void)
{
	static volatile uintptr_t nowhere = 16;
	*(volatile int *)nowhere = 1;
	sink++;
}

NOINLINE static void call_nowhere(void)
{
	void (*volatile nowhere)(void) = NULL;
	nowhere();
	sink++;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
NOINLINE static int dig(int n)
{
	volatile char hole[4096];
	hole[n % 4096] = (char)n;
	return dig(n + 1) + hole[n % 7];
}
#pragma GCC diagnostic pop

NOINLINE static void overflow(void)
{
	sink = dig(0);
}

NOINLINE static void do_abort(void)
{
	abort();
}

NOINLINE static void do_raise(void)
{
	raise(SIGFPE);
	sink++;
}

NOINLINE static void do_kill(void)
{
	kill(getpid(), SIGSEGV);
	sink++;
}

/* With the dynamic linker's lock held. */
static int crash_in_callback(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)info;
	(void)size;
	(void)ctx;
	write_nowhere();
	return 0;
}

NOINLINE static void crash_in_linker(void)
{
	dl_iterate_phdr(crash_in_callback, NULL);
	sink++;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void *wait_forever(void *ctx)
{
	while (1)
		pause();
	return ctx;
}

/* malloc() finds its heap damaged, with its lock held: it takes none as long as
 * there is but one thread. */
NOINLINE static void crash_in_malloc(void)
{
	void *(*volatile allocate)(size_t) = malloc; /* which the compiler knows too well */
	pthread_t thread;
	char *p = NULL;

	if (pthread_create(&thread, NULL, wait_forever, NULL))
		_exit(3);
	for (int i = 0; i < 64; i++) /* more than what was given back */
		p = allocate(100000);
	for (int i = 100000; i < 100064; i++)
		p[i] = (char)0x41; /* what is behind the last piece of the heap */
	allocate(100000);
}
#endif

NOINLINE static void plain_backtrace(void)
{
	markup_emit_modules(1);
	markup_emit_backtrace(1, NULL);
	sink++;
}

NOINLINE static void caller(void (*crash)(void))
{
	crash();
	sink++;
}

static pid_t child;

/* Runs `crash` in a child under the crash handler; returns its wait status. */
static int run(void (*crash)(void))
{
	int ends[2], status;
	struct rlimit no_core = { 0, 0 };
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(ends[1], 1);
		close(ends[0]);
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_DFL);
		if (markup_emit_crash_handler(1))
			_exit(3);
		alarm(60);
		caller(crash);
		_exit(0);
	}
	close(ends[1]);
	for (log_len = 0; (n = read(ends[0], log_text + log_len,
				    sizeof(log_text) - log_len)) > 0;)
		log_len += (size_t)n;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* Reads the frames of the log, and filters it. */
static void read_log(void)
{
	const struct markup_options options = { 0 };
	struct fake_sink got = { 0 };
	struct markup_sink to = { &got, fake_write, fake_complain };
	struct markup_filter *f;
	struct mk_parser p;
	struct mk_node n;
	uint64_t number, address;

	num_frames = 0;
	mk_parse_line(&p, log_text, log_len, MK_SYNTAX);
	while (mk_next_element(&p, &n)) {
		if (n.kind != MK_ELEMENT || !sc_str_is(n.tag, "bt"))
			continue;
		assert_int_equal(n.num_fields, 3);
		assert_true(mk_field_decimal(n.fields[0], &number));
		assert_true(mk_field_address(n.fields[1], &address));
		assert_int_equal(number, num_frames);
		frames[num_frames++] = (struct frame){ address, sc_str_is(n.fields[2], "pc") };
	}

	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &to, &f), 0);
	assert_int_equal(markup_filter_feed(f, log_text, log_len), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_int_equal(markup_filter_stats(f)->frames > 0, 1);
	num_outside = markup_filter_stats(f)->frames_outside;
	assert_non_null(strstr(got.out.buf, "[[[ELF module #0x0 \"/"));
	assert_non_null(strstr(got.out.buf, "emit_test"));
	assert_non_null(strstr(got.out.buf, "libc.so.6"));
	/* No complaint but about modules that the resolver does not have. */
	for (char *line = got.err.buf; line && *line; line = strchr(line, '\n') + 1)
		assert_non_null(strstr(line, "no symbols for module"));
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

/* Is frame i within the first bytes of this function? (Sanitizers make it long.) */
static bool in_function(size_t i, void (*function)(void))
{
	return i < num_frames && frames[i].address - (uintptr_t)function < 1024;
}

static bool in_caller(size_t i)
{
	return in_function(i, (void (*)(void))(void *)caller) && !frames[i].precise;
}

static void test_fault(void **state)
{
	char line[80];

	(void)state;
	int status = run(write_nowhere);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	read_log();
	assert_true(num_frames >= 4);
	assert_true(frames[0].precise);
	assert_true(in_function(0, write_nowhere));
	assert_true(in_caller(1));
	for (size_t i = 1; i < num_frames; i++)
		assert_false(frames[i].precise);
	assert_int_equal(num_outside, 0);
	snprintf(line, sizeof(line), "*** SIGSEGV at {{{data:0x10}}}, process %d, thread %d\n",
		 child, child);
	assert_non_null(strstr(log_text, line));
#ifdef __x86_64__
	assert_non_null(strstr(log_text, "{{{hexdict:RIP: 0x"));
	assert_non_null(strstr(log_text, "CR2: 0x10}}}\n"));
#endif
}

static void test_bad_call(void **state)
{
	(void)state;
	int status = run(call_nowhere);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	read_log();
	assert_true(frames[0].precise && frames[0].address == 0);
#ifdef __x86_64__
	assert_true(in_function(1, call_nowhere));
#endif
}

static void test_stack_overflow(void **state)
{
	(void)state;
	static const char end[] = "}}}\n(frames further out are not shown)\n";
	int status = run(overflow);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	read_log();
	assert_true(num_frames >= 512);
	assert_memory_equal(log_text + log_len - (sizeof(end) - 1), end, sizeof(end) - 1);
	assert_true(in_function(0, (void (*)(void))(void *)dig));
	assert_true(in_function(1, (void (*)(void))(void *)dig));
}

static void test_abort(void **state)
{
	(void)state;
	int status = run(do_abort);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	read_log();
	size_t at = 0;
	while (at < num_frames && !in_function(at, do_abort))
		at++;
	assert_true(at >= 1 && at < 6);
	assert_true(in_caller(at + 1));
	assert_non_null(strstr(log_text, "*** SIGABRT, process "));
}

/* Nothing waits for a lock that the crashing thread holds. */
static void test_locks(void **state)
{
	(void)state;
	int status = run(crash_in_linker);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	read_log();
	assert_true(in_function(0, write_nowhere));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	status = run(crash_in_malloc);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	read_log();
	size_t at = 0;
	while (at < num_frames && !in_function(at, crash_in_malloc))
		at++;
	assert_true(at > 2 && at < num_frames);
#endif
}

static void test_sent_signal(void **state)
{
	(void)state;
	int status = run(do_raise);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGFPE);
	read_log();
	status = run(do_kill); /* no address is at fault */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	read_log();
	assert_non_null(strstr(log_text, "*** SIGSEGV, process "));
}

static void test_plain(void **state)
{
	(void)state;
	int status = run(plain_backtrace);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	read_log();
	assert_true(num_frames >= 3);
	assert_true(in_function(0, plain_backtrace) && !frames[0].precise);
	assert_true(in_caller(1));
	assert_int_equal(num_outside, 0);
}

NOINLINE static void with_stack(void)
{
	markup_emit_crash_stack(1);
	call_nowhere();
}

/* The stack in place of frames: registers, and bytes whose first word is the return address. */
static void test_stack(void **state)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct sc_str last;
	struct mk_parser p;
	struct mk_node n;
	uint64_t word = 0;

	(void)state;
	int status = run(with_stack);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	mk_parse_line(&p, log_text, log_len, MK_SYNTAX);
	while (mk_next_element(&p, &n) && !(n.kind == MK_ELEMENT && sc_str_is(n.tag, "stack")))
		assert_false(n.kind == MK_ELEMENT && sc_str_is(n.tag, "bt"));
	if (!strstr(log_text, "hexdict")) /* registers are not known here */
		return;
	assert_true(sc_str_is(n.tag, "stack"));
	assert_non_null(memmem(n.rest.ptr, n.rest.len, ":pc=0x0:", 8));
	assert_non_null(memmem(n.rest.ptr, n.rest.len, ":sp=0x", 6));
	last = (struct sc_str){ memrchr(n.rest.ptr, ':', n.rest.len), 0 };
	last.len = (size_t)(n.rest.ptr + n.rest.len - ++last.ptr);
	assert_true(last.len > 1000 && last.len <= 21848 && last.len % 4 == 0);
	for (unsigned i = 0, bits = 0, have = 0, at = 0; at < 8; i++) {
		bits = bits << 6 | (unsigned)(strchr(digits, last.ptr[i]) - digits);
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		word |= (uint64_t)(bits >> have & 255) << 8 * at++;
	}
#ifdef __x86_64__
	assert_true(word - (uintptr_t)call_nowhere < 1024);
#endif
}

/* Whoever was there before us gets the signal after us. */
static void on_signal(int sig)
{
	(void)sig;
	_exit(42);
}

static void chain(void)
{
	signal(SIGBUS, SIG_DFL);
	signal(SIGSEGV, on_signal);
	markup_emit_crash_handler(1);
	markup_emit_crash_handler(1);
	write_nowhere();
}

static void test_chain(void **state)
{
	(void)state;
	int status = run(chain);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	read_log();
	assert_true(in_function(0, write_nowhere));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault),
		cmocka_unit_test(test_bad_call),
		cmocka_unit_test(test_stack_overflow),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_sent_signal),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_chain),
	};
	return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
