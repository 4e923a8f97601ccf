/* Groups of stacks: where stacks end, and that threads change nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/output/group.h"
#include "libmarkup/testing.h"

/* The groups of a log. The caller frees what is returned. */
static char *grouped_by(const char *demux, const char *log, enum markup_format format,
			unsigned threads, size_t piece)
{
	const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver, fake_resolver };
	static const struct markup_page pages[] = {
		{ "other", "other.html" }, { "log", "a b/javascript:%.html" }, { NULL, NULL },
	};
	const struct markup_options options = { .group = true, .format = format, .demux = demux };
	struct fake_text got = { 0 };
	struct markup_groups *g;
	struct markup_filter *f;
	size_t len = strlen(log);

	assert_int_equal(markup_groups_create(&g), 0);
	markup_groups_pages(g, pages);
	const struct markup_sink sink = { g, markup_groups_take };
	assert_int_equal(markup_filter_create(&options, resolvers, threads, &sink, &f), 0);
	markup_filter_input(f, "log");
	for (size_t at = 0; at < len; at += piece)
		assert_int_equal(markup_filter_feed(f, log + at, len - at < piece ? len - at : piece), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_int_equal(markup_filter_end(f), 0);
	assert_int_equal(markup_groups_write(g, format, false, fake_append, &got), 0);
	markup_filter_destroy(f);
	markup_groups_destroy(g);
	return got.buf;
}

static char *grouped(const char *log, enum markup_format format, unsigned threads, size_t piece)
{
	return grouped_by(NULL, log, format, threads, piece);
}

static void expect(const char *log, const char *want)
{
	for (size_t piece = 1; piece < 300; piece *= 17) {
		char *got = grouped(log, MARKUP_TEXT_OUT, 1, piece);

		assert_string_equal(got, want);
		free(got);
	}
}

#define FRAME(n, vaddr) "    #" #n " 0x1  (/x/a.out+0x" #vaddr ") (BuildId: aabb)\n"

/* The same, by an expression; frames of processes that had no markup count, too. */
static void test_demux(void **state)
{
	char *got = grouped_by("<([a-z]+)>", "<one> " FRAME(0, 1190) "<ones> " FRAME(0, 1300) "<one> " FRAME(1, 1200)
			       "<ones> " FRAME(1, 1200) FRAME(2, 1200), MARKUP_TEXT_OUT, 1, 1000);

	(void)state;
	assert_string_equal(got, "3 stacks in 3 groups\n\n"
			    "       1  bcc0bfa4f79a890d  log:1\n          ns::get\n          ns::outer\n          main\n\n"
			    "       1  90ffff21f19826dc  log:2\n          start\n          main\n\n"
			    "       1  dce65ca50c4e62a6  log:5\n          main\n");
	free(got);
}

/* A page says the same of a log whose lines end in CRLF; and of a line of more than a megabyte the
 * beginning counts. */
static void test_page_lines(void **state)
{
	static const char lf[] = "[   12.345678] SIGBUS\n" FRAME(0, 1200) "AddressSanitizer: (race)\n" FRAME(0, 1190);
	char *log = malloc((2 << 20) + 200), crlf[300], *to = crlf, *one, *other;

	(void)state;
	for (const char *p = lf; *p; p++)
		to += sprintf(to, *p == '\n' ? "\r\n" : "%c", *p);
	one = grouped(lf, MARKUP_HTML, 1, 1000);
	other = grouped(crlf, MARKUP_HTML, 1, 1000);
	assert_non_null(strstr(one, "<b class=bad>SIGBUS</b>"));
	assert_non_null(strstr(one, "<b class=bad>(race)</b>"));
	assert_string_equal(one, other);
	free(one);
	free(other);
	memset(log, 'x', 2 << 20);
	for (int behind = 0; behind < 2; behind++) {
		memcpy(log, behind ? "xxxxxxx" : "SIGBUS ", 7);
		strcpy(log + (2 << 20), " SIGSEGV\n" FRAME(0, 1200));
		one = grouped(log, MARKUP_HTML, 1, 100000);
		assert_null(strstr(one, "SIGSEGV"));
		assert_int_equal(strstr(one, "<b class=bad>SIGBUS</b>") == NULL, behind);
		free(one);
	}
	free(log);
}

