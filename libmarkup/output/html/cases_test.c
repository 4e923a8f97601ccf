/*
 * Logs as pages, and their groups as a page, against what is known to be right: testdata/logs, and
 * testdata/markup with what becomes of them. Style, script and their hashes are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

/* Cuts out what is between `open` and `close`. */
static void cut(char *page, const char *open, const char *close)
{
	char *from = strstr(page, open), *to;

	while (from) {
		from += strlen(open);
		to = strstr(from, close);
		assert_non_null(to);
		memmove(from, to, strlen(to) + 1);
		from = strstr(from, open);
	}
}

static void end_page(struct fake_text *page)
{
	assert_int_equal(strlen(page->buf), page->len); /* no NUL of a log is on it */
	cut(page->buf, "<style>", "</style>");
	cut(page->buf, "<script>", "</script>");
	cut(page->buf, "sha256-", "'");
	page->len = strlen(page->buf);
}

static const char *const page_alone[] = { "page", NULL };
static const char *const some[] = { "elements", "page", "crash", NULL };
static const char *const many[] = { "elements", "page", "every-format", "crash", "page", NULL };

static void test_logs(void **state)
{
	static const char *const own[] = { "*/lib/*", "shop/", NULL };
	static const char *const maps[] = { "/src=/home/<me>", "/a=\"/b", NULL };
	static const struct {
		const char *name, *const *logs;
		bool sources;
		struct markup_options options;
	} cases[] = {
		{ "page.page", page_alone, false, { .format = MARKUP_HTML } },
		{ "page-sources.page", page_alone, true,
		  { .format = MARKUP_HTML, .title = "/var/<log>/a&b.log", .own = own, .link = "e:\"{path}\"",
		    .path_maps = maps } },
		{ "pages.page", some, false,
		  { .format = MARKUP_HTML, .name_inputs = true, .title = "logs", .path_maps = maps } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t j = 0; j < CASE_CUTS; j++) {
			struct fake_text got;

			run_logs(&cases[i].options, cases[i].sources, cases[i].logs, case_cuts[j].piece, NULL, &got);
			end_page(&got);
			if (!j)
				record(cases[i].name, &got);
			expect_recorded(cases[i].name, &got, case_cuts[j].how);
			free(got.buf);
		}
	}
}

static void test_groups(void **state)
{
	static const struct markup_page pages[] = {
		{ "other", "other.html" }, { "/var/log/page.log", "a b/javascript:%\xc3.html" },
		{ "/var/log/crash.log", "crash.html" }, { "/var/log/page.log", "~2_page-2.html" },
		{ NULL, NULL },
	};

	(void)state;
	expect_groups("groups.page", MARKUP_HTML, false, many, pages, end_page);
}

/* The page of a log that is made up. */
static void run_text(const struct markup_options *options, const char *const logs[], size_t n,
		     struct fake_text *ret)
{
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, NULL };
	struct markup_filter *f;

	assert_int_equal(markup_filter_create(options, &fake_resolver, 1, &sink, &f), 0);
	for (size_t i = 0; i < n; i++) {
		markup_filter_input(f, "log");
		assert_int_equal(markup_filter_feed(f, logs[i], strlen(logs[i])), 0);
		assert_int_equal(markup_filter_finish(f), 0);
	}
	assert_int_equal(markup_filter_end(f), 0);
	markup_filter_destroy(f);
	*ret = got.out;
}

/* What lists, folds, backtraces and parts begin and end with, and how many lines are before it. */
static void put_outline(const struct fake_text *page, struct fake_text *ret)
{
	static const char *const kept[] = { "<ol", "</ol>", "<section", "<noscript>", "</noscript>",
					    "class=more", "<h2>", "<dd>" };
	unsigned others = 0;
	char text[300];

	for (char *line = strtok(page->buf, "\n"); line; line = strtok(NULL, "\n")) {
		size_t i = 0;

		while (i < sizeof(kept) / sizeof(*kept) && !strstr(line, kept[i]))
			i++;
		if (i == sizeof(kept) / sizeof(*kept)) {
			others++;
			continue;
		}
		snprintf(text, sizeof(text), "%3u %.150s\n", others, line);
		fake_append(ret, text, strlen(text));
		others = 0;
	}
}

