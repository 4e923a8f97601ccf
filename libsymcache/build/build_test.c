/* Unit tests of the whole indexer: compiled programs, address by address against
 * llvm-symbolizer; files that are cut off, stripped, split, or none. */
#include "libsymcache/symcache_build.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/build/plain_cache.h"

#define SYMBOLIZER "llvm-symbolizer-19"
#define PROGRAMS "build/testprogs/"

static char dir[] = "/tmp/build_test.XXXXXX";

/* The cache of a file, opened and checked. */
struct result {
	int rc;
	struct sc_error err;
	struct symcache_build_info info;
	uint8_t *bytes;
	size_t size;
	struct plain_cache cache;
};

static void index_file(const char *path, const struct symcache_build_options *o, struct result *r)
{
	struct symcache_build *b;
	const char *fault;

	memset(r, 0, sizeof(*r));
	r->rc = symcache_build_create(path, o, &b, &r->err);
	if (r->rc) {
		assert_null(b);
		assert_int_equal(r->rc, r->err.code);
		assert_string_not_equal(r->err.msg, "");
		return;
	}
	r->info = *symcache_build_info(b);
	r->info.debug_path = r->info.debug_path ? "found" : NULL;
	r->size = symcache_build_size(b);
	r->bytes = malloc(r->size);
	symcache_build_write(b, r->bytes);
	fault = plain_open(&r->cache, r->bytes, r->size);
	if (fault)
		fail_msg("not a sound cache: %s", fault);
	assert_int_equal(r->cache.functions, r->info.functions);
	assert_int_equal(r->cache.files, r->info.files);
	assert_int_equal(r->cache.ranges, r->info.ranges);
	assert_int_equal(r->cache.locations, r->info.source_locations);
	assert_int_equal(r->cache.string_bytes, r->info.string_bytes);
	assert_int_equal(r->cache.num_data, r->info.data_symbols);
	symcache_build_destroy(b);
}

static void must_index(const char *path, struct result *r)
{
	const struct symcache_build_options options = { .no_debug_search = true };

	index_file(path, &options, r);
	if (r->rc)
		fail_msg("%s: %s", path, r->err.msg);
}

/* ---- against llvm-symbolizer -------------------------------------------------------- */

/* Where the code of .text is: from readelf. */
static void text_of(const char *path, uint64_t *start, uint64_t *size)
{
	char command[512], line[256];
	FILE *in;

	*start = *size = 0;
	snprintf(command, sizeof(command), "readelf -SW %s 2> /dev/null", path);
	in = popen(command, "r");
	while (in && fgets(line, sizeof(line), in)) {
		char *at = strstr(line, "] .text ");
		if (at && sscanf(at, "] .text %*s %" SCNx64 " %*x %" SCNx64, start, size) != 2)
			*start = *size = 0;
	}
	pclose(in);
	assert_true(*size > 0);
}

static void put_part(FILE *out, const struct plain_string *s, bool *any)
{
	if (!s->len)
		return;
	fprintf(out, "%s%.*s", *any && s->ptr[0] != '/' ? "/" : "", (int)s->len, s->ptr);
	*any = true;
}

/* The path as LLVM joins it: what is absolute replaces what is before it. */
static void put_path(FILE *out, const struct plain_frame *f)
{
	const struct plain_string *parts[] = { &f->comp_dir, &f->dir, &f->name };
	size_t first = 0;
	bool any = false;

	if (!f->name.len) {
		fprintf(out, "??");
		return;
	}
	for (size_t i = 0; i < 3; i++)
		if (parts[i]->len && parts[i]->ptr[0] == '/')
			first = i;
	for (size_t i = first; i < 3; i++)
		put_part(out, parts[i], &any);
}

/* One answer in llvm-symbolizer's style. */
static char *answer(const struct plain_cache *c, uint64_t rel_pc)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t l = plain_lookup(c, rel_pc);

	if (l == PLAIN_NONE)
		fprintf(out, "??\n??:0:0\n");
	while (l != PLAIN_NONE) {
		struct plain_frame f = plain_frame(c, l);

		fprintf(out, "%.*s\n", f.function.ptr ? (int)f.function.len : 2,
			f.function.ptr ? f.function.ptr : "??");
		if (f.line || f.column)
			put_path(out, &f);
		else
			fprintf(out, "??");
		fprintf(out, ":%" PRIu32 ":%" PRIu32 "\n", f.line, f.column);
		l = f.inlined_into;
	}
	fclose(out);
	return text;
}

