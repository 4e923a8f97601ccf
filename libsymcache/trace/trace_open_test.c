/* Opening trace files: what is none, and what is decided for one that does not say it: the layout of the
 * registers and the byte order. */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/trace/tfile_reader.h"

/* What cannot be shown at all is an error, what breaks off is not. */
static void test_open(void **state)
{
	const struct symtrace_target target = { 0 };
	struct symtrace t;
	struct sc_error err;
	char path[] = "/tmp/trace_open_test.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(symtrace_open("/", &target, SYMTRACE_ORDER_AUTO, &t, &err), SC_EINVAL);
	assert_string_equal(err.msg, "is a directory");
	assert_int_equal(symtrace_open("/dev/null", &target, SYMTRACE_ORDER_AUTO, &t, &err),
			 SC_EINVAL);
	assert_string_equal(err.msg, "is not a regular file");
	assert_int_equal(symtrace_open("none", &target, SYMTRACE_ORDER_AUTO, &t, &err), SC_ESYS);
	assert_string_equal(err.msg, "No such file or directory");
	assert_int_equal(symtrace_open(path, &target, SYMTRACE_ORDER_AUTO, &t, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "offset 0: not a GDB trace file");
	assert_int_equal(write(fd, "\177TRACE0\nR 10\n", 13), 13);
	assert_int_equal(symtrace_open(path, &target, SYMTRACE_ORDER_BIG, &t, &err), 0);
	assert_true(t.big_endian);
	assert_int_equal(t.regblock_size, 16);
	assert_int_equal(t.fault.offset, 13);
	symtrace_close(&t);
	close(fd);
	unlink(path);
}

/* What is decided for a file with this target description and one frame of tracepoint 1. */
static void put_decided(char *got, size_t size, const char *tdesc, const struct symtrace_target *target,
			enum symtrace_order order, bool big)
{
	uint8_t bytes[1000];
	const int n = snprintf((char *)bytes, sizeof(bytes), "\177TRACE0\nR 10\ntp T1:1000:E:0:0\n%s%s%s\n",
			       *tdesc ? "tdesc " : "", tdesc, *tdesc ? "\n" : "");
	struct symtrace t;
	struct sc_error err;
	char path[32];
	int fd;

	memcpy(bytes + n, big ? "\0\1\0\0\0\0\0" : "\1\0\0\0\0\0\0", 8);
	fd = testing_memfd(bytes, (size_t)n + 8, path);
	assert_int_equal(symtrace_open(path, target, order, &t, &err), 0);
	snprintf(got, size, "%s, '%s' pc %" PRIu32 "+%" PRIu32 "%s%s", t.big_endian ? "big" : "little",
		 t.layout.architecture, t.pc_slot.offset, t.pc_slot.size, t.num_notices ? ": " : "",
		 t.num_notices ? t.notices[0].msg : "");
	if (t.num_notices)
		assert_memory_equal(bytes + t.notices[0].offset, "tdesc ", 6);
	symtrace_close(&t);
	close(fd);
}

static void test_decided(void **state)
{
	static const struct symtrace_target none, x86_64 = { EM_X86_64, true, false }, arm = { EM_ARM, false, false },
					    s390 = { EM_S390, true, true }, vax = { EM_VAX, false, true };
#define AUTO SYMTRACE_ORDER_AUTO
#define LITTLE SYMTRACE_ORDER_LITTLE
#define BIG SYMTRACE_ORDER_BIG
#define ARCH(name) "<t><architecture>" name "</architecture>"
#define PC "<reg name='a' bitsize='8'/><reg name='pc' bitsize='64'/></t>"
	static const struct {
		const char *tdesc;
		const struct symtrace_target *target;
		enum symtrace_order order;
		bool big;
		const char *decided;
	} cases[] = {
		/* By what the frames look like, if nothing else is known. */
		{ "", &none, AUTO, false, "little, '' pc 0+0" },
		{ "", &none, AUTO, true, "big, '' pc 0+0" },
		{ "", &none, LITTLE, true, "little, '' pc 0+0" },
		{ "", &none, BIG, false, "big, '' pc 0+0" },
		/* By the program. */
		{ "", &x86_64, AUTO, true, "little, '' pc 128+8" },
		{ "", &s390, AUTO, false, "big, '' pc 8+8" },
		{ "", &s390, LITTLE, false, "little, '' pc 8+8" },
		{ "", &vax, AUTO, false, "big, '' pc 0+0" },
		/* By the description; where that has no program counter, by its architecture. */
		{ ARCH("s390:64-bit") PC, &none, AUTO, false, "big, 's390:64-bit' pc 1+8" },
		{ ARCH("i386") PC, &none, AUTO, true, "little, 'i386' pc 1+8" },
		{ ARCH("mips") PC, &none, AUTO, true, "big, 'mips' pc 1+8" },
		{ ARCH("mips") PC, &none, AUTO, false, "little, 'mips' pc 1+8" },
		{ ARCH("vax") PC, &none, AUTO, true, "big, 'vax' pc 1+8" },
		{ ARCH("i386") "</t>", &none, AUTO, true, "little, '' pc 32+4" },
		{ ARCH("i386:x86-64") "</t>", &none, AUTO, false, "little, '' pc 128+8" },
		{ ARCH("sparc") "</t>", &none, AUTO, false, "big, '' pc 0+0" },
		{ "<t>" PC, &none, AUTO, true, "big, '' pc 1+8" },
		/* By both, if they agree. */
		{ ARCH("i386:x86-64") PC, &x86_64, AUTO, true, "little, 'i386:x86-64' pc 1+8" },
		{ ARCH("i386:x86-64") "</t>", &x86_64, AUTO, true, "little, '' pc 128+8" },
		{ ARCH("vax") PC, &arm, AUTO, true, "little, 'vax' pc 1+8" },
		{ ARCH("i386") PC, &arm, AUTO, true,
		  "little, '' pc 60+4: target description of another architecture (i386) than the module's; ignoring it" },
		{ ARCH("i386"), &arm, AUTO, true,
		  "little, '' pc 60+4: while parsing target description: line 2: no element found; ignoring it" },
		{ ARCH("i386"), &none, AUTO, true,
		  "big, '' pc 0+0: while parsing target description: line 2: no element found; ignoring it" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char got[300];

		put_decided(got, sizeof(got), cases[i].tdesc, cases[i].target, cases[i].order, cases[i].big);
		assert_string_equal(got, cases[i].decided);
	}
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Reads two definitions with memory for their text alone. 0: that is said. */
static int read_without_memory(void)
{
	static const char bytes[] = "\177TRACE0\nR 10\ntp T1:1000:E:0:0\ntsv 1:0:0:78\n\n";
	char *volatile room = malloc(sizeof(bytes)), *volatile taken;
	struct rlimit limit;
	struct symtrace t;

	if (!room || getrlimit(RLIMIT_AS, &limit))
		return 2;
	limit.rlim_cur = 0;
	if (setrlimit(RLIMIT_AS, &limit))
		return 3;
	for (size_t size = 1 << 20; size >= 256; size /= 2)
		do
			taken = malloc(size);
		while (taken);
	free(room);
	return symtrace_read(&t, bytes, sizeof(bytes) - 1) != SC_ENOMEM || !t.text;
}

static void test_no_memory(void **state)
{
	const pid_t child = fork();
	int status;

	(void)state;
	if (!child)
		_exit(read_without_memory());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_decided),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		cmocka_unit_test(test_no_memory),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
