/* Where the files are found that a file refers to: split units in .dwo files and packages, the
 * program of a debug file; and the instructions of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/input/files.h"

static const uint8_t id[4] = { 0xaa, 0xbb, 0xcc, 0xdd };

static void make(const char *command)
{
	if (testing_run("cd %s && rm -rf in && mkdir -p in/d && cd in && T=$PWD && "
			"printf 'int f(int x) { return 2 * x; }\n' > d/a.c && %s",
			testing_dir, command))
		fail_msg("%s", command);
}

/* What makes packages is not in every binutils. */
static bool lacks_dwp(const char *command)
{
	const bool lacks = strstr(command, "dwp -o") && system("command -v dwp > /dev/null");

	if (lacks)
		printf("skipped: there is no dwp\n");
	return lacks;
}

/* The units read, those that are broken, and what the cache is made of. */
static void expect(const char *what, const char *name, const struct symcache_build_options *o,
		   unsigned units, unsigned bad, uint32_t sources)
{
	const struct symcache_build_info *info;
	struct symcache_build *b;
	struct sc_error err;
	char path[100];

	snprintf(path, sizeof(path), "%s/in/%s", testing_dir, name);
	if (symcache_build_create(path, o, &b, &err))
		fail_msg("%s: %s", what, err.msg);
	info = symcache_build_info(b);
	if (info->units != units || info->bad_units != bad || info->sources != sources)
		fail_msg("%s: %d units, %d bad: %s; sources %x", what, (int)info->units,
			 (int)info->bad_units, info->first_fault, info->sources);
	symcache_build_destroy(b);
}

#define CC "gcc -g -gsplit-dwarf -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd "

/* By the folder it was compiled in, else next to the program or its debug file, with the folders of
 * its name or without; a package by its name, or as it is named. */
static const struct {
	const char *made, *file;
	bool found;
	const char *package;
} split_cases[] = {
	{ "cd d && gcc -g -gsplit-dwarf -fPIC -c a.c && " CC "-o ../x a.o", "x", true,
	  NULL },
	{ "cd d && gcc -g -gsplit-dwarf -fPIC -c a.c && " CC "-o ../x a.o && rm a.dwo", "x",
	  false, NULL },
	{ "cd d && gcc -g -gsplit-dwarf -fPIC -c a.c && " CC "-o ../x a.o && mv a.dwo ..",
	  "x", true, NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC "-o x d/a.o", "x", true,
	  NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && mkdir e && mv x d e",
	  "e/x", true, NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && mkdir e && mv x d/a.dwo e",
	  "e/x", true, NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && mkdir e && mv x e && mv d f",
	  "e/x", false, NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o $T/d/a.o d/a.c && " CC
	  "-o x d/a.o && mkdir e && mv x e",
	  "e/x", true, NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && printf x > d/a.dwo",
	  "x", false, NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && ln -s ../x d/y && mv d/a.dwo .",
	  "d/y", true, NULL },
	/* Next to the program, and its skeletons in a debug file elsewhere. */
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && mkdir .debug && objcopy --only-keep-debug x .debug/x.debug && "
	  "objcopy --strip-debug --add-gnu-debuglink=.debug/x.debug x && mv d/a.dwo .",
	  "x", true, NULL },
	{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && mkdir .debug && objcopy --only-keep-debug x .debug/x.debug && "
	  "objcopy --strip-debug --add-gnu-debuglink=.debug/x.debug x && mv d/a.dwo .debug",
	  "x", true, NULL },
	{ "gcc -gdwarf-4 -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && dwp -o x.dwp d/a.dwo && rm d/a.dwo",
	  "x", true, NULL },
	{ "gcc -gdwarf-4 -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && dwp -o y d/a.dwo && rm d/a.dwo",
	  "x", false, NULL },
	{ "gcc -gdwarf-4 -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && dwp -o y d/a.dwo && rm d/a.dwo",
	  "x", true, "y" },
	{ "gcc -gdwarf-4 -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && dwp -o x.dwp d/a.dwo && rm d/a.dwo && "
	  "mv x x.debug",
	  "x.debug", true, NULL },
	{ "gcc -gdwarf-4 -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC
	  "-o x d/a.o && dwp -o x.dwp d/a.dwo && rm d/a.dwo && "
	  "ln -s ../x d/y",
	  "d/y", true, NULL },
