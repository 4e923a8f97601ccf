/* Unit tests of the whole indexer: one program in many forms gives one cache; files that
 * are cut off, stripped, split, or none. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/write/indexed_test.h"

static void test_versions(void **state)
{
	struct indexed r, again;

	(void)state;
	for (uint32_t version = 5; version <= 10; version++) {
		const struct symcache_build_options o = { .format_version = version };

		index_file(PROGRAMS "inlines", &o, &r);
		if (version < 7 || version > 9) {
			assert_int_equal(r.rc, SC_EINVAL);
			continue;
		}
		assert_int_equal(r.rc, 0);
		assert_int_equal(r.cache.version, version);
		index_file(PROGRAMS "inlines", &o, &again);
		same_bytes(&r, &again);
		indexed_deinit(&r);
		indexed_deinit(&again);
	}
	index_file(PROGRAMS "inlines", NULL, &r);
	assert_int_equal(r.cache.version, 9);
	indexed_deinit(&r);
}

/* Whoever reads the DWARF, and on however many cores: the same bytes. */
static void same_by_all(const char *path)
{
	struct symcache_build_options o = { .no_debug_search = true, .threads = 1 };
	struct indexed r, other;

	index_file(path, &o, &r);
	assert_int_equal(r.rc, 0);
	o.threads = 5;
	index_file(path, &o, &other);
	assert_int_equal(other.rc, 0);
	same_bytes(&r, &other);
	indexed_deinit(&other);
	o.reader = SYMCACHE_READER_LIBDW;
	index_file(path, &o, &other);
	assert_int_equal(other.rc, 0);
	same_bytes(&r, &other);
	indexed_deinit(&other);
	indexed_deinit(&r);
}

static void test_readers(void **state)
{
	static const char *const names[] = {
		"inlines", "units", "units.dwz", "layouts", "layouts.gcc2", "layouts.gcc3",
		"layouts.gcc4", "layouts.gcc5", "layouts.gcc3-64", "layouts.gcc4-64",
		"layouts.gcc5-64", "layouts.clang2", "layouts.clang3", "layouts.clang4",
		"layouts.clang5", "layouts.zlib",
	};
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), PROGRAMS "%s", names[i]);
		if (!access(path, R_OK))
			same_by_all(path);
		else
			printf("skipped: no %s\n", path);
	}
	debug_file_of("/lib/x86_64-linux-gnu/libc.so.6", path);
	if (!access(path, R_OK))
		same_by_all(path);
	else
		printf("skipped: no debug file of libc\n");
}

/* Compressed sections: the same cache, byte for byte. */
static void test_compressed(void **state)
{
	static const char *const names[] = { "zlib", "zlib-gnu", "zstd" };
	struct indexed plain, r;

	(void)state;
	must_index(PROGRAMS "layouts", &plain);
	assert_int_equal(plain.info.sources,
			 SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB | SYMCACHE_FROM_CFI);
	for (size_t i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), PROGRAMS "layouts.%s", names[i]);
		if (access(path, R_OK)) {
			printf("skipped: no %s\n", path);
			continue;
		}
		must_index(path, &r);
		if (r.info.bad_units)
			printf("skipped: %s: %s\n", path, r.info.first_fault);
		else
			same_bytes(&plain, &r);
		indexed_deinit(&r);
	}
	indexed_deinit(&plain);
}

/* dwz moves what units share into partial units, and nothing else. */
static void test_dwz(void **state)
{
	struct indexed plain, r;

	(void)state;
	if (access(PROGRAMS "units.dwz", R_OK)) {
		printf("skipped: no dwz\n");
		skip();
	}
	must_index(PROGRAMS "units", &plain);
	must_index(PROGRAMS "units.dwz", &r);
	assert_int_equal(r.info.bad_units, 0);
	same_bytes(&plain, &r);
	indexed_deinit(&plain);
	indexed_deinit(&r);
}

/* Split into program and debug file, and put together again: the same cache. */

/* A .dwo file that is missing is a fault for both readers; both name it. */
static void test_missing_dwo(void **state)
{
	struct symcache_build_options o = { .no_debug_search = true };
	struct indexed r[2];
	char path[64];

	(void)state;
	assert_int_equal(testing_run("cd %s && echo 'int main(void) { return 0; }' > m.c &&"
				     "gcc -g -gsplit-dwarf -o m m.c && rm *.dwo", testing_dir), 0);
	snprintf(path, sizeof(path), "%s/m", testing_dir);
	for (int i = 0; i < 2; i++) {
		o.reader = i ? SYMCACHE_READER_LIBDW : SYMCACHE_READER_FAST;
		index_file(path, &o, &r[i]);
		assert_int_equal(r[i].rc, 0);
		assert_int_equal(r[i].info.bad_units, 1);
		assert_non_null(strstr(r[i].info.first_fault, ".dwo"));
	}
	same_bytes(&r[0], &r[1]);
	indexed_deinit(&r[0]);
	indexed_deinit(&r[1]);
}