#define JAVA "C  [/x/a.out+0x1200]\n"

static void test_stacks(void **state)
{
	(void)state;
	/* Numbers begin anew; another text between; unknown addresses by their place. */
	expect("text\n" FRAME(0, 1190) FRAME(1, 1200) FRAME(0, 1190) "text\n" FRAME(1, 1200)
	       FRAME(0, 1200) FRAME(0, 9999) "\n" FRAME(3, 1200),
	       "4 stacks in 3 groups\n\n"
	       "       2  bcc0bfa4f79a890d  first log:2, last log:4\n"
	       "          ns::get\n          ns::outer\n          main\n\n"
	       "       1  dce65ca50c4e62a6  log:7\n"
	       "          main\n\n"
	       "       1  4f52007f077f20e4  log:8\n"
	       "          a.out+0x9999\n          main\n");
	/* Processes in one log, line by line. */
	expect("host p[1]: " FRAME(0, 1190) "host p[2]: " FRAME(0, 1300) "host p[1]: " FRAME(1, 1200)
	       "host p[2]: " FRAME(1, 1200),
	       "2 stacks in 2 groups\n\n"
	       "       1  bcc0bfa4f79a890d  log:1\n"
	       "          ns::get\n          ns::outer\n          main\n\n"
	       "       1  90ffff21f19826dc  log:2\n"
	       "          start\n          main\n");
	/* A number that is not higher than the last one begins a stack. */
	expect(FRAME(0, 1200) FRAME(2, 1300) FRAME(1, 1200) FRAME(3, 1300) FRAME(3, 1300) FRAME(4, 1200),
	       "3 stacks in 2 groups\n\n"
	       "       2  6db3cc1100707c44  first log:1, last log:3\n          main\n          start\n\n"
	       "       1  90ffff21f19826dc  log:5\n          start\n          main\n");
	/* Frames without numbers, under the title of each trace. */
	expect("Native frames:\n" JAVA JAVA "Native frames:\n" JAVA "text\n" JAVA "Native frames:\ntext\n" JAVA JAVA,
	       "3 stacks in 0 groups; 3 stacks without any name or module\n");
	expect("plain\n", "0 stacks in 0 groups\n");
}

/* A frame that the next line has again, with its module, counts once. */
static void test_said_again(void **state)
{
	char *got = grouped("#0  0x0000555500001193\n    [aabbccddaabbccddaabbccddaabbccddaabbccdd]@0x555500000000+0x1193\n", MARKUP_TEXT_OUT, 1, 1000);

	(void)state;
	assert_string_equal(got, "1 stack in 1 group\n\n       1  b556e452da5d9cd8  log:2\n"
				 "          ns::get\n          ns::outer\n");
	free(got);
}

static void test_deep(void **state)
{
	char log[64 + 400 * 64] = "", *got;

	(void)state;
	for (int i = 0; i < 400; i++)
		sprintf(log + strlen(log), "#%d 0x1  (/x/a.out+0x1200) (BuildId: aabb)\n", i);
	got = grouped(log, MARKUP_TEXT_OUT, 1, 4096);
	assert_non_null(strstr(got, "1 stack in 1 group\n"));
	assert_non_null(strstr(got, "... 246 more\n")); /* 256 count, 10 are shown */
	free(got);
	for (int frames = 8; frames < 13; frames++) {
		int shown = 0;

		*log = 0;
		for (int i = 0; i < frames; i++)
			sprintf(log + strlen(log), "#%d 0x1  (/x/a.out+0x1200) (BuildId: aabb)\n", i);
		got = grouped(log, MARKUP_TEXT_OUT, 1, 4096);
		for (const char *p = got; (p = strstr(p, "          main\n")); p++)
			shown++;
		assert_int_equal(shown, frames < 10 ? frames : 10);
		assert_int_equal(strstr(got, " more\n") != NULL, frames > 10);
		free(got);
	}
}

