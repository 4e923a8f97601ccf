/*
 * Our dialect, rule by rule: input, output, complaints. Each case is fed whole,
 * and then in pieces of 1, 3 and 7 bytes, which must make no difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

#define MODULE "{{{module:0:a.out:elf:aabb}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n" \
	       "{{{mmap:0x20000:0x1000:load:0x0:rw:0x4000}}}\n"
#define MODULE_LINE "[[[ELF module #0x0 \"a.out\"; BuildID=aabb " \
		    "[0x10000-0x12fff](rx),[0x20000-0x20fff](rw)]]]\n"
/* Behind a context that needs no line of its own in each case. */
#define WITH(input) MODULE input
#define SHOWS(output) MODULE_LINE output

#define SAN(number, place) "    #" number " 0x1  (/" place ") (BuildId: aa)\n"

struct test_case {
	const char *name, *in, *out, *err;
};

static const struct test_case cases[] = {
	{ "plain text", "a\nb {x} }}} {{ {\n\nc", "a\nb {x} }}} {{ {\n\nc", "" },
	{ "bytes that are no text", "\xff\xfe\x1b[35m {{{symbol:_Z1fv}}} \x80\n",
	  "\xff\xfe\x1b[35m f() \x80\n", "" },
	{ "not elements", "{{{}}} {{{:x}}} {{{ symbol:a}}} {{{Symbol:a}}} {{{symbol1:a}}} {{{a\n",
	  "{{{}}} {{{:x}}} {{{ symbol:a}}} {{{Symbol:a}}} {{{symbol1:a}}} {{{a\n", "" },
	{ "unknown tags", "{{{foo}}} {{{bar:1:2}}}\n", "{{{foo}}} {{{bar:1:2}}}\n", "" },
	{ "the nearest braces", "a {{{ b {{{symbol:_Z1fv}}} c {{{{symbol:_Z1fv}}}}\n",
	  "a {{{ b f() c {f()}\n", "" },
	{ "further fields are ignored", "{{{symbol:_Z1fv:x:y}}}\n", "f()\n", "" },
	{ "symbol without name", "x {{{symbol}}} y\n", "x {{{symbol}}} y\n",
	  "log:1: expected 1 field(s); found 0: {{{symbol}}}\n" },
	{ "crlf", "{{{symbol:_Z1fv}}}\r\nx\r\n", "f()\r\nx\r\n", "" },

	/* Context. */
	{ "module and maps on one line", WITH("x\n"), SHOWS("x\n"), "" },
	{ "maps are sorted", "{{{module:1::elf:ABCDE}}}\n{{{mmap:0x2000:0x10:load:1:RX:0}}}\n"
	  "{{{mmap:0x1000:0x10:load:1:w:0}}}\n",
	  "[[[ELF module #0x1 \"\"; BuildID=0abcde [0x1000-0x100f](w),[0x2000-0x200f](rx)]]]\n", "" },
	{ "prefix of the first line stays", "[1] {{{module:0x0:a:elf:aa}}}\n"
	  "[2] {{{mmap:0x1000:1:load:00:r:0}}}\n[3] z\n",
	  "[1] [[[ELF module #0x0 \"a\"; BuildID=aa [0x1000-0x1000](r)]]]\n[3] z\n", "" },
	{ "adds", WITH("\n[1] {{{mmap:0x30000:0x10:load:0:r:0x9000}}}\n"),
	  SHOWS("\n[1] [[[ELF module #0x0 \"a.out\"; adds [0x30000-0x3000f](r)]]]\n"), "" },
	{ "announced again in the same words", WITH("x\n" MODULE), SHOWS("x\n" MODULE_LINE), "" },
	{ "names with colons", "{{{module:4:<VMO#1=bootfs:blob/29>:elf:cd01:more}}}\n",
	  "[[[ELF module #0x4 \"<VMO#1=bootfs:blob/29>\"; BuildID=cd01]]]\n", "" },
	{ "reset without effect", "a\n[1] {{{reset}}}\nb\n", "a\nb\n", "" },
	{ "reset", WITH("[1] {{{reset:begin}}}\n{{{bt:0:0x10201}}}\n"),
	  SHOWS("[1] [[[reset:begin]]]\n    #0    0x0000000000010201 is not in any module\n"), "" },
	{ "text behind context stays", WITH("{{{reset}}} gone\n{{{reset}}} x\n"),
	  SHOWS("[[[reset]]] gone\n x\n"), "" },
	{ "context on one line",
	  "{{{module:0:a:elf:aa}}} {{{mmap:0x1000:0x10:load:0:r:0}}} \nx\n",
	  "[[[ELF module #0x0 \"a\"; BuildID=aa [0x1000-0x100f](r)]]]\nx\n", "" },
	{ "text within context", "{{{module:0:a:elf:aa}}} t {{{mmap:0x1000:0x10:load:0:r:0}}} u\n",
	  "[[[ELF module #0x0 \"a\"; BuildID=aa]]] t "
	  "[[[ELF module #0x0 \"a\"; adds [0x1000-0x100f](r)]]] u\n", "" },
	{ "contexts on one line", "{{{module:0:a:elf:aa}}} {{{module:1:b:elf:bb}}}\t{{{reset}}} \v{{{module:0:c:elf:cc}}}\nx\n",
	  "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\n[[[ELF module #0x1 \"b\"; BuildID=bb]]]\n[[[reset]]]\n"
	  "[[[ELF module #0x0 \"c\"; BuildID=cc]]]\nx\n", "" },
	{ "text between contexts", "{{{module:0:a:elf:aa}}} t{{{module:1:b:elf:bb}}} {{{reset}}}u {{{module:0:c:elf:cc}}}\n",
	  "[[[ELF module #0x0 \"a\"; BuildID=aa]]] t[[[ELF module #0x1 \"b\"; BuildID=bb]]]\n[[[reset]]]u "
	  "[[[ELF module #0x0 \"c\"; BuildID=cc]]]\n", "" },
	{ "crlf on a module line", "{{{module:0:a:elf:aa}}}\r\nx\n",
	  "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\r\nx\n", "" },
	{ "context at the end", "{{{module:0:a:elf:aa}}}",
	  "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\n", "" },

	/* Mistakes lose nothing. */
	{ "bad context", WITH("a {{{module:0:b:elf:cc}}} b\n{{{mmap:0x10000:1:load:0:r:0}}}\n"
	  "{{{mmap:0x1:1:load:7:r:0}}}\n{{{module:1:b:pe:cc}}}\n{{{mmap:1:1:load:0:r:0}}}\n"
	  "{{{mmap:0x1:1:load:0:wr:0}}}\n{{{module:2:b:elf:xy}}}\n{{{module:2}}}\n"),
	  SHOWS("a {{{module:0:b:elf:cc}}} b\n{{{mmap:0x10000:1:load:0:r:0}}}\n"
	  "{{{mmap:0x1:1:load:7:r:0}}}\n{{{module:1:b:pe:cc}}}\n{{{mmap:1:1:load:0:r:0}}}\n"
	  "{{{mmap:0x1:1:load:0:wr:0}}}\n{{{module:2:b:elf:xy}}}\n{{{module:2}}}\n"),
	  "log:4: duplicate module ID: {{{module:0:b:elf:cc}}}\n"
	  "log:5: overlapping mmap: #0x0 [0x10000-0x12fff]: {{{mmap:0x10000:1:load:0:r:0}}}\n"
	  "log:6: unknown module ID: {{{mmap:0x1:1:load:7:r:0}}}\n"
	  "log:7: unknown module type: {{{module:1:b:pe:cc}}}\n"
	  "log:8: expected address; found '1': {{{mmap:1:1:load:0:r:0}}}\n"
	  "log:9: expected mode; found 'wr': {{{mmap:0x1:1:load:0:wr:0}}}\n"
	  "log:10: expected build ID; found 'xy': {{{module:2:b:elf:xy}}}\n"
	  "log:11: expected at least 3 field(s); found 1: {{{module:2}}}\n" },
	{ "bad presentation", WITH("{{{bt:x:0x1}}} {{{bt:0:0X1}}} {{{pc}}} {{{data:}}} {{{bt:1}}}\n"),
	  SHOWS("{{{bt:x:0x1}}} {{{bt:0:0X1}}} {{{pc}}} {{{data:}}} {{{bt:1}}}\n"),
	  "log:4: expected frame number; found 'x': {{{bt:x:0x1}}}\n"
	  "log:4: expected address; found '0X1': {{{bt:0:0X1}}}\n"
	  "log:4: expected at least 1 field(s); found 0: {{{pc}}}\n"
	  "log:4: expected address; found '': {{{data:}}}\n"
	  "log:4: expected at least 2 field(s); found 1: {{{bt:1}}}\n" },

	/* bt */
	{ "inlines repeat the prefix", WITH("[1] 2> {{{bt:0:0x10193:pc}}} end\n"),
	  SHOWS("[1] 2>     #0.1  0x0000000000010193 ns::get /src/inl.cpp:4:97 (a.out+0x1193)\n"
	  "[1] 2>     #0    0x0000000000010193 ns::outer /src/inl.cpp:9:79 (a.out+0x1193) end\n"), "" },
	{ "return address", WITH("{{{bt:0:0x10210}}}\n{{{bt:1:0x10210:ra}}}\n{{{bt:2:0x10210:pc}}}\n"),
	  SHOWS("    #0    0x0000000000010210 main main.c:12:3 (a.out+0x1210)\n"
	  "    #1    0x0000000000010210 main main.c:12:3 (a.out+0x1210)\n"
	  "    #2    0x0000000000010210 (a.out+0x1210)\n"), "" },
	{ "return address behind the map", WITH("{{{bt:0:0x13000}}} {{{bt:1:0x13000:pc}}}\n"),
	  SHOWS("    #0    0x0000000000013000 (a.out+0x4000)     #1    0x0000000000013000"
	  " is not in any module\n"), "" },
	{ "messages", WITH("{{{bt:0:0x10193:sp 0x3:x}}}\n{{{bt:1:0x10201:pc:m}}}\n{{{bt:2:0x1:ra:m}}}\n"),
	  SHOWS("    #0.1  0x0000000000010193 ns::get /src/inl.cpp:4:97 (a.out+0x1193)\n"
	  "    #0    0x0000000000010193 ns::outer /src/inl.cpp:9:79 (a.out+0x1193) sp 0x3:x\n"
	  "    #1    0x0000000000010201 main main.c:12:3 (a.out+0x1201) m\n"
	  "    #2    0x0000000000000001 is not in any module m\n"), "" },
	{ "what is not known is left out", WITH("{{{bt:10:0x10301}}}\n{{{bt:11111:0x10401}}}\n"),
	  SHOWS("   #10    0x0000000000010301 start (a.out+0x1301)\n"
	  "#11111    0x0000000000010401 x.S:7 (a.out+0x1401)\n"), "" },
	{ "many inlines", WITH("p {{{bt:3:0x10501}}}\n"),
	  SHOWS("p     #3.1  0x0000000000010501 f1 d.c:1:1 (a.out+0x1501)\n"
	  "p     #3.2  0x0000000000010501 f2 d.c:2:1 (a.out+0x1501)\n"
	  "p     #3.3  0x0000000000010501 f3 d.c:3:1 (a.out+0x1501)\n"
	  "p     #3.4  0x0000000000010501 f4 d.c:4 (a.out+0x1501)\n"
	  "p     #3.5  0x0000000000010501 f5 d.c (a.out+0x1501)\n"
	  "p     #3.6  0x0000000000010501 f6 d.c:6:1 (a.out+0x1501)\n"
	  "p     #3.7  0x0000000000010501 f7 d.c:7:1 (a.out+0x1501)\n"
	  "p     #3.8  0x0000000000010501 f8 d.c:8:1 (a.out+0x1501)\n"
	  "p     #3.9  0x0000000000010501 f9 d.c:9:1 (a.out+0x1501)\n"
	  "p     #3.10 0x0000000000010501 f10 d.c:10:1 (a.out+0x1501)\n"
	  "p     #3.11 0x0000000000010501 f11 d.c:11:1 (a.out+0x1501)\n"
	  "p     #3    0x0000000000010501 f12 d.c:12:1 (a.out+0x1501)\n"), "" },
	{ "a kernel below its addresses",
	  "{{{module:0:k:elf:aa}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0xffffffff80001000}}}\n"
	  "{{{bt:0:0x1200:pc}}}\n",
	  "[[[ELF module #0x0 \"k\"; BuildID=aa [0x1000-0x1fff](rx)]]]\n"
	  "    #0    0x0000000000001200 (k+0xffffffff80001200)\n", "" },
	{ "a map up to the end", "{{{module:0:k:elf:aa}}}\n"
	  "{{{mmap:0xfffffffffffff000:0x1000:load:0:rx:0x1000}}}\n{{{pc:0xfffffffffffff200}}}\n",
	  "[[[ELF module #0x0 \"k\"; BuildID=aa [0xfffffffffffff000-0xffffffffffffffff](rx)]]]\n"
	  "main[main.c:12]\n", "" },

	/* Frames of sanitizers, numbered anew behind an inlined one. */
	{ "numbers of frames without symbols",
	  "    #8 0x1  (/x/a.out+0x1190) (BuildId: aabb)\n    #9 0x2  (/x/b.out+0x1) (BuildId: cc)\n"
	  "    #19 0x2  (/x/b.out+0x1) (BuildId: cc)\n",
	  "    #8 0x1 in ns::get /src/inl.cpp:4:97\n    #9 0x1 in ns::outer /src/inl.cpp:9:79\n"
	  "    #10 0x2  (/x/b.out+0x1) (BuildId: cc)\n    #20 0x2  (/x/b.out+0x1) (BuildId: cc)\n",
	  "log:2: no symbols for module \"/x/b.out\" (build ID cc)\n" },

	/* No symbols. */
	{ "one warning for each module",
	  "{{{module:0:b\x1b.so:elf:cc}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0}}}\n"
	  "{{{bt:0:0x1234}}}\n{{{pc:0x1235}}}\n{{{data:0x1236}}}\n{{{reset}}}\n"
	  "{{{module:0:b.so:elf:cc}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0}}}\n{{{bt:0:0x1234}}}\n"
	  "{{{module:1:d:elf:ee}}}\n{{{mmap:0x5000:0x1000:load:1:rx:0}}}\n{{{bt:0:0x5234}}}\n",
	  "[[[ELF module #0x0 \"b\x1b.so\"; BuildID=cc [0x1000-0x1fff](rx)]]]\n"
	  "    #0    0x0000000000001234 (b\x1b.so+0x234)\n0x0000000000001235 (b\x1b.so+0x235)\n"
	  "0x0000000000001236 (b\x1b.so+0x236)\n[[[reset]]]\n"
	  "[[[ELF module #0x0 \"b.so\"; BuildID=cc [0x1000-0x1fff](rx)]]]\n"
	  "    #0    0x0000000000001234 (b.so+0x234)\n"
	  "[[[ELF module #0x1 \"d\"; BuildID=ee [0x5000-0x5fff](rx)]]]\n"
	  "    #0    0x0000000000005234 (d+0x234)\n",
	  "log:3: no symbols for module \"b\x1b.so\" (build ID cc)\n"
	  "log:12: no symbols for module \"d\" (build ID ee): damaged\n" },

	/* pc, data, dumpfile */
	{ "pc", WITH("at {{{pc:0x10193}}}, {{{pc:0x10210:ra}}}, {{{pc:0x10301}}}, {{{pc:0x10401}}}.\n"
	  "{{{pc:0x10601}}} {{{pc:0}}} {{{pc:0x10200:pc:why}}}\n"),
	  SHOWS("at ns::get[/src/inl.cpp:4] inlined in ns::outer[/src/inl.cpp:9], main[main.c:12], "
	  "start, [x.S:7].\n0x0000000000010601 (a.out+0x1601) "
	  "0x0000000000000000 is not in any module main[main.c:12] why\n"), "" },
	{ "data", WITH("{{{data:0x20010}}} {{{data:0x20014}}} {{{data:0x20018}}} {{{data:000}}}\n"),
	  SHOWS("counter[/src/inl.cpp:2] counter+0x4[/src/inl.cpp:2] "
	  "0x0000000000020018 (a.out+0x4018) 0x0000000000000000 is not in any module\n"), "" },
	{ "dumpfile", "a {{{dumpfile:sancov:x y.1}}} b\n{{{dumpfile:sancov}}}\n",
	  "a [[[dumpfile sancov \"x y.1\"]]] b\n{{{dumpfile:sancov}}}\n",
	  "log:2: expected at least 2 field(s); found 1: {{{dumpfile:sancov}}}\n" },

	/* hexdict */
	{ "hexdict on one line", WITH("[1] {{{hexdict:CS:   0 RIP: 0x10201 A:0x5 D:0x20014}}} z\n"),
	  SHOWS("[1] CS:   0 RIP: 0x10201 [1] A:0x5 D:0x20014 [2] z\n"
	  "[1] [1] RIP 0x10201: main main.c:12 (a.out+0x1201)\n"
	  "[1] [2] D 0x20014: counter+0x4 /src/inl.cpp:2 (a.out+0x4014)\n"), "" },
	{ "hexdict over lines", WITH("p {{{hexdict:CS: 0\nRIP: \n   0x10193\n\tX: 0x20800 Y:\n"
	  "0x10601}}} rest {{{symbol:_Z1fv}}}\nnext\n"),
	  SHOWS("p CS: 0\nRIP: \n   0x10193 [1]\n\tX: 0x20800 [2] Y:\n0x10601 [3] rest f()\n"
	  "p [1] RIP 0x10193: ns::get /src/inl.cpp:4 inlined in ns::outer /src/inl.cpp:9 (a.out+0x1193)\n"
	  "p [2] X 0x20800: (a.out+0x4800)\np [3] Y 0x10601: (a.out+0x1601)\nnext\n"), "" },
	{ "hexdict whose first value is on the next line", WITH("{{{hexdict:RIP:\n0x10201\nX: 0x5}}}\n"),
	  SHOWS("RIP:\n0x10201 [1]\nX: 0x5\n[1] RIP 0x10201: main main.c:12 (a.out+0x1201)\n"), "" },
	{ "hexdict at the end of the input", WITH("{{{hexdict:RIP: 0x10201}}}"),
	  SHOWS("RIP: 0x10201 [1]\n[1] RIP 0x10201: main main.c:12 (a.out+0x1201)\n"), "" },
	{ "hexdict over lines at the end", WITH("{{{hexdict:RIP:\n0x10201}}}"),
	  SHOWS("RIP:\n0x10201 [1]\n[1] RIP 0x10201: main main.c:12 (a.out+0x1201)\n"), "" },
	{ "hexdict that never ends", WITH("a {{{hexdict:RIP: 0x10201\nX: 0x5"),
	  SHOWS("a {{{hexdict:RIP: 0x10201\nX: 0x5"),
	  "log:6: this line is not part of the hexdict before it, which does not end\n" },
	{ "hexdict that was cut off", WITH("{{{hexdict:RIP: 0x10201\nX: 0x5\nlog: 12 goes on\n"
	  "{{{symbol:_Z1fv}}} }}}\n"),
	  SHOWS("{{{hexdict:RIP: 0x10201\nX: 0x5\nlog: 12 goes on\nf() }}}\n"),
	  "log:6: this line is not part of the hexdict before it, which does not end\n" },
	{ "hexdict cut off by an element", WITH("{{{hexdict:RIP: 0x10201\nX: 0x5 {{{symbol:_Z1fv}}}\n"),
	  SHOWS("{{{hexdict:RIP: 0x10201\nX: 0x5 f()\n"),
	  "log:5: this line is not part of the hexdict before it, which does not end\n" },
	{ "hexdict behind hexdict", WITH("{{{hexdict:A: 0x10201\nB: 0x5}}} {{{hexdict:C: 0x10201\n"
	  "D: 0x20010}}}\nx\n"),
	  SHOWS("A: 0x10201 [1]\nB: 0x5 C: 0x10201 [2]\nD: 0x20010 [3]\n"
	  "[1] A 0x10201: main main.c:12 (a.out+0x1201)\n"
	  "[2] C 0x10201: main main.c:12 (a.out+0x1201)\n"
	  "[3] D 0x20010: counter /src/inl.cpp:2 (a.out+0x4010)\nx\n"), "" },
	{ "empty hexdict", "{{{hexdict}}}{{{hexdict:}}}\n", "{{{hexdict}}}\n", "" },

	/* Frames of sanitizers, whose numbers go on behind inlined ones, up to the end of the trace. */
	{ "numbers of a trace", SAN("9", "x/a+0x1193") SAN("10", "x/gone+0x10") SAN("11", "x/a+0x1200") "x\n"
	  SAN("1", "x/a+0x1193") "{{{symbol:a}}}\n" SAN("2", "x/gone+0x10") SAN("05", "x/gone+0x10"),
	  "    #9 0x1 in ns::get /src/inl.cpp:4:97\n    #10 0x1 in ns::outer /src/inl.cpp:9:79\n"
	  "    #11 0x1  (/x/gone+0x10) (BuildId: aa)\n    #12 0x1 in main main.c:12:3\nx\n"
	  "    #1 0x1 in ns::get /src/inl.cpp:4:97\n    #2 0x1 in ns::outer /src/inl.cpp:9:79\na\n"
	  "    #2 0x1  (/x/gone+0x10) (BuildId: aa)\n    #05 0x1  (/x/gone+0x10) (BuildId: aa)\n", "" },
	{ "a frame of another format in it", SAN("0", "x/a+0x1193") "  1 0x0055b496117232 in gone (+0x1232) (0x7f)\n",
	  "    #0 0x1 in ns::get /src/inl.cpp:4:97\n    #1 0x1 in ns::outer /src/inl.cpp:9:79\n"
	  "  1 0x0055b496117232 in gone (+0x1232) (0x7f)\n", "log:2: no symbols for module \"gone\"\n" },
	{ "frames in strings of JSON", "{\"a\":\"x\\ty\\nz\\tz #0 0x1 (/x/a+0x1193) (BuildId: aa)\", \"b\":\""
	  "q #1 0x1 (/x/a+0x1193) (BuildId: aa)\\n\"}\n",
	  "{\"a\":\"x\\ty\\nz\\tz #0 0x1 in ns::get /src/inl.cpp:4:97\\nz\\tz #1 0x1 in ns::outer /src/inl.cpp:9:79\", "
	  "\"b\":\"q #2 0x1 in ns::get /src/inl.cpp:4:97\\nq #3 0x1 in ns::outer /src/inl.cpp:9:79\\n\"}\n", "" },
	{ "a long name", WITH("{{{bt:0:0x10701}}}\n"), SHOWS("    #0    0x0000000000010701 "
	  "a_name_of_forty_characters_as_they_are_ main.c:12:3 (a.out+0x1701)\n"), "" },
	{ "blanks of all kinds behind context", "{{{module:0:a:elf:aa}}} \t\v\f\r\nx\n",
	  "[[[ELF module #0x0 \"a\"; BuildID=aa]]]\r\nx\n", "" },

	/* Colour. */
	{ "codes are left alone", "\033[1ma\033[31m{{{symbol:_Z1fv}}}\033[0m\n",
	  "\033[1ma\033[31mf()\033[0m\n", "" },
};

