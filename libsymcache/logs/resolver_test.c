/* From what a line of a log says of an address to a function: every way in which formats count, with a
 * program whose code ends where its segment does. A line that is not answered stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/logs/logs.h"

/* Loaded at p_vaddr 0x10000 from offset 0, 4096 bytes: table[] at 0x10800, grind() at 0x10f00, turn() of
 * version V2 at 0x10f40, last() from 0x10fc0 to the end. */
static char program[32];

static void put_symbol(struct bytes *o, struct bytes *names, const char *name, unsigned type, unsigned section,
		       uint64_t vaddr, uint64_t size)
{
	put(o, 4, put_str(names, name));
	put(o, 1, ELF64_ST_INFO(STB_GLOBAL, type));
	put(o, 1, 0);
	put(o, 2, section);
	put(o, 8, vaddr);
	put(o, 8, size);
}

/* Rows for [0x10f00, 0x10fc0): CFA = sp+16, the return address at CFA − 8. */
static void put_frames(struct bytes *o)
{
	size_t begin = begin_length(o, 4);

	put(o, 4, 0);
	put(o, 1, 1);
	put_str(o, "");
	put_uleb(o, 1);
	put_sleb(o, -8);
	put(o, 1, 16);
	put(o, 3, 0x10070c); /* def_cfa rsp, 16 */
	put(o, 2, 0x0190);   /* offset 16, 1 */
	end_length(o, 4, begin);
	begin = begin_length(o, 4);
	put(o, 4, o->b.len);
	put(o, 8, 0x10f00);
	put(o, 8, 0xc0);
	end_length(o, 4, begin);
}

static int set_up(void **state)
{
	static const struct elf_shape shape = { true, false, EM_X86_64, ET_DYN, 0x10000, 0x1000 };
	struct bytes symbols = { 0 }, names = { 0 }, frames = { 0 }, note = { 0 }, elf = { 0 };
	const struct elf_section sections[] = {
		{ .name = ".text", .type = SHT_NOBITS, .flags = SHF_ALLOC | SHF_EXECINSTR, .addr = 0x10f00, .size = 0x100 },
		{ .name = ".data", .type = SHT_NOBITS, .flags = SHF_ALLOC, .addr = 0x10800, .size = 0x100 },
		{ .name = ".symtab", .type = SHT_SYMTAB, .content = &symbols, .link = 4, .entsize = 24 },
		{ .name = ".strtab", .type = SHT_STRTAB, .content = &names },
		{ .name = ".eh_frame", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .content = &frames },
		{ .name = ".note.gnu.build-id", .type = SHT_NOTE, .flags = SHF_ALLOC, .content = &note },
	};

	put(&symbols, 16, 0);
	put(&symbols, 8, 0);
	put_str(&names, "");
	put_symbol(&symbols, &names, "grind", STT_FUNC, 1, 0x10f00, 0x40);
	put_symbol(&symbols, &names, "turn@@V2", STT_FUNC, 1, 0x10f40, 0x80);
	put_symbol(&symbols, &names, "last", STT_FUNC, 1, 0x10fc0, 0x40);
	put_symbol(&symbols, &names, "table", STT_OBJECT, 2, 0x10800, 0x100);
	put_frames(&frames);
	put_block(&note, "\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xaa\xbb\0\0", 20);
	put_elf(&elf, &shape, sections, 6);
	testing_memfd(elf.b.data, elf.b.len, program);
	bytes_deinit(&symbols);
	bytes_deinit(&names);
	bytes_deinit(&frames);
	bytes_deinit(&note);
	bytes_deinit(&elf);
	*state = NULL;
	return 0;
}

static void say(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	(void)ctx, (void)warns_of, (void)text, (void)len;
}

/* What becomes of the log at `path`, on the heap. */
static char *filtered_at(const char *path)
{
	const struct markup_options markup = { .dialect = MARKUP_DEFAULT };
	char module[64], *ret = calloc(1, 1 << 16);
	const char *const modules[] = { module };
	struct symcache_caches *caches = symcache_caches_create(NULL);
	const struct symlog_filter_options options = {
		.markup = &markup, .threads = 1, .say = say,
		.from.find = { .caches = caches, .modules = modules, .num_modules = 1 },
	};
	FILE *out = tmpfile();
	struct symlog run = { .path = path, .output = { .fd = fileno(out), .name = "output" } };
	struct symlog_filter *f;
	struct sc_error err;

	snprintf(module, sizeof(module), "prog=%s", program);
	assert_int_equal(symlog_filter_create(&options, &f, &err), 0);
	assert_int_equal(symlog_filter_run(f, &run, &err), SYMLOG_OK);
	assert_int_equal(symlog_filter_end(f, &err), 0);
	symlog_filter_destroy(f);
	rewind(out);
	assert_true(ret && fread(ret, 1, (1 << 16) - 1, out) < 1 << 16);
	fclose(out);
	symcache_caches_destroy(caches);
	return ret;
}

