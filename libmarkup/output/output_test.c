/* How lines end, and what is said of bad elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/output/output.h"
#include "libmarkup/testing.h"

static void test_newline(void **state)
{
	static const struct { const char *line, *newline; } cases[] = {
		{ "", "\n" }, { "\n", "\n" }, { "\r\n", "\r\n" }, { "\r", "\r\n" }, { "a", "\n" },
		{ "a\n", "\n" }, { "a\r\n", "\r\n" }, { "a\r", "\r\n" }, { "a\rb", "\n" }, { "a\rb\n", "\n" },
		{ "a\r\r", "\r\n" }, { "\n\n", "\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(mk_newline_of(cases[i].line, strlen(cases[i].line)), cases[i].newline);
}

static void shorten(char *text, size_t max)
{
	if (strlen(text) > max)
		strcpy(text + max - 3, "...");
}

/* What is long is shortened, the message and the element, each for itself. */
static void test_complaint(void **state)
{
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	char value[600], log[800], element[700], said[700], want[1500];
	struct fake_sink got;

	(void)state;
	for (size_t len = 1; len < 300; len++) {
		memset(value, 'a', len);
		value[len] = 0;
		sprintf(element, "{{{bt:%s:0x1}}}", value);
		sprintf(log, "%s\n", element);
		sprintf(said, "expected frame number; found '%s'", value);
		shorten(element, 160);
		shorten(said, 256);
		sprintf(want, "log:1: %s: %s\n", said, element);
		assert_int_equal(fake_filter(&options, log, strlen(log), 1000, &got), 0);
		assert_string_equal(got.err.buf, want);
		fake_sink_deinit(&got);
	}
}

/* Maps of one address, which hold nothing, stand in their order. */
static void test_maps(void **state)
{
	static const char log[] = "{{{module:0:a:elf:aa}}}\n{{{mmap:0x2000:0:load:0:rw:0}}}\n"
				  "{{{mmap:0x2000:0:load:0:r:0}}}\n{{{mmap:0x1000:0x10:load:0:rx:0}}}\n";
	const struct markup_options options = { .dialect = MARKUP_DEFAULT };
	struct fake_sink got;

	(void)state;
	assert_int_equal(fake_filter(&options, log, strlen(log), 1000, &got), 0);
	assert_string_equal(got.out.buf, "[[[ELF module #0x0 \"a\"; BuildID=aa "
			    "[0x1000-0x100f](rx),[0x2000-0x1fff](rw),[0x2000-0x1fff](r)]]]\n");
	fake_sink_deinit(&got);
}

/* Codes of colours, also at the end of the last line; others are text. */
static void test_codes(void **state)
{
	static const struct { const char *line, *ours, *llvm; } cases[] = {
		{ "a\033[31m", "a", "a" }, { "a\033[0m", "a", "a" }, { "a\033[1m", "a", "a" }, { "a\033[m", "a", "a\033[m" },
		{ "a\033[3m", "a\033[3m", "a\033[3m" }, { "a\033[38m", "a\033[38m", "a\033[38m" }, { "a\033[30mb", "ab", "ab" },
		{ "\033\033[37mb", "\033b", "\033b" }, { "\033[\033[1mb", "\033[b", "\033[b" }, { "a\033", "a\033", "a\033" },
		{ "a\033[", "a\033[", "a\033[" }, { "a\033[0", "a\033[0", "a\033[0" }, { "a\033[31", "a\033[31", "a\033[31" },
		{ "a\033(31m", "a\033(31m", "a\033(31m" }, { "a\033[2m", "a\033[2m", "a\033[2m" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int llvm = 0; llvm < 2; llvm++) {
			const struct markup_options options = {
				.color = MARKUP_COLOR_STRIP, .dialect = llvm ? MARKUP_LLVM : MARKUP_DEFAULT,
			};
			struct fake_sink got;

			assert_int_equal(fake_filter(&options, cases[i].line, strlen(cases[i].line), 100, &got), 0);
			if (got.out.len && got.out.buf[got.out.len - 1] == '\n') /* LLVM's ends all lines */
				got.out.buf[got.out.len - 1] = 0;
			assert_string_equal(got.out.buf, llvm ? cases[i].llvm : cases[i].ours);
			fake_sink_deinit(&got);
		}
	}
}

