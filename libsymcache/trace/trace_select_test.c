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

/* Of one kind any value will do, of several kinds each must agree. */
static void test_together(void **state)
{
	static const struct {
		int16_t tracepoint;
		struct symtrace_pc pc;
	} frames[] = {
		{ 1, { SYMTRACE_PC_REGISTERS, 0x1000 } }, { 1, { SYMTRACE_PC_TRACEPOINT, 0x1002 } },
		{ 2, { SYMTRACE_PC_REGISTERS, 0x1002 } }, { 2, { SYMTRACE_PC_CUT, 0 } },
		{ 3, { SYMTRACE_PC_REGISTERS, 0x1004 } }, { -3, { SYMTRACE_PC_REGISTERS, 0x1005 } },
		{ 3, { SYMTRACE_PC_REGISTERS, UINT64_MAX } },
	};
	static const struct {
		const char *wanted, *frames;
		uint64_t last;
	} cases[] = {
		{ "", "0123456", 0 },
		{ "f2", "2", 2 },
		{ "f5 f3 f9", "35", 9 },
		{ "f000000000000000000000000000000000000002", "2", 2 },
		{ "t1", "01", 0 },
		{ "t3 t2", "2346", 0 },
		{ "t0", "", 0 },
		{ "t65533", "", 0 },
		{ "p1002", "12", 0 },
		{ "p1000 p0x1005", "05", 0 },
		{ "p0", "", 0 },
		{ "pffffffffffffffff", "6", 0 },
		{ "r1002,1004", "124", 0 },
		{ "r1002,1002", "12", 0 },
		{ "r0,ffffffffffffffff", "012456", 0 },
		{ "r1000,1001 r0x1005,0x1005", "05", 0 },
		{ "t2 p1002", "2", 0 },
		{ "p1002 r1003,1009", "", 0 },
		{ "p1004 r1003,1009", "4", 0 },
		{ "f1 f4 t3", "4", 4 },
		/* Which of them are of the line is asked later: here, that it can be asked. */
		{ "la.c:7", "012456", 0 },
		{ "la.c:7 t2", "2", 0 },
	};
	static const char letters[] = "tfprl";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symtrace_select select = { 0 };
		struct sc_error err;
		char text[100], got[20] = "";

		strcpy(text, cases[i].wanted);
		for (char *value = strtok(text, " "); value; value = strtok(NULL, " "))
			assert_int_equal(symtrace_select_add(&select, (enum symtrace_by)(strchr(letters, *value) - letters),
							     value + 1, &err), 0);
		for (size_t k = 0; k < sizeof(frames) / sizeof(*frames); k++) {
			const struct symtrace_frame frame = { .number = k, .tracepoint = frames[k].tracepoint };

			if (symtrace_select_frame(&select, &frame, frames[k].pc))
				sprintf(got + strlen(got), "%zu", k);
		}
		if (strcmp(got, cases[i].frames) || select.last_frame != cases[i].last)
			fail_msg("%s: %s, the last %" PRIu64, cases[i].wanted, got, select.last_frame);
		assert_int_equal(symtrace_select_any(&select), *cases[i].wanted != 0);
		symtrace_select_deinit(&select);
	}
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
		{ SYMTRACE_BY_PC, "11111111111111111" }, { SYMTRACE_BY_RANGE, ",1" },
		{ SYMTRACE_BY_RANGE, "x,1" }, { SYMTRACE_BY_RANGE, "1,x" }, { SYMTRACE_BY_LINE, "a.c:" },
		{ SYMTRACE_BY_FRAME, "18446744073709551616" }, { SYMTRACE_BY_FRAME, "1 " },
		{ SYMTRACE_BY_FRAME, "0000000000000000000000000000000000000007" }, /* more than 39 digits */
	};
	struct symtrace_select select = { 0 };
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(symtrace_select_add(&select, bad[i].by, bad[i].value, &err),
				 SC_EINVAL);
	assert_false(symtrace_select_any(&select));
	assert_int_equal(symtrace_select_add(&select, SYMTRACE_BY_RANGE, "2,1", &err), SC_EINVAL);
	assert_string_equal(err.msg, "takes two addresses in hex, A,B, the first and the last, not '2,1'");
}

/* Those with the most frames come first, then by file, function and line. */
static void test_order(void **state)
{
	static const struct {
		const char *function, *path;
		uint32_t line;
		unsigned frames;
	} added[] = {
		{ "g", "b.c", 1, 1 }, { "f", "b.c", 9, 1 }, { "f", "b.c", 2, 1 }, { "f", "b.c", 2, 1 },
		{ "g", "a.c", 1, 1 }, { "z", "a.c", 5, 4 }, { "a", "a.c", 6, 3 }, { "f", "b.c", 9, 1 },
		{ "g", "b.c", 0, 0 },
	};
	struct symtrace_summary *s = symtrace_summary_create();
	char got[200] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++) {
		struct symtrace_line *line = symtrace_summary_line(s, added[i].function, added[i].path, added[i].line);

		for (unsigned k = 0; k < added[i].frames; k++)
			symtrace_summary_add(s, &(struct symtrace_frame){ .tracepoint = 1 },
					     (struct symtrace_pc){ SYMTRACE_PC_REGISTERS, 1 }, line);
	}
	symtrace_summary_sort(s);
	for (size_t i = 0; i < s->num_lines; i++)
		sprintf(got + strlen(got), "%" PRIu64 " %s %s:%" PRIu32 "\n", s->lines[i]->frames, s->lines[i]->function,
			s->lines[i]->path, s->lines[i]->line);
	assert_string_equal(got, "4 z a.c:5\n3 a a.c:6\n2 f b.c:2\n2 f b.c:9\n1 g a.c:1\n1 g b.c:1\n0 g b.c:0\n");
	symtrace_summary_destroy(s);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection), cmocka_unit_test(test_together),
		cmocka_unit_test(test_lines), cmocka_unit_test(test_bad_selection),
		cmocka_unit_test(test_order), cmocka_unit_test(test_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