static char *filtered(const char *text)
{
	char path[32], *ret;
	const int fd = testing_memfd(text, strlen(text), path);

	ret = filtered_at(path);
	close(fd);
	return ret;
}

static void test_places(void **state)
{
	static const struct { const char *in, *out; } cases[] = {
		/* Exact: the first byte of a function is in it. */
		{ "#1 0x7f92  (/opt/prog+0x10f00)", "#1 0x7f92 in grind (/opt/prog+0x10f00)" },
		{ "#1 0x7f92  (/opt/prog+0x10f40)", "#1 0x7f92 in turn (/opt/prog+0x10f40)" },
		/* A return address is behind its call, also behind all code. */
		{ "./prog(+0x10f40) [0x5566010f40]", "./prog(+0x10f40) [0x5566010f40] grind" },
		{ "./prog(+0x11000) [0x5566011000]", "./prog(+0x11000) [0x5566011000] last" },
		{ "./prog(+0x11001) [0x5566011001]", NULL },
		/* Offsets in the file; of strace the first is exact. */
		{ " > /opt/prog() [0xf40]\n > /opt/prog() [0xf40]\n > /opt/prog() [0x1000]",
		  " > /opt/prog() [0xf40] turn\n > /opt/prog() [0xf40] grind\n > /opt/prog() [0x1000] last" },
		{ " > /opt/prog() [0xf40]\n > /opt/prog() [0x1001]", " > /opt/prog() [0xf40] turn\n > /opt/prog() [0x1001]" },
		{ "a  7 [000]  1.1: x:\n\t f40 f+0x1 (/opt/prog)\n\t f40 g+0x1 (/opt/prog)\n\t 0 h (/opt/prog)",
		  "a  7 [000]  1.1: x:\n\t f40 f+0x1 (/opt/prog) turn\n\t f40 g+0x1 (/opt/prog) grind\n\t 0 h (/opt/prog)" },
		/* From the load base. */
		{ "#0  0x00007f06 n/a (prog + 0xf40)\n#1  0x00007f06 n/a (prog + 0xf40)\n#2  0x00007f06 n/a (prog + 0x1000)",
		  "#0  0x00007f06 turn (prog + 0xf40)\n#1  0x00007f06 grind (prog + 0xf40)\n#2  0x00007f06 last (prog + 0x1000)" },
		{ "3. ? @ 0x0000000000000f40 in /opt/prog\n4. ? @ 0x0000000000001000 in /opt/prog",
		  "3. ? @ 0x0000000000000f40 in /opt/prog turn\n4. ? @ 0x0000000000001000 in /opt/prog last" },
		/* From a symbol, whose version is none of its name. */
		{ "./prog(grind+0x12)[0x7f3e00010f12]", "./prog(grind+0x12)[0x7f3e00010f12] grind" },
		{ "./prog(turn+0x12)[0x7f3e00010f52]", "./prog(turn+0x12)[0x7f3e00010f52] turn" },
		{ "./prog(turn+0x0)[0x7f3e00010f40]", "./prog(turn+0x0)[0x7f3e00010f40] grind" },
		{ "./prog(other+0x12)[0x7f3e00010f52]", NULL },
		/* A program that lies where it was linked to. */
		{ " 1: 0x10f40 main [/opt/prog]", " 1: 0x10f40 main [/opt/prog] grind" },
		{ " 1: 0x20f40 main [/opt/prog]", NULL },
		{ "==7==    by 0x10F10: ??? (in /opt/prog)", "==7==    by 0x10F10: grind" },
		{ "==7==    by 0x4010F10: ??? (in /opt/prog)", NULL },
		/* Where the code begins. */
		{ "depotd[77]: segfault at 10 ip 0000000000400f10 sp 00007ffe error 4 in prog[f10,400000+1000]",
		  "depotd[77]: segfault at 10 ip 0000000000400f10 sp 00007ffe error 4 in prog[f10,400000+1000] (grind)" },
		/* Someone jumped into a variable. */
		{ "#1 0x401d39 main (prog+0x10850)", "#1 0x401d39 in table (prog+0x10850)" },
		{ "#1 0x401d39 main (prog+0x10950)", NULL },
		/* Names, one underscore more or less. */
		{ "{{{symbol:_Z4millv}}} {{{symbol:__Z4millv}}} {{{symbol:___Z4millv}}} {{{symbol:__}}}",
		  "mill() mill() ___Z4millv __" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *got = filtered(cases[i].in);

		assert_string_equal(got, cases[i].out ? cases[i].out : cases[i].in);
		free(got);
	}
}

/* Standard input that was read in part already: what is before is no part of the log, also when it is
 * read once more for tables behind the frames. */
static void test_from_the_middle(void **state)
{
#define TABLE(module) "7fee82ce0000-7fee82cf0000 r-xp 00000000 fe:00 7 " module "\n"
#define FRAME "    @     0x7fee82ce0f41  "
	static const char text[] = TABLE("/opt/gone") FRAME "(unknown)\n" TABLE("/opt/prog");
	const size_t behind = strlen(TABLE("/opt/gone"));
	const int old = dup(STDIN_FILENO);
	char path[32], *got;
	const int fd = testing_memfd(text, strlen(text), path);

	(void)state;
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	for (int part = 0; part < 2; part++) {
		assert_true(lseek(STDIN_FILENO, part ? (off_t)behind : 0, SEEK_SET) >= 0);
		got = filtered_at("-");
		assert_string_equal(got, part ? FRAME "turn\n" TABLE("/opt/prog") : text);
		free(got);
	}
	assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
	close(old);
	close(fd);
}

/* ---- stacks ------------------------------------------------------------------------------ */

/* A word as the digits of bytes 8 to 15 of a stack of 24, the others of which are 0. */
static const char *in_base64(uint64_t word)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static char ret[33];
	uint8_t b[24] = { 0 };

	for (int i = 0; i < 8; i++)
		b[8 + i] = (uint8_t)(word >> 8 * i);
	for (int i = 0; i < 32; i++) {
		const uint8_t *three = b + i / 4 * 3;

		ret[i] = digits[(three[0] << 16 | three[1] << 8 | three[2]) >> (18 - i % 4 * 6) &
				63];
	}
	return ret;
}