/* Blocks of lines, parts of a page, backtraces that go on as others, in two inputs. */
static void test_large(void **state)
{
	const struct markup_options options = { .format = MARKUP_HTML, .name_inputs = true };
	struct fake_text log = { 0 }, page, got = { 0 };
	char line[60];

	(void)state;
	for (unsigned i = 1; i < 4000; i++)
		fake_append(&log, line, (size_t)sprintf(line, "line %u\n", i));
	for (unsigned i = 0; i < 4100; i++)
		fake_append(&log, line, (size_t)sprintf(line, "#%u 0x1 (/a+0x1200) (BuildId: aa)\n", i));
	for (unsigned i = 0; i < 1300; i++)
		fake_append(&log, line, (size_t)sprintf(line, "line %u\n", i));
	for (unsigned i = 0; i < 70; i++)
		fake_append(&log, line, (size_t)sprintf(line, "{{{module:%u:a:elf:aa}}}\n", i));
	run_text(&options, (const char *const[]){ log.buf, log.buf }, 2, &page);
	end_page(&page);
	put_outline(&page, &got);
	record("page-outline.txt", &got);
	expect_recorded("page-outline.txt", &got, "of a large log");
	free(got.buf);
	free(page.buf);
	free(log.buf);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* The list of backtraces has a thousand; a backtrace has a megabyte. */
static void test_bounds(void **state)
{
	static const char frame[] = "#0 0x1 (/a+0x1200) (BuildId: aa)\n";
	const struct markup_options options = { .format = MARKUP_HTML };
	struct fake_text log = { 0 }, page;
	char line[6000];

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		fake_append(&log, frame, sizeof(frame) - 1);
	run_text(&options, (const char *const[]){ log.buf }, 1, &page);
	assert_int_equal(count(page.buf, "<li><a href="), 1000);
	assert_null(strstr(page.buf, "class=more"));
	free(page.buf);
	fake_append(&log, frame, sizeof(frame) - 1);
	run_text(&options, (const char *const[]){ log.buf }, 1, &page);
	assert_int_equal(count(page.buf, "<li><a href="), 1000);
	assert_non_null(strstr(page.buf, "<h2>1,001 backtraces</h2>"));
	assert_non_null(strstr(page.buf, "<li class=more>and 1 more</ol>"));
	free(page.buf);
	log.len = 0;
	for (unsigned i = 0; i < 300; i++)
		fake_append(&log, line, (size_t)sprintf(line, "#%u 0x1 (/a+0x1200) (BuildId: aa) %05000d\n", i, 0));
	run_text(&options, (const char *const[]){ log.buf }, 1, &page);
	assert_int_equal(count(page.buf, "<section class=t"), 2);
	assert_non_null(strstr(page.buf, "<section class=t data-l=L204 "));
	free(page.buf);
	free(log.buf);
}

/* The names of backtraces, in their order, with blanks between. */
static void expect_names(const char *const logs[], size_t n, const char *want)
{
	const struct markup_options options = { .format = MARKUP_HTML };
	struct fake_text page, got = { 0 };

	run_text(&options, logs, n, &page);
	fake_append(&got, "", 0);
	for (char *p = page.buf, *end; (p = strstr(p, " aria-labelledby=t")); p = end) {
		p = strstr(p, " · ") + strlen(" · ");
		end = strstr(p, "</span>");
		fake_append(&got, p, (size_t)(end - p));
		fake_append(&got, " ", 1);
	}
	assert_string_equal(got.buf, want);
	free(got.buf);
	free(page.buf);
}

#define FRAME(n) "    #" #n " 0x1  (/a+0x1200) (BuildId: aa)\n"

/* A frame alone lends its name to the next backtrace, if that is not more than 12 lines behind it
 * and has none; nothing is lent to the next input. */
static void test_lent(void **state)
{
	char log[1000], *p;

	(void)state;
	for (unsigned lines = 10; lines < 15; lines++) {
		p = stpcpy(log, "SIGSEGV\n" FRAME(7));
		for (unsigned i = 1; i < lines; i++)
			p = stpcpy(p, "text\n");
		strcpy(p, FRAME(0) FRAME(1));
		expect_names((const char *const[]){ log }, 1, lines <= 12 ?
			     "<b class=bad>SIGSEGV</b> <b class=bad>SIGSEGV</b> " : "<b class=bad>SIGSEGV</b> text ");
	}
	expect_names((const char *const[]){ "SIGSEGV\n" FRAME(7) FRAME(6) }, 1,
		     "<b class=bad>SIGSEGV</b> <b class=bad>SIGSEGV</b> ");
	expect_names((const char *const[]){ "SIGSEGV\n" FRAME(7) FRAME(8) FRAME(6) }, 1,
		     "<b class=bad>SIGSEGV</b> backtrace ");
	expect_names((const char *const[]){ "SIGSEGV\n" FRAME(7), "a\nb\nc\n" FRAME(0) }, 2,
		     "<b class=bad>SIGSEGV</b> c ");
	expect_names((const char *const[]){ "SIGSEGV\n" FRAME(7), "a\n" FRAME(0) }, 2,
		     "<b class=bad>SIGSEGV</b> a ");
	expect_names((const char *const[]){ "SIGSEGV\n", FRAME(0) }, 2, "backtrace ");
}

/* From line 4,097 on a list may begin a part of the page. */
static void test_parts(void **state)
{
	const struct markup_options options = { .format = MARKUP_HTML };
	struct fake_text page;

	(void)state;
	for (unsigned lines = 4093; lines < 4099; lines++) {
		char *log = malloc(20000);

		memset(log, '\n', lines);
		strcpy(log + lines, "{{{module:0:a:elf:aa}}}\n");
		run_text(&options, (const char *const[]){ log }, 1, &page);
		assert_int_equal(count(page.buf, "<noscript>"), lines >= 4096);
		free(page.buf);
		free(log);
	}
}

/* Bars: parts of the largest group, never too small to see. */
static void test_bars(void **state)
{
	static const struct { unsigned n[3], widths[3]; } cases[] = {
		{ { 300, 2, 1 }, { 1000, 6, 4 } }, { { 999, 500, 4 }, { 1000, 500, 4 } },
		{ { 1000, 500, 5 }, { 1000, 500, 5 } }, { { 1999, 998, 6 }, { 1000, 998, 6 } },
		{ { 3000, 1500, 11 }, { 1000, 500, 4 } },
	};
	static const char *const functions[] = { "0x1200", "0x1300", "0x1700" };
	const struct markup_options options = { .format = MARKUP_HTML, .group = true };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake_text log = { 0 }, got = { 0 };
		struct markup_groups *g;
		struct markup_filter *f;
		const char *p;
		char line[60];

		assert_int_equal(markup_groups_create(&g), 0);
		const struct markup_sink sink = { g, markup_groups_take };
		for (unsigned j = 0; j < 3; j++)
			for (unsigned n = 0; n < cases[i].n[j]; n++)
				fake_append(&log, line, (size_t)sprintf(line, "#0 0x1 (/a+%s) (BuildId: aa)\n",
									functions[j]));
		assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &sink, &f), 0);
		assert_int_equal(markup_filter_feed(f, log.buf, log.len), 0);
		assert_int_equal(markup_filter_finish(f), 0);
		assert_int_equal(markup_filter_end(f), 0);
		markup_filter_destroy(f);
		assert_int_equal(markup_groups_write(g, MARKUP_HTML, false, fake_append, &got), 0);
		markup_groups_destroy(g);
		p = got.buf;
		for (unsigned j = 0; j < 3; j++) {
			unsigned n = 0, width = 0;

			p = strstr(p + 1, "<td class=num>");
			assert_non_null(p);
			assert_int_equal(sscanf(p, "<td class=num>%u<svg %*[^>]><rect width=%u", &n, &width), 2);
			assert_int_equal(n, cases[i].n[j]);
			assert_int_equal(width, cases[i].widths[j]);
		}
		free(got.buf);
		free(log.buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs), cmocka_unit_test(test_groups), cmocka_unit_test(test_large),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_lent), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_bars),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