#define APART "gcc -gdwarf-4 -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC "-o x d/a.o && mkdir .debug && " \
"objcopy --only-keep-debug x .debug/x.debug && " \
"objcopy --strip-debug --add-gnu-debuglink=.debug/x.debug x && "
	{ APART "dwp -o .debug/x.debug.dwp d/a.dwo && rm d/a.dwo", "x", true, NULL },
	{ APART "dwp -o .debug/x.dwp d/a.dwo && rm d/a.dwo", "x", true, NULL },
	{ APART "dwp -o x.dwp d/a.dwo && rm d/a.dwo", "x", true, NULL },
	{ APART "dwp -o x.debug.dwp d/a.dwo && rm d/a.dwo", "x", false, NULL },
};

static void test_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(split_cases) / sizeof(*split_cases); i++) {
		struct symcache_build_options o = { 0 };
		char package[100];

		if (lacks_dwp(split_cases[i].made))
			continue;
		snprintf(package, sizeof(package), "%s/in/%s", testing_dir,
			 split_cases[i].package ? split_cases[i].package : "");
		o.package = split_cases[i].package ? package : NULL;
		make(split_cases[i].made);
		expect(split_cases[i].made, split_cases[i].file, &o, 1, !split_cases[i].found,
		       SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB | SYMCACHE_FROM_CFI);
	}
}

/* The program of a debug file stands next to it, under its name without ".debug"; it must be of the
 * same build. It gives the unwind information. */