/* Equal but for names: LLVM names the outermost function by its symbol, which
 * may be a clone of what the DWARF names (f.isra.0), or an alias (f_alias). */
static bool same(const char *ours, const char *theirs, bool names)
{
	for (bool name = true;; name = !name) {
		size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");

		if ((names || !name) && (n > m || strncmp(ours, theirs, n) ||
					 (n < m && (!name || !strchr("._", theirs[n])))))
			return false;
		ours += n;
		theirs += m;
		if (!*ours || !*theirs)
			return !*ours && !*theirs;
		ours++;
		theirs++;
	}
}

/* Compares the answers for each step-th address of .text (0: some 5000 of them), with
 * or without the names; the share that differs. */
static double differing(const char *path, uint64_t step, bool names, const struct result *r)
{
	char name[64], command[512], *line = NULL, *want, *got;
	size_t cap = 0, len, differs = 0, n = 0;
	ssize_t len_line;
	uint64_t vaddr, start, size;
	FILE *file, *in;

	text_of(path, &start, &size);
	if (!step)
		step = size / 5000;
	snprintf(name, sizeof(name), "%s/addresses", dir);
	file = fopen(name, "w");
	for (vaddr = start; vaddr < start + size; vaddr += step)
		fprintf(file, "0x%" PRIx64 "\n", vaddr);
	fclose(file);
	snprintf(command, sizeof(command), SYMBOLIZER
		 " --no-demangle --output-style=LLVM --obj=%s < %s", path, name);
	in = popen(command, "r");
	for (vaddr = start; vaddr < start + size; vaddr += step, n++) {
		FILE *one = open_memstream(&want, &len);

		while ((len_line = getline(&line, &cap, in)) > 1)
			/* Without a line there is but the file that a symbol
			 * of type FILE names: it is not ours to guess. */
			fputs(len_line > 5 && !strcmp(line + len_line - 5, ":0:0\n") ?
			      "??:0:0\n" : line, one);
		fclose(one);
		got = answer(&r->cache, vaddr - r->info.load_base);
		if (!same(got, want, names) && ++differs <= 3)
			printf("%s 0x%" PRIx64 ":\n%sinstead of\n%s\n", path, vaddr, got, want);
		free(got);
		free(want);
	}
	pclose(in);
	free(line);
	printf("%s: %zu of %zu addresses differ\n", path, differs, n);
	return (double)differs / (double)n;
}

static void compare(const char *path)
{
	struct result r;

	must_index(path, &r);
	assert_true(differing(path, 1, true, &r) == 0);
	free(r.bytes);
}

static void test_compilers(void **state)
{
	static const char *const names[] = {
		"inlines", "units", "layouts", "layouts.gcc2", "layouts.gcc3", "layouts.gcc4", "layouts.gcc5",
		"layouts.gcc4-64", "layouts.gcc5-64", "layouts.clang2", "layouts.clang3",
		"layouts.clang4", "layouts.clang5",
	};

	(void)state;
	if (testing_run("command -v " SYMBOLIZER " > /dev/null")) {
		printf("skipped: no " SYMBOLIZER "\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[64];

		snprintf(path, sizeof(path), PROGRAMS "%s", names[i]);
		if (!access(path, R_OK))
			compare(path);
		else
			printf("skipped: no %s\n", path);
	}
}

/* The path of the separate debug file of an installed program. */
static void debug_file_of(const char *program, char path[256])
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error err;
	size_t len;
	bool derived;

	if (symcache_elf_build_id(program, id, &len, &derived, &err))
		len = 0;
	strcpy(path, "/usr/lib/debug/.build-id/");
	for (size_t i = 0; i < len; i++)
		sprintf(path + strlen(path), "%02x%s", id[i], i ? "" : "/");
	strcat(path, ".debug");
}

/* A sample of an installed debug file, which llvm-symbolizer reads as we do. */
static void compare_sample(const char *program)
{
	char path[256];
	struct result r;

	debug_file_of(program, path);
	if (access(path, R_OK) || testing_run("command -v " SYMBOLIZER " > /dev/null")) {
		printf("skipped: no " SYMBOLIZER " or no %s\n", path);
		skip();
	}
	must_index(path, &r);
	assert_int_equal(r.info.bad_units, 0);
	assert_true(differing(path, 0, false, &r) < 0.01);
	free(r.bytes);
}

