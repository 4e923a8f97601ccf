/*
 * What is written of a place in a program that a test makes up: registers, bytes of the stack,
 * and frames by the chain of frame pointers. And modules that are loaded later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "libmarkup/emit.h"
#include "libmarkup/testing.h"

static char got[1 << 16];

/* Into got[] what `write_it` writes; a pipe holds that much. */
static void capture(void (*write_it)(int fd, const void *ucontext), const void *ucontext)
{
	int ends[2];
	size_t len = 0;
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	write_it(ends[1], ucontext);
	close(ends[1]);
	while ((n = read(ends[0], got + len, sizeof(got) - 1 - len)) > 0)
		len += (size_t)n;
	got[len] = 0;
	close(ends[0]);
}

static void modules(int fd, const void *ucontext)
{
	(void)ucontext;
	markup_emit_modules(fd);
}

static int is_named(struct dl_phdr_info *info, size_t size, void *ctx)
{
	char name[300];

	(void)size;
	if (!*info->dlpi_name || *info->dlpi_name != '/') /* the program, and the vDSO */
		return 0;
	snprintf(name, sizeof(name), ":%s:elf:", info->dlpi_name);
	if (!strstr(got, name))
		fail_msg("%s is not there", name);
	++*(unsigned *)ctx;
	return 0;
}

/* Modules are announced that came behind the first ones, many more than these. */
static void test_modules(void **state)
{
	static const char *const more[] = {
		"libm.so.6", "libresolv.so.2", "libthread_db.so.1", "libanl.so.1", "libnss_compat.so.2",
		"libBrokenLocale.so.1", "libnss_hesiod.so.2", "libc_malloc_debug.so.0", "librt.so.1",
		"libdl.so.2", "libpthread.so.0", "libutil.so.1", "libnsl.so.1", "libmvec.so.1",
	};
	unsigned before = 0, after = 0;

	(void)state;
	assert_int_equal(markup_emit_init(), 0);
	capture(modules, NULL);
	assert_int_equal(strncmp(got, "{{{reset}}}\n{{{module:0:/", 25), 0);
	dl_iterate_phdr(is_named, &before);
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		dlopen(more[i], RTLD_NOW);
	assert_int_equal(markup_emit_init(), 0);
	capture(modules, NULL);
	dl_iterate_phdr(is_named, &after);
	assert_true(after >= before + 5);
}

#ifdef __x86_64__
/* In the order of registers[]: the n-th has 0x100 + n, but for the first ones. */
static const int order[] = {
	REG_RIP, REG_RSP, REG_RBP, REG_EFL, REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_CR2,
};

static ucontext_t place(const void *pc, const void *sp, const void *fp)
{
	ucontext_t uc = { 0 };
	greg_t *r = uc.uc_mcontext.gregs;

	for (int i = 0; i < (int)(sizeof(order) / sizeof(*order)); i++)
		r[order[i]] = 0x100 + i;
	r[REG_RIP] = (greg_t)pc;
	r[REG_RSP] = (greg_t)sp;
	r[REG_RBP] = (greg_t)fp;
	return uc;
}

static void test_registers(void **state)
{
	const ucontext_t uc = place((void *)0x10, (void *)0x20, (void *)0x30);

	(void)state;
	capture(markup_emit_registers, &uc);
	assert_string_equal(got,
		"{{{hexdict:RIP: 0x10 RSP: 0x20 RBP: 0x30 EFL: 0x103\n"
		"RAX: 0x104 RBX: 0x105 RCX: 0x106 RDX: 0x107\n"
		"RSI: 0x108 RDI: 0x109 R8: 0x10a R9: 0x10b\n"
		"R10: 0x10c R11: 0x10d R12: 0x10e R13: 0x10f\n"
		"R14: 0x110 R15: 0x111 CR2: 0x112}}}\n");
	capture(markup_emit_registers, NULL);
	assert_string_equal(got, "");
	capture(markup_emit_stack, NULL);
	assert_string_equal(got, "");
}