/* "FUNCTION FUNCTION; why it ends" of a filtered log; "": there are no frames. */
static void sum_up(char *log, char *ret)
{
	*ret = '\0';
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		const char *end = strstr(line, "the stack ends here");
		char name[20];

		if (end)
			strcat(ret, strchr(end, ':'));
		else if (sscanf(line, " #%*d 0x%*x %19[a-z]", name) == 1)
			strcat(strcat(ret, *ret ? " " : ""), strcmp(name, "is") ? name : "?");
	}
}

/* The registers and bytes of a thread: the machine is known by its module, else by the names. */
static void test_stacks(void **state)
{
	static const struct {
		bool module;
		const char *registers;
		uint64_t word; /* of the stack, at sp+8 */
		const char *out;
	} cases[] = {
		{ true, "pc=0x7f0000010f10:sp=0x7000", 0x7f0000010f50, "grind turn: no memory" },
		{ true, "pc=0x7f0000010f40:sp=0x7000", 0x7f0000010f40, "turn grind: no memory" },
		{ true, "sp=0x7000:rbx=0x1:rbp=0x2:fp=0x2:pc=0x7f0000010f10", 0x7f0000010f50,
		  "grind turn: no memory" },
		{ true, "rsp=0x7000:pc=0x7f0000010f10", 0x7f0000010f50, "grind turn: no memory" },
		{ true, "pc=0x7f0000010f10:sp=0x7000", 0, "grind" },
		{ true, "pc=0x7f0000010f10:sp=0xfffffffffffffff0", 1,
		  "grind: the stack is corrupt: it does not grow" },
		{ true, "pc=0x7f0000010fd0:sp=0x7000", 0,
		  "last: no unwind information for the address" },
		/* What is needed is not there, or the registers are of another machine than the
		   module. */
		{ true, "pc=0x7f0000010f10", 0, "" },
		{ true, "sp=0x7000", 0, "" },
		{ true, "pc=0x7f0000010f10:sp=0x7000:x19=0x1", 0, "" },
		{ true, "pc=0x7f0000010f10:sp=0x7000:notaregister=0x1", 0, "" },
		{ false, "pc=0x1000:sp=0x7000:rbx=0x1", 0, "?: the address is in no module" },
		{ false, "pc=0x1000:sp=0x7000:x19=0x1:lr=0x5", 0,
		  "?: the address is in no module" },
		{ false, "pc=0x1000:sp=0x7000:ebx=0x1", 0, "?: the address is in no module" },
		{ false, "pc=0x1000:sp=0x7000:s11=0x1", 0, "?: the address is in no module" },
		{ false, "pc=0x1000:sp=0x7000:x19=0x1:rbx=0x1", 0, "" },
		{ false, "pc=0x1000:x19=0x1", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char module[200], in[1000], got[1000], *log;

		snprintf(module, sizeof(module),
			 "{{{module:0:%s:elf:aabb}}}\n{{{mmap:0x7f0000010000:0x1000:load:0:rx:"
			 "0x10000}}}\n",
			 program);
		snprintf(in, sizeof(in), "%s{{{stack:1:%s:%s}}}", cases[i].module ? module : "",
			 cases[i].registers, in_base64(cases[i].word));
		log = filtered(in);
		sum_up(log, got);
		if (strcmp(got, cases[i].out))
			fail_msg("%s: %s, not %s", cases[i].registers, got, cases[i].out);
		free(log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_places),
					    cmocka_unit_test(test_from_the_middle),
					    cmocka_unit_test(test_stacks) };

	return cmocka_run_group_tests(tests, set_up, NULL);
}
