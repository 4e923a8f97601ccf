/*
 * The filter's frame: long lines, limits, what is reported at the end, failing
 * sinks.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

static const char element[] = "{{{symbol:_Z1fv}}}";

/* A line of 5 MB with an element every so often, some across the seams: the first one has `before`
 * bytes in front of one. */
static void long_line(size_t before)
{
	const struct markup_options options = { 0 };
	struct fake_text in = { 0 }, want = { 0 };
	struct fake_sink got;

	srand(2);
	while (in.len < 5 << 20) {
		static const char x[1000] = { [0 ... 999] = '{' };
		size_t n = in.len ? (size_t)rand() % 1000 : MARKUP_LINE_MAX - 1 - before;
		/* Not three braces in a row, but often two. */
		for (size_t i = 0; i < n; i++) {
			fake_append(&in, i % 3 ? x : ".", 1);
			fake_append(&want, i % 3 ? x : ".", 1);
		}
		fake_append(&in, " ", 1);
		fake_append(&want, " ", 1);
		fake_append(&in, element, sizeof(element) - 1);
		fake_append(&want, "f()", 3);
	}
	for (size_t piece = 1000; piece < 10 << 20; piece *= 17) {
		assert_int_equal(fake_filter(&options, in.buf, in.len, piece, &got), 0);
		assert_int_equal(got.out.len, want.len);
		assert_memory_equal(got.out.buf, want.buf, want.len);
		fake_sink_deinit(&got);
	}
	free(in.buf);
	free(want.buf);
}

static void test_long_line(void **state)
{
	(void)state;
	for (size_t before = 0; before <= 3; before++)
		long_line(before);
}

/* All of a line is of the process that it begins with, whatever piece its elements are in. */
static void test_long_line_of_process(void **state)
{
	static const char context[] =
		"p[1]: {{{module:0:a:elf:aa}}}\np[1]: {{{mmap:0x10000:0x3000:load:0:rx:0}}}\n"
		"p[2]: {{{module:0:b:elf:aa}}}\np[2]: {{{mmap:0x10000:0x3000:load:0:rx:0x100}}}\n";
	static const char *const begins[] = { "p[1]: ", "p[1]: {{{pc:0x11200}}}" };
	static const char behind[] = "p[2]: {{{pc:0x11200}}}\n";
	const struct markup_options options = { .demux = "" };
	const size_t filling = (1 << 20) + 5;
	char *z = malloc(filling);

	(void)state;
	memset(z, 'z', filling);
	for (size_t i = 0; i < 2; i++) {
		struct fake_text in = { 0 }, want = { 0 };
		struct fake_sink got;

		fake_append(&in, context, strlen(context));
		fake_append(&in, begins[i], strlen(begins[i]));
		fake_append(&in, z, filling);
		fake_append(&in, behind, strlen(behind));
		fake_append(&in, behind, strlen(behind));
		fake_append(&want, i ? "p[1]: main[main.c:12]" : "p[1]: ", i ? 21 : 6);
		fake_append(&want, z, filling);
		fake_append(&want, "p[2]: main[main.c:12]\np[2]: start\n", 34);
		assert_int_equal(fake_filter(&options, in.buf, in.len, 1000, &got), 0);
		assert_true(got.out.len > want.len);
		assert_string_equal(got.out.buf + got.out.len - want.len, want.buf);
		fake_sink_deinit(&got);
		free(in.buf);
		free(want.buf);
	}
	free(z);
}

/* No code of a colour is cut through, and what is put into a line whose end is not known ends in "\n". */
static void test_long_line_with_codes(void **state)
{
	static const char begin[] = "{{{module:0:a:elf:aa}}}\r\n{{{mmap:0x10000:0x3000:load:0:rx:0}}}\r\n{{{bt:0:0x11190:pc}}}";
	static const char want[] = "    #0.1  0x0000000000011190 ns::get /src/inl.cpp:4:97 (a+0x1190)\n"
				   "    #0    0x0000000000011190 ns::outer /src/inl.cpp:9:79 (a+0x1190)";
	const struct markup_options options = { .color = MARKUP_COLOR_STRIP };
	char *log = malloc(MARKUP_LINE_MAX + 300);

	(void)state;
	for (size_t before = 0; before < 7; before++) {
		const size_t filling = MARKUP_LINE_MAX - before - (sizeof(begin) - 1 - (size_t)(strrchr(begin, '\n') + 1 - begin));
		char *p = mempcpy(log, begin, sizeof(begin) - 1), *got_end;
		struct fake_sink got;

		p = (char *)memset(p, 'z', filling) + filling;
		p = stpcpy(p, "\033[31mred\n");
		assert_int_equal(fake_filter(&options, log, (size_t)(p - log), 1 << 16, &got), 0);
		assert_non_null(strstr(got.out.buf, want));
		got_end = strstr(got.out.buf, want) + sizeof(want) - 1;
		assert_int_equal(strspn(got_end, "z"), filling);
		assert_string_equal(got_end + filling, "red\n");
		fake_sink_deinit(&got);
	}
	free(log);
}

