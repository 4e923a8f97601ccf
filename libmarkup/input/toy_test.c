/*
 * An input in one file and one row: a format that only this test knows comes out as text,
 * JSON and HTML, next to markup, cut anywhere.
 *
 *   toy map NAME BUILDID ADDRESS SIZE     a module, mapped from its beginning; stays as it is
 *   toy at ADDRESS                        a frame
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/filter/stream.h"
#include "libmarkup/input/match.h"
#include "libmarkup/testing.h"

/* ---- the input -------------------------------------------------------------------- */

static const char map_word[] = "toy map ";

static void read_map(struct mk_line *l, const char *start, const char *end)
{
	const char *p = start;
	struct sc_str name, id;
	uint64_t address, size;
	struct mk_event *e;

	if (!mk_match(&p, end, "toy map %s %b 0x%x 0x%x", &name, &id, &address, &size))
		return;
	e = mk_add_event(l, MK_MODULE);
	e->text = sc_span(start, p);
	e->tag = (struct sc_str)STR("toy map");
	e->quiet = true;
	e->name = name;
	e->detail = id;
	e->number = address;
	e = mk_add_event(l, MK_MAP);
	e->text = (struct sc_str){ p, 0 };
	e->tag = (struct sc_str)STR("toy map");
	e->quiet = true;
	e->number = e->address = address;
	e->size = size;
	memcpy(e->mode, "rx", 3);
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *map = mk_find(l->p, end, map_word), *at = mk_find(l->p, end, "toy at ");
	const char *p = at;
	struct mk_event *e;
	uint64_t address;

	if (map) {
		read_map(l, map, end);
	} else if (at && mk_match(&p, end, "toy at 0x%x", &address)) {
		e = mk_add_event(l, MK_FRAME);
		e->text = sc_span(at, p);
		e->tag = (struct sc_str)STR("toy");
		e->address = e->lookup = address;
	}
}

static const struct mk_input toy = {
	.name = "toy",
	.words = (const char *const[]){ "toy", NULL },
	.context_words = (const char *const[]){ map_word, NULL },
	.read = read_line,
};

/* The table of this program: the library's is left out. */
const struct mk_input *const mk_inputs[] = { &mk_markup_input, &toy, NULL };

/* ---- the test --------------------------------------------------------------------- */

static const char log_text[] =
	"plain\n"
	"Nov 1 toy map a.out aabb 0x10000 0x4000\n"
	"Nov 1 toy at 0x11193 !\r\n"
	"{{{bt:0:0x11200:pc}}} toy at 0x11200\n"
	"toy at nowhere, toy mapping\n"
	"toy at 0x90000\n";

static void expect(enum markup_format format, const char *const want[])
{
	const struct markup_options options = { .format = format };
	struct fake_sink got;

	for (size_t piece = 1; piece < 300; piece *= 17) {
		assert_int_equal(fake_filter(&options, log_text, sizeof(log_text) - 1, piece, &got),
				 0);
		for (size_t i = 0; want[i]; i++)
			if (!strstr(got.out.buf, want[i]))
				fail_msg("%s\nis not in\n%s", want[i], got.out.buf);
		assert_string_equal(got.err.buf, "");
		fake_sink_deinit(&got);
	}
}

static void test_text(void **state)
{
	(void)state;
	expect(MARKUP_TEXT_OUT, (const char *const[]){
		"plain\n"
		"Nov 1 toy map a.out aabb 0x10000 0x4000\n"
		"Nov 1     #0.1  0x0000000000011193 ns::get /src/inl.cpp:4:97 (a.out+0x1193)\r\n"
		"Nov 1     #0    0x0000000000011193 ns::outer /src/inl.cpp:9:79 (a.out+0x1193) !\r\n"
		"    #0    0x0000000000011200 main main.c:12:3 (a.out+0x1200) toy at 0x11200\n"
		"toy at nowhere, toy mapping\n"
		"    #0    0x0000000000090000 is not in any module\n", NULL });
}

static void test_json(void **state)
{
	(void)state;
	expect(MARKUP_JSON, (const char *const[]){
		"{\"line\":1,\"text\":\"plain\"}\n",
		"\"elements\":[{\"tag\":\"toy map\",\"markup\":\"toy map a.out aabb 0x10000 0x4000\","
		"\"id\":65536,\"name\":\"a.out\",\"build_id\":\"aabb\"}",
		"{\"line\":3,\"text\":\"Nov 1 toy at 0x11193 !\",\"elements\":[{\"tag\":\"toy\",",
		"\"frames\":[{\"inlined\":true,\"function\":\"ns::get\"", NULL });
}

static void test_html(void **state)
{
	(void)state;
	expect(MARKUP_HTML, (const char *const[]){
		"<li>Nov 1 toy map a.out aabb 0x10000 0x4000\n",
		"<s>Nov 1</s> <i>#0</i> <b>ns::get</b> <cite><span>/src/</span>inl.cpp:4",
		"<code>a.out</code><td><code>aabb</code>", NULL });
}

/* In each of several threads, far from its map. */
static void test_threads(void **state)
{
	const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver, fake_resolver };
	const struct markup_options options = { 0 };
	struct fake_sink got = { 0 };
	struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;
	size_t found = 0;

	(void)state;
	assert_int_equal(markup_filter_create(&options, resolvers, 3, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, log_text, sizeof(log_text) - 1), 0);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(markup_filter_feed(f, "toy at 0x11200\n", 15), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	for (const char *p = got.out.buf, *end = p + got.out.len;
	     (p = memmem(p, (size_t)(end - p), "main main.c:12:3", 16)); p++)
		found++;
	assert_int_equal(found, 100001);
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

/* The format does not say that its logs can be cut: they are not, others are, also those behind them. */
static void test_not_cut(void **state)
{
	const struct markup_options options = { 0 };
	const struct markup_sink none = { 0 };
	struct markup_filter *f;
	struct markup_cut cut;

	(void)state;
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &none, &f), 0);
	for (int input = 0; input < 3; input++) {
		const bool toys = input == 1;

		markup_filter_input(f, "log");
		for (int i = 0; i < 10000; i++)
			assert_int_equal(markup_filter_feed(f, "plain\n{{{bt:0:0x1}}}\n", 21), 0);
		assert_int_equal(markup_filter_feed(f, "toy at 0x10000\n", toys ? 15 : 0), 0);
		for (int i = 0; i < 40000; i++)
			assert_int_equal(markup_filter_feed(f, "plain\n", 6), 0);
		assert_int_equal(markup_filter_cut(f, &cut), !toys);
		assert_int_equal(markup_filter_finish(f), 0);
	}
	markup_filter_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_not_cut),
	};
	return cmocka_run_group_tests_name("toy", tests, NULL, NULL);
}
