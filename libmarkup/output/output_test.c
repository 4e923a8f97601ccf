/* How lines end, and what is said of bad elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/output/output.h"
#include "libmarkup/testing.h"

static void test_newline(void **state)
{
	static const struct { const char *line, *newline; } cases[] = {
		{ "", "\n" }, { "\n", "\n" }, { "\r\n", "\r\n" }, { "\r", "\r\n" }, { "a", "\n" },
		{ "a\n", "\n" }, { "a\r\n", "\r\n" }, { "a\r", "\r\n" }, { "a\rb", "\n" }, { "a\rb\n", "\n" },
		{ "a\r\r", "\r\n" }, { "\n\n", "\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(mk_newline_of(cases[i].line, strlen(cases[i].line)), cases[i].newline);
}

static void shorten(char *text, size_t max)
{
	if (strlen(text) > max)
		strcpy(text + max - 3, "...");
}

/* What is long is shortened, the message and the element, each for itself. */
static void test_complaint(void **state)
{
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	char value[600], log[800], element[700], said[700], want[1500];
	struct fake_sink got;

	(void)state;
	for (size_t len = 1; len < 300; len++) {
		memset(value, 'a', len);
		value[len] = 0;
		sprintf(element, "{{{bt:%s:0x1}}}", value);
		sprintf(log, "%s\n", element);
		sprintf(said, "expected frame number; found '%s'", value);
		shorten(element, 160);
		shorten(said, 256);
		sprintf(want, "log:1: %s: %s\n", said, element);
		assert_int_equal(fake_filter(&options, log, strlen(log), 1000, &got), 0);
		assert_string_equal(got.err.buf, want);
		fake_sink_deinit(&got);
	}
}

/* Maps of one address, which hold nothing, stand in their order. */
static void test_maps(void **state)
{
	static const char log[] = "{{{module:0:a:elf:aa}}}\n{{{mmap:0x2000:0:load:0:rw:0}}}\n"
				  "{{{mmap:0x2000:0:load:0:r:0}}}\n{{{mmap:0x1000:0x10:load:0:rx:0}}}\n";
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	struct fake_sink got;

	(void)state;
	assert_int_equal(fake_filter(&options, log, strlen(log), 1000, &got), 0);
	assert_string_equal(got.out.buf, "[[[ELF module #0x0 \"a\"; BuildID=aa "
			    "[0x1000-0x100f](rx),[0x2000-0x1fff](rw),[0x2000-0x1fff](r)]]]\n");
	fake_sink_deinit(&got);
}

/* Codes of colours, also at the end of the last line; others are text. */
static void test_codes(void **state)
{
	static const struct { const char *line, *ours, *llvm; } cases[] = {
		{ "a\033[31m", "a", "a" }, { "a\033[0m", "a", "a" }, { "a\033[1m", "a", "a" }, { "a\033[m", "a", "a\033[m" },
		{ "a\033[3m", "a\033[3m", "a\033[3m" }, { "a\033[38m", "a\033[38m", "a\033[38m" }, { "a\033[30mb", "ab", "ab" },
		{ "\033\033[37mb", "\033b", "\033b" }, { "\033[\033[1mb", "\033[b", "\033[b" }, { "a\033", "a\033", "a\033" },
		{ "a\033[", "a\033[", "a\033[" }, { "a\033[0", "a\033[0", "a\033[0" }, { "a\033[31", "a\033[31", "a\033[31" },
		{ "a\033(31m", "a\033(31m", "a\033(31m" }, { "a\033[2m", "a\033[2m", "a\033[2m" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int llvm = 0; llvm < 2; llvm++) {
			const struct markup_options options = {
				.color = MARKUP_COLOR_STRIP, .dialect = llvm ? MARKUP_LLVM : MARKUP_DEFAULT,
			};
			struct fake_sink got;

			assert_int_equal(fake_filter(&options, cases[i].line, strlen(cases[i].line), 100, &got), 0);
			if (got.out.len && got.out.buf[got.out.len - 1] == '\n') /* LLVM's ends all lines */
				got.out.buf[got.out.len - 1] = 0;
			assert_string_equal(got.out.buf, llvm ? cases[i].llvm : cases[i].ours);
			fake_sink_deinit(&got);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newline), cmocka_unit_test(test_complaint), cmocka_unit_test(test_maps),
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