/* An element longer than a piece is text; the next line is as usual. */
static void test_long_element(void **state)
{
	const struct markup_options options = { 0 };
	struct fake_text in = { 0 };
	struct fake_sink got;
	static char x[100000];

	(void)state;
	memset(x, 'x', sizeof(x));
	fake_append(&in, "{{{symbol:", 10);
	for (int i = 0; i < 30; i++)
		fake_append(&in, x, sizeof(x));
	fake_append(&in, "}}}\n{{{symbol:_Z1fv}}}\n", 23);
	assert_int_equal(fake_filter(&options, in.buf, in.len, 4096, &got), 0);
	assert_int_equal(got.out.len, in.len - sizeof(element) + 4);
	assert_memory_equal(got.out.buf, in.buf, in.len - sizeof(element));
	assert_string_equal(got.out.buf + got.out.len - 4, "f()\n");
	fake_sink_deinit(&got);
	free(in.buf);
}

/* A hexdict that grows too long is given up. */
static void test_long_hexdict(void **state)
{
	const struct markup_options options = { 0 };
	struct fake_text in = { 0 };
	struct fake_sink got;
	char line[32];

	(void)state;
	fake_append(&in, "{{{hexdict:A: 0x1\n", 18);
	for (int i = 0; i < 10000; i++)
		fake_append(&in, line, (size_t)snprintf(line, sizeof(line), "R%d: 0x%x\n", i, i));
	assert_int_equal(fake_filter(&options, in.buf, in.len, 1 << 20, &got), 0);
	assert_int_equal(got.out.len, in.len);
	assert_memory_equal(got.out.buf, in.buf, in.len);
	assert_non_null(strstr(got.err.buf, "does not end"));
	fake_sink_deinit(&got);
	free(in.buf);
}

/* Any number of modules and maps is survived. */
static void test_limits(void **state)
{
	const struct markup_options options = { 0 };
	struct fake_text in = { 0 };
	struct fake_sink got;
	char line[128];

	(void)state;
	for (unsigned i = MARKUP_MODULES_MAX + 10; i; i--)
		fake_append(&in, line, (size_t)snprintf(line, sizeof(line),
			"{{{module:%u:m:elf:%x}}}{{{mmap:0x%x000:0x1000:load:%u:r:0}}}\n", i, i, i, i));
	assert_int_equal(fake_filter(&options, in.buf, in.len, 1 << 20, &got), 0);
	assert_non_null(strstr(got.out.buf, "[[[ELF module #0xb \"m\"; BuildID=0b [0xb000-"));
	assert_non_null(strstr(got.out.buf, "\n{{{module:10:m:elf:a}}}"));
	assert_non_null(strstr(got.err.buf, "too many modules"));
	fake_sink_deinit(&got);
	free(in.buf);
}

struct missing_list {
	char text[256];
};

static void note_missing(void *ctx, const struct markup_module *m)
{
	struct missing_list *l = ctx;
	size_t len = strlen(l->text);
	snprintf(l->text + len, sizeof(l->text) - len, "%.*s %02x %d %d;", (int)m->name.len,
		 m->name.ptr, m->build_id[0], (int)m->frames, m->no_symbols);
}

static const char context[] =
	"{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n"
	"{{{module:1:b:elf:cc}}}\n{{{mmap:0x20000:0x1000:load:1:rwx:0}}}\n";

