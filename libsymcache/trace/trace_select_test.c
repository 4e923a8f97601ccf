/*
 * Which frames are chosen, and the counts of a summary: on a recording of a stepping
 * tracepoint in ../shared/data/tfile.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/trace/tfile_testing.h"
#include "libsymcache/trace/trace.h"

static void open_stepping(struct symtrace *t)
{
	const struct symtrace_target target = { 0 };
	struct sc_error err;

	if (symtrace_open(DATA "/real/c04-step.tf", &target, SYMTRACE_ORDER_AUTO, t, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(t->fault.msg, "");
}

static void check_selection(enum symtrace_by by, const char *value, const char *want)
{
	struct symtrace_select select = { 0 };
	struct symtrace t;
	struct symtrace_frames frames;
	struct symtrace_frame frame;
	struct symtrace_error error;
	struct sc_error err;
	char got[400] = "";

	assert_false(symtrace_select_any(&select));
	assert_int_equal(symtrace_select_add(&select, by, value, &err), 0);
	assert_true(symtrace_select_any(&select));
	open_stepping(&t);
	frames = symtrace_frames(&t);
	while (symtrace_next_frame(&frames, &frame, &error) > 0)
		if (symtrace_select_frame(&select, &frame, symtrace_frame_pc(&t, &frame)))
			sprintf(got + strlen(got), "%" PRIu64 " ", frame.number);
	assert_string_equal(got, want);
	symtrace_select_deinit(&select);
	symtrace_close(&t);
}

static void test_selection(void **state)
{
	(void)state;
	NEEDS_DATA();
	check_selection(SYMTRACE_BY_FRAME, "7", "7 ");
	check_selection(SYMTRACE_BY_TRACEPOINT, "3", "0 1 2 3 16 17 18 19 33 34 35 36 ");
	check_selection(SYMTRACE_BY_PC, "401279", "0 16 33 ");
	check_selection(SYMTRACE_BY_PC, "0x40119c", "");
	check_selection(SYMTRACE_BY_RANGE, "401180,401182", "4 20 21 37 ");
}

static void test_lines(void **state)
{
	static const struct { const char *value; bool wanted; } lines[] = {
		{ "prog1.c:50", true }, { "src/prog1.c:50", true },
		{ "/usr/src/tracepoints/src/prog1.c:50", true }, { "/src/prog1.c:50", true },
		{ "rog1.c:50", false }, { "prog1.c:51", false }, { "x/prog1.c:50", false },
		{ "/usr/src/tracepoints/src/prog1.c/x:50", false },
	};
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct symtrace_select select = { 0 };

		assert_int_equal(symtrace_select_add(&select, SYMTRACE_BY_LINE, lines[i].value,
						     &err), 0);
		assert_int_equal(symtrace_select_line(&select,
				 "/usr/src/tracepoints/src/prog1.c", 50), lines[i].wanted);
		symtrace_select_deinit(&select);
	}
}

static void test_bad_selection(void **state)
{
	static const struct { enum symtrace_by by; const char *value; } bad[] = {
		{ SYMTRACE_BY_FRAME, "x" }, { SYMTRACE_BY_FRAME, "" },
		{ SYMTRACE_BY_TRACEPOINT, "-1" }, { SYMTRACE_BY_PC, "0xg" },
		{ SYMTRACE_BY_RANGE, "401180" }, { SYMTRACE_BY_RANGE, "2,1" },
		{ SYMTRACE_BY_RANGE, "1," }, { SYMTRACE_BY_LINE, "prog1.c" },
		{ SYMTRACE_BY_LINE, ":5" }, { SYMTRACE_BY_LINE, "a.c:x" },
		{ SYMTRACE_BY_PC, "11111111111111111" },
	};
	struct symtrace_select select = { 0 };
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(symtrace_select_add(&select, bad[i].by, bad[i].value, &err),
				 SC_EINVAL);
	assert_false(symtrace_select_any(&select));
}

/* Many lines, each counted as often as it was hit. */
static void test_summary(void **state)
{
	struct symtrace_summary *s = symtrace_summary_create();
	const struct symtrace_frame frame = { .tracepoint = -3 };
	const struct symtrace_pc known = { SYMTRACE_PC_REGISTERS, 1 };
	const struct symtrace_pc unknown = { SYMTRACE_PC_CUT, 0 };
	struct symtrace_line *line;
	char name[20];

	(void)state;
	assert_non_null(s);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 1000; i++) {
			if (i % (round + 1))
				continue;
			sprintf(name, "f%d", i / 2);
			line = symtrace_summary_line(s, name, "a.c", (uint32_t)i);
			assert_non_null(line);
			symtrace_summary_add(s, &frame, known, line);
		}
	symtrace_summary_add(s, &frame, unknown, NULL);
	symtrace_summary_sort(s);
	assert_int_equal(s->frames, 1000 + 500 + 334 + 1);
	assert_int_equal(s->by_tracepoint[(uint16_t)-3], s->frames);
	assert_int_equal(s->by_pc[SYMTRACE_PC_CUT], 1);
	assert_int_equal(s->num_lines, 1000);
	assert_int_equal(s->lines[0]->frames, 3);
	assert_string_equal(s->lines[1]->function, "f102"); /* lines 0, 204, … of 0, 6, 12 … */
	assert_int_equal(s->lines[999]->frames, 1);
	symtrace_summary_destroy(s);
}

/* What cannot be shown at all is an error, what breaks off is not. */
static void test_open(void **state)
{
	const struct symtrace_target target = { 0 };
	struct symtrace t;
	struct sc_error err;
	char path[] = "/tmp/trace_select_test.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(symtrace_open("/", &target, SYMTRACE_ORDER_AUTO, &t, &err), SC_EINVAL);
	assert_int_equal(symtrace_open("/dev/null", &target, SYMTRACE_ORDER_AUTO, &t, &err),
			 SC_EINVAL);
	assert_int_equal(symtrace_open("none", &target, SYMTRACE_ORDER_AUTO, &t, &err), SC_ESYS);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bad_selection), cmocka_unit_test(test_summary),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