static const struct test_case strip_cases[] = {
	{ "codes are taken out", "\033[1ma\033[31m{{{symbol:_Z1fv}}}\033[0m\033[4mx\033[39m\033[\n",
	  "af()\033[4mx\033[39m\033[\n", "" },
};

static const struct test_case color_cases[] = {
	{ "the state is restored", "\033[1ma{{{symbol:_Z1fv}}}b\033[34mc{{{symbol:x}}}d\nx\n",
	  "\033[1ma\033[0;1;34mf()\033[0m\033[1mb\033[0;34mc\033[0;1;36mx\033[0;1;34md\n\033[0mx\n",
	  "" },
	{ "inlined frames begin as the line did", "{{{module:0:a:elf:aa}}}\n"
	  "{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n[1] \033[31m{{{bt:0:0x10193:pc}}} red\n",
	  "\033[0;34m[[[ELF module\033[0;32m #0x0 \033[0;34m\"\033[0;32ma\033[0;34m\"; BuildID="
	  "\033[0;32maa\033[0;34m [\033[0;32m0x10000\033[0;34m-\033[0;32m0x12fff\033[0;34m]("
	  "\033[0;32mrx\033[0;34m)]]]\n\033[0m[1] \033[0;31m\033[0;34m    #\033[0;32m0\033[0;34m."
	  "\033[0;32m1 \033[0;34m\033[0;32m 0x0000000000010193 \033[0;34m\033[0;32mns::get"
	  "\033[0;34m \033[0;32m/src/inl.cpp\033[0;34m:\033[0;32m4\033[0;34m:\033[0;32m97"
	  "\033[0;34m (\033[0;32ma\033[0;34m+\033[0;32m0x1193\033[0;34m)\033[0m\n"
	  "[1] \033[0;31m\033[0;34m    #\033[0;32m0\033[0;34m   \033[0;32m 0x0000000000010193 "
	  "\033[0;34m\033[0;32mns::outer\033[0;34m \033[0;32m/src/inl.cpp\033[0;34m:\033[0;32m9"
	  "\033[0;34m:\033[0;32m79\033[0;34m (\033[0;32ma\033[0;34m+\033[0;32m0x1193\033[0;34m)"
	  "\033[0;31m red\n\033[0m", "" },
	{ "a footnote begins as the line did, and ends its colours", "{{{module:0:a:elf:aa}}}\n"
	  "{{{mmap:0x20000:0x1000:load:0:rw:0x4000}}}\n[1] {{{hexdict:\033[31mA:0x20010}}}\nx\n",
	  "\033[0;34m[[[ELF module\033[0;32m #0x0 \033[0;34m\"\033[0;32ma\033[0;34m\"; BuildID="
	  "\033[0;32maa\033[0;34m [\033[0;32m0x20000\033[0;34m-\033[0;32m0x20fff\033[0;34m]("
	  "\033[0;32mrw\033[0;34m)]]]\n\033[0m[1] \033[0;31mA:0x20010\033[0;34m [\033[0;32m1"
	  "\033[0;34m]\033[0;31m\n\033[0m[1] \033[0;34m[\033[0;32m1\033[0;34m] \033[0;32m\033[31mA"
	  "\033[0;34m \033[0;32m0x20010\033[0;34m: \033[0;32mcounter\033[0;34m \033[0;32m"
	  "/src/inl.cpp\033[0;34m:\033[0;32m2\033[0;34m (\033[0;32ma\033[0;34m+\033[0;32m0x4010"
	  "\033[0;34m)\033[0m\nx\n", "" },
	{ "colours of a module and a frame", "{{{module:0:a:elf:aa}}}\n"
	  "{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n\033[31m{{{bt:0:0x10201}}}\n",
	  "\033[0;34m[[[ELF module\033[0;32m #0x0 \033[0;34m\"\033[0;32ma\033[0;34m\"; BuildID="
	  "\033[0;32maa\033[0;34m [\033[0;32m0x10000\033[0;34m-\033[0;32m0x12fff\033[0;34m]("
	  "\033[0;32mrx\033[0;34m)]]]\n\033[0m\033[0;31m\033[0;34m    #\033[0;32m0\033[0;34m   "
	  "\033[0;32m 0x0000000000010201 \033[0;34m\033[0;32mmain\033[0;34m \033[0;32mmain.c"
	  "\033[0;34m:\033[0;32m12\033[0;34m:\033[0;32m3\033[0;34m (\033[0;32ma\033[0;34m+"
	  "\033[0;32m0x1201\033[0;34m)\033[0;31m\n\033[0m", "" },
};