/* "zzz" becomes "3". */
static void count_filling(struct fake_text *t)
{
	char *to = t->buf;

	for (const char *p = t->buf; *p;) {
		const size_t n = strspn(p, "z");

		if (n)
			to += sprintf(to, "%zu", n);
		else
			*to++ = *p;
		p += n ? n : 1;
	}
	*to = 0;
}

/* A line of more than a megabyte comes in pieces, and is the same line, unless that is said. Nor need
 * the input have a name. */
static void test_pieces(void **state)
{
	static const struct { struct markup_options options; const char *want; } cases[] = {
		{ { .dialect = MARKUP_DEFAULT }, "2097155f() b\r\nc 0x0000000000000001 is not in any module" },
		{ { .dialect = MARKUP_LLVM }, "2097155f() b\r\nc [[[pc:0x1]]]\n" },
		{ { .dialect = MARKUP_FUCHSIA }, "2097155{{{symbol:_Z1fv}}} b\r\nc {{{pc:0x1}}}\n" },
		{ { .format = MARKUP_JSON, .name_inputs = true },
		  "{\"line\":1,\"text\":\"1048576\",\"continued\":true}\n"
		  "{\"line\":1,\"text\":\"1048576\",\"continued\":true}\n"
		  "{\"line\":1,\"text\":\"3{{{symbol:_Z1fv}}} b\",\"elements\":[{\"tag\":\"symbol\","
		  "\"markup\":\"{{{symbol:_Z1fv}}}\",\"name\":\"_Z1fv\",\"demangled\":\"f()\"}]}\n"
		  "{\"line\":2,\"text\":\"c {{{pc:0x1}}}\",\"elements\":[{\"tag\":\"pc\","
		  "\"markup\":\"{{{pc:0x1}}}\",\"address\":\"0x1\",\"type\":\"pc\"}]}\n" },
	};
	static const char *const ends[] = {
		"1048576", "1048576\n", "1048576\n", "{\"line\":1,\"file\":\"log\",\"text\":\"1048576\",\"continued\":true}\n"
		"{\"line\":1,\"file\":\"log\",\"text\":\"\"}\n",
	};
	const size_t filling = (2 << 20) + 3;
	struct fake_sink all;
	char *log = malloc(filling + 100);

	(void)state;
	memset(log, 'z', filling);
	strcpy(log + filling, "{{{symbol:_Z1fv}}} b\r\nc {{{pc:0x1}}}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake_sink got = { 0 };
		const struct markup_sink sink = { &got, fake_write, fake_complain };
		struct markup_filter *f;

		assert_int_equal(markup_filter_create(&cases[i].options, &fake_resolver, 1, &sink, &f), 0);
		assert_int_equal(markup_filter_feed(f, log, strlen(log)), 0);
		assert_int_equal(markup_filter_finish(f), 0);
		assert_int_equal(markup_filter_end(f), 0);
		markup_filter_destroy(f);
		count_filling(&got.out);
		assert_string_equal(got.out.buf, cases[i].want);
		fake_sink_deinit(&got);
	}
	/* The rest of a line that has context is dropped, in all pieces. */
	memcpy(log, "{{{module:0:a:elf:aa}}}", 23);
	assert_int_equal(fake_filter(&cases[1].options, log, strlen(log), 100000, &all), 0);
	assert_string_equal(all.out.buf, "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\nc [[[pc:0x1]]]\n");
	fake_sink_deinit(&all);
	/* Nothing comes behind the last piece. */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(log, 'z', 1 << 20);
		assert_int_equal(fake_filter(&cases[i].options, log, 1 << 20, 1 << 20, &all), 0);
		count_filling(&all.out);
		assert_string_equal(all.out.buf, ends[i]);
		fake_sink_deinit(&all);
	}
	free(log);
}