/* What is said at the end of a log is not of the first stack of the next one, nor does a stack go on there. */
static void test_inputs(void **state)
{
	static const char *const logs[] = { FRAME(0, 1200) "SIGSEGV\n2025-01-09T23:59:00 x\n", FRAME(1, 1200), FRAME(2, 1200) };
	const struct markup_options options = { .group = true, .format = MARKUP_HTML };
	struct fake_text got = { 0 };
	struct markup_groups *g;
	struct markup_filter *f;

	(void)state;
	assert_int_equal(markup_groups_create(&g), 0);
	const struct markup_sink sink = { g, markup_groups_take };
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &sink, &f), 0);
	for (size_t i = 0; i < 3; i++) {
		markup_filter_input(f, logs[i]);
		assert_int_equal(markup_filter_feed(f, logs[i], strlen(logs[i])), 0);
		assert_int_equal(markup_filter_finish(f), 0);
	}
	assert_int_equal(markup_filter_end(f), 0);
	assert_int_equal(markup_groups_write(g, MARKUP_HTML, false, fake_append, &got), 0);
	assert_non_null(strstr(got.buf, "data-n=3>")); /* equal stacks of a frame each */
	assert_null(strstr(got.buf, "<b class=bad>"));
	assert_null(strstr(got.buf, "<time>"));
	markup_filter_destroy(f);
	markup_groups_destroy(g);
	free(got.buf);
}

/* Of a page: what stacks are called by, times, links. */
static void test_page(void **state)
{
	static const char log[] =
		"Jan  9 10:00:00 host x: process got SIGSEGV at 0\n" FRAME(0, 1190) FRAME(1, 1200)
		"2025-01-09T23:59:00 <b class=bad>no</b>\n" FRAME(0, 1200)
		"SIGABRT\n2025-01-09T23:59:01 x\n" FRAME(0, 1190) FRAME(1, 1200);
	static const char *const want[] = {
		"<b class=bad>SIGSEGV</b> · 3 functions",
		"<details><summary>1 function<",
		"<a href=\"a%20b/javascript%3A%25.html#L2\"><span class=dim></span>log:2</a>"
		"<time>Jan  9 10:00:00</time>",
		"#L5\"><span class=dim></span>log:5</a><time>2025-01-09T23:59:00</time>",
		"#L8\"><span class=dim></span>log:8</a><time>2025-01-09T23:59:01</time>",
	};

	(void)state;
	for (size_t piece = 1; piece < 300; piece *= 17) {
		char *got = grouped(log, MARKUP_HTML, 1, piece);

		for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
			assert_non_null(strstr(got, want[i]));
		assert_null(strstr(got, "SIGABRT")); /* the first that it is called by */
		free(got);
	}
}

/* Frames of numbers may be 64 lines apart, and 64 stacks of processes are open at a time. */
static void test_apart(void **state)
{
	char log[20000], *got, *p;

	(void)state;
	for (unsigned lines = 62; lines < 67; lines++) {
		p = stpcpy(log, FRAME(0, 1190));
		for (unsigned i = 1; i < lines; i++)
			p = stpcpy(p, "text\n");
		strcpy(p, FRAME(1, 1200));
		got = grouped(log, MARKUP_TEXT_OUT, 1, 1000);
		assert_int_equal(!strncmp(got, "1 stack in 1 group\n", 19), lines <= 64);
		free(got);
	}
	for (unsigned processes = 62; processes < 67; processes++) {
		p = log;
		for (unsigned k = 0; k < 2 * processes; k++)
			p += sprintf(p, "host p[%u]: #%u 0x1 (/x/a.out+0x1200) (BuildId: aabb)\n", k % processes, k / processes);
		got = grouped(log, MARKUP_TEXT_OUT, 1, 1000);
		assert_int_equal(strtoul(got, NULL, 10) == processes, processes <= 64);
		free(got);
	}
}