static void check(const struct test_case *c, enum markup_color color, size_t piece)
{
	struct markup_options options = { .color = color };
	struct fake_sink got;

	assert_int_equal(fake_filter(&options, c->in, strlen(c->in), piece, &got), 0);
	if (strcmp(got.out.buf, c->out) || strcmp(got.err.buf, c->err))
		print_message("in pieces of %zu: %s\n", piece, c->name);
	assert_string_equal(got.out.buf, c->out);
	assert_string_equal(got.err.buf, c->err);
	fake_sink_deinit(&got);
}

static void check_all(const struct test_case *c, size_t n, enum markup_color color)
{
	static const size_t pieces[] = { 1 << 20, 1, 3, 7 };

	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++)
			check(&c[i], color, pieces[p]);
}

#define CHECK_ALL(cases, color) check_all((cases), sizeof(cases) / sizeof((cases)[0]), (color))

static void test_cases(void **state)
{
	(void)state;
	CHECK_ALL(cases, MARKUP_COLOR_NONE);
}

static void test_colors(void **state)
{
	(void)state;
	CHECK_ALL(strip_cases, MARKUP_COLOR_STRIP);
	CHECK_ALL(color_cases, MARKUP_COLOR_ON);
}

static void test_nul_bytes(void **state)
{
	static const char in[] = "a\0b {{{symbol:_Z1fv}}}\0\n\0{{{symbol:\0}}}\n";
	static const char out[] = "a\0b f()\0\n\0\0\n";
	struct markup_options options = { 0 };
	struct fake_sink got;

	(void)state;
	assert_int_equal(fake_filter(&options, in, sizeof(in) - 1, 1 << 20, &got), 0);
	assert_int_equal(got.out.len, sizeof(out) - 1);
	assert_memory_equal(got.out.buf, out, sizeof(out) - 1);
	fake_sink_deinit(&got);
}

