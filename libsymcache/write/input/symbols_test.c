/* Symbols that are in no table of the file itself, or that are of no use without its bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/input/input.h"
#include "libsymcache/write/made_more_test.h"

/* f() and g(); no other file can name g(). */
static void make(const char *command)
{
	if (testing_run("cd %s && rm -rf in && mkdir -p in/d && cd in && "
			"echo 'int f(int x) { return 2 * x; }' >d/a.c && "
			"echo 'int __attribute__((visibility(\"hidden\"))) g(int x) { return 3 * x; }' >d/b.c && %s",
			testing_dir, command))
		fail_msg("%s", command);
}

/* The functions of a file. */
static void expect_functions(const char *name, uint64_t want)
{
	struct symcache_build *b;
	struct sc_error err;
	char path[100];

	snprintf(path, sizeof(path), "%s/in/%s", testing_dir, name);
	assert_int_equal(symcache_build_create(path, NULL, &b, &err), 0);
	assert_int_equal(symcache_build_info(b)->functions, want);
	symcache_build_destroy(b);
}

/* Symbols that are those of descriptors, of which a debug file has no bytes. */
static void test_descriptors(void **state)
{
	(void)state;
	if (testing_run("command -v powerpc64-linux-gnu-gcc >/dev/null"))
		skip();
	make("powerpc64-linux-gnu-gcc -g -O1 -fPIC -mabi=elfv1 -c d/a.c && "
	     "powerpc64-linux-gnu-gcc -O1 -fPIC -mabi=elfv1 -c d/b.c && "
	     "powerpc64-linux-gnu-gcc -shared -nostdlib -Wl,--build-id=0xaabbccdd -o whole a.o b.o && "
	     "powerpc64-linux-gnu-objcopy --only-keep-debug whole x.debug && "
	     "powerpc64-linux-gnu-objcopy --strip-all --add-gnu-debuglink=x.debug whole x");
	expect_functions("whole", 2);
	expect_functions("x", 2);
}

/* Symbols that .dynsym has, and those that MiniDebugInfo has. */
static void test_mini(void **state)
{
	(void)state;
	if (testing_run("command -v xz >/dev/null"))
		skip();
	make("gcc -O1 -fPIC -shared -nostdlib -Wl,--build-id=0xaabbccdd -o whole d/a.c d/b.c && "
	     "objcopy --strip-all --keep-symbol=g whole m && xz m && strip -o bare whole && "
	     "objcopy --add-section .gnu_debugdata=m.xz bare x");
	expect_functions("whole", 2);
	expect_functions("bare", 1);
	expect_functions("x", 2);
}

