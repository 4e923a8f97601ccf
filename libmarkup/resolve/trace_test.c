/* How far a trace is looked at for a line that says where a module begins, and what is kept of a trace:
 * bases, names, text before the frames of a stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/resolve/resolve.h"
#include "libmarkup/testing.h"

static void *any_module(void *ctx, struct markup_module *m, const char **why)
{
	static char any;

	(void)ctx, (void)m, (void)why;
	return &any;
}

/* Only offsets in a module are known, and programs at 0x400000. */
static bool place(void *ctx, void *module, struct markup_place *p, uint64_t *vaddr)
{
	(void)ctx, (void)module;
	*vaddr = p->origin == MARKUP_FIXED ? p->offset - 0x400000 : p->offset;
	return p->origin == MARKUP_FROM_ZERO || p->origin == MARKUP_FROM_LOAD_BASE ||
	       (p->origin == MARKUP_FIXED && p->offset >> 22 == 1);
}

static struct markup_caller callers[5000];
static size_t num_callers;

static size_t unwind(void *ctx, const struct markup_stack *stack, const struct markup_caller **ret,
		     const char **end)
{
	(void)ctx, (void)stack;
	*ret = callers;
	*end = num_callers % 2 ? "for a reason" : NULL;
	return num_callers;
}

static const struct markup_resolver resolver = {
	.module = any_module, .place = place, .code = fake_code, .unwind = unwind,
};

static struct fake_sink filter(const char *log)
{
	const struct markup_options options = { 0 };
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;

