/*
 * Lines whose names, numbers and addresses are as long or as large as may be, and one more, and what
 * the formats find in them, against what is known to be right: testdata/markup/lines.txt. And lines
 * against patterns of single values (match.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"
#include "libmarkup/input/match.h"
#include "libmarkup/input/testing.h"

#define ID20 "3b43fad5c0c38faed8b0a5d27d6bcb9e33b5ffab"

/* '~' is a filler of so many times this byte. */
static const struct { const char *line; char filler; unsigned lengths[6]; } lines[] = {
	/* The kernel's. */
	{ " ~+0x1/0x2", 'f', { 511, 512, 513 } },
	{ " 7~+0x1/0x2", 'f', { 510, 511, 512 } },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6~ #1", '.', { 1, 62, 63, 64 } },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1 ~", 'a', { 1, 30, 31, 32, 33, 34 } },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #~x", '9', { 1, 2 } },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #~", '0', { 0, 1 } },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6/1.0 #~", '0', { 1 } },
	{ "CPU: 1 PID: 42 Comm: d Not tainted~#1", ' ', { 1, 2 } },
	{ " f+0x~/0x1 g+0x1/0x2", '1', { 1, 2, 16, 17 } },
	{ " f+0x1/0x~ g+0x1/0x2", '1', { 1, 16, 17 } },
	{ " f+0x~+0x1/0x2", '1', { 0, 1 } },
	{ " +0x~+0x1/0x2", '0', { 0, 1, 2 } },
	{ " f\\~a+0x1/0x2", 'n', { 0, 1, 2 } },
	{ " f\\~a+0x1/0x2", 't', { 1 } },
	{ " f\\~a+0x1/0x2", 'u', { 1 } },
	{ "~: f+0x1/0x2", 'f', { 1 } },
	{ "epc ~ f+0x1/0x2", ':', { 0, 1, 2 } },
	/* Of a program that crashed. */
	{ "a[77]: segfault at 10 ip 100~ sp 7f error 6 in crash[1000+1000]", '0', { 0, 1 } },
	{ "a[77]: segfault at 10 ip 1fff~ sp 7f error 6 in crash[1000+1000]", '0', { 0 } },
	{ "a[77]: segfault at 10 ip 2000~ sp 7f error 6 in crash[1000+1000]", '0', { 0 } },
	{ "a[77]: segfault at 10 ip fff~ sp 7f error 6 in crash[1000+1000]", '0', { 0 } },
	{ "a[77]: segfault at 10 ip 1001 sp 7f error 6 in ~[1000+1000]", 'c', { 0, 1, 2 } },
	{ "a[77]: segfault at 10 ip 1001 sp 7f error 6 in c[~,1000+1000]", '3', { 0, 1, 16, 17 } },
	{ "a[77]: segfault at 10 ip 1001 sp 7f error 6 in c[1000+~]", '3', { 0, 1, 16, 17 } },
	{ "traps: a[77] general protection ip~ 1001 sp:7f error:0 in c[1000+1000]", ':', { 0, 1 } },
	{ "traps: a[77] general protection ip:~1001 sp:7f error:0 in c[1000+1000]", ' ', { 0, 1 } },
	{ "a[77]: segfault at 10 ip~:1001 in c[1000+1000]", 'x', { 0, 1 } },
	/* Tables. */
	{ "0-1~ r-xp 0 fe:00 77 /opt/a", '0', { 1, 2, 3, 4, 5, 16 } },
	{ "7f10-8f10 r-xp ~ fe:00 77 /opt/a", '1', { 0, 1, 16, 17 } },
	{ "7f10-8f10 r-xp 0 fe:00 ~ /opt/a", '9', { 0, 1, 20, 30 } },
	{ "0x7f10  0x8f10  0x1000  0x2000  r~xp", '-', { 1 } },
	{ "0x7f10  0x8f10  0x1000  0x2000  r-xp~", ' ', { 1, 2 } },
	{ "0x7f10  0x8f10  0x1000  0x2000  r-xp~/a", ' ', { 0, 1, 2 } },
	{ "[  0] ~ 0x7f10 /opt/a", 'A', { 14, 15, 16, 17, 18, 39 } },
	{ "[  0] ~ 0x7f10 /opt/a", 'A', { 40, 41, 42, 62, 64, 66 } },
	{ "[ ~] 6BBE35ABDD386A1A 0x7f10 /opt/a", '1', { 0, 1, 9, 10 } },
	{ "0x7f10+0x~ " ID20 "@0x7f20 /opt/a", '1', { 0, 1, 15, 16, 17 } },
	{ "0xffffffffffffff00+0x~ " ID20 "@0x7f20 /opt/a", 'f', { 1, 2, 3 } },
	{ "Address mapping: 7f10-7f1~ /opt/a", '0', { 0, 1, 2 } },
	{ "Address mapping: 7f1~-8f10 /opt/a", '0', { 0, 1, 2 } },
	/* MongoDB's. */
	{ "{\"frame\":{\"a\":\"1~22\",\"b\":\"10000\",\"o\":\"22\"}}", '0', { 1, 2, 3 } },
	{ "{\"frame\":{\"a\":\"10022\",\"b\":\"10000\",\"o\":\"2~\"}}", '2', { 0, 1, 2 } },
	{ "{\"somap\":[{\"b\":\"1000\",\"path\":\"~\",\"buildId\":\"aa\"}]}", 'p', { 0, 1, 2 } },
	{ "{\"somap\":[{\"b\":\"1000\",\"path\":\"a~b\",\"buildId\":\"aa\"}]}", '\\', { 0, 1 } },
	{ "{\"somap\":[{\"b\":\"1000\",\"path\":\"a\",\"buildId\":\"~\"},{\"b\":\"2000\",\"path\":\"c\",\"buildId\":\"bb\"}]}", 'a', { 0, 1, 2, 3 } },
	{ "{\"somap\":[{\"b\":\"1000\",\"path\":\"a\"~,\"buildId\":\"aa\"", '}', { 0, 1 } },
	/* Rows of patterns: addresses too low for one, offsets too large, names that are numbers. */
	{ "[0x~]", 'f', { 1, 2, 3, 4, 8, 9 } },
	{ "[0x1~]", '0', { 2, 3, 4 } },
	{ "/opt/a(+0x~) [0x1000]", 'f', { 1, 9, 10, 11, 16, 17 } },
	{ "/opt/a(+0x1~) [0x1000]", '0', { 9, 10 } },
	{ "C  [1~+0x1193]", '1', { 0, 1 } },
	{ "C  [a~+0x1193]", '1', { 0, 1 } },
	{ "#1 0x1193 in f (/opt/~+0x1193)", 'a', { 1, 1018, 1019, 1020 } },
	{ "#1 0x1193 in ~ (/opt/a+0x1193)", 'f', { 1, 4000, 4094, 4095, 4096, 4097 } },
	{ "#~ 0x1193 in f (/opt/a+0x1193)", '1', { 0, 1, 18, 19 } },
	{ "12 frames~@ 0x1000", ' ', { 1, 3 } },
	/* Elements. */
	{ "{{{module:0~:elf:aa}}} {{{mmap:0:0:load:0:r:0}}}", ':', { 0, 1, 2, 3 } },
	{ "{{{module:0:a:elf:a~}}}", 'a', { 0, 1, 2, 511 } },
	{ "{{{bt:~:0x1}}}", '9', { 1, 19, 20 } },
	{ "{{{bt:0:0x~}}}", 'f', { 0, 1, 16, 17 } },
	{ "{{{pc:0x0~}}}", '0', { 15, 16, 100 } },
	{ "{{{pc:~}}}", '0', { 0, 1, 100 } },
	{ "{{{reset~}}} {{{hexdict:", ':', { 0, 1 } },
	{ "~reset}}}", '{', { 2, 3, 4, 5, 6, 7 } },
	{ "{{{reset~", '}', { 2, 3, 4 } },
};