/* The last bytes of a mapping, of any number; and of a large one 16 KiB. */
static void test_stack(void **state)
{
	static const char *const ends[] = { "ZA==", "Y2Q=", "YmNk", "YWJjZA==" };
	enum { PAGE = 4096, PAGES = 6 };
	char *memory = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end = memory + PAGES * PAGE, *last;
	char want[600];
	ucontext_t uc;

	(void)state;
	assert_true(memory != MAP_FAILED);
	assert_int_equal(mprotect(end, PAGE, PROT_NONE), 0);
	memcpy(end - 4, "abcd", 4);
	for (int n = 1; n <= 4; n++) {
		uc = place((void *)0x10, end - n, (void *)0x30);
		snprintf(want, sizeof(want), "{{{stack:%d:pc=0x10:sp=0x%lx:rbp=0x30:rax=0x104:rbx=0x105:"
			 "rcx=0x106:rdx=0x107:rsi=0x108:rdi=0x109:r8=0x10a:r9=0x10b:r10=0x10c:r11=0x10d:"
			 "r12=0x10e:r13=0x10f:r14=0x110:r15=0x111:%s}}}\n", (int)gettid(),
			 (unsigned long)(end - n), ends[n - 1]);
		capture(markup_emit_stack, &uc);
		assert_string_equal(got, want);
	}
	memset(memory, 'a', PAGE); /* YWFh */
	memcpy(memory + 100 + 16384 - 4, "abcdXYZ", 7);
	uc = place((void *)0x10, memory + 100, (void *)0x30);
	capture(markup_emit_stack, &uc);
	last = strrchr(got, ':') + 1;
	assert_int_equal(strcspn(last, "}"), (16384 + 2) / 3 * 4);
	assert_int_equal(strncmp(last, "YWFhYWFh", 8), 0);
	assert_string_equal(strchr(last, '}') - 8, "YWJjZA==}}}\n");
	munmap(memory, (PAGES + 1) * PAGE);
}

static int is_text(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			*(uintptr_t *)ctx = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return 1; /* of the program alone */
}

/* After a call of what is no code: the chain ends where it does not lead further out, into what
 * is no code, or to an address that no frame pointer has. The n-th byte of the code stands as n. */
static void test_frame_pointers(void **state)
{
	uintptr_t text = 0, chain[20] = { 0 }, *sp = chain, *fp = chain + 2;
	const struct {
		const char *what;
		uintptr_t returns, chain[6];
		unsigned frames;
	} cases[] = {
		{ "two callers", 0, { (uintptr_t)(fp + 2), 1, 0, 2 }, 2 },
		{ "what the call pushed", 3, { (uintptr_t)(fp + 2), 1, 0, 2 }, 3 },
		{ "in a circle", 0, { (uintptr_t)fp, 1 }, 1 },
		{ "back", 0, { (uintptr_t)(fp + 2), 1, (uintptr_t)fp, 2 }, 2 },
		{ "no code", 0, { (uintptr_t)(fp + 2), 1, (uintptr_t)(fp + 4), 0, 0, 3 }, 1 },
		{ "not aligned", 0, { (uintptr_t)(fp + 2) + 1, 1, 0, 2, 0, 3 }, 1 },
		{ "no memory", 0, { (uintptr_t)1 << 46, 1 }, 1 },
	};

	(void)state;
	assert_int_equal(markup_emit_init(), 0);
	dl_iterate_phdr(is_text, &text);
	assert_true(text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const ucontext_t uc = place(NULL, sp, fp);
		char want[500];
		int len = snprintf(want, sizeof(want), "{{{bt:0:0x0:pc}}}\n");
		unsigned number = 1;

		chain[0] = cases[i].returns ? text + cases[i].returns - 1 : 0;
		for (size_t k = 0; k < 6; k++)
			fp[k] = k % 2 && cases[i].chain[k] ? text + cases[i].chain[k] - 1 : cases[i].chain[k];
		if (chain[0])
			len += sprintf(want + len, "{{{bt:%u:0x%lx:ra}}}\n", number++, chain[0]);
		for (size_t k = 1; number <= cases[i].frames; k += 2)
			len += sprintf(want + len, "{{{bt:%u:0x%lx:ra}}}\n", number++, fp[k]);
		capture(markup_emit_backtrace, &uc);
		if (strcmp(got, want))
			fail_msg("%s:\n%swanted\n%s", cases[i].what, got, want);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules),
#ifdef __x86_64__
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_frame_pointers),
#endif
	};

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
