/* Groups of stacks: what names count as, where stacks end, and that threads change nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/output/group.h"
#include "libmarkup/testing.h"

static void test_fold(void **state)
{
	static const struct { const char *name, *want; } cases[] = {
		{ "f", "f\n" },
		{ "f.cold", "f\n" },
		{ "f.part.0.isra.0", "f\n" },
		{ "f.constprop.12.cold.3", "f\n" },
		{ "f.llvm.8127341", "f\n" },
		{ "f.7", "f.7\n" },
		{ ".cold", ".cold\n" },
		{ "main.(*T).part", "main.(*T)\n" },
		{ "a::f(int) (.cold)", "a::f(int)\n" },
		{ "a::f(int) [clone .isra.0] [clone .cold]", "a::f(int)\n" },
		{ "a::f(int) (.constprop.0) [clone .cold]", "a::f(int)\n" },
		{ "a::f(int) const", "a::f(int) const\n" },
		{ "f(void (*)(.cold))", "f(void (*)(.cold))\n" },
		{ "memcpy@@GLIBC_2.14", "memcpy\n" },
		{ "@plt", "@plt\n" },
		{ "core::panicking::panic::h0123456789abcdef", "core::panicking::panic\n" },
		{ "core::h0123456789abcde", "core::h0123456789abcde\n" },
		{ "::h0123456789abcdef", "::h0123456789abcdef\n" },
		{ "a\nb\033", "a?b?\n" },
		{ "a\302\233b\233\303\251", "a?b?\303\251\n" },
	};
	struct mk_out o;

	(void)state;
	assert_int_equal(mk_out_init(&o, 64, NULL, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		o.len = 0;
		mk_group_fold(&o, sc_str_of(cases[i].name));
		mk_out_char(&o, 0);
		assert_string_equal(o.buf, cases[i].want);
	}
	mk_out_deinit(&o);
}

/* The groups of a log. The caller frees what is returned. */
static char *grouped(const char *log, enum markup_format format, unsigned threads, size_t piece)
{
	const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver, fake_resolver };
	static const struct markup_page pages[] = {
		{ "other", "other.html" }, { "log", "a b/javascript:%.html" }, { NULL, NULL },
	};
	const struct markup_options options = { .group = true, .format = format };
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

static void expect(const char *log, const char *want)
{
	for (size_t piece = 1; piece < 300; piece *= 17) {
		char *got = grouped(log, MARKUP_TEXT_OUT, 1, piece);

		assert_string_equal(got, want);
		free(got);
	}
}

#define FRAME(n, vaddr) "    #" #n " 0x1  (/x/a.out+0x" #vaddr ") (BuildId: aabb)\n"

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
	expect("plain\n", "0 stacks in 0 groups\n");
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
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_page), cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
