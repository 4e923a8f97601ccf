/*
 * The fuchsia dialect, by the facts of Fuchsia's own unit tests (what its parser
 * test has a stand-in answer for is an address in no module here).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

#define OUTSIDE(n, address) "   #" #n "    0x000000000000" #address " is not covered by any module"

static const struct {
	const char *in, *out;
} cases[] = {
	{ "normal content\n", "normal content\n" },
	{ "{{{invalid_tag}}}\n", "{{{invalid_tag}}}\n" },
	{ "prefix {{{reset}}} suffix\n", "" },
	{ "context1: {{{module:0x0:libc.so:elf:8ce60b}}}\n", "" },
	{ "context2: {{{module:0x5:libc.so:elf:8ce60b:unnecessary_content}}}\n", "" },
	{ "context3: {{{module:0x3::elf:8ce60b}}}\n", "" },
	{ "context5: {{{module:0x4:<VMO#16651=bootfs:blob/29c1>:elf:cd01d7}}}\n"
	  "{{{mmap:0xbb57d35000:0x2000:load:4:r:0}}}\n",
	  "[[[ELF module #0x4 \"<VMO#16651=bootfs:blob/29c1>\" BuildID=cd01d7 0xbb57d35000]]]\n" },
	{ "c {{{module:0x6:<VMO#1=bootfs:blob/2>:elf:cd01:unnecessary_stuff}}}\n"
	  "{{{mmap:0x1000:0x2000:load:6:r:0}}}\n",
	  "[[[ELF module #0x6 \"<VMO#1=bootfs:blob/2>\" BuildID=cd01 0x1000]]]\n" },
	{ "context4: {{{module:0x5:libc.so:not_elf:8ce60b}}}\n",
	  "context4: {{{module:0x5:libc.so:not_elf:8ce60b}}}\n" },
	{ "{{{bt:1:0x1000}}}\n{{{bt:1:0x1000:sp 0x3f540e65ef0}}}\n{{{bt:1:0x1000:pc}}}\n"
	  "{{{bt:1:0x1000:pc:sp 0x3f54}}}\n",
	  OUTSIDE(1, 1000) "\n" OUTSIDE(1, 1000) " sp 0x3f540e65ef0\n" OUTSIDE(1, 1000) "\n"
	  OUTSIDE(1, 1000) " sp 0x3f54\n" },
	{ "{{{dumpfile:type:name}}}\n", "" },
	{ "prefix {{{bt:0:0x1000}}} middle {{{bt:1:0x2000}}} suffix\n",
	  "prefix " OUTSIDE(0, 1000) "\n middle " OUTSIDE(1, 2000) " suffix\n" },
	{ "context1: {{{module:0x0:libc.so:elf:8ce60b}}} context2: {{{bt:0:0x3000}}} suffix\n",
	  "context1:  context2: " OUTSIDE(0, 3000) " suffix\n" },
	{ "foo {{{invalid:tag}}} bar {{{bt:0:0x4000}}} baz {{{unclosed:tag\n",
	  "foo {{{invalid:tag}}} bar " OUTSIDE(0, 4000) " baz {{{unclosed:tag\n" },
	{ "{{{bt:0:0x5000}}}{{{bt:1:0x6000}}}{{{bt:2:0x7000}}}\n",
	  OUTSIDE(0, 5000) "\n" OUTSIDE(1, 6000) "\n" OUTSIDE(2, 7000) "\n" },
	{ "text1 {{{module:0x0:libc.so:elf:8ce60b}}} text2 {{{reset}}} text3 {{{bt:0:0x1000}}} text4 "
	  "{{{dumpfile:type:name}}} text5 {{{bt:1:0x2000}}} text6\n",
	  "text1  text2  text3 " OUTSIDE(0, 1000) "\n text4  text5 " OUTSIDE(1, 2000) " text6\n" },
	{ "{{{bt:0:0x1000}}}{{{invalid{{{reset}}}\n", OUTSIDE(0, 1000) "\n{{{invalid\n" },
	{ "prefix {{{bt:0:0x1000}}} middle {{{unclosed_tag_without_end\n",
	  "prefix " OUTSIDE(0, 1000) " middle {{{unclosed_tag_without_end\n" },
	{ "prefix {{{module:0x0:libc.so:elf:8ce60b}}} middle {{{invalid_tag}}} suffix\n",
	  "prefix  middle {{{invalid_tag}}} suffix\n" },
	{ "random {{{ text {{{bt:0:0x1000}}}\n", "random {{{ text " OUTSIDE(0, 1000) "\n" },
	{ "{{{ {{{ {{{bt:0:0x2000}}} suffix\n", "{{{ {{{ " OUTSIDE(0, 2000) " suffix\n" },
	{ "foo }}} bar {{{bt:0:0x1000}}}\n", "foo }}} bar " OUTSIDE(0, 1000) "\n" },
	{ "line1 prefix {{{bt:0:0x1000\npc}}} line2 suffix\n",
	  "line1 prefix {{{bt:0:0x1000\npc}}} line2 suffix\n" },
	{ "{{{{bt:0:0x1000}}}}\n", "{{{{bt:0:0x1000}}}}\n" },
	{ "prefix {{{}}} middle {{{   }}} suffix\n", "prefix {{{}}} middle {{{   }}} suffix\n" },
	{ "{{{module:0:foo{{{bar:elf:1234}}}\n", "{{{module:0:foo{{{bar:elf:1234}}}\n" },
	{ "{{{reset}}}\n{{{reset}}}\n", "" },
	{ "{{{module:0:some_module:elf:deadbeef}}}\n{{{mmap:0x1000:0x2000:load:0:r:0}}}\n"
	  "{{{mmap:0x3000:0x1000:load:0:r:0x2000}}}\n{{{mmap:0x3000:0x1000:load:0:r:0x1000}}}\n"
	  "{{{mmap:0x5000:0x1000:load:1:r:0}}}\n",
	  "[[[ELF module #0x0 \"some_module\" BuildID=deadbeef 0x1000]]]\n"
	  "symbolizer: Inconsistent base address.\nsymbolizer: Invalid module id.\n" },
	{ "{{{module:0:some_module:elf:deadbeef}}}\n{{{mmap:0x1000:0x2000:load:0:r:0}}}\n"
	  "{{{bt:0:0x1004:pc}}}\n{{{bt:1:0x5000}}}\n{{{bt:2:0x3000}}}\n{{{bt:3:0x3001}}}\n",
	  "[[[ELF module #0x0 \"some_module\" BuildID=deadbeef 0x1000]]]\n"
	  "   #0    0x0000000000001004 in <some_module>+0x4\n" OUTSIDE(1, 5000) "\n"
	  "   #2    0x0000000000003000 in <some_module>+0x2000\n" OUTSIDE(3, 3001) "\n" },
	/* Inlined frames count down; text stands on each of their lines. */
	{ "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x9000:load:0:rx:0}}}\n"
	  "prefix {{{bt:0:0x11193:pc:msg}}} suffix\n[1] {{{bt:12345:0x11193:pc}}}\n"
	  "{{{bt:10:0x11501}}}\n{{{bt:1:0x11301}}}\n{{{bt:1:0x11401}}}\n{{{bt:1:0x11200}}}\n",
	  "[[[ELF module #0x0 \"a\" BuildID=aa 0x10000]]]\n"
	  "prefix    #0.1  0x0000000000011193 in ns::get /src/inl.cpp:4 <a>+0x1193 msg suffix\n"
	  "prefix    #0    0x0000000000011193 in ns::outer /src/inl.cpp:9 <a>+0x1193 msg suffix\n"
	  "[1]    #12345.10x0000000000011193 in ns::get /src/inl.cpp:4 <a>+0x1193\n"
	  "[1]    #123450x0000000000011193 in ns::outer /src/inl.cpp:9 <a>+0x1193\n"
	  "   #10.110x0000000000011501 in f1 d.c:1 <a>+0x1501\n"
	  "   #10.100x0000000000011501 in f2 d.c:2 <a>+0x1501\n"
	  "   #10.9 0x0000000000011501 in f3 d.c:3 <a>+0x1501\n"
	  "   #10.8 0x0000000000011501 in f4 d.c:4 <a>+0x1501\n"
	  "   #10.7 0x0000000000011501 in f5 <a>+0x1501\n"
	  "   #10.6 0x0000000000011501 in f6 d.c:6 <a>+0x1501\n"
	  "   #10.5 0x0000000000011501 in f7 d.c:7 <a>+0x1501\n"
	  "   #10.4 0x0000000000011501 in f8 d.c:8 <a>+0x1501\n"
	  "   #10.3 0x0000000000011501 in f9 d.c:9 <a>+0x1501\n"
	  "   #10.2 0x0000000000011501 in f10 d.c:10 <a>+0x1501\n"
	  "   #10.1 0x0000000000011501 in f11 d.c:11 <a>+0x1501\n"
	  "   #10   0x0000000000011501 in f12 d.c:12 <a>+0x1501\n"
	  "   #1    0x0000000000011301 in start <a>+0x1301\n"
	  "   #1    0x0000000000011401 in x.S:7 <a>+0x1401\n"
	  "   #1    0x0000000000011200 in <a>+0x1200\n" },
	/* A kernel below its own addresses, and a program above it. */
	{ "{{{module:0:kernel:elf:aa}}}\n{{{module:1:prog:elf:bb}}}\n"
	  "{{{mmap:0x1000:0x3000:load:0:rx:0x8000000000001000}}}\n"
	  "{{{mmap:0x50000:0x2000:load:1:rx:0}}}\n{{{bt:0:0x1200:pc}}}\n{{{bt:1:0x51200:pc}}}\n",
	  "[[[ELF module #0x0 \"kernel\" BuildID=aa 0x0]]]\n"
	  "[[[ELF module #0x1 \"prog\" BuildID=bb 0x50000]]]\n"
	  "   #0    0x0000000000001200 in <kernel>+0x8000000000001200\n"
	  "   #1    0x0000000000051200 in main main.c:12 <prog>+0x1200\n" },
	{ "{{{module:0::elf:}}}\n{{{mmap:0:4:load:0:r:0}}}\n{{{bt:0:4}}}\n",
	  "[[[ELF module #0x0 \"\" BuildID= 0x0]]]\n   #0    0x0000000000000004 in <>+0x4\n" },
	/* A module that is announced again is another one. */
	{ "{{{module:0:a:elf:cc}}}\n{{{module:0:b:elf:aa}}}\n{{{mmap:4096:0x1000:load:0:r:0x1000}}}\n"
	  "{{{bt:0:4608:pc}}}\n",
	  "[[[ELF module #0x0 \"b\" BuildID=aa 0x0]]]\n"
	  "   #0    0x0000000000001200 in main main.c:12 <b>+0x1200\n" },
	/* What it does not know is text; line ends are kept, the last one made. */
	{ "{{{pc:0x1}}} {{{data:0x1}}} {{{symbol:_Z1fv}}} {{{hexdict:A: 0x1\n\033[31mred\033[0m\n",
	  "{{{pc:0x1}}} {{{data:0x1}}} {{{symbol:_Z1fv}}} {{{hexdict:A: 0x1\n\033[31mred\033[0m\n" },
	{ "a {{{bt:0:0x1000}}}\r\nb", "a " OUTSIDE(0, 1000) "\r\nb\n" },
};

