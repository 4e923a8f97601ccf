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

static int set_up(void **state)
{
	static const struct elf_shape shape = { true, false, EM_X86_64, ET_DYN, 0x10000, 0x1000 };
	struct bytes symbols = { 0 }, names = { 0 }, elf = { 0 };
	const struct elf_section sections[] = {
		{ .name = ".text", .type = SHT_NOBITS, .flags = SHF_ALLOC | SHF_EXECINSTR, .addr = 0x10f00, .size = 0x100 },
		{ .name = ".data", .type = SHT_NOBITS, .flags = SHF_ALLOC, .addr = 0x10800, .size = 0x100 },
		{ .name = ".symtab", .type = SHT_SYMTAB, .content = &symbols, .link = 4, .entsize = 24 },
		{ .name = ".strtab", .type = SHT_STRTAB, .content = &names },
	};

	put(&symbols, 16, 0);
	put(&symbols, 8, 0);
	put_str(&names, "");
	put_symbol(&symbols, &names, "grind", STT_FUNC, 1, 0x10f00, 0x40);
	put_symbol(&symbols, &names, "turn@@V2", STT_FUNC, 1, 0x10f40, 0x80);
	put_symbol(&symbols, &names, "last", STT_FUNC, 1, 0x10fc0, 0x40);
	put_symbol(&symbols, &names, "table", STT_OBJECT, 2, 0x10800, 0x100);
	put_elf(&elf, &shape, sections, 4);
	testing_memfd(elf.b.data, elf.b.len, program);
	bytes_deinit(&symbols);
	bytes_deinit(&names);
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_places), cmocka_unit_test(test_from_the_middle) };

	return cmocka_run_group_tests(tests, set_up, NULL);
}