/* If there are too many, the stack ends that has had no frame for longest. */
static void test_oldest(void **state)
{
	char log[20000], *p = log;

	(void)state;
	for (unsigned process = 1; process <= 64; process++)
		p += sprintf(p, "host p[%u]: " FRAME(0, 1200), process);
	p = stpcpy(p, "host p[1]: " FRAME(1, 1300) "host p[65]: " FRAME(0, 1200));
	strcpy(p, "host p[1]: " FRAME(2, 1200) "host p[2]: " FRAME(1, 1300));
	expect(log,
	       "66 stacks in 3 groups\n\n"
	       "      64  dce65ca50c4e62a6  first log:2, last log:66\n          main\n\n"
	       "       1  7d7743d4ff6eb0f1  log:1\n          main\n          start\n          main\n\n"
	       "       1  b62dd06d653602af  log:68\n          start\n");
}

static int refuse(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
	return -1;
}

static void test_failure(void **state)
{
	struct markup_groups *g;

	(void)state;
	assert_int_equal(markup_groups_create(&g), 0);
	assert_int_equal(markup_groups_write(g, MARKUP_TEXT_OUT, false, refuse, NULL), -EIO);
	markup_groups_destroy(g);
}

/* Two groups that are as frequent and begin in one line stand in the order of their signatures. */
static void test_order(void **state)
{
	static const char one[] = "{{{bt:0:0x11200:pc}}}", two[] = "{{{bt:0:0x11300:pc}}}";
	char log[300];

	(void)state;
	for (int first = 0; first < 2; first++) {
		sprintf(log, "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0}}}\n%s %s\n",
			first ? one : two, first ? two : one);
		expect(log, "2 stacks in 2 groups\n\n       1  b62dd06d653602af  log:3\n          start\n\n"
			    "       1  dce65ca50c4e62a6  log:3\n          main\n");
	}
}

/* A frame alone lends the next stack the word of its title, if that is not more than 12 lines behind
 * it; a word has less than 96 bytes. */
static void test_kinds(void **state)
{
	char log[3000], word[100], want[150], *got, *p;

	(void)state;
	for (unsigned lines = 10; lines < 15; lines++) {
		p = stpcpy(log, "SIGSEGV\n" FRAME(3, 1200));
		for (unsigned i = 1; i < lines; i++)
			p = stpcpy(p, "text\n");
		strcpy(p, FRAME(0, 1300) FRAME(1, 1200));
		got = grouped(log, MARKUP_HTML, 1, 1000);
		p = strstr(got, "</table>");
		assert_non_null(p);
		*p = 0;
		assert_non_null(p = strstr(got, "2 functions<code> · "));
		p = strstr(got, "<b class=bad>SIGSEGV</b>");
		assert_int_equal(strstr(p + 1, "<b class=bad>SIGSEGV</b>") != NULL, lines <= 12);
		free(got);
	}
	/* Nor is it lent to a stack on the same line. */
	got = grouped("SIGSEGV\n{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0}}}\n"
		      "{{{bt:0:0x11200:pc}}} {{{bt:0:0x11300:pc}}}\n", MARKUP_HTML, 1, 1000);
	p = strstr(got, "<b class=bad>SIGSEGV</b>");
	assert_non_null(p);
	assert_null(strstr(p + 1, "<b class=bad>SIGSEGV</b>"));
	free(got);
	for (size_t len = 93; len < 99; len++) {
		memset(word, 'w', len);
		word[len] = 0;
		sprintf(log, "AddressSanitizer: %s\n" FRAME(0, 1200), word);
		sprintf(want, "<b class=bad>%s</b> ·", word);
		got = grouped(log, MARKUP_HTML, 1, 1000);
		assert_int_equal(strstr(got, want) != NULL, len < 96);
		free(got);
	}
}