/* A file of split units may have more rows than others of its size: what its .dwo files have is not its own. Of
 * the file alone they are missing. */
static void test_many_split_rows(void **state)
{
	struct indexed r;
	char path[64];

	(void)state;
	assert_int_equal(testing_run("cd %s && echo 'int main(void) {"
		" __asm__(\".rept 70000; nop; .loc 1 1 1; .endr\"); return 0; }' >s.c &&"
		"gcc -gdwarf-5 -gsplit-dwarf -o s s.c", testing_dir), 0);
	snprintf(path, sizeof(path), "%s/s", testing_dir);
	for (int alone = 0; alone < 2; alone++) {
		index_file(path, &(struct symcache_build_options){ .no_debug_search = alone }, &r);
		assert_int_equal(r.rc, 0);
		assert_int_equal(r.info.bad_units, alone);
		assert_true(r.info.rows > 70000);
		indexed_deinit(&r);
	}
}

/* Arrays whose types dwz has moved to a unit without a language. */
static void test_dwz_sizes(void **state)
{
	struct symcache_build_options o = { 0 };
	struct indexed r[2];
	char path[64];

	(void)state;
	if (system("command -v dwz > /dev/null")) {
		print_message("skipped: no dwz\n");
		skip();
	}
	assert_int_equal(testing_run("cd %s && echo 'static int vec[2][9]; static const char *names[4];"
		"int PART(int i) { return vec[i][i] + (names[i] != 0); }' > a.c &&"
		"echo 'int first(int), other(int); int main(void) { return first(1) + other(2); }' > m.c &&"
		"gcc -g -DPART=first -c -o 1.o a.c && gcc -g -DPART=other -c -o 2.o a.c &&"
		"gcc -g -o z m.c 1.o 2.o && cp z z2 && dwz -m all.debug z z2 &&"
		"objcopy --strip-symbol=vec --strip-symbol=names z", testing_dir), 0);
	snprintf(path, sizeof(path), "%s/z", testing_dir);
	for (int i = 0; i < 2; i++) {
		o.reader = i ? SYMCACHE_READER_LIBDW : SYMCACHE_READER_FAST;
		index_file(path, &o, &r[i]);
		assert_int_equal(r[i].rc, 0);
	}
	same_bytes(&r[0], &r[1]);
	indexed_deinit(&r[0]);
	indexed_deinit(&r[1]);
}

static void test_identity(void **state)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char hex[130] = "", want[130] = "";
	struct sc_error err;
	struct indexed r;
	size_t len;
	bool derived;
	FILE *in;

	(void)state;
	assert_int_equal(symcache_elf_build_id(PROGRAMS "layouts", id, &len, &derived, &err), 0);
	assert_false(derived);
	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	in = popen("readelf -n " PROGRAMS "layouts | sed -n 's/.*Build ID: //p'", "r");
	assert_int_equal(fscanf(in, "%129s", want), 1);
	pclose(in);
	assert_string_equal(hex, want);
	must_index(PROGRAMS "layouts", &r);
	assert_int_equal(r.info.build_id_len, len);
	assert_memory_equal(r.info.build_id, id, len);
	/* The first groups of the UUID are little-endian numbers. */
	assert_int_equal(r.bytes[8], id[3]);
	assert_int_equal(r.bytes[11], id[0]);
	assert_int_equal(r.bytes[12], id[5]);
	assert_int_equal(r.bytes[15], id[6]);
	assert_memory_equal(r.bytes + 16, id + 8, 8);
	assert_memory_equal(r.bytes + r.cache.at_image + 40, id, len);
	indexed_deinit(&r);

	assert_int_equal(testing_run("objcopy -R .note.gnu.build-id " PROGRAMS "layouts %s/n",
				     testing_dir), 0);
	snprintf(hex, sizeof(hex), "%s/n", testing_dir);
	assert_int_equal(symcache_elf_build_id(hex, id, &len, &derived, &err), 0);
	assert_true(derived);
	assert_int_equal(len, 16);
	must_index(hex, &r);
	assert_true(r.info.build_id_derived);
	assert_memory_equal(r.info.build_id, id, 16);
	indexed_deinit(&r);
}