static void make_line(char *to, const char *line, char filler, unsigned n)
{
	const char *mark = strchr(line, '~');

	to = mempcpy(to, line, (size_t)(mark - line));
	memset(to, filler, n);
	strcpy(to + n, mark + 1);
}

static void test_lines(void **state)
{
	struct mk_line l = { .part = MK_LINE_WHOLE, .newline = "\n" };
	struct fake_text got = { 0 };
	char line[6000], *text;
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		fake_append(&got, "== ", 3);
		fake_append(&got, lines[i].line, strlen(lines[i].line));
		fake_append(&got, "\n", 1);
		for (size_t k = 0; k < 6 && (!k || lines[i].lengths[k]); k++) {
			FILE *to = open_memstream(&text, &size);
			char *copy; /* for sanitizers: nothing is read behind it */

			make_line(line, lines[i].line, lines[i].filler, lines[i].lengths[k]);
			l.len = strlen(line);
			l.p = copy = malloc(l.len + 1);
			memcpy(copy, line, l.len);
			fprintf(to, "%u of %c:\n", lines[i].lengths[k], lines[i].filler);
			put_line(to, &l, l.p + l.len);
			fclose(to);
			fake_append(&got, text, size);
			if (got.buf[got.len - 1] != '\n')
				fake_append(&got, "\n", 1);
			free(copy);
			free(text);
		}
	}
	free(l.events);
	record("lines.txt", &got);
	expect_recorded("lines.txt", &got, "as they are");
	free(got.buf);
}