/* A stack whose functions take so many bytes, the first one with its number, in a record as group.c
 * writes it. */
static void put_stack(struct markup_groups *g, unsigned number, size_t bytes)
{
	struct mk_group_record record = { .line = number + 1, .begins = 1 };
	char name[4096 + 1];
	struct mk_out functions = { 0 };

	for (size_t left = bytes, n; left; left -= n) {
		n = left < 4096 ? left : 4096;
		memset(name, 'n', sizeof(name));
		name[0] = GROUP_OTHER;
		name[n] = '\n';
		mk_out_put(&functions, name, n + 1);
	}
	sprintf(name, "%08u", number);
	memcpy(functions.buf + 1, name, 8);
	record.functions_len = (uint32_t)functions.len;
	assert_int_equal(markup_groups_take(g, (const char *)&record, sizeof(record)), 0);
	assert_int_equal(markup_groups_take(g, functions.buf, functions.len), 0);
	mk_out_deinit(&functions);
}

/* The first line of what is written. */
static void expect_totals(struct markup_groups *g, const char *want)
{
	struct fake_text got = { 0 };

	assert_int_equal(markup_groups_write(g, MARKUP_TEXT_OUT, false, fake_append, &got), 0);
	got.buf[strcspn(got.buf, "\n")] = 0;
	assert_string_equal(got.buf, want);
	free(got.buf);
	markup_groups_destroy(g);
}

/* How many groups there may be, of how many bytes together, and each. */
static void test_bounds(void **state)
{
	struct markup_groups *g;
	struct fake_text got;

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		assert_int_equal(markup_groups_create(&g), 0);
		for (unsigned i = 0; i < GROUPS_MAX + more; i++)
			put_stack(g, i, 9);
		put_stack(g, 7, 9);
		expect_totals(g, more ? "65538 stacks in 65536 groups; 1 stack of further groups left out"
				      : "65537 stacks in 65536 groups");
		assert_int_equal(markup_groups_create(&g), 0);
		for (unsigned i = 0; i < GROUP_BYTES_MAX / GROUP_STACK_MAX; i++)
			put_stack(g, i, GROUP_STACK_MAX);
		if (more)
			put_stack(g, 9999, 9);
		expect_totals(g, more ? "2049 stacks in 2048 groups; 1 stack of further groups left out"
				      : "2048 stacks in 2048 groups");
		assert_int_equal(markup_groups_create(&g), 0);
		put_stack(g, 1, GROUP_STACK_MAX + more);
		got = (struct fake_text){ 0 };
		assert_int_equal(markup_groups_write(g, MARKUP_TEXT_OUT, false, fake_append, &got), 0);
		assert_int_equal(got.len, strlen("1 stack in 1 group\n\n       1  0123456789abcdef  :2\n") + 8 * 10 +
				 GROUP_STACK_MAX);
		free(got.buf);
		markup_groups_destroy(g);
	}
}

static void test_threads(void **state)
{
	static const char stack[] = FRAME(0, 1190) FRAME(1, 1200) "text that is between them: SIGBUS\n"
				    "{{{bt:0:0x1}}}\n{{{bt:1:0x2}}}\n";
	const size_t n = 8000;
	char *log = malloc(n * sizeof(stack)), *p = log;

	(void)state;
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, stack);
	for (enum markup_format format = MARKUP_TEXT_OUT; format <= MARKUP_HTML; format++) {
		char *one = grouped(log, format, 1, 1000), *three = grouped(log, format, 3, 70000);

		assert_string_equal(one, three);
		assert_non_null(strstr(one, "8000"));
		free(one);
		free(three);
	}
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_deep), cmocka_unit_test(test_inputs), cmocka_unit_test(test_apart), cmocka_unit_test(test_order),
		cmocka_unit_test(test_oldest), cmocka_unit_test(test_failure), cmocka_unit_test(test_said_again),
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_page), cmocka_unit_test(test_page_lines), cmocka_unit_test(test_demux),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
