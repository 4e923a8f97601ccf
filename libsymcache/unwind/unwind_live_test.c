/*
 * The test unwinds itself: at 10,000 random moments, stopped by a timer's signal somewhere
 * in its own code, libc or the linker's stubs, the frames that caches give are those that
 * libgcc's unwinder finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "libsymcache/unwind/unwind.h"
#include "libsymcache/write/build.h"

/* Signals that the thread sanitizer holds back come within its own library. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

enum { SAMPLES = 10000, MAX_FRAMES = 200, MAX_MODULES = 32 };

struct module {
	uint64_t start, end, base;
	struct symcache cache;
	bool good;
};

static struct module modules[MAX_MODULES];
static unsigned num_modules;
static uint64_t stack_end;
static volatile unsigned samples, frames_seen, differences;
static char first_difference[300];

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const uint64_t *low = ctx;

	if (address < *low || address > stack_end || bytes > stack_end - address)
		return false;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return true;
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	(void)ctx;
	for (unsigned i = 0; i < num_modules; i++) {
		if (address < modules[i].start || address >= modules[i].end)
			continue;
		ret->cache = modules[i].good ? &modules[i].cache : NULL;
		ret->base = modules[i].base;
		ret->owner = &modules[i];
		return true;
	}
	return false;
}

static bool is_executable(void *ctx, uint64_t address)
{
	struct symcache_unwind_frame m;

	return find_module(ctx, address, &m);
}

struct trace {
	uint64_t pcs[MAX_FRAMES];
	unsigned n;
};

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *ctx)
{
	struct trace *t = ctx;

	if (t->n < MAX_FRAMES)
		t->pcs[t->n++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Ours, from the registers that the signal interrupted. */
static void trace_ours(const ucontext_t *context, struct trace *t)
{
	static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	uint64_t low = (uint64_t)context->uc_mcontext.gregs[REG_RSP] - 128;
	const struct symcache_unwind_source source = {
		.machine = EM_X86_64, .read = read_memory, .module = find_module,
		.executable = is_executable, .ctx = &low,
	};
	struct symcache_registers r = { .pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP] };
	struct symcache_unwinder u;
	struct symcache_unwind_frame f;

	for (unsigned i = 0; i < 16; i++)
		symcache_set_register(&r, i, (uint64_t)context->uc_mcontext.gregs[order[i]]);
	symcache_unwind_begin(&u, &source, &r, NULL);
	while (t->n < MAX_FRAMES && symcache_unwind_next(&u, &f))
		t->pcs[t->n++] = f.pc;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	struct trace theirs = { .n = 0 }, ours = { .n = 0 };
	unsigned at = 0;

	(void)number;
	(void)info;
	if (!is_executable(NULL, (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP]))
		return; /* in the vDSO, where sanitizers read the time */
	_Unwind_Backtrace(take, &theirs);
	trace_ours(interrupted, &ours);
	while (at < theirs.n && theirs.pcs[at] != ours.pcs[0])
		at++; /* the handler's own frames, and the trampoline */
	/* libgcc ends with a frame at 0 where there is one. */
	while (theirs.n > at && !theirs.pcs[theirs.n - 1])
		theirs.n--;
	samples++;
	frames_seen += ours.n;
	if (theirs.n - at == ours.n &&
	    !memcmp(theirs.pcs + at, ours.pcs, ours.n * sizeof(*ours.pcs)))
		return;
	if (!differences++) {
		Dl_info where = { .dli_fname = "?" };

		dladdr((const void *)(uintptr_t)ours.pcs[0], &where);
		snprintf(first_difference, sizeof(first_difference),
			 "%s+%#llx: %u frames, libgcc has %u", where.dli_fname,
			 (unsigned long long)(ours.pcs[0] - (uintptr_t)where.dli_fbase), ours.n,
			 theirs.n - at);
	}
}

static int add_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	const struct symcache_build_options options = { .no_debug_search = true };
	struct module *m = &modules[num_modules];
	struct symcache_build *b;
	bool any = false;
	void *bytes;

	(void)size;
	(void)ctx;
	if (num_modules == MAX_MODULES || symcache_build_create(path, &options, &b, NULL))
		return 0; /* the vDSO, which is not a file */
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (!any)
			m->base = info->dlpi_addr + ph->p_vaddr;
		any = true;
		if (ph->p_flags & PF_X) {
			m->start = info->dlpi_addr + ph->p_vaddr;
			m->end = m->start + ph->p_memsz;
		}
	}
	bytes = malloc(symcache_build_size(b));
	symcache_build_write(b, bytes);
	m->good = bytes && !symcache_open(&m->cache, bytes, symcache_build_size(b), NULL);
	symcache_build_destroy(b);
	num_modules++;
	return 0;
}

/* ---- something to be interrupted in --------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static long nest(int depth, char *text)
{
	static int numbers[300];
	long sum = 0;

	if (depth)
		return nest(depth - 1, text) + text[0];
	for (size_t i = 0; i < 300; i++)
		numbers[i] = (int)(i * 7919 % 1009);
	qsort(numbers, 300, sizeof(*numbers), compare);
	for (int i = 0; i < 20; i++) {
		snprintf(text, 100, "%d %s %.3f", numbers[i], "some text", i / 3.0);
		sum += (long)strlen(text) + strtol(text, NULL, 10);
	}
	return sum;
}

static void test_live(void **state)
{
	const struct itimerspec often = { { 0, 100000 }, { 0, 100000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	pthread_attr_t attr;
	char text[200] = "";
	timer_t timer;
	void *stack;
	size_t size;

	(void)state;
	dl_iterate_phdr(add_module, NULL);
	assert_true(num_modules > 1);
	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &stack, &size);
	pthread_attr_destroy(&attr);
	stack_end = (uint64_t)(uintptr_t)stack + size;
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
	for (int i = 0; samples < SAMPLES; i++)
		nest(i % 30, text);
	timer_delete(timer);
	printf("%u samples, %u frames, %u differ\n", samples, frames_seen, differences);
	if (differences)
		fail_msg("%u of %u stacks differ: %s", differences, samples, first_difference);
	for (unsigned i = 0; i < num_modules; i++)
		free((void *)(uintptr_t)modules[i].cache.data);
}

#else
static void test_live(void **state)
{
	(void)state;
	printf("skipped: registers of x86-64 alone, and no thread sanitizer\n");
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_live) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
