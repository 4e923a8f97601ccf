/* Unit tests of man pages: no byte of a text is a request or an escape. */
#include "cmd/cli/opt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/testing.h"
#include "libsymcache/write/build.h"

static void test_command(void **state)
{
	bool yes;
	const char *file;
	const struct opt opts[] = {
		{ "all-of", 'a', OPT_BOOL, &yes, NULL, ".not a request" },
		{ NULL, 'x', OPT_STRING, &file, "A-B", "a \\letter" },
		{ "color", 0, OPT_FLAG, &yes, NULL, "a very long sentence, which is continued in "
		  "another line of the source, as lines of more than eighty bytes are bad style" },
		{ "obj", 0, OPT_STRING, &file, "FILE", NULL },
		{ 0 },
	};
	const struct command cmd = {
		.name = "test", .operands = "[X...]", .summary = "it's a test",
		.description = ".First.\n\n'Second' ~/x^2…", .opts = opts,
		.examples = "  a\n.b `c`\n", .partly = "little", .see_also = "a-b(1) c(5)",
	};
	struct capture capture;
	char wanted[2048];

	(void)state;
	setenv("SOURCE_DATE_EPOCH", "86400", 1);
	capture_begin(&capture, stdout);
	man_command(&cmd, stdout);
	snprintf(wanted, sizeof(wanted),
		".TH SYMCACHE\\-TEST 1 1970-01-02 \"%s\" \"User Commands\"\n"
		".SH NAME\nsymcache\\-test \\- it\\(aqs a test\n"
		".SH SYNOPSIS\n\\fBsymcache test\\fR [\\fIOPTION\\fR...] [X...]\n"
		".SH DESCRIPTION\n\\&.First.\n"
		".PP\n\\(aqSecond\\(aq \\(ti/x\\(ha2\\[u2026]\n"
		".SH OPTIONS\n"
		".TP\n\\fB\\-a\\fR, \\fB\\-\\-[no\\-]all\\-of\\fR\n\\&.not a request\n"
		".TP\n\\fB\\-x\\fR \\fIA\\-B\\fR\na \\eletter\n"
		".TP\n\\fB\\-\\-color\\fR\n"
		"a very long sentence, which is continued in another line of\n"
		"the source, as lines of more than eighty bytes are bad style\n"
		".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nA shorter version of this page.\n"
		".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n"
		"If not empty, no colours, unless \\-\\-color=always asks for\nthem.\n"
		".SH EXIT STATUS\n.TP\n\\fB0\\fR\nDone.\n.TP\n\\fB1\\fR\nLittle.\n"
		".TP\n\\fB2\\fR\nError; the message says which.\n"
		".SH EXAMPLES\n.nf\n  a\n\\&.b \\(gac\\(ga\n.fi\n"
		".SH SEE ALSO\n.BR symcache (1),\n.BR a\\-b (1),\n.BR c (5)\n", symcache_version);
	assert_string_equal(capture_end(&capture), wanted);
}

/* Where options stand below headings, --help has one, too. */
static void test_headings(void **state)
{
	bool yes;
	const struct opt opts[] = { OPT_SECTION("Output"), { "all", 'a', OPT_FLAG, &yes, NULL, "all" }, { 0 } };
	const struct command cmd = { .name = "test", .operands = "", .summary = "a test", .description = "A test.", .opts = opts };
	struct capture capture;

	(void)state;
	capture_begin(&capture, stdout);
	man_command(&cmd, stdout);
	assert_non_null(strstr(capture_end(&capture), ".SS Output\n.TP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\nall\n"
			       ".SS Help\n.TP\n\\fB\\-h\\fR"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command), cmocka_unit_test(test_headings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