static void check(const char *in, const char *out, bool omit_module_lines)
{
	static const size_t pieces[] = { 1 << 20, 1, 5 };
	const struct markup_options options = {
		.dialect = MARKUP_FUCHSIA,
		.omit_module_lines = omit_module_lines,
	};
	struct fake_sink got;

	for (size_t p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
		assert_int_equal(fake_filter(&options, in, strlen(in), pieces[p], &got), 0);
		assert_string_equal(got.out.buf, out);
		fake_sink_deinit(&got);
	}
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(cases[i].in, cases[i].out, false);
}

static void test_omit_module_lines(void **state)
{
	(void)state;
	check("{{{module:0:m:elf:deadbeef}}}\n{{{mmap:0x1000:0x2000:load:0:r:0}}}\n"
	      "{{{bt:0:0x1004:pc}}}\n",
	      "   #0    0x0000000000001004 in <m>+0x4\n", true);
}

/* A line that is too long for elements stays, and ends as it does. */
static void test_long_line(void **state)
{
	const size_t len = 3 << 20;
	char *in = malloc(len + 30), *out = malloc(len + 30);

	(void)state;
	memset(in, 'x', len);
	memcpy(in + 100, "{{{reset}}}", 11);
	for (int newline = 0; newline < 2; newline++) {
		struct fake_sink got;

		strcpy(in + len, newline ? "\nnext\n" : "");
		strcpy(out, in);
		strcpy(out + len, newline ? "\nnext\n" : "\n");
		assert_int_equal(fake_filter(&(struct markup_options){ .dialect = MARKUP_FUCHSIA }, in, strlen(in), 100000,
					     &got), 0);
		assert_int_equal(got.out.len, strlen(out));
		assert_memory_equal(got.out.buf, out, got.out.len);
		fake_sink_deinit(&got);
	}
	free(in);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_omit_module_lines),
		cmocka_unit_test(test_long_line),
	};
	return cmocka_run_group_tests_name("render_fuchsia", tests, NULL, NULL);
}