	assert_int_equal(markup_filter_create(&options, &resolver, 1, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, log, strlen(log)), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	markup_filter_destroy(f);
	return got;
}

#define WITHOUT "/a(f+0x2)[0x555500001205]"
#define WITH    "/a(+0x1205) [0x555500001205]"

/* The first frame is found if its module's base is known by one of the 256 lines from it on. */
static void test_lines_ahead(void **state)
{
	char *log = malloc(100000);

	(void)state;
	for (unsigned between = 252; between < 258; between++) {
		char *p = stpcpy(log, "plain\n");
		struct fake_sink got;

		for (unsigned i = 0; i <= between; i++)
			p = stpcpy(p, WITHOUT "\n");
		strcpy(p, WITH "\n");
		got = filter(log);
		assert_int_equal(!strncmp(got.out.buf, "plain\n" WITHOUT " main at main.c:12:3\n", 46), between < 255);
		fake_sink_deinit(&got);
	}
	free(log);
}

/* Text is looked through in blocks of 8 KiB; an element may begin anywhere in one, also with braces in front. */
static void test_blocks(void **state)
{
	const struct markup_options options = { .inputs = "markup" };
	char log[8300], want[8300];

	(void)state;
	for (size_t at = 8184; at < 8200; at++) {
		for (size_t braces = 0; braces < 3; braces++) {
			struct fake_sink got;

			memset(log, 'x', at);
			memset(log + at - braces, '{', braces);
			memcpy(want, log, at);
			strcpy(log + at, "{{{symbol:_Z1fv}}}\n");
			strcpy(want + at, "f()\n");
			assert_int_equal(fake_filter(&options, log, strlen(log), sizeof(log), &got), 0);
			assert_string_equal(got.out.buf, want);
			fake_sink_deinit(&got);
		}
	}
}

#define FRAME "    #0    0x0000000000001000 is not in any module\n"
#define END   "the stack ends here: for a reason\n"

/* Of so many modules of a trace the bases are known. */
static void test_bases(void **state)
{
	char *log = malloc(20000), line[100];

	(void)state;
	for (unsigned n = MK_BASES_MAX - 2; n < MK_BASES_MAX + 3; n++) {
		char *p = log;
		struct fake_sink got;

		for (unsigned i = 0; i < n; i++)
			p += sprintf(p, "/m%u(+0x1205) [0x5555%02x001205]\n", i, i);
		sprintf(p, "/m%u(f+0x2)[0x5555%02x001205]\n", n - 1, n - 1);
		sprintf(line, "/m%u(f+0x2)[0x5555%02x001205] main at main.c:12:3\n", n - 1, n - 1);
		got = filter(log);
		assert_int_equal(strstr(got.out.buf, line) != NULL, n <= MK_BASES_MAX);
		fake_sink_deinit(&got);
	}
	free(log);
	/* A module at 0 has no base. */
	struct fake_sink got = filter("/a(f+0x2)[0x1205]\n/a(+0x1205) [0x1205]\n");

	assert_string_equal(got.out.buf, "/a(f+0x2)[0x1205]\n/a(+0x1205) [0x1205] main at main.c:12:3\n");
	fake_sink_deinit(&got);
}

/* The name of a module of up to 1,023 bytes is read, and carried to the next line. */
static void test_carried(void **state)
{
	char log[1200];

	(void)state;
	for (size_t len = 1022; len < 1027; len++) {
		struct fake_sink got;
		char *p = stpcpy(log, "thr<7> obj<");

		memset(p, 'm', len);
		strcpy(p + len, ">\nthr<7> #1 0x401205\n");
		got = filter(log);
		assert_int_equal(strstr(got.out.buf, "#1 0x401205 main at main.c:12:3\n") != NULL, len < 1024);
		fake_sink_deinit(&got);
	}
}

/* Of a build ID 64 bytes are shown. */
static void test_long_id(void **state)
{
	const struct markup_options options = { 0 };

	(void)state;
	for (size_t len = 62; len < 68; len++) {
		char log[400], want[300], id[200];
		struct fake_sink got;

		memset(id, 'c', 2 * len);
		id[2 * len] = 0;
		sprintf(log, "{{{module:0:a:elf:%s}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0}}}\n{{{pc:0x1000}}}\n", id);
		sprintf(want, "log:3: no symbols for module \"a\" (build ID %.128s)\n", id);
		assert_int_equal(fake_filter(&options, log, strlen(log), 1000, &got), 0);
		assert_string_equal(got.err.buf, want);
		fake_sink_deinit(&got);
	}
}

/* What LLVM's filter says of a map of no module: not what is wrong with its address, too. */
static void test_unknown_module(void **state)
{
	const struct markup_options options = { .dialect = MARKUP_LLVM };
	static const char log[] = "{{{mmap:0x1000:1:load:7:rw:zz}}}\n";
	struct fake_sink got;

	(void)state;
	assert_int_equal(fake_filter(&options, log, strlen(log), 1000, &got), 0);
	assert_string_equal(got.err.buf, "error: unknown module ID\n{{{mmap:0x1000:1:load:7:rw:zz}}}\n"
			    "                      ^\n");
	fake_sink_deinit(&got);
}

/* Text of up to 4 KiB is in front of each frame of a stack, as long as that is 16 MiB together. */
static void test_repeated(void **state)
{
	static const struct { size_t before, n; bool repeated; } cases[] = {
		{ 0, 3, true }, { 4095, 3, true }, { 4096, 3, true }, { 4097, 3, false }, { 4096, 4094, true },
		{ 4096, 4095, true }, { 4096, 4096, true }, { 4096, 4097, false }, { 4000, 4193, true },
		{ 4000, 4195, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(callers) / sizeof(*callers); i++)
		callers[i] = (struct markup_caller){ .pc = 0x1000 + i, .exact = true };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char log[5000];
		struct fake_sink got;
		size_t lines, want;

		num_callers = cases[i].n;
		memset(log, 'x', cases[i].before);
		strcpy(log + cases[i].before, "{{{stack:7:pc=0x10:AQID}}} behind\n");
		got = filter(log);
		lines = num_callers + num_callers % 2; /* of an odd number it is said why there are no more */
		want = cases[i].before * (cases[i].repeated ? lines : 1) + num_callers * strlen(FRAME) +
		       num_callers % 2 * strlen(END) + strlen(" behind");
		assert_int_equal(got.out.len, want);
		fake_sink_deinit(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_ahead), cmocka_unit_test(test_blocks), cmocka_unit_test(test_bases),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_long_id), cmocka_unit_test(test_unknown_module),
		cmocka_unit_test(test_repeated),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