/* Frames of one address, of which the innermost has a name of `len` bytes. */
struct chain { size_t n, len; };

static size_t chain_code(void *ctx, void *module, uint64_t vaddr, bool named, const struct sc_frame **ret)
{
	static struct sc_frame frames[200];
	static char name[70000];
	const struct chain *chain = ctx;

	(void)module, (void)vaddr, (void)named;
	memset(name, 'n', sizeof(name));
	for (size_t i = 0; i < chain->n; i++)
		frames[i] = (struct sc_frame){ { name, i ? 3 : chain->len }, STR("a.c"), (uint32_t)i + 1, 0 };
	*ret = frames;
	return chain->n;
}

/* What comes of frame `number` at 0x11200, of a module whose name has this length. */
static void put_chain(struct fake_text *t, const struct chain *chain, unsigned number, int module_len)
{
	static char text[70500];

	for (size_t i = 1; i <= chain->n; i++) {
		const int digits = snprintf(NULL, 0, "%u", number);
		const size_t name = i == 1 ? chain->len : 3;
		char *p = text;

		p += sprintf(p, "%*s#%u", digits < 5 ? 5 - digits : 0, "", number);
		p += i < chain->n ? sprintf(p, ".%-2zu", i) : sprintf(p, "   ");
		p += sprintf(p, " 0x0000000000011200 ");
		p = (char *)memset(p, 'n', name) + name;
		p += sprintf(p, " a.c:%zu (", i);
		p = (char *)memset(p, 'm', (size_t)module_len) + module_len;
		p += sprintf(p, "+0x1200)\n");
		fake_append(t, text, (size_t)(p - text));
	}
}