/* The variables of the program: what the symbol table and the DWARF say of them. */
static void test_data(void **state)
{
	static const struct { const char *name; uint32_t size; const char *line; } want[] = {
		{ "limit", 4, "static volatile int limit" }, { "total", 4, "int total" },
		{ "banner", 8, "const char banner" },
	};
	struct indexed r;

	(void)state;
	must_index(PROGRAMS "layouts", &r);
	for (size_t i = 0; i < 3; i++) {
		char text[256];
		FILE *source = fopen("testdata/programs/layouts.c", "r");
		uint32_t line = 1;
		bool found = false;

		for (; fgets(text, sizeof(text), source); line++)
			if (!strncmp(text, want[i].line, strlen(want[i].line)))
				break;
		fclose(source);
		for (size_t k = 0; k < r.cache.num_data; k++) {
			size_t at = r.cache.at_data + k * 20;
			struct plain_string s = plain_string(&r.cache, plain_u32(&r.cache, at + 8));

			if (s.len != strlen(want[i].name) || memcmp(s.ptr, want[i].name, s.len))
				continue;
			found = true;
			assert_int_equal(plain_u32(&r.cache, at + 4), want[i].size);
			assert_int_equal(plain_u32(&r.cache, at + 16), line);
			assert_true(plain_u32(&r.cache, at + 12) != PLAIN_NONE);
		}
		assert_true(found);
	}
	indexed_deinit(&r);
}

/* ---- other files, or not whole ------------------------------------------------------------ */

static void test_no_input(void **state)
{
	const struct elf_shape shape = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN,
					 .load_size = 0x2000 };
	const struct elf_section text = { ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
					  NULL, 0x1000, 0, 0 };
	struct bytes file = {0};
	char path[64];
	struct indexed r;
	int fd;

	(void)state;
	index_file("/nonexistent", NULL, &r);
	assert_int_equal(r.rc, SC_ESYS);
	index_file(testing_dir, NULL, &r);
	assert_int_equal(r.rc, SC_ESYS);
	index_file("Makefile", NULL, &r);
	assert_int_equal(r.rc, SC_EFORMAT);
	assert_non_null(strstr(r.err.msg, "Makefile: "));
	put_elf(&file, &shape, &text, 1);
	fd = testing_memfd(file.b.data, file.b.len, path);
	index_file(path, NULL, &r);
	close(fd);
	bytes_deinit(&file);
	assert_int_equal(r.rc, SC_ENOSYMBOLS);
	snprintf(path, sizeof(path), "%s/o.o", testing_dir);
	assert_int_equal(testing_run("gcc -g -c -o %s testdata/programs/layouts.c", path), 0);
	index_file(path, NULL, &r);
	assert_int_equal(r.rc, 0); /* an object is laid out and relocated */
	indexed_deinit(&r);
}

static void read_file(const char *path, struct bytes *ret)
{
	FILE *in = fopen(path, "rb");
	char block[4096];
	size_t n;

	assert_non_null(in);
	while ((n = fread(block, 1, sizeof(block), in)))
		put_block(ret, block, n);
	fclose(in);
}

static const char *const victims[] = { "layouts.gcc5", "layouts.clang4", "layouts.zlib" };

static void test_cut_off(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char path[64];
		struct bytes b = {0};
		struct indexed r;

		snprintf(path, sizeof(path), PROGRAMS "%s", victims[i]);
		if (access(path, R_OK)) {
			printf("skipped: no %s\n", path);
			continue;
		}
		read_file(path, &b);
		for (size_t k = 0; k < 200; k++) {
			index_bytes(b.b.data, b.b.len * k / 200, &r);
			assert_int_equal(r.rc, SC_EFORMAT); /* the headers are at the end */
		}
		index_bytes(b.b.data, b.b.len - 1, &r);
		assert_int_equal(r.rc, SC_EFORMAT);
		bytes_deinit(&b);
	}
}

/* A few wrong bytes anywhere cost what they are in, and seldom all: most of the files still have a
 * cache, and most caches most of their functions. */
static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint32_t functions, made = 0, most = 0;
		char path[64];
		struct bytes b = {0};
		struct indexed r;
		uint64_t seed = i;

		snprintf(path, sizeof(path), PROGRAMS "%s", victims[i]);
		if (access(path, R_OK)) {
			printf("skipped: no %s\n", path);
			continue;
		}
		must_index(path, &r);
		functions = r.info.functions;
		indexed_deinit(&r);
		read_file(path, &b);
		for (size_t k = 0; k < 300; k++) {
			uint32_t at[4];
			uint8_t old[4];

			for (int m = 0; m < 4; m++) {
				at[m] = testing_below(&seed, (uint32_t)b.b.len);
				old[m] = b.b.data[at[m]];
				b.b.data[at[m]] = (uint8_t)testing_below(&seed, 256);
			}
			index_bytes(b.b.data, b.b.len, &r);
			made += !r.rc;
			most += !r.rc && r.info.functions > functions / 2;
			indexed_deinit(&r);
			for (int m = 4; m--;)
				b.b.data[at[m]] = old[m];
		}
		assert_true(made > 250 && most > 200);
		bytes_deinit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_dwz),
		cmocka_unit_test(test_missing_dwo),
		cmocka_unit_test(test_many_split_rows),
		cmocka_unit_test(test_dwz_sizes),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_no_input),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