/* A value, and where what fits ends (-1: nothing does, and nothing moves). */
static void test_numbers(void **state)
{
	static const struct { const char *pattern, *text; int end; uint64_t number; } cases[] = {
		{ "a%d,", "a12,x", 4, 12 }, { "%d", "999999999", 9, 999999999 }, { "%d", "1234567890", -1, 0 },
		{ "%d", "", -1, 0 }, { "%d", "a", -1, 0 }, { "a%d,", "a12", -1, 0 }, { "a%d,", "b12,", -1, 0 },
		{ "0x%x", "0x1fG", 4, 0x1f }, { "%x", "0123456789abcdef", 16, 0x123456789abcdef },
		{ "%x", "0123456789abcdef0", -1, 0 }, { "%x", "ABCDEF", 6, 0xabcdef }, { "%x", "g", -1, 0 },
		{ "%_%d", "   7", 4, 7 }, { "%_%d", "7", 1, 7 }, { "%_%d", "\t7", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *p = cases[i].text;
		uint64_t number = 0;

		assert_int_equal(mk_match(&p, p + strlen(p), cases[i].pattern, &number), cases[i].end >= 0);
		assert_int_equal(p - cases[i].text, cases[i].end < 0 ? 0 : cases[i].end);
		if (cases[i].end >= 0)
			assert_int_equal(number, cases[i].number);
	}
}

static void test_texts(void **state)
{
	static const struct { const char *pattern, *text; int end; const char *found; } cases[] = {
		{ "%b.", "aabb.", 5, "aabb" }, { "%b.", "aab.", -1, "" }, { "%b.", ".", -1, "" },
		{ "%b", "aAg", 2, "aA" }, { "%s:x", "ab:x", 4, "ab" }, { "%s:x", ":x", 2, "" },
		{ "%s:x", "ab", -1, "" }, { "%s:x", "ab:y", -1, "" }, { "%s:x", "a:b:x", -1, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *p = cases[i].text;
		struct sc_str found = { NULL, 0 };

		assert_int_equal(mk_match(&p, p + strlen(p), cases[i].pattern, &found), cases[i].end >= 0);
		assert_int_equal(p - cases[i].text, cases[i].end < 0 ? 0 : cases[i].end);
		if (cases[i].end < 0)
			continue;
		assert_int_equal(found.len, strlen(cases[i].found));
		assert_memory_equal(found.ptr, cases[i].found, found.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines), cmocka_unit_test(test_numbers), cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