/* LLVM's filter: context ends its line; that line ends as the one behind it does. */
static void test_llvm_lines(void **state)
{
	static const struct { const char *log, *want; } cases[] = {
		{ "{{{module:0:a:elf:aa}}} {{{mmap:0x1000:0x10:load:0:r:0}}} x\n{{{pc:0x1000}}}\n",
		  "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\n[[[pc:0x1000]]]\n" },
		{ "{{{module:0:a:elf:aa}}} {{{reset}}}\n{{{mmap:0x1200:0x10:load:0:r:0x1200}}}\r\n{{{pc:0x1200}}}\n",
		  "[[[ELF module #0x0 \"a\"; BuildID=aa [0x1200-0x120f](r)]]]\nmain[main.c:12]\n" },
		{ "{{{module:0:a:elf:aa}}}\nx\r\ny\n", "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\r\nx\r\ny\n" },
		{ "{{{module:0:a:elf:aa}}}\r\nx\ny\r\n", "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\nx\ny\r\n" },
		{ "{{{module:0:a:elf:aa}}}\nx\r", "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\r\nx\r\n" },
	};
	const struct markup_options options = { .dialect = MARKUP_LLVM };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake_sink got;

		assert_int_equal(fake_filter(&options, cases[i].log, strlen(cases[i].log), 1000, &got), 0);
		assert_string_equal(got.out.buf, cases[i].want);
		fake_sink_deinit(&got);
	}
}

/* A frame of which nothing is known. */
static size_t nameless_code(void *ctx, void *module, uint64_t vaddr, bool named,
			    const struct sc_frame **frames)
{
	static const struct sc_frame frame = { NOWHERE, NOWHERE, 0, 0 };

	(void)ctx, (void)module, (void)vaddr, (void)named;
	*frames = &frame;
	return 1;
}

static void test_nameless(void **state)
{
	static const char log[] = "{{{module:0:a:elf:aa}}}\n{{{mmap:0x1000:0x10:load:0:rx:0}}}\n"
				  "{{{bt:3:0x1001}}}\n{{{bt:99:0x1001}}}\n{{{bt:100:0x1001}}}\n";
	static const struct { struct markup_options options; const char *want; } cases[] = {
		{ { .dialect = MARKUP_DEFAULT }, "    #3    0x0000000000001001 (a+0x1)\n"
						 "   #99    0x0000000000001001 (a+0x1)\n"
						 "  #100    0x0000000000001001 (a+0x1)\n" },
		{ { .dialect = MARKUP_LLVM }, "    #3    0x0000000000001000 (a+0x0)\n"
					      "   #99    0x0000000000001000 (a+0x0)\n"
					      "  #100    0x0000000000001000 (a+0x0)\n" },
		{ { .dialect = MARKUP_FUCHSIA }, "   #3    0x0000000000001001 in <a>+0x1\n"
						 "   #99   0x0000000000001001 in <a>+0x1\n"
						 "   #100  0x0000000000001001 in <a>+0x1\n" },
		{ { .format = MARKUP_JSON }, "\"module_address\":\"0x1\",\"frames\":[]}]}\n" },
	};
	struct markup_resolver resolver = fake_resolver;

	(void)state;
	resolver.code = nameless_code;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake_sink got = { 0 };
		const struct markup_sink sink = { &got, fake_write, fake_complain };
		struct markup_filter *f;
		const size_t len = strlen(cases[i].want);

		assert_int_equal(markup_filter_create(&cases[i].options, &resolver, 1, &sink, &f), 0);
		assert_int_equal(markup_filter_feed(f, log, strlen(log)), 0);
		assert_int_equal(markup_filter_finish(f), 0);
		markup_filter_destroy(f);
		assert_true(got.out.len > len);
		assert_string_equal(got.out.buf + got.out.len - len, cases[i].want);
		fake_sink_deinit(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newline), cmocka_unit_test(test_complaint), cmocka_unit_test(test_maps),
		cmocka_unit_test(test_codes), cmocka_unit_test(test_pieces), cmocka_unit_test(test_llvm_lines),
		cmocka_unit_test(test_nameless),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