static void test_libc(void **state)
{
	(void)state;
	compare_sample("/lib/x86_64-linux-gnu/libc.so.6");
}

static void test_python(void **state)
{
	(void)state;
	compare_sample("/usr/bin/python3.11");
}

/* ---- one program in many forms ------------------------------------------------------------ */

static bool plain_named(const struct plain_cache *c, uint64_t rel_pc)
{
	uint32_t l = plain_lookup(c, rel_pc);

	return l != PLAIN_NONE && plain_frame(c, l).function.ptr;
}

static void same_bytes(const struct result *a, const struct result *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->bytes, b->bytes, a->size);
}

static void test_versions(void **state)
{
	struct result r, again;

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
		free(r.bytes);
		free(again.bytes);
	}
	index_file(PROGRAMS "inlines", NULL, &r);
	assert_int_equal(r.cache.version, 9);
	free(r.bytes);
}

/* Whoever reads the DWARF, and on however many cores: the same bytes. */
static void same_by_all(const char *path)
{
	struct symcache_build_options o = { .no_debug_search = true, .threads = 1 };
	struct result r, other;

	index_file(path, &o, &r);
	assert_int_equal(r.rc, 0);
	o.threads = 5;
	index_file(path, &o, &other);
	assert_int_equal(other.rc, 0);
	same_bytes(&r, &other);
	free(other.bytes);
	o.reader = SYMCACHE_READER_LIBDW;
	index_file(path, &o, &other);
	assert_int_equal(other.rc, 0);
	same_bytes(&r, &other);
	free(other.bytes);
	free(r.bytes);
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
}

/* Compressed sections: the same cache, byte for byte. */
static void test_compressed(void **state)
{
	static const char *const names[] = { "zlib", "zlib-gnu", "zstd" };
	struct result plain, r;

	(void)state;
	must_index(PROGRAMS "layouts", &plain);
	assert_int_equal(plain.info.sources, SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB);
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
		free(r.bytes);
	}
	free(plain.bytes);
}

/* dwz moves what units share into partial units, and nothing else. */
static void test_dwz(void **state)
{
	struct result plain, r;

	(void)state;
	if (access(PROGRAMS "units.dwz", R_OK)) {
		printf("skipped: no dwz\n");
		skip();
	}
	must_index(PROGRAMS "units", &plain);
	must_index(PROGRAMS "units.dwz", &r);
	assert_int_equal(r.info.bad_units, 0);
	same_bytes(&plain, &r);
	free(plain.bytes);
	free(r.bytes);
}

/* Split into program and debug file, and put together again: the same cache. */
static void test_split(void **state)
{
	char path[64], root[64];
	const char *const dirs[] = { root, NULL };
	const struct symcache_build_options with = { .debug_dirs = dirs };
	struct result whole, r;

	(void)state;
	must_index(PROGRAMS "layouts", &whole);
	assert_null(whole.info.debug_path);
	assert_int_equal(testing_run("P=$PWD/" PROGRAMS "layouts; cd %s && strip -o p $P &&"
		"id=$(readelf -n $P | sed -n 's/.*Build ID: //p') &&"
		"f=.build-id/$(echo $id | cut -c 1-2) && mkdir -p $f &&"
		"objcopy --only-keep-debug $P $f/$(echo $id | cut -c 3-).debug &&"
		"cp $f/*.debug d && objcopy -g $P s", dir), 0);
	snprintf(root, sizeof(root), "%s", dir);
	snprintf(path, sizeof(path), "%s/p", dir);
	index_file(path, &with, &r);
	assert_int_equal(r.rc, 0);
	assert_non_null(r.info.debug_path);
	same_bytes(&whole, &r);
	free(r.bytes);
	/* The debug file alone knows all that the program is about. */
	snprintf(path, sizeof(path), "%s/d", dir);
	must_index(path, &r);
	same_bytes(&whole, &r);
	free(r.bytes);
	/* Symbols alone: every function by name, no line. */
	snprintf(path, sizeof(path), "%s/s", dir);
	must_index(path, &r);
	assert_int_equal(r.info.sources, SYMCACHE_FROM_SYMTAB);
	assert_int_equal(r.info.files, 0);
	for (uint32_t i = 0; i < whole.cache.ranges; i++) {
		uint32_t start = plain_u32(&whole.cache, whole.cache.at_ranges + i * 4u);
		/* (Between functions there are rows of no function.) */
		if (plain_named(&whole.cache, start))
			assert_true(plain_named(&r.cache, start));
	}
	free(r.bytes);
	/* Stripped, and nothing found: what is dynamic is left. */
	snprintf(path, sizeof(path), "%s/p", dir);
	must_index(path, &r);
	assert_int_equal(r.info.sources, SYMCACHE_FROM_DYNSYM);
	free(r.bytes);
	free(whole.bytes);
}