static void test_reports(void **state)
{
	const struct markup_options options = { .collect_dumpfiles = true };
	static const char in[] =
		"{{{bt:0:0x10193:pc}}} {{{bt:1:0x10900}}} {{{pc:0x20001}}} {{{pc:0x20001}}} {{{pc:0}}}\n"
		"{{{dumpfile:sancov:a\"b\xff}}}\n{{{reset}}}\n{{{dumpfile:t:n}}}\n";
	static const char dumpfiles[] =
		"{\"type\":\"sancov\",\"name\":\"a\\\"b\xef\xbf\xbd\",\"modules\":["
		"{\"id\":0,\"name\":\"a\",\"build\":\"aa\"},{\"id\":1,\"name\":\"b\",\"build\":\"cc\"}],"
		"\"segments\":[{\"mod\":0,\"vaddr\":65536,\"size\":12288,\"flags\":\"rx\","
		"\"mod_rel_addr\":4096},{\"mod\":1,\"vaddr\":131072,\"size\":4096,\"flags\":\"rwx\","
		"\"mod_rel_addr\":0}]},\n{\"type\":\"t\",\"name\":\"n\",\"modules\":[],\"segments\":[]}";
	struct fake_sink got = { 0 };
	struct markup_sink sink = { &got, fake_write, NULL };
	struct missing_list list = { "" };
	struct markup_filter *f;
	struct sc_str json;

	(void)state;
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, context, sizeof(context) - 1), 0);
	assert_int_equal(markup_filter_feed(f, in, sizeof(in) - 1), 0);
	assert_int_equal(markup_filter_finish(f), 0);

	assert_int_equal(markup_filter_stats(f)->frames, 5);
	assert_int_equal(markup_filter_stats(f)->frames_resolved, 1);
	assert_int_equal(markup_filter_stats(f)->frames_outside, 1);
	assert_int_equal(markup_filter_missing(f, note_missing, &list), 0);
	assert_string_equal(list.text, "b cc 2 1;a aa 1 0;");
	markup_filter_dumpfiles(f, &json);
	assert_int_equal(json.len, sizeof(dumpfiles) - 1);
	assert_memory_equal(json.ptr, dumpfiles, json.len);
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

/* What was complete comes out on flush, and nothing of an input leaks into the
 * next. */
static void test_flush_and_inputs(void **state)
{
	const struct markup_options options = { 0 };
	struct fake_sink got = { 0 };
	struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;

	(void)state;
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &sink, &f), 0);
	markup_filter_input(f, "one");
	assert_int_equal(markup_filter_feed(f, context, sizeof(context) - 1), 0);
	assert_int_equal(markup_filter_feed(f, "a\n{{{pc:0x10201}}}\nb", 20), 0);
	assert_int_equal(markup_filter_flush(f), 0);
	assert_non_null(strstr(got.out.buf, "\na\nmain[main.c:12]\n"));
	assert_null(strstr(got.out.buf, "\nb"));
	assert_int_equal(markup_filter_finish(f), 0);
	assert_non_null(strstr(got.out.buf, "main.c:12]\nb"));
	markup_filter_input(f, "two");
	assert_int_equal(markup_filter_feed(f, "{{{pc:0x10201}}}\n{{{pc:1}}}\n", 28), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_non_null(strstr(got.out.buf, "\nb0x0000000000010201 is not in any module\n"));
	assert_string_equal(got.err.buf, "two:2: expected address; found '1': {{{pc:1}}}\n");
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

/* Nor do processes of one input know modules of another. */
static void test_processes_of_inputs(void **state)
{
	static const char *const logs[] = {
		"p[1]: {{{module:0:a:elf:aa}}}{{{mmap:0x10000:0x3000:load:0:rx:0}}}\np[2]: {{{module:0:a:elf:aa}}}\np[1]: {{{pc:0x11200}}}\n"
		"p[2]: {{{symbol:_Z1fv}}}\n",
		"p[1]: {{{pc:0x11200}}}\n",
	};
	const struct markup_options options = { .demux = "" };
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;

	(void)state;
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &sink, &f), 0);
	for (int i = 0; i < 2; i++) {
		markup_filter_input(f, "log");
		assert_int_equal(markup_filter_feed(f, logs[i], strlen(logs[i])), 0);
		assert_int_equal(markup_filter_finish(f), 0);
	}
	assert_non_null(strstr(got.out.buf, "\np[1]: main[main.c:12]\np[2]: f()\n"
			       "p[1]: 0x0000000000011200 is not in any module\n"));
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

static int failing_write(void *ctx, const char *data, size_t len)
{
	int *calls = ctx;
	(void)data;
	(void)len;
	++*calls;
	return 1;
}

static void test_failing_sink(void **state)
{
	const struct markup_options options = { 0 };
	int calls = 0;
	struct markup_sink sink = { &calls, failing_write, NULL };
	struct markup_filter *f;
	static char text[300000];

	(void)state;
	memset(text, '\n', sizeof(text));
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, text, sizeof(text)), -EIO);
	assert_int_equal(markup_filter_feed(f, text, sizeof(text)), -EIO);
	assert_int_equal(markup_filter_finish(f), -EIO);
	assert_int_equal(calls, 1);
	markup_filter_destroy(f);
}

