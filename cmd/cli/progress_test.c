/* The progress line, as a terminal gets it: a pseudo-terminal for standard error, and a clock of ours. */
#include "cmd/cli/progress.h"

#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int terminal, its_end, stderr_before;
static uint64_t clock_ms = 1000;

/* In place of libc's: what is tested measures with it. */
int clock_gettime(clockid_t which, struct timespec *t)
{
	(void)which;
	*t = (struct timespec){ (time_t)(clock_ms / 1000), (long)(clock_ms % 1000) * 1000000 };
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	stderr_before = dup(STDERR_FILENO);
	return openpty(&terminal, &its_end, NULL, NULL, NULL) || setvbuf(stderr, NULL, _IONBF, 0);
}

/* From here to got() standard error is the terminal. */
static void on(void)
{
	dup2(its_end, STDERR_FILENO);
}

static void set_columns(unsigned short columns)
{
	assert_int_equal(ioctl(its_end, TIOCSWINSZ, &(struct winsize){ .ws_col = columns }), 0);
}

/* What the terminal got up to now; a mark ends it. */
static const char *got(void)
{
	static char text[4096];
	size_t len = 0;

	fputs("\004", stderr);
	while (!len || text[len - 1] != '\004')
		assert_int_equal(read(terminal, text + len++, 1), 1);
	text[len - 1] = 0;
	dup2(stderr_before, STDERR_FILENO);
	return text;
}

static void test_lines(void **state)
{
	static const struct {
		enum progress_unit unit;
		unsigned short columns;
		uint64_t ms, done, total; /* since it began */
		const char *item, *line;
	} cases[] = {
		{ PROGRESS_ITEMS, 80, 0, 0, 0, NULL, "v 0 " },
		{ PROGRESS_ITEMS, 80, 0, 7, 0, "a.so", "v 7 a.so" },
		{ PROGRESS_ITEMS, 80, 0, 1, 2, "a.so", "v [############............] 1/2 a.so" },
		{ PROGRESS_ITEMS, 80, 0, 9, 8, NULL, "v [########################] 8/8 " },
		{ PROGRESS_ITEMS, 80, 999, 4, 8, NULL, "v [############............] 4/8 " },
		{ PROGRESS_ITEMS, 80, 2000, 4, 8, NULL, "v [############............] 4/8, 2/s, 3 s left " },
		{ PROGRESS_ITEMS, 80, 600000, 4, 8, NULL, "v [############............] 4/8, 0/s, 10 min left " },
		/* Of the first files nothing follows for the others. */
		{ PROGRESS_ITEMS, 80, 2000, 1, 1000, NULL, "v [........................] 1/1000, 0/s " },
		{ PROGRESS_ITEMS, 80, 2000, 20, 1000, NULL, "v [........................] 20/1000, 10/s, 99 s left " },
		{ PROGRESS_ITEMS, 80, 30000, 1, 1000, NULL, "v [........................] 1/1000, 0/s, 499 min left " },
		{ PROGRESS_ITEMS, 80, 2000, 8, 8, NULL, "v [########################] 8/8, 4/s " },
		{ PROGRESS_ITEMS, 80, 2000, 0, 8, NULL, "v [........................] 0/8 " },
		{ PROGRESS_BYTES, 80, 0, 999, 0, NULL, "v 999 B " },
		{ PROGRESS_BYTES, 80, 0, 1000, 1234567, NULL, "v [........................] 1.0 KB/1.2 MB " },
		{ PROGRESS_BYTES, 80, 0, 99900, 0, NULL, "v 99.9 KB " },
		{ PROGRESS_BYTES, 80, 0, 100000, 0, NULL, "v 100 KB " },
		{ PROGRESS_BYTES, 80, 0, 5000000000000000000, 0, NULL, "v 5000 PB " },
		/* A name is cut at its beginning, a line where the terminal ends. */
		{ PROGRESS_ITEMS, 20, 0, 1, 0, "0123456789abcde", "v 1 0123456789abcde" },
		{ PROGRESS_ITEMS, 20, 0, 1, 0, "0123456789abcdef", "v 1 ...456789abcdef" },
		{ PROGRESS_ITEMS, 36, 0, 1, 0, "0123456789abcdef0123456789abcdef", "v 1 ...456789abcdef0123456789abcdef" },
		{ PROGRESS_ITEMS, 20, 0, 1, 2, "a.so", "v [############...." },
		{ PROGRESS_ITEMS, 34, 0, 1, 2, "a.so", "v [############............] 1/2 " },
		{ PROGRESS_ITEMS, 5, 0, 1, 0, "narrower than any: 80 columns", "v 1 narrower than any: 80 columns" },
		{ PROGRESS_ITEMS, 80, 0, 1, 0, "\033[31mred\n", "v 1 \\x1b[31mred\\x0a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[256];

		set_columns(cases[i].columns);
		on();
		progress_begin("", PROGRESS_ITEMS, false); /* of another kind: it begins anew */
		progress_begin("v", cases[i].unit, false);
		clock_ms += cases[i].ms;
		progress_update(NULL, cases[i].done, cases[i].total, cases[i].item);
		snprintf(want, sizeof(want), "\r%s\033[K", cases[i].line);
		assert_string_equal(got(), want);
		on();
		progress_erase();
		assert_string_equal(got(), "\r\033[K");
		on();
		progress_erase(); /* nothing is there */
		assert_string_equal(got(), "");
	}
}

/* Ten times a second at most; what goes on under its name goes on. */
static void test_pace(void **state)
{
	(void)state;
	set_columns(80);
	on();
	progress_begin("", PROGRESS_ITEMS, false);
	progress_begin("v", PROGRESS_ITEMS, false);
	progress_update(NULL, 1, 0, NULL);
	assert_string_equal(got(), "\rv 1 \033[K");
	clock_ms += 99;
	on();
	progress_update(NULL, 2, 0, NULL);
	assert_string_equal(got(), "");
	on();
	progress_begin("v", PROGRESS_ITEMS, false);
	progress_update(NULL, 3, 0, NULL);
	assert_string_equal(got(), "");
	clock_ms++;
	on();
	progress_update(NULL, 4, 0, NULL);
	assert_string_equal(got(), "\rv 4 \033[K");
	on();
	progress_begin("w", PROGRESS_ITEMS, false); /* what was there goes */
	progress_update(NULL, 5, 0, NULL);
	assert_string_equal(got(), "\r\033[K\rw 5 \033[K");
	on();
	progress_begin("x", PROGRESS_ITEMS, true);
	progress_update(NULL, 6, 0, NULL);
	assert_string_equal(got(), "\r\033[K");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_pace),
	};

	return cmocka_run_group_tests_name("progress", tests, set_up, NULL);
}