static void test_identity(void **state)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char hex[130] = "", want[130] = "";
	struct sc_error err;
	struct result r;
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
	free(r.bytes);

	assert_int_equal(testing_run("objcopy -R .note.gnu.build-id " PROGRAMS "layouts %s/n",
				     dir), 0);
	snprintf(hex, sizeof(hex), "%s/n", dir);
	assert_int_equal(symcache_elf_build_id(hex, id, &len, &derived, &err), 0);
	assert_true(derived);
	assert_int_equal(len, 16);
	must_index(hex, &r);
	assert_true(r.info.build_id_derived);
	assert_memory_equal(r.info.build_id, id, 16);
	free(r.bytes);
}

/* The variables of the program: what the symbol table and the DWARF say of them. */
static void test_data(void **state)
{
	static const struct { const char *name; uint32_t size; const char *line; } want[] = {
		{ "limit", 4, "static volatile int limit" }, { "total", 4, "int total" },
		{ "banner", 8, "const char banner" },
	};
	struct result r;

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
	free(r.bytes);
}

/* ---- files that are none, or not whole ---------------------------------------------------- */

static void test_no_input(void **state)
{
	const struct elf_shape shape = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN,
					 .load_size = 0x2000 };
	const struct elf_section text = { ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
					  NULL, 0x1000, 0, 0 };
	struct bytes file = {0};
	char path[64];
	struct result r;
	int fd;

	(void)state;
	index_file("/nonexistent", NULL, &r);
	assert_int_equal(r.rc, SC_ESYS);
	index_file(dir, NULL, &r);
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
	snprintf(path, sizeof(path), "%s/o.o", dir);
	assert_int_equal(testing_run("gcc -g -c -o %s testdata/programs/layouts.c", path), 0);
	index_file(path, NULL, &r);
	assert_int_equal(r.rc, 0); /* an object is laid out and relocated */
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

/* An error, or a cache that is as it must be. */
static void index_bytes(const struct bytes *b, size_t size, struct result *r)
{
	const struct symcache_build_options options = { .no_debug_search = true };
	char path[32];
	int fd = testing_memfd(b->b.data, size, path);

	alarm(60);
	index_file(path, &options, r);
	alarm(0);
	close(fd);
	free(r->bytes);
}

static const char *const victims[] = { "layouts.gcc5", "layouts.clang4", "layouts.zlib" };

static void test_cut_off(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char path[64];
		struct bytes b = {0};
		struct result r;

		snprintf(path, sizeof(path), PROGRAMS "%s", victims[i]);
		if (access(path, R_OK))
			continue;
		read_file(path, &b);
		for (size_t k = 0; k < 200; k++) {
			index_bytes(&b, b.b.len * k / 200, &r);
			assert_int_equal(r.rc, SC_EFORMAT); /* the headers are at the end */
		}
		index_bytes(&b, b.b.len - 1, &r);
		assert_int_equal(r.rc, SC_EFORMAT);
		bytes_deinit(&b);
	}
}

/* A few wrong bytes anywhere. */
static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char path[64];
		struct bytes b = {0};
		struct result r;
		uint64_t seed = i;

		snprintf(path, sizeof(path), PROGRAMS "%s", victims[i]);
		if (access(path, R_OK))
			continue;
		read_file(path, &b);
		for (size_t k = 0; k < 300; k++) {
			uint32_t at[4];
			uint8_t old[4];

			for (int m = 0; m < 4; m++) {
				at[m] = testing_below(&seed, (uint32_t)b.b.len);
				old[m] = b.b.data[at[m]];
				b.b.data[at[m]] = (uint8_t)testing_below(&seed, 256);
			}
			index_bytes(&b, b.b.len, &r);
			for (int m = 4; m--;)
				b.b.data[at[m]] = old[m];
		}
		bytes_deinit(&b);
	}
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || testing_run("scripts/testprogs.sh build/testprogs"))
		return -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return testing_run("rm -rf %s", dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compilers),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_dwz),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_no_input),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
