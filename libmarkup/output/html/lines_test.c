/* Colours of a log in its page: what a terminal shows bold or coloured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

static const struct {
	const char *line, *html;
} cases[] = {
	{ "a \033[1mb\033[0m c", ">a <span class=\"bo\">b</span> c\n" },
	{ "a \033[31mb\033[0m c", ">a <span class=\"c1\">b</span> c\n" },
	{ "\033[1m\033[32mb\033[0m", "<span class=\"bo c2\">b</span>\n" },
	{ "\033[30mb\033[0m", "<span class=\"c0\">b</span>\n" },
	{ "{{{bt:0:0x1}}} \033[1mb {{{hexdict:A: 0x1 \033[31mc\nB: 0x2}}}", "<span class=\"bo c1\">c</span>\n" },
	{ "\033[33mto the end", "<span class=\"c3\">to the end</span>\n" },
	{ "\033[0mnothing", ">nothing\n" },
	{ "a\033[2Kb & <c>", ">a\xe2\x90\x9b[2Kb &amp; &lt;c&gt;\n" },
};

static void test_lines(void **state)
{
	const struct markup_options options = { .format = MARKUP_HTML };
	struct fake_sink got;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[100];
		const int len = snprintf(text, sizeof(text), "%s\nnext\n", cases[i].line);

		assert_int_equal(fake_filter(&options, text, (size_t)len, 1000, &got), 0);
		if (!strstr(got.out.buf, cases[i].html))
			fail_msg("%s\nis not in\n%s", cases[i].html, strstr(got.out.buf, "<li>"));
		if (!strstr(got.out.buf, "\n<li>next\n")) /* no colour goes on */
			fail_msg("%s", strstr(got.out.buf, "<li>"));
		fake_sink_deinit(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines) };

	return cmocka_run_group_tests_name("html lines", tests, NULL, NULL);
}