/* A function ends where its section does, whatever its size is said to be. */
static void test_ends(void **state)
{
	static const uint64_t text_end = DWARF_TEXT + DWARF_TEXT_SIZE;
	static const struct { uint64_t vaddr, size, end; } cases[] = {
		{ DWARF_TEXT, 16, DWARF_TEXT + 16 }, { DWARF_TEXT, DWARF_TEXT_SIZE, text_end }, { DWARF_TEXT, DWARF_TEXT_SIZE + 1, text_end },
		{ DWARF_TEXT + 0x100, DWARF_TEXT_SIZE, text_end }, { text_end - 1, 1, text_end }, { text_end - 1, 2, text_end },
		{ text_end - 1, UINT64_MAX, text_end }, { DWARF_TEXT + 1, UINT64_MAX - DWARF_TEXT, text_end },
		{ text_end, 16, 0 }, { DWARF_TEXT - 1, 16, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_build_options options = { .no_debug_search = true };
		struct sc_input in = { .with_symbols = true };
		struct bytes file = { 0 };
		struct sc_error err;
		struct dwarf w;
		char path[32];
		int fd;

		dwarf_init(&w, &(struct dwarf_shape){ .version = 4 });
		put_str(&w.strtab, "");
		put(&w.symtab, 8, 0), put(&w.symtab, 16, 0);
		put(&w.symtab, 4, put_str(&w.strtab, "f")), put(&w.symtab, 1, STB_GLOBAL << 4 | STT_FUNC);
		put(&w.symtab, 1, 0), put(&w.symtab, 2, 1);
		put(&w.symtab, 8, cases[i].vaddr), put(&w.symtab, 8, cases[i].size);
		dwarf_file(&w, &file);
		fd = testing_memfd(file.b.data, file.b.len, path);
		assert_int_equal(sc_input_open(&in, path, &options, &err), 0);
		assert_int_equal(sc_input_load(&in, 1, &err), 0);
		sc_input_begin_symbols(&in, false);
		assert_int_equal(sc_input_symbols(&in, &err), 0);
		assert_int_equal(in.code_symbols.len, cases[i].end != 0);
		if (cases[i].end) {
			assert_int_equal(in.code_symbols.data[0].start, cases[i].vaddr);
			assert_int_equal(in.code_symbols.data[0].end, cases[i].end);
		}
		sc_input_close(&in);
		close(fd);
		bytes_deinit(&file);
		dwarf_deinit(&w);
	}
}

/* ---- tables at random ----------------------------------------------------------------------------- */

enum { TABLES = 160, TABLES_WHOLE = 10, ASKED = 3 };

static void put_list(FILE *to, const char *what, const struct sc_elf_symbol *list, size_t n)
{
	fprintf(to, "%s", what);
	for (size_t i = 0; i < n; i++)
		fprintf(to, " %" PRIx64 "+%" PRIx64 " %s%s%s", list[i].vaddr, list[i].size, list[i].name,
			list[i].file ? " of " : "", list[i].file ? list[i].file : "");
	fputc('\n', to);
}

static void put_all(FILE *to, const struct sc_input *in)
{
	fprintf(to, "%" PRIu64 " too far, code", in->symbols_too_far);
	for (size_t i = 0; i < in->code_symbols.len; i++)
		fprintf(to, " [%" PRIx64 ", %" PRIx64 ") %s", in->code_symbols.data[i].start,
			in->code_symbols.data[i].end, in->code_symbols.data[i].name);
	fputc('\n', to);
	put_list(to, "all", in->symbols.all.data, in->symbols.all.len);
	put_list(to, "aliases", in->symbols.aliases.data, in->symbols.aliases.len);
	put_list(to, "data", in->symbols.data.data, in->symbols.data.len);
}

/* What is there at addresses, by name. */
static void put_names(FILE *to, const struct sc_input *in, const uint64_t *vaddrs)
{
	for (int i = 0; i < ASKED; i++) {
		const char *name = sc_input_symbol_at(in, vaddrs[i]), *shown = sc_input_shown_symbol_at(in, vaddrs[i]);

		fprintf(to, "%" PRIx64 ": %s, shown %s, code up to %" PRIx64 "\n", vaddrs[i], name ? name : "-",
			shown ? shown : "-", sc_input_code_end(in, vaddrs[i]));
	}
}

/* The symbols of a file: all, or those that addresses need. */
static void put_symbols(FILE *to, const char *path, const uint64_t *vaddrs, bool only, unsigned threads)
{
	const struct symcache_build_options options = { .no_debug_search = true };
	struct sc_input in = { .with_symbols = true };
	struct sc_error err;

	if (only)
		in.asked = (struct sc_elf_asked){ vaddrs, ASKED };
	assert_int_equal(sc_input_open(&in, path, &options, &err), 0);
	assert_int_equal(sc_input_load(&in, threads, &err), 0);
	if (!in.reading.begun)
		sc_input_begin_symbols(&in, threads > 1);
	put_names(to, &in, vaddrs);
	assert_int_equal(sc_input_symbols(&in, &err), 0);
	if (only)
		sc_input_narrow(&in);
	put_all(to, &in);
	sc_input_close(&in);
}

static void put_made(FILE *to, uint64_t number)
{
	struct bytes file = { 0 };
	uint64_t vaddrs[ASKED];
	struct made m;
	char path[32];
	int fd;

	made_file(&m, number);
	make_more(&m);
	dwarf_file(&m.w, &file);
	if (number % 3 == 0) /* code below the base is out of reach */
		patch(&file, m.w.shape.address_size == 8 ? 80 : 60, m.w.shape.address_size, DWARF_TEXT + 0x80);
	for (int i = 0; i < ASKED; i++)
		vaddrs[i] = any_address(&m) + (i == 2);
	fd = testing_memfd(file.b.data, file.b.len, path);
	for (int only = 0; only < 2; only++)
		put_symbols(to, path, vaddrs, only, 1 + number % 2);
	close(fd);
	bytes_deinit(&file);
	dwarf_deinit(&m.w);
}

static void test_tables(void **state)
{
	char *got, *text;
	size_t len, size;
	FILE *to = open_memstream(&got, &len), *one;

	(void)state;
	for (uint64_t i = 0; i < TABLES; i++) {
		one = open_memstream(&text, &size);
		put_made(one, i);
		fclose(one);
		fprintf(to, "== table %" PRIu64 "\n", i);
		if (i < TABLES_WHOLE)
			fputs(text, to);
		else
			put_digest(to, text, size), fputc('\n', to);
		free(text);
	}
	fclose(to);
	expect_recorded("input_symbols", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_mini),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
