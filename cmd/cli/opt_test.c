/* Unit tests of the option tables. */
#include "cmd/cli/opt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/testing.h"

static struct {
	bool flag, calm, yes;
	const char *file;
	struct opt_list dirs;
	uint64_t offset, count;
	int style, functions;
	struct opt_age age;
	uint64_t size;
} o;

static bool llvm; /* options are read in LLVM's manner */

static const char *const styles[] = { "LLVM", "GNU", "JSON", NULL };
static const char *const functions[] = { "none", "short", "linkage", NULL };

static const struct opt opts[] = {
	{ "flag", 'q', OPT_FLAG, &o.flag, NULL, "a flag" },
	{ "calm", 0, OPT_FLAG, &o.calm, NULL, NULL, .instead = &o.flag },
	{ "yes", 'y', OPT_BOOL, &o.yes, NULL, "a choice of two" },
	{ "file", 'e', OPT_STRING, &o.file, "FILE", "a file" },
	{ "obj", 0, OPT_STRING, &o.file, "FILE", NULL },
	{ "dir", 'd', OPT_LIST, &o.dirs, "DIR", "a list" },
	{ "offset", 0, OPT_NUMBER, &o.offset, "N", "a number" },
	{ "style", 0, OPT_ENUM, &o.style, "STYLE", "one of three", .choices = styles },
	{ "functions", 'f', OPT_ENUM, &o.functions, "KIND", "a value that may lack",
	  .choices = functions, .implied = "linkage" },
	{ "count", 'n', OPT_COUNT, &o.count, "N", NULL },
	{ NULL, 'o', OPT_NUMBER, &o.offset, "N", NULL },
	{ "age", 0, OPT_AGE, &o.age, "AGE", NULL },
	{ "size", 0, OPT_SIZE, &o.size, "SIZE", NULL },
	{ 0 },
};

static const struct command cmd = {
	.name = "test", .operands = "[X...]", .summary = "", .description = "First.\n\nSecond.",
	.opts = opts, .partly = "little",
};

/* Parses the words of `line`; *messages gets what was written to stderr. */
static int parse(const char *line, char ***operands, const char **messages)
{
	static char copy[256], *argv[32];
	static struct capture capture;
	int argc = 0, n;

	free(o.dirs.items);
	memset(&o, 0, sizeof(o));
	snprintf(copy, sizeof(copy), "%s", line);
	argv[argc++] = "test";
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	capture_begin(&capture, stderr);
	errno = ERANGE; /* of something before */
	n = llvm ? opt_parse_llvm(opts, argv) : opt_parse(&cmd, argv);
	capture_end(&capture);
	if (messages)
		*messages = capture.text;
	if (operands)
		*operands = n >= 0 ? argv : NULL;
	return n;
}

static void test_values(void **state)
{
	char **operands;

	(void)state;
	parse("--flag a --file f -d1 --dir=2 b --offset 0x10 --style=gnu -d 3", &operands, NULL);
	assert_true(o.flag);
	assert_string_equal(o.file, "f");
	assert_int_equal(o.dirs.len, 3);
	assert_string_equal(o.dirs.items[0], "1");
	assert_string_equal(o.dirs.items[1], "2");
	assert_string_equal(o.dirs.items[2], "3");
	assert_null(o.dirs.items[3]);
	assert_int_equal(o.offset, 16);
	assert_int_equal(o.style, 1);
	assert_string_equal(operands[0], "a");
	assert_string_equal(operands[1], "b");
	assert_null(operands[2]);
}

static void test_spellings(void **state)
{
	char **operands;

	(void)state;
	parse("-e=x", NULL, NULL);
	assert_string_equal(o.file, "x");
	parse("--obj x --fi y", NULL, NULL);
	assert_string_equal(o.file, "y");
	parse("--yes", NULL, NULL);
	assert_true(o.yes);
	parse("-y --no-yes", NULL, NULL);
	assert_false(o.yes);
	parse("--yes=true", NULL, NULL);
	assert_true(o.yes);
	parse("-y --yes=false", NULL, NULL);
	assert_false(o.yes);
	parse("-f none", &operands, NULL);
	assert_int_equal(o.functions, 2);
	assert_string_equal(operands[0], "none");
	parse("-f=short -- --flag", &operands, NULL);
	assert_int_equal(o.functions, 1);
	assert_string_equal(operands[0], "--flag");
	assert_false(o.flag);
	parse("--functions=none", NULL, NULL);
	assert_int_equal(o.functions, 0);
	parse("--offset=-1", NULL, NULL);
	assert_true(o.offset == UINT64_MAX);
	parse("-n1 --offset 010 - -- -q", &operands, NULL);
	assert_true(o.count == 1 && o.offset == 8 && !o.flag);
	assert_string_equal(operands[0], "-");
	assert_string_equal(operands[1], "-q");
	parse("--flag --calm", NULL, NULL);
	assert_true(o.calm && !o.flag);
	parse("--calm --flag", NULL, NULL);
	assert_true(o.calm && o.flag);
	parse("-qyd 1 -qyd2", NULL, NULL);
	assert_true(o.flag && o.yes && o.dirs.len == 2 && !strcmp(o.dirs.items[0], "1") && !strcmp(o.dirs.items[1], "2"));
	assert_int_equal(parse("-e -q", NULL, NULL), 0); /* a value may look like an option */
	assert_true(!strcmp(o.file, "-q") && !o.flag);
}

