/*
 * What lines cost that are as long as lines get: each sample of frames_samples.h, and its parts,
 * over and over. Where the processor counts instructions they are compared, else its time.
 *
 * 200 ns a byte are about 600 instructions. VERBOSE=1 shows the worst. What is cheap because it is
 * given up is not what was meant: all frames of a long line are found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <cmocka.h>

#include "libmarkup/input/frames.h"
#include "libmarkup/input/frames_samples.h"

enum {
	LEN = 64 << 10, LONG = 4 << 20,
	INSTRUCTIONS = 600, /* a byte */
#ifdef __SANITIZE_THREAD__
	NS = 4000,
#else
	NS = 1000, /* of slow machines, with other sanitizers */
#endif
};

static const struct mk_input *const inputs[] = { &mk_frames_input, &mk_any_input };
static int counter = -1;
static char *line;
static double worst;
static char worst_piece[256];

static uint64_t now(void)
{
	struct timespec t;
	uint64_t n;

	if (counter >= 0 && read(counter, &n, sizeof(n)) == sizeof(n))
		return n;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What a byte of a line costs that has the piece all over. */
static double cost(const char *piece, size_t len, size_t line_len)
{
	struct mk_line l = { .p = line, .len = line_len, .part = MK_LINE_WHOLE, .newline = "\n" };
	uint64_t begin;
	double n;

	for (size_t at = 0; at < line_len; at += len)
		memcpy(line + at, piece, len < line_len - at ? len : line_len - at);
	begin = now();
	for (size_t k = 0; k < 2; k++)
		mk_read_line(inputs[k], &l);
	n = (double)(now() - begin) / (double)line_len;
	free(l.events);
	return n;
}

static void check(const char *piece, size_t len, size_t line_len)
{
	const double n = cost(piece, len, line_len);

	if (n > worst && line_len == LEN) {
		worst = n;
		snprintf(worst_piece, sizeof(worst_piece), "%.*s", (int)len, piece);
	}
	if (getenv("VERBOSE") && n > 150)
		printf("%6.0f a byte: %.*s\n", n, (int)len, piece);
	if (n > (counter >= 0 ? INSTRUCTIONS : NS))
		fail_msg("%.0f %s a byte: %.*s", n, counter >= 0 ? "instructions" : "ns", (int)len,
			 piece);
}

/* Whole, without its end, without its beginning, and the parts of it. */
static void check_parts(const char *text)
{
	const size_t len = strlen(text), third = len / 3;

	check(text, len, LEN);
	if (third < 2)
		return;
	check(text, len - 1, LEN);
	check(text + 1, len - 1, LEN);
	for (size_t i = 0; i < 3; i++)
		check(text + i * third, third, LEN);
	check(text, 2 * third, LEN);
	check(text + third, len - third, LEN);
}

static void test_lines(void **state)
{
	static const char *const more[] = {
		"frame #1: ", "#1 0x", " 0x1", "[0x1", "+0x", "(+0x1", "#1: (", "a+0x1", "((((", " + 0x1",
		"pc 1 (", "\", at +", "Host Frame:", " 0x1 in ", "0x0000000000000001 ", ") (", "\033[1m",
		"#1 0x1 in f (/", "1. f ", "@ 0x1 in ", "Module a|", "\\n", "#012", "C  [", " (/a", "a b ",
	};

	(void)state;
	for (size_t i = 0; i < NUM_FRAME_SAMPLES; i++)
		check_parts(frame_samples[i].line);
	for (size_t i = 0; i < NUM_OTHER_SAMPLES; i++)
		check_parts(other_samples[i]);
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		check(more[i], strlen(more[i]), LEN);
}

/* The worst of them once more: what a byte costs does not grow with the line. */
static void test_longest(void **state)
{
	char piece[sizeof(worst_piece)];

	(void)state;
	if (worst > (counter >= 0 ? INSTRUCTIONS : NS))
		skip(); /* that is long */
	memcpy(piece, worst_piece, sizeof(piece));
	check(piece, strlen(piece), LONG);
}

/* How many events a line has. */
static size_t count(const char *text, size_t len)
{
	struct mk_line l = { .p = text, .len = len, .part = MK_LINE_WHOLE, .newline = "\n" };

	for (size_t k = 0; k < 2 && !l.num_events; k++)
		mk_read_line(inputs[k], &l);
	free(l.events);
	return l.num_events;
}

/* A string of JSON with a sample a thousand times: all are found. */
static void test_many(void **state)
{
	enum { TIMES = 1000 };

	(void)state;
	for (size_t i = 0; i < NUM_FRAME_SAMPLES; i++) {
		const char *text = frame_samples[i].line;
		const size_t len = strlen(text);
		char *p = line;

		if (strchr(text, '"'))
			continue;
		for (int k = 0; k < TIMES; k++)
			p = mempcpy(mempcpy(p, text, len), "\\n", 2);
		if (count(line, (size_t)(p - line)) != count(text, len) * TIMES)
			fail_msg("%zu of %zu: %s", count(line, (size_t)(p - line)),
				 count(text, len) * TIMES, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_many),
	};
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
					.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
					.exclude_hv = 1 };
	int failed;

	counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	line = malloc(LONG);
	if (!line)
		return 1;
	failed = cmocka_run_group_tests_name("frames_cost", tests, NULL, NULL);
	free(line);
	return failed;
}
