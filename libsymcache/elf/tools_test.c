/* Files as binutils and xz make them: symbols packed into a section (MiniDebugInfo), names of
 * addresses as addr2line finds them, relocations relative to their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/elf/nearest.h"
#include "libsymcache/elf/symbols.h"

static struct sc_elf *open_made(const char *name)
{
	struct sc_elf *e;
	struct sc_error err;
	char path[100];

	snprintf(path, sizeof(path), "%s/%s", testing_dir, name);
	if (sc_elf_open(path, &e, &err))
		fail_msg("%s", err.msg);
	return e;
}

static bool has_symbol(const struct sc_elf_symbols *s, const char *name)
{
	for (size_t i = 0; i < s->code.len; i++)
		if (!strcmp(s->code.data[i].name, name))
			return true;
	return false;
}

/* Functions that the stripped file does not name; a damaged section is said to be so. */
static void test_mini(void **state)
{
	struct sc_elf_symbols alone, both;
	struct sc_elf *e, *mini = (void *)1;
	struct sc_error err;

	(void)state;
	if (testing_run("command -v xz > /dev/null")) {
		printf("skipped: there is no xz\n");
		skip();
	}
	assert_int_equal(
		testing_run(
			"sh testdata/layouts/minidebuginfo.sh build/testprogs/layouts %s/mini && cd %s && "
			"head -c 60 mini.mini.xz > cut.xz && printf 'no xz at all' > no.xz && "
			"for n in cut no; do objcopy --remove-section .gnu_debugdata mini $n && "
			"objcopy --add-section .gnu_debugdata=$n.xz $n; done && "
			"objcopy --remove-section .gnu_debugdata mini none",
			testing_dir, testing_dir),
		0);
	e = open_made("mini");
	assert_int_equal(sc_elf_open_mini(e, &mini, &err), 0);
	assert_int_equal(sc_elf_symbols(e, &alone, &err), 0);
	assert_int_equal(sc_elf_symbols_of_both(e, mini, NULL, &both, &err), 0);
	assert_false(has_symbol(&alone, "_start") || has_symbol(&alone, "main"));
	assert_true(has_symbol(&both, "main") && has_symbol(&both, "_start"));
	assert_true(alone.from_dynsym);
	sc_elf_symbols_deinit(&alone);
	sc_elf_symbols_deinit(&both);
	sc_elf_close(mini);
	sc_elf_close(e);
	for (int i = 0; i < 2; i++) {
		e = open_made(i ? "no" : "cut");
		assert_int_equal(sc_elf_open_mini(e, &mini, &err), SC_EFORMAT);
		assert_null(mini);
		assert_non_null(strstr(err.msg, ".gnu_debugdata is damaged"));
		sc_elf_close(e);
	}
	e = open_made("none");
	assert_int_equal(sc_elf_open_mini(e, &mini, &err), SC_ENOTFOUND);
	sc_elf_close(e);
}

