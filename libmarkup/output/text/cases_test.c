/*
 * Logs as text, against what is known to be right: testdata/logs, and testdata/markup with what
 * becomes of them: markup and frames of all formats, plain, with colours, and with sources.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

static void test_logs(void **state)
{
	static const struct {
		const char *log, *name;
		bool sources;
		struct markup_options options;
	} cases[] = {
		{ "page", "text", false, { .dialect = MARKUP_DEFAULT } },
		{ "page", "text-sources", true, { .color = MARKUP_COLOR_STRIP } },
		{ "page", "text-sources-plain", true, { .dialect = MARKUP_DEFAULT } },
		{ "page", "text-color", false, { .color = MARKUP_COLOR_ON } },
		{ "page", "text-sources-color", true, { .color = MARKUP_COLOR_ON } },
		{ "neighbours", "text", false, { .dialect = MARKUP_DEFAULT } },
		{ "processes", "demux", false, { .demux = "" } },
		{ "every-format", "text", false, { .color = MARKUP_COLOR_STRIP } },
		{ "every-format", "text-sources", true, { .dialect = MARKUP_DEFAULT } },
		{ "every-format", "text-color", false, { .color = MARKUP_COLOR_ON } },
		{ "every-format", "text-demux", true, { .demux = "" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct markup_resolver resolver = case_resolver(cases[i].sources);

		expect_case_of(&resolver, &cases[i].options, cases[i].log, cases[i].name);
	}
}

/* Frames of large numbers, in modules with names of all lengths, behind text of up to 4 KiB, which
 * is repeated. */
static void test_lengths(void **state)
{
	static const unsigned numbers[] = { 0, 9, 10, 99, 100, 12345, 123456 };
	static const size_t prefixes[] = { 0, 1, 4095, 4096, 4097 };
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	struct fake_text log = { 0 }, want = { 0 };
	struct fake_sink got;
	char line[20000], name[200], prefix[5000];

	(void)state;
	for (size_t len = 1; len < 150; len++) {
		memset(name, 'n', len);
		name[len] = 0;
		fake_append(&log, line, (size_t)sprintf(line, "{{{module:0:%s:elf:aa}}}\n"
			    "{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n", name));
		fake_append(&want, line, (size_t)sprintf(line, "[[[ELF module #0x0 \"%s\"; BuildID=aa "
			    "[0x10000-0x12fff](rx)]]]\n", name));
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			const char *format = "%6s    0x0000000000010200 main main.c:12:3 (%s+0x1200)\n";
			char number[20];

			sprintf(number, "#%u", numbers[i]);
			fake_append(&log, line, (size_t)sprintf(line, "{{{bt:%u:0x10200:pc}}}\n", numbers[i]));
			fake_append(&want, line, (size_t)sprintf(line, format, number, name));
		}
		fake_append(&log, line, (size_t)sprintf(line, "{{{reset}}}\n"));
		fake_append(&want, line, (size_t)sprintf(line, "[[[reset]]]\n"));
	}
	fake_append(&log, line, (size_t)sprintf(line, "{{{module:0:a:elf:aa}}}\n"
		    "{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n"));
	fake_append(&want, line, (size_t)sprintf(line, "[[[ELF module #0x0 \"a\"; BuildID=aa "
		    "[0x10000-0x12fff](rx)]]]\n"));
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		memset(prefix, 'p', prefixes[i]);
		prefix[prefixes[i]] = 0;
		fake_append(&log, line, (size_t)sprintf(line, "%s{{{bt:7:0x10193:pc}}}\n", prefix));
		fake_append(&want, line, (size_t)sprintf(line,
			    "%s    #7.1  0x0000000000010193 ns::get /src/inl.cpp:4:97 (a+0x1193)\n"
			    "%s    #7    0x0000000000010193 ns::outer /src/inl.cpp:9:79 (a+0x1193)\n",
			    prefix, prefixes[i] > 4096 ? "" : prefix));
	}
	assert_int_equal(fake_filter(&options, log.buf, log.len, 1000, &got), 0);
	assert_string_equal(got.out.buf, want.buf);
	fake_sink_deinit(&got);
	free(log.buf);
	free(want.buf);
}

/* As many frames at an address as its last byte says. */
static size_t deep_code(void *ctx, void *module, uint64_t vaddr, bool named,
			const struct sc_frame **frames)
{
	static struct sc_frame all[256];

	(void)ctx;
	(void)module;
	(void)named;
	for (uint32_t i = 0; i < 256; i++)
		all[i] = (struct sc_frame){ STR("f"), STR("d.c"), i + 1, 7 };
	*frames = all;
	return vaddr & 255;
}