/* Frames of the usual form have a way of their own, which demux does without: both
 * come to the same, with every byte of an element changed to another. */
static void test_usual_frames(void **state)
{
	static const char modules[] = "{{{module:0:a.so:elf:aa}}}\n"
				      "{{{mmap:0x10000:0x8000:load:0:rx:0x0}}}\n";
	static const char *const elements[] = {
		"{{{bt:0:0x11201}}}", "{{{bt:1:0x11701}}}", "{{{bt:12:0x11194:ra}}}", "{{{bt:3:0x11500:pc}}}",
		"{{{bt:7:0x0000000000011200:pc}}}", "{{{bt:123456789:0x99990:ra}}}",
	};
	static const char before[] = "text\n\r\n> ", behind[] = " {{{bt\r", bytes[] =
		"{}:0123456789abcdefgxrABF \n\r\x80\xff/@G`";
	const struct markup_options usual = { 0 }, other = { .demux = "\001(\002)" };
	struct fake_text in = { 0 };
	struct fake_sink got, want;

	(void)state;
	fake_append(&in, modules, sizeof(modules) - 1);
	for (size_t i = 0; i < 100000; i++) {
		const char *e = elements[i % 6];
		const size_t len = strlen(e);

		fake_append(&in, before, (size_t)rand() % sizeof(before));
		fake_append(&in, e, len);
		if (i % 3)
			in.buf[in.len - 1 - i / 18 % len] =
				bytes[(size_t)rand() % (sizeof(bytes) - 1)];
		if (i % 7 == 0)
			fake_append(&in, behind, (size_t)rand() % sizeof(behind));
		fake_append(&in, "\n", 1);
	}
	/* All of it, and parts that end anywhere, behind which nothing may be read. */
	for (size_t len = in.len; len; len = len > 2100 ? 2100 : len > 2000 ? len - 1 : 0) {
		char *part = malloc(len);
		memcpy(part, in.buf, len);
		assert_int_equal(fake_filter(&usual, part, len, len, &got), 0);
		assert_int_equal(fake_filter(&other, part, len, len, &want), 0);
		assert_string_equal(got.out.buf, want.out.buf);
		assert_string_equal(got.err.buf, want.err.buf);
		fake_sink_deinit(&got);
		fake_sink_deinit(&want);
		free(part);
	}
	free(in.buf);
}

/* What several filters counted is added up, and a module is warned of once. */
static void test_tally(void **state)
{
	static const struct markup_stats one = { 1, 2, 3, 4, 5, 6 }, two = { 10, 20, 30, 40, 50, 60 };
	const struct markup_module m = { .name = STR("a"), .frames = 3 }, other = { .name = STR("b"), .frames = 1 };
	const struct markup_stats *sum;
	struct markup_tally *t;

	(void)state;
	assert_int_equal(markup_tally_create(&t), 0);
	markup_tally_count(t, &one);
	markup_tally_count(t, &two);
	sum = markup_tally_stats(t);
	assert_true(sum->frames == 11 && sum->frames_resolved == 22 && sum->frames_outside == 33);
	assert_true(sum->understood == 44 && sum->guessed == 55 && sum->bytes == 66);
	assert_true(markup_tally_warns(t, &m));
	assert_false(markup_tally_warns(t, &m));
	assert_true(markup_tally_warns(t, &other));
	markup_tally_destroy(t);
}

/* What was saved is for a filter that has read nothing. */
static void test_too_late(void **state)
{
	const struct markup_options options = { 0 };
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;
	size_t len;
	char *saved;

	(void)state;
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &sink, &f), 0);
	assert_int_equal(markup_filter_save(f, &saved, &len), 0);
	assert_int_equal(markup_filter_resume(f, 3, saved, len), 0);
	assert_int_equal(markup_filter_feed(f, "a line\n", 7), 0);
	assert_int_equal(markup_filter_resume(f, 3, saved, len), -EINVAL);
	free(saved);
	assert_int_equal(markup_filter_finish(f), 0);
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_long_line_of_process),
		cmocka_unit_test(test_long_line_with_codes),
		cmocka_unit_test(test_long_element),
		cmocka_unit_test(test_long_hexdict),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_flush_and_inputs),
		cmocka_unit_test(test_processes_of_inputs),
		cmocka_unit_test(test_failing_sink),
		cmocka_unit_test(test_usual_frames),
		cmocka_unit_test(test_tally),
		cmocka_unit_test(test_too_late),
	};
	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
