/* How far a trace is looked at: for a line that says where a module begins, and for the text that
 * stands before the frames of a stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

static void *any_module(void *ctx, struct markup_module *m, const char **why)
{
	static char any;

	(void)ctx, (void)m, (void)why;
	return &any;
}

/* Only offsets in a module are known. */
static bool place(void *ctx, void *module, struct markup_place *p, uint64_t *vaddr)
{
	(void)ctx, (void)module;
	*vaddr = p->offset;
	return p->origin == MARKUP_FROM_ZERO || p->origin == MARKUP_FROM_LOAD_BASE;
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

#define FRAME "    #0    0x0000000000001000 is not in any module\n"
#define END   "the stack ends here: for a reason\n"

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
		cmocka_unit_test(test_lines_ahead), cmocka_unit_test(test_repeated),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
