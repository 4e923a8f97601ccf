/* What all pages have in common, against what is known to be right: testdata/markup/page-parts.page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"
#include "libmarkup/output/html/page.h"

static struct sc_str str(const char *text)
{
	return sc_str_of(text);
}

/* Without style and script, which are in the middle of their lines. */
static void put_around(struct mk_out *o, enum mk_page_kind kind)
{
	static const char *const maps[] = { "/a=/b", "\"c\"=<d>", NULL }, *const none[] = { NULL };
	const struct mk_page_links links[] = { { NULL, maps }, { "e:{path}", maps }, { "<\">", NULL }, { "e:", none } };
	struct mk_out part = { 0 };

	mk_page_begin(&part, kind, mk_escaped_text("A <title>"), &links[kind]);
	for (char *p = part.buf, *end = p + part.len, *eol; p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!memmem(p, (size_t)(eol - p), "http-equiv", 10) && (eol - p < 300 || !memcmp(p, "<body", 5)))
			mk_out_put(o, p, (size_t)(eol + 1 - p));
	}
	mk_out_deinit(&part);
	mk_page_bar(o, kind, kind % 2 ? "/var/log/<a>.log" : "a.log", kind % 2 ? "A <list>" : NULL);
	mk_page_end(&part, kind);
	mk_out_put(o, part.buf, (size_t)((char *)memmem(part.buf, part.len, "<script>", 8) - part.buf));
	mk_out_deinit(&part);
}

static void test_parts(void **state)
{
	static const char *const texts[] = {
		"", "plain", "<a href=\"x\">&amp;'", "\t \001\033\037\177", "\xc3\xa9\xe2\x82\xac", "\xff\xc3", "a\xe2\x82z\n",
	};
	static const uint64_t numbers[] = { 0, 1, 2, 999, 1000, 12345, 999999, 1000000, UINT64_MAX };
	static const char *const sources[] = {
		"", "14 >: a < b\n15  : c\n", "1  : a\n2 >:", "no colon\n", ":\n", "1:x\n", "1 :x\n", "1 >:x\n>: x\n", " >: x",
		"1 >: a: b\n\n3  : ", "10 >:  two",
	};
	struct mk_out o = { 0 };
	struct fake_text got;

	(void)state;
	for (enum mk_page_kind kind = MK_PAGE_LOG; kind <= MK_PAGE_PROFILE; kind++)
		put_around(&o, kind);
	mk_page_data(&o, "data");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		mk_page_json(&o, str(texts[i]));
		mk_put(&o, "\n", mk_escaped(str(texts[i])), "\n");
	}
	mk_page_json(&o, str("</script><"));
	mk_page_json(&o, str("<<a"));
	mk_page_command(&o, "why");
	mk_page_command_end(&o);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		mk_page_number(&o, numbers[i]);
		mk_put(&o, " ");
		mk_page_count(&o, numbers[i], "frame");
		mk_put(&o, "\n");
	}
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		mk_row_source(&o, str(sources[i]));
		mk_put(&o, "\n");
	}
	got = (struct fake_text){ o.buf, o.len, o.cap };
	record("page-parts.page", &got);
	expect_recorded("page-parts.page", &got, "one behind another");
	mk_out_deinit(&o);
}

/* Rows, and what is shown of them elsewhere. */
static void test_rows(void **state)
{
	static const struct sc_frame frames[] = {
		{ STR("f"), STR("a.c"), 1, 2 }, { STR("ns::f<int>(char) const"), STR("/src/<a>/b.cc"), 12, 0 },
		{ STR("int g<a<b>, 3>()"), STR("b.cc"), 0, 3 }, { NOWHERE, STR("/x.S"), 7, 1 }, { STR("h"), NOWHERE, 3, 3 },
		{ STR("operator<"), STR("c/"), 1, 0 }, { NOWHERE, NOWHERE, 0, 0 }, { STR("a<>"), STR("d"), 4, 4 },
	};
	static const char *const rows[] = { "", "<b>", "<b>x", "x</b>", "<b>a<u>b</b>", "<b><u>&lt;c&gt;</u></b><cite></cite>",
					    "<cite><span>/</span>a<span", "<b>a</u><u>b</u></b>" };
	struct fake_text got;
	struct mk_out o = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames) + sizeof(rows) / sizeof(*rows); i++) {
		struct mk_out row = { 0 };

		if (i < sizeof(frames) / sizeof(*frames))
			mk_row_code(&row, &frames[i]);
		else
			mk_put(&row, rows[i - sizeof(frames) / sizeof(*frames)]);
		mk_out_char(&row, 0);
		mk_put(&o, "== ", row.buf);
		for (int place = 0; place < 2; place++) {
			mk_put(&o, "\n", place ? "place " : "name ");
			mk_row_whole(&o, row.buf, row.len - 1, place);
			mk_put(&o, " | ");
			mk_row_part(&o, row.buf, row.len - 1, place);
		}
		mk_put(&o, "\n");
		mk_row_brief(&o, row.buf, row.len - 1, i % 3);
		mk_put(&o, "\n");
		mk_out_deinit(&row);
	}
	got = (struct fake_text){ o.buf, o.len, o.cap };
	record("page-rows.page", &got);
	expect_recorded("page-rows.page", &got, "one behind another");
	mk_out_deinit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts), cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