/* Most frames are written in one go, for which some are too long or too many: all look the same. */
static void test_long_frames(void **state)
{
	static const struct chain chains[] = {
		{ 1, 3 }, { 2, 65300 }, { 1, 65400 }, { 1, 65450 }, { 1, 65500 }, { 2, 65536 }, { 2, 70000 },
		{ 99, 3 }, { 100, 3 }, { 101, 3 }, { 200, 3 },
	};
	static const int modules[] = { 1, 98, 100, 101, 102, 105, 107, 108, 130, 300 };
	static const unsigned numbers[] = { 3, 99, 100, 12345, 123456 };
	const struct markup_options options = { 0 };
	char line[500];

	(void)state;
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains) * 10; i++) {
		struct chain chain = chains[i / 10];
		struct markup_resolver resolver = fake_resolver;
		struct fake_sink got = { 0 };
		const struct markup_sink sink = { &got, fake_write, fake_complain };
		const unsigned number = numbers[(i + i / 10) % 5];
		struct fake_text want = { 0 };
		struct markup_filter *f;

		resolver.ctx = &chain;
		resolver.code = chain_code;
		put_chain(&want, &chain, number, modules[i % 10]);
		assert_int_equal(markup_filter_create(&options, &resolver, 1, &sink, &f), 0);
		memset(line, 'm', sizeof(line));
		memcpy(line, "{{{module:0:", 12);
		sprintf(line + 12 + modules[i % 10], ":elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0}}}\n"
			"{{{bt:%u:0x11200:pc}}}\n", number);
		assert_int_equal(markup_filter_feed(f, line, strlen(line)), 0);
		assert_int_equal(markup_filter_finish(f), 0);
		markup_filter_destroy(f);
		assert_string_equal(strchr(got.out.buf, '\n') + 1, want.buf); /* behind the module */
		fake_sink_deinit(&got);
		free(want.buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_nul_bytes),
		cmocka_unit_test(test_long_frames),
	};
	return cmocka_run_group_tests_name("render_text", tests, NULL, NULL);
}