static void test_deep(void **state)
{
	static const unsigned depths[] = { 1, 2, 9, 10, 11, 98, 99, 100, 101, 102, 255 };
	static const unsigned numbers[] = { 0, 9, 10, 99, 100, 12345 };
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	struct markup_resolver resolver = fake_resolver;

	(void)state;
	resolver.code = deep_code;
	for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
		struct fake_text log = { 0 }, want = { 0 };
		struct fake_sink got = { 0 };
		const struct markup_sink sink = { &got, fake_write, fake_complain };
		struct markup_filter *f;
		char line[100], number[20], inlined[20];

		sprintf(number, "#%u", numbers[k]);
		fake_append(&log, line, (size_t)sprintf(line, "{{{module:0:a:elf:aa}}}\n"
			    "{{{mmap:0x10000:0x3000:load:0:rx:0}}}\n"));
		fake_append(&want, line, (size_t)sprintf(line, "[[[ELF module #0x0 \"a\"; BuildID=aa "
			    "[0x10000-0x12fff](rx)]]]\n"));
		for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
			fake_append(&log, line, (size_t)sprintf(line, "p {{{bt:%u:0x101%02x:pc}}} q\r\n",
								numbers[k], depths[i]));
			for (unsigned n = 1; n <= depths[i]; n++) {
				sprintf(inlined, n < depths[i] ? ".%-2u" : "   ", n);
				fake_append(&want, line, (size_t)sprintf(line, "p %6s%s 0x00000000000101%02x "
					    "f d.c:%u:7 (a+0x1%02x)%s\r\n", number, inlined, depths[i], n,
					    depths[i], n < depths[i] ? "" : " q"));
			}
		}
		assert_int_equal(markup_filter_create(&options, &resolver, 1, &sink, &f), 0);
		assert_int_equal(markup_filter_feed(f, log.buf, log.len), 0);
		assert_int_equal(markup_filter_finish(f), 0);
		markup_filter_destroy(f);
		assert_string_equal(got.out.buf, want.buf);
		fake_sink_deinit(&got);
		free(log.buf);
		free(want.buf);
	}
}

/* Footnotes of a dump: none begins behind the first megabyte of them. */
static void test_notes(void **state)
{
	static const char prefix[] = "a prefix that makes the footnotes of a line long, as it is in front of each of them: it is "
				     "here for nothing else, and is as long as it has to be for this test to be quick";
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	const unsigned values = 6000;
	struct fake_text log = { 0 }, want = { 0 }, notes = { 0 };
	struct fake_sink got;
	char line[500];

	(void)state;
	fake_append(&log, line, (size_t)sprintf(line, "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0}}}\n"
						"%s {{{hexdict:", prefix));
	fake_append(&want, line, (size_t)sprintf(line, "[[[ELF module #0x0 \"a\"; BuildID=aa [0x10000-0x12fff](rx)]]]\n%s ",
						 prefix));
	for (unsigned i = 1, marks = 0; i <= values; i++) {
		fake_append(&log, " A:0x11200", 10);
		fake_append(&want, " A:0x11200", 10);
		if (notes.len > 1 << 20)
			continue;
		fake_append(&want, line, (size_t)sprintf(line, " [%u]", ++marks));
		fake_append(&notes, line, (size_t)sprintf(line, "%s [%u] A 0x11200: main main.c:12 (a+0x1200)\n", prefix, marks));
	}
	fake_append(&log, "}}}\nx\n", 6);
	fake_append(&want, "\n", 1);
	fake_append(&want, notes.buf, notes.len);
	fake_append(&want, "x\n", 2);
	assert_int_equal(fake_filter(&options, log.buf, log.len, 1 << 20, &got), 0);
	assert_string_equal(got.out.buf, want.buf);
	fake_sink_deinit(&got);
	free(log.buf);
	free(want.buf);
	free(notes.buf);
}

/* 65,536 lines of 16 bytes with what they are put behind: a megabyte; and more. */
static struct sc_str long_source(void *ctx, void *module, const struct sc_frame *frame)
{
	static char text[70000 * 8];

	(void)ctx;
	(void)module;
	for (size_t i = 0; i < sizeof(text); i += 8)
		memcpy(text + i, i + 8 < sizeof(text) ? "a = b;;\n" : "a = b;;;", 8);
	return (struct sc_str){ text, frame->line == 12 ? sizeof(text) : 0 };
}

/* Lines of sources: none begins behind the first megabyte of them. */
static void test_sources(void **state)
{
	static const char log[] = "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0}}}\n{{{pc:0x11200}}}\nx\n";
	static const char want[] = "main[main.c:12]\n        a = b;;\n        a = b;;\n";
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	struct markup_resolver resolver = fake_resolver;
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;
	const char *begin;

	(void)state;
	resolver.source = long_source;
	assert_int_equal(markup_filter_create(&options, &resolver, 1, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, log, strlen(log)), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	markup_filter_destroy(f);
	begin = strstr(got.out.buf, want);
	assert_non_null(begin);
	assert_int_equal(strlen(begin), strlen("main[main.c:12]\nx\n") + (65536 + 1) * 16);
	fake_sink_deinit(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs), cmocka_unit_test(test_lengths), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_notes), cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