static void test_program(void **state)
{
	static const struct {
		const char *made;
		bool found;
	} cases[] = {
		{ "rm x", false },
		{ "true", true },
		{ "mv x y", false },
		{ "gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccde -o x d/a.c", false },
		{ "gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=none -o x d/a.c", false },
		{ "gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=none -o x d/a.c && objcopy --only-keep-debug x x.debug", false },
		{ "gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd -Wl,--image-base=0x10000 -o x d/a.c 2> /dev/null || "
		  "gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd -Wl,-Ttext-segment=0x10000 -o x d/a.c",
		  false },
		{ "printf x > x", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_build_options o = { 0 };
		char command[600];

		snprintf(
			command, sizeof(command),
			"gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd -o x d/a.c && "
			"objcopy --only-keep-debug x x.debug && %s",
			cases[i].made);
		make(command);
		expect(cases[i].made, "x.debug", &o, 1, 0,
		       SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB |
			       (cases[i].found ? (uint32_t)SYMCACHE_FROM_CFI : 0));
	}
}

/* With a folder of its own in the place of /usr/lib/debug. Returns 77: that may not be had. */
static int in_system_folder(void)
{
	const struct symcache_build_options o = { 0 };
	struct symcache_build *b;
	char path[300];

	if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/usr/lib/debug", "tmpfs", 0, NULL))
		return 77;
	snprintf(path, sizeof(path), "/usr/lib/debug%s/in/x.debug", testing_dir);
	if (testing_run("mkdir -p /usr/lib/debug%s/in && mv %s/in/x.debug %s", testing_dir, testing_dir, path) ||
	    symcache_build_create(path, &o, &b, NULL))
		return 1;
	return symcache_build_info(b)->sources & SYMCACHE_FROM_CFI ? 0 : 2;
}

/* The program of /usr/lib/debug/PATH.debug is PATH. */
static void test_system_folder(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	make("gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd -o x d/a.c && objcopy --only-keep-debug x x.debug");
	if (!(pid = fork()))
		_exit(in_system_folder());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		printf("skipped: /usr/lib/debug cannot be replaced\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* The instructions of the file with that build ID, as far as it has them. */
static void test_code(void **state)
{
	static const uint8_t other[4] = { 0xaa, 0xbb, 0xcc, 0xde };
	struct symcache_code *c;
	struct sc_error err;
	char path[100];
	uint64_t text;
	uint8_t bytes[64], all[4096];

	(void)state;
	make("printf '.text\n.byte 1,2,3,4,5,6,7,8\n' > a.s && gcc -shared -nostdlib -Wl,--build-id=0xaabbccdd -o x a.s && "
	     "objcopy --remove-section .text x y");
	snprintf(path, sizeof(path), "%s/in/x", testing_dir);
	assert_int_equal(symcache_code_open(path, other, 4, &c, &err), SC_ENOTFOUND);
	assert_null(c);
	assert_int_equal(symcache_code_open(path, id, 3, &c, &err), SC_ENOTFOUND);
	assert_int_equal(symcache_code_open(path, id, 0, &c, &err), SC_ENOTFOUND);
	assert_non_null(strstr(err.msg, "is of another build, or has no code"));
	assert_int_equal(symcache_code_open(path, id, 4, &c, &err), 0);
	assert_int_equal(symcache_elf_section(path, ".text", &text, &err), 0);
	assert_true(symcache_code_read(c, text, bytes, 8));
	assert_memory_equal(bytes, "\1\2\3\4\5\6\7\10", 8);
	assert_true(symcache_code_read(c, text + 3, bytes, 1));
	assert_int_equal(bytes[0], 4);
	assert_false(symcache_code_read(c, text + 0x100000, bytes, 1));
	assert_false(symcache_code_read(c, text, all, sizeof(all)));
	symcache_code_close(c);
	path[strlen(path) - 1] = 'y';
	assert_int_equal(symcache_code_open(path, id, 4, &c, &err), SC_ENOTFOUND);
	symcache_code_close(NULL);
}

/* Why a split unit, a part of a package, or MiniDebugInfo, is missing; symbols that are farther than addresses of a cache
 * reach. */
static void test_faults(void **state)
{
	static const struct { const char *made; uint64_t bad, above; const char *says; } cases[] = {
		{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC "-o x d/a.o && printf x > d/a.dwo", 1, 0, "/in/d/a.dwo: not an ELF file" },
		{ "gcc -g -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC "-o x d/a.o && rm d/a.dwo", 1, 0, "d/a.dwo is not there" },
		{ "printf '.text\n.type f,@function\nf: .byte 1,2\n.size f,2\n.section .far,\"ax\"\n.type g,@function\n"
		  "g: .byte 3,4\n.size g,2\n' > a.s && gcc -shared -nostdlib -Wl,--build-id=0xaabbccdd "
		  "-Wl,--section-start=.far=0x200000000 -o x a.s", 0, 1, "" },
		{ "gcc -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd -o x d/a.c && strip x && printf garbage > m && "
		  "objcopy --add-section .gnu_debugdata=m x", 1, 0, "gnu_debugdata" },
		{ "gcc -gdwarf-4 -gsplit-dwarf -fPIC -c -o d/a.o d/a.c && " CC "-o x d/a.o && dwp -o y d/a.dwo && rm d/a.dwo && "
		  "printf 'ZLIB\\0\\0\\0\\0\\0\\0\\1\\0garbage' > m && objcopy --add-section .zdebug_ranges.dwo=m y x.dwp", 1, 0,
		  ".debug_ranges.dwo" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_build_options o = { .threads = 1 };
		const struct symcache_build_info *info;
		struct symcache_build *b;
		struct sc_error err;
		char path[100];

		if (lacks_dwp(cases[i].made))
			continue;
		make(cases[i].made);
		snprintf(path, sizeof(path), "%s/in/x", testing_dir);
		if (symcache_build_create(path, &o, &b, &err))
			fail_msg("%s", err.msg);
		info = symcache_build_info(b);
		assert_int_equal(info->bad_units, cases[i].bad);
		assert_int_equal(info->code_above_4g, cases[i].above);
		if (!strstr(info->first_fault, cases[i].says))
			fail_msg("%s: %s", cases[i].made, info->first_fault);
		symcache_build_destroy(b);
	}
}

/* What Breakpad calls a file by: 16 bytes of its build ID, of which the first three numbers are as the
 * machine has them. */
static void test_uuid(void **state)
{
	static const uint8_t build_id[20] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };
	static const struct { size_t len; bool big_endian; uint8_t want[16]; } cases[] = {
		{ 20, false, { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 } },
		{ 20, true, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
		{ 16, false, { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 } },
		{ 15, true, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
		{ 3, false, { 0, 2, 1, 0 } }, { 0, false, { 0 } },
	};
	uint8_t got[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sc_files_debug_uuid(build_id, cases[i].len, cases[i].big_endian, got);
		assert_memory_equal(got, cases[i].want, 16);
	}
}

/* What files say of themselves: build ID, DWARF, the names and build IDs of their debug files. */
static void test_facts(void **state)
{
	static const struct { const char *made; size_t id_len; bool dwarf; const char *link; size_t alt_len; } cases[] = {
		{ "true", 4, true, "", 0 }, { "strip x", 4, false, "", 0 },
		{ "objcopy --only-keep-debug x x.debug && strip --add-gnu-debuglink=x.debug x 2> /dev/null || "
		  "objcopy --strip-all --add-gnu-debuglink=x.debug x", 4, false, "x.debug", 0 },
		{ "gcc -g -shared -fPIC -nostdlib -Wl,--build-id=none -o x d/a.c", 0, true, "", 0 },
		{ "printf 'all.debug\\0\\1\\2\\3\\4\\5' > alt && objcopy --add-section .gnu_debugaltlink=alt x", 4, true, "", 5 },
	};
	struct symcache_elf_facts facts;
	struct sc_error err;
	uint8_t other[SYMCACHE_BUILD_ID_MAX];
	char path[100];

	(void)state;
	snprintf(path, sizeof(path), "%s/in/x", testing_dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char command[600];
		bool derived;
		size_t len;
		int fd;

		snprintf(command, sizeof(command), "gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd -o x d/a.c && %s",
			 cases[i].made);
		make(command);
		fd = open(path, O_RDONLY);
		assert_int_equal(symcache_elf_facts(fd, "x", &facts, &err), 0);
		assert_int_equal(facts.build_id_len, cases[i].id_len);
		assert_memory_equal(facts.build_id, id, cases[i].id_len);
		assert_int_equal(facts.dwarf, cases[i].dwarf);
		assert_string_equal(facts.debug_link, cases[i].link);
		assert_int_equal(facts.alt_id_len, cases[i].alt_len);
		assert_memory_equal(facts.alt_id, "\1\2\3\4\5", cases[i].alt_len);
		/* One without a build ID has 16 bytes of its code. */
		assert_int_equal(symcache_elf_build_id(path, other, &len, &derived, &err), 0);
		assert_int_equal(len, derived ? 16 : 4);
		assert_int_equal(derived, !cases[i].id_len);
		assert_int_equal(symcache_elf_build_id_of(fd, "x", other, &len, &derived, &err), 0);
		assert_int_equal(len, derived ? 16 : 4);
		if (!derived)
			assert_memory_equal(other, id, 4);
		for (size_t k = len; k < sizeof(other); k++)
			assert_int_equal(other[k], 0);
		close(fd);
	}
	assert_int_equal(symcache_elf_facts(-1, "x", &facts, &err), SC_ESYS);
	assert_string_equal(err.msg, "x: Bad file descriptor");
}

/* Files that come from elsewhere: the one that is asked for by its build ID, else by its name and the
 * sum of its bytes; of several the first that fits. */
struct given {
	const char *paths[4]; /* in this order; NULL: no more */
	char said[200];
};

static int open_given(void *ctx, const char *path)
{
	char whole[200];

	(void)ctx;
	snprintf(whole, sizeof(whole), "%s/in/%s", testing_dir, path);
	return open(whole, O_RDONLY | O_CLOEXEC);
}

static const char *find_given(void *ctx, const struct symcache_wanted *wanted, unsigned n)
{
	struct given *g = ctx;

	if (!n)
		snprintf(g->said + strlen(g->said), sizeof(g->said) - strlen(g->said), "%s%s%s ", wanted->program ? "program " : "",
			 wanted->build_id ? "id" : "", wanted->name ? wanted->name : "");
	return n < 4 ? g->paths[n] : NULL;
}

#define GIVEN "gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccdd -o x d/a.c && objcopy --only-keep-debug x right && " \
"gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaabbccde -o other d/a.c && "
#define WITH_ID GIVEN "objcopy --strip-all --add-gnu-debuglink=right x"
#define WITHOUT GIVEN "objcopy --strip-all -R .note.gnu.build-id --add-gnu-debuglink=right x"
#define DEBUG_FILE GIVEN "cp x program && cp right x"
#define WITH_ALT GIVEN "printf 'alt\\0\252\273\314\335' > alt && objcopy --add-section .gnu_debugaltlink=alt x"

static void test_given(void **state)
{
	static const struct { const char *made, *paths[4]; bool programs; const char *said; unsigned units, bad, sources; } cases[] = {
		{ WITH_ID, { "right" }, false, "id ", 1, 0, 0x13 }, { WITH_ID, { "none", "right" }, false, "id ", 1, 0, 0x13 },
		{ WITH_ID, { "other", "right" }, true, "id ", 1, 0, 0x13 }, { WITH_ID, { "other" }, false, "id right ", 0, 0, 0x14 },
		{ WITH_ID, { NULL }, true, "id right ", 0, 0, 0x14 },
		{ WITHOUT, { "right" }, false, "right ", 1, 0, 0x13 }, { WITHOUT, { "other", "right" }, true, "right ", 1, 0, 0x13 },
		{ WITHOUT, { "other" }, false, "right ", 0, 0, 0x14 },
		/* A debug file has unwind information if there is its program; then the supplementary file. */
		{ DEBUG_FILE, { "program" }, true, "program id ", 1, 0, 0x13 }, { DEBUG_FILE, { "program" }, false, "", 1, 0, 0x3 },
		{ DEBUG_FILE, { "other", "program" }, true, "program id ", 1, 0, 0x3 }, { DEBUG_FILE, { NULL }, true, "program id ", 1, 0, 0x3 },
		{ GIVEN "true", { "x" }, true, "", 1, 0, 0x13 },
		{ WITH_ALT, { "right" }, false, "id ", 1, 0, 0x13 }, { WITH_ALT, { "other", "right" }, false, "id ", 1, 0, 0x13 },
		{ WITH_ALT, { "other" }, false, "id ", 1, 1, 0x13 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct given g = { .said = "" };
		const struct symcache_files files = { open_given, find_given, &g, cases[i].programs };
		const struct symcache_build_options o = { .files = &files };
		const struct symcache_build_info *info;
		struct symcache_build *b;
		struct sc_error err;

		if (!i || strcmp(cases[i].made, cases[i - 1].made))
			make(cases[i].made);
		memcpy(g.paths, cases[i].paths, sizeof(g.paths));
		assert_int_equal(symcache_build_create("x", &o, &b, &err), 0);
		info = symcache_build_info(b);
		if (strcmp(g.said, cases[i].said) || info->units != cases[i].units || info->bad_units != cases[i].bad ||
		    info->sources != cases[i].sources)
			fail_msg("%s, case %zu: asked for '%s'; %d units, %d bad, sources %#x", cases[i].made, i, g.said,
				 (int)info->units, (int)info->bad_units, info->sources);
		assert_true(!cases[i].bad || strstr(info->first_fault, "no supplementary file alt"));
		symcache_build_destroy(b);
		assert_int_equal(symcache_debug_file_found("x", &o), cases[i].units && !!strstr(cases[i].made, "strip-all"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_system_folder),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_uuid),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_given),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