/* What it unpacks to may be so much of the file, and a MiB, but no more. */
static void test_large_mini(void **state)
{
	static const struct { const char *zeros; const char *why; } cases[] = {
		{ "40M", "gnu_debugdata is larger than " }, { "300k", "gnu_debugdata: cut off" },
	};

	(void)state;
	if (testing_run("command -v xz > /dev/null")) {
		printf("skipped: there is no xz\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sc_elf *e, *mini = (void *)1;
		struct sc_error err;

		assert_int_equal(testing_run("cd %s && head -c %s /dev/zero | xz > large.xz && objcopy --add-section "
			".gnu_debugdata=large.xz $OLDPWD/build/testprogs/layouts large", testing_dir, cases[i].zeros), 0);
		e = open_made("large");
		assert_int_equal(sc_elf_open_mini(e, &mini, &err), SC_EFORMAT);
		assert_null(mini);
		if (!strstr(err.msg, cases[i].why))
			fail_msg("%s", err.msg);
		sc_elf_close(e);
	}
}

/* Each address of .text: the name that addr2line gives. */
static void compare_names(const char *name)
{
	struct sc_elf *e = open_made(name);
	struct sc_elf_nearest *n = sc_elf_nearest_create(e, e);
	const uint64_t start = sc_elf_section_address(e, ".text");
	char command[200], theirs[300], place[300];
	size_t size, named = 0;
	const uint8_t *bytes;
	FILE *in, *asked;

	assert_int_equal(sc_elf_section(e, ".text", &bytes, &size, NULL), 0);
	snprintf(command, sizeof(command), "%s/asked", testing_dir);
	asked = fopen(command, "w");
	for (uint64_t at = start - 3; at < start + size + 3; at++)
		fprintf(asked, "0x%llx\n", (unsigned long long)at);
	fclose(asked);
	snprintf(command, sizeof(command), "addr2line -f -e %s/%s < %s/asked", testing_dir, name,
		 testing_dir);
	in = popen(command, "r");
	for (uint64_t at = start - 3; at < start + size + 3; at++) {
		const char *ours = NULL, *file = NULL;

		assert_non_null(fgets(theirs, sizeof(theirs), in));
		assert_non_null(fgets(place, sizeof(place), in));
		theirs[strcspn(theirs, "\n")] = 0;
		if (!sc_elf_nearest_find(n, at, &ours, &file))
			ours = "??";
		named += strcmp(ours, "??") != 0;
		if (strcmp(ours, theirs))
			fail_msg("%s 0x%llx: %s, addr2line says %s", name, (unsigned long long)at,
				 ours, theirs);
		assert_true(at < start || at >= start + size || sc_elf_nearest_loaded(n, at));
	}
	pclose(in);
	assert_true(named > size / 2);
	assert_false(sc_elf_nearest_loaded(n, UINT64_MAX / 2));
	sc_elf_nearest_destroy(n);
	sc_elf_close(e);
}

static void test_nearest(void **state)
{
	(void)state;
	assert_int_equal(
		testing_run(
			"cd build/testprogs && for p in layouts shapes units crash; do strip -g -o %s/$p $p; done && "
			"cd %s && printf '.text\n.globl a, c\n.type a, @function\na: .byte 1,2,3\n.size a, 2\n"
			".hidden h\nh: .byte 4,5\nb: .byte 6,7\n.type c, @function\nc: .byte 8,9,10\n"
			".weak d\n.type d, @object\nd: .byte 1,2\n.type e, @function\ne: .byte 3\nf: .byte 4,5\n' > n.s && "
			"gcc -nostdlib -shared -o n n.s",
			testing_dir, testing_dir),
		0);
	compare_names("layouts");
	compare_names("shapes");
	compare_names("units");
	compare_names("crash");
	compare_names("n");
}

/* A debug file has no bytes of the code, but says where it was in the program, from the base on. */
static void test_segments(void **state)
{
	struct sc_elf *program, *debug;

	(void)state;
	assert_int_equal(testing_run("cd %s && echo 'void _start(void) { for (;;); }' > s.c && gcc -g -nostdlib -static -no-pie -o s s.c && "
				     "objcopy --only-keep-debug s s.debug", testing_dir), 0);
	program = open_made("s");
	debug = open_made("s.debug");
	assert_true(program->load_base && program->segments.len == 1 && debug->segments.len == 1);
	assert_int_equal(debug->load_base, program->load_base);
	assert_int_equal(debug->segments.data[0].vaddr, program->segments.data[0].vaddr);
	assert_int_equal(debug->segments.data[0].offset, program->segments.data[0].offset);
	assert_int_equal(debug->segments.data[0].size, program->segments.data[0].size);
	assert_true(debug->segments.data[0].assumed && !program->segments.data[0].assumed);
	sc_elf_close(program);
	sc_elf_close(debug);
}

/* In an object file .eh_frame says where functions are relative to its own places. */
static void test_relative(void **state)
{
	struct sc_elf *e;
	const uint8_t *bytes;
	size_t size, at = 0;
	unsigned functions = 0;

	(void)state;
	assert_int_equal(
		testing_run(
			"cd %s && printf 'int pad[9]; int f(int x) { return 2 * x; } int g(void) { return 1; }' > r.c && "
			"gcc -O1 -c -fno-pie -fasynchronous-unwind-tables -o r.o r.c",
			testing_dir),
		0);
	e = open_made("r.o");
	assert_int_equal(sc_elf_section(e, ".eh_frame", &bytes, &size, NULL), 0);
	while (at + 16 <= size) {
		uint32_t length, cie;
		int32_t start, text;

		memcpy(&length, bytes + at, 4);
		memcpy(&cie, bytes + at + 4, 4);
		memcpy(&start, bytes + at + 8, 4);
		text = (int32_t)(sc_elf_section_address(e, ".text") -
				 sc_elf_section_address(e, ".eh_frame") - at - 8);
		if (cie && !functions++)
			assert_int_equal(start, text); /* f() is the first */
		at += 4 + length;
	}
	assert_int_equal(functions, 2);
	sc_elf_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mini),
		cmocka_unit_test(test_large_mini),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_relative),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