/* In LLVM's manner: what is wrong is said in its words, and the rest is read. */
static void test_llvm(void **state)
{
	static const struct { const char *line; int rc; const char *wants; } cases[] = {
		{ "-flag --yes -obj=f a -style=GNU b", 2, "flag yes f 0 1 0 a b | " },
		{ "--yes --no-yes -yes=true -yes=false", 0, "(null) 0 0 0 | " },
		{ "-dir 1 --dir=2 -d=3 -d4", 0, "(null) 4 0 0 | " },
		{ "-f -f=short", 0, "(null) 0 0 1 | " }, { "-functions=none", 0, "(null) 0 0 0 | " },
		{ "-functions=other", 0, "(null) 0 0 2 | " }, { "--style=gnu", 0, "(null) 0 0 0 | " },
		{ "-fx a", OPT_BAD, "(null) 0 0 2 | error: unknown argument '-x'\n" },
		{ "--stile=GNU -q", OPT_BAD, "flag (null) 0 0 0 | error: unknown argument '--stile=GNU', did you mean '--style=GNU'?\n" },
		{ "--no-yess", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--no-yess', did you mean '--no-yes'?\n" },
		{ "--stle=GNU", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--stle=GNU', did you mean '--style=GNU'?\n" },
		{ "--styyle", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--styyle', did you mean '--style'?\n" },
		{ "--no-yess=x", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--no-yess=x', did you mean '--no-yes'?\n" },
		{ "--stxle -z", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--stxle', did you mean '--style'?\nerror: unknown argument '-z'\n" },
		{ "--flag=1 -z", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--flag=1'\nerror: unknown argument '-z'\n" },
		{ "--yes=maybe", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--yes=maybe'\n" },
		{ "--fi x", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--fi'\n" },
		{ "-q --file", OPT_BAD, "flag (null) 0 0 0 | error: --file: missing argument\n" },
		{ "-qe", OPT_BAD, "flag (null) 0 0 0 | error: -e: missing argument\n" },
		{ "--offset=-1", OPT_BAD, "(null) 0 0 0 | --offset=: expected a non-negative integer, but got '-1'" },
		{ "-- a", OPT_BAD, "(null) 0 0 0 | error: unknown argument '--'\n" },
	};

	(void)state;
	llvm = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *messages;
		char **operands, got[400];
		int n;

		n = parse(cases[i].line, &operands, &messages);
		snprintf(got, sizeof(got), "%s%s%s %zu %d %d ", o.flag ? "flag " : "", o.yes ? "yes " : "",
			 o.file ? o.file : "(null)", o.dirs.len, o.style, o.functions);
		for (int k = 0; operands && operands[k]; k++)
			strcat(strcat(got, operands[k]), " ");
		strcat(strcat(got, "| "), messages);
		if (n != cases[i].rc || strcmp(got, cases[i].wants))
			fail_msg("%s: %d %s", cases[i].line, n, got);
	}
	llvm = false;
}

static void test_errors(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "--stile=GNU", "unknown option '--stile': did you mean '--style'?" },
		{ "--wholly-else", "unknown option '--wholly-else'" },
		{ "-z", "unknown option '-z'" },
		{ "-qz", "unknown option '-z'" },
		{ "--f", "'--f' could mean --flag, --file, --functions: write it out" },
		{ "--style", "--style needs a value: STYLE" },
		{ "-e", "--file needs a value: FILE" },
		{ "--flag=1", "--flag takes no value" },
		{ "--style=x", "--style: 'x' is not one of LLVM, GNU, JSON" },
		{ "--yes=maybe", "--yes: 'maybe' is not true or false" },
		{ "--offset=", "--offset: '' is not a number (decimal, 0x... or 0...)" },
		{ "--offset=1x", "--offset: '1x' is not a number (decimal, 0x... or 0...)" },
		{ "--count=0", "--count must be at least 1, not '0'" },
		{ "-n 00", "--count must be at least 1, not '00'" },
		{ "--count=", "--count: '' is not a number (decimal, 0x... or 0...)" },
		{ "--count=0x", "--count: '0x' is not a number (decimal, 0x... or 0...)" },
		{ "-n 99999999999999999999", "--count: '99999999999999999999' is not a number (decimal, 0x... or 0...)" },
		{ "-o x", "-o: 'x' is not a number (decimal, 0x... or 0...)" },
		{ "-o", "-o needs a value: N" }, { "--no-yes=true", "--yes takes no value" },
		{ "--=x", "unknown option '--'" },
		{ "--offset=99999999999999999999",
		  "--offset: '99999999999999999999' is not a number (decimal, 0x... or 0...)" },
	};
	const char *messages;
	char wanted[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(cases[i].line, NULL, &messages), OPT_BAD);
		snprintf(wanted, sizeof(wanted), "symcache: %s\nTry 'symcache test --help'.\n",
			 cases[i].message);
		assert_string_equal(messages, wanted);
	}
}

static void test_scaled(void **state)
{
	static const struct { const char *text; int64_t age; } ages[] = {
		{ "0", 0 }, { "90d", 90 * 86400 }, { "12h", 12 * 3600 }, { "5m", 300 },
		{ "2w", 14 * 86400 }, { "1y", 365 * 86400 }, { "7s", 7 },
		{ "4611686018427387903s", INT64_MAX / 2 }, { "00", 0 }, { "0d", 0 },
	};
	static const struct { const char *text; uint64_t size; } sizes[] = {
		{ "0", 0 }, { "500", 500 }, { "64K", 65536 }, { "3M", 3 << 20 }, { "2G", 2ull << 30 },
		{ "1T", 1ull << 40 }, { "16777215T", 16777215ull << 40 }, { "18446744073709551615", UINT64_MAX },
	};
	static const char no_age[] = "is not a time span", no_size[] = "is not a size",
		age_unit[] = "is not a time span: units are s, m, h, d, w, y",
		size_unit[] = "is not a size: units are K, M, G, T";
	static const struct { const char *text, *age, *size; } bad[] = {
		{ "", no_age, no_size }, { "x", no_age, no_size }, { "-1", no_age, no_size }, { "d", no_age, no_size },
		{ ":", no_age, no_size }, { "99999999999999999999", no_age, no_size }, { "1x", age_unit, size_unit },
		{ "1dd", age_unit, size_unit }, { "0x10", age_unit, size_unit }, { "1.5", age_unit, size_unit },
		{ "1KB", age_unit, size_unit }, { "4611686018427387904s", "is too large for a time span", size_unit },
		{ "99999999999999999y", "is too large for a time span", size_unit },
		{ "16777216T", age_unit, "is too large for a size" },
		{ "90", "has no unit: 90d means days (units: s, m, h, d, w, y)", NULL }, /* days? */
	};
	char wanted[200];
	const char *messages;
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
		snprintf(line, sizeof(line), "--age %s", ages[i].text);
		assert_int_equal(parse(line, NULL, NULL), 0);
		assert_true(o.age.given && o.age.seconds == ages[i].age);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(line, sizeof(line), "--size %s", sizes[i].text);
		assert_int_equal(parse(line, NULL, NULL), 0);
		assert_true(o.size == sizes[i].size);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (int age = 0; age < 2; age++) {
			const char *why = age ? bad[i].age : bad[i].size;

			if (!why)
				continue;
			snprintf(line, sizeof(line), "--%s=%s", age ? "age" : "size", bad[i].text);
			assert_int_equal(parse(line, NULL, &messages), OPT_BAD);
			snprintf(wanted, sizeof(wanted), "symcache: '%s' %s\n", bad[i].text, why);
			assert_string_equal(messages, wanted);
		}
}

static void test_help(void **state)
{
	struct capture capture;

	(void)state;
	capture_begin(&capture, stdout);
	opt_help(&cmd, false, stdout);
	assert_string_equal(capture_end(&capture),
		"usage: symcache test [OPTION...] [X...]\n\n"
		"First.\n\nSecond.\n\n"
		"Exit status: 0 done; 1 little; 2 error.\n\n"
		"Options:\n"
		"  -q, --flag                a flag\n"
		"  -y, --[no-]yes            a choice of two\n"
		"  -e, --file=FILE           a file\n"
		"  -d, --dir=DIR             a list\n"
		"      --offset=N            a number\n"
		"      --style=STYLE         one of three\n"
		"  -f, --functions[=KIND]    a value that may lack\n"
		"  -h, --help                this help\n");
}

static void test_near(void **state)
{
	size_t limit = opt_near("fliter");

	(void)state;
	assert_false(opt_is_near("fliter", "lookup", &limit));
	assert_true(opt_is_near("fliter", "filters", &limit));
	assert_true(opt_is_near("fliter", "filter", &limit));
	assert_false(opt_is_near("fliter", "filters", &limit));
	limit = opt_near("index");
	assert_false(opt_is_near("index", "show", &limit));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_llvm),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
