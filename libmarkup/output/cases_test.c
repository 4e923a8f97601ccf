/*
 * A log with every element and rule, in each form of output, against what is known to be right:
 * testdata/logs/elements.log, and testdata/markup with what becomes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

static void test_forms(void **state)
{
	static const char *const own[] = { "prog", NULL };
	static const struct { const char *name; struct markup_options options; } cases[] = {
		{ "default", { .dialect = MARKUP_DEFAULT } },
		{ "color", { .dialect = MARKUP_DEFAULT, .color = MARKUP_COLOR_ON, .own = own } },
		{ "llvm", { .dialect = MARKUP_LLVM } },
		{ "llvm-color", { .dialect = MARKUP_LLVM, .color = MARKUP_COLOR_ON } },
		{ "llvm-innermost", { .dialect = MARKUP_LLVM, .pc_innermost = true } },
		{ "fuchsia", { .dialect = MARKUP_FUCHSIA } },
		{ "json", { .dialect = MARKUP_DEFAULT, .format = MARKUP_JSON } },
		{ "json-named", { .dialect = MARKUP_DEFAULT, .format = MARKUP_JSON, .name_inputs = true } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_case(&cases[i].options, "elements", cases[i].name);
}

/* The same of other logs, whose frames have names of all kinds, and sources. */
static void test_logs(void **state)
{
	static const struct {
		const char *log, *name;
		bool sources;
		struct markup_options options;
	} cases[] = {
		{ "page", "json", true, { .format = MARKUP_JSON, .collect_dumpfiles = true } },
		{ "page", "llvm", true, { .dialect = MARKUP_LLVM } },
		{ "page", "llvm-color", false, { .dialect = MARKUP_LLVM, .color = MARKUP_COLOR_ON } },
		{ "page", "fuchsia", true, { .dialect = MARKUP_FUCHSIA, .collect_dumpfiles = true } },
		{ "every-format", "json-found", false, { .format = MARKUP_JSON } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct markup_resolver resolver = case_resolver(cases[i].sources);

		expect_case_of(&resolver, &cases[i].options, cases[i].log, cases[i].name);
	}
}

/* Elements behind each state that the codes of a log can leave, which goes on behind them; ESC is shown
 * as "^". */
static void test_colours(void **state)
{
	static const struct markup_options forms[] = {
		{ .dialect = MARKUP_DEFAULT, .color = MARKUP_COLOR_ON }, { .dialect = MARKUP_LLVM, .color = MARKUP_COLOR_ON },
		{ .dialect = MARKUP_FUCHSIA, .color = MARKUP_COLOR_ON },
	};
	struct fake_text log = { 0 }, all = { 0 };
	char line[300];

	(void)state;
	fake_append(&log, line, (size_t)sprintf(line, "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0}}}\n"));
	for (int i = 0; i < 4 * 9; i++) {
		const int n = i % 9 < 8 ? sprintf(line, "\033[3%dm", i % 9) : 0;
		const char *const bold[] = { "", "\033[1m", "\033[1m\033[m", "\033[1m\033[0m" };

		strcpy(line + n, bold[i / 9]);
		strcat(line, "a {{{symbol:_Z1fv}}} b {{{bt:0:0x11200:pc}}} {{{pc:0x99}}} {{{hexdict:A: 0x11200}}} {{{bt:x}}} c\n");
		fake_append(&log, line, strlen(line));
	}
	/* Behind what spans lines goes the line that it began in. */
	fake_append(&log, line, (size_t)sprintf(line, "\033[31mp {{{module:1:b:elf:bb}}} {{{hexdict:A: 0x10\nB: 0x20}}} \n"
		    "\033[32mq {{{hexdict:A: 0x11200\nB: 0x2}}} {{{symbol:_Z1fv}}} x {{{hexdict:C: 0x11200}}}\nplain\n"));
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct fake_text got = { 0 };

		run_case(&forms[i], &fake_resolver, &log, 1 << 20, &got);
		fake_append(&all, got.buf, got.len);
		free(got.buf);
	}
	for (char *p = all.buf; (p = strchr(p, '\033')); p++)
		*p = '^';
	record("elements.states", &all);
	expect_recorded("elements.states", &all, "behind codes of colours");
	free(log.buf);
	free(all.buf);
}

static void test_groups(void **state)
{
	static const char *const logs[] = { "elements", "page", "every-format", "crash", "page", "neighbours", NULL };

	(void)state;
	expect_groups("groups.txt", MARKUP_TEXT_OUT, false, logs, NULL, NULL);
	expect_groups("groups.color", MARKUP_TEXT_OUT, true, logs, NULL, NULL);
	expect_groups("groups.json", MARKUP_JSON, false, logs, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms), cmocka_unit_test(test_logs), cmocka_unit_test(test_colours),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
