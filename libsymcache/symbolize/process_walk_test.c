/* What stacks are walked with: of each address the image, its cache, and where that is loaded. */
#include "libsymcache/symbolize/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/symbolize/module.h"
#include "libsymcache/unwind/unwind.h"

/* A file with one segment of code. */
struct file {
	uint64_t load_base;
	struct symcache_ext_segment segment;
};

static const struct file gnu_ld = { 0, { 0x1000, 0x1000, 0x700, 0, 0 } };
static const struct file mold = { 0x200000, { 0x4a0, 0x2014a0, 0x900, 0, 0 } };

static void test_unwind(void **state)
{
	static const struct {
		const struct file *of; /* NULL: it has no cache */
		uint64_t address;
		bool found, cache;
		uint64_t base;
	} cases[] = {
		{ &gnu_ld, 0x701010, true, true, 0x700000 },
		{ &gnu_ld, 0x6ffff0, false, false, 0 },
		{ &mold, 0x7004a0, true, true, 0x6ff000 },
		{ &mold, 0x7007ff, true, true, 0x6ff000 },
		{ &mold, 0x700800, false, true, 0x6ff000 },   /* behind the image */
		{ NULL, 0x701010, true, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_process *p = symcache_process_create(NULL);
		struct symcache_unwind_frame f = { 0 };
		struct symcache_image *image;
		struct symcache_ext_image ext = { .image_size = 0x1800 };
		struct symcache cache = { .image = &ext, .num_segments = 1 };
		struct symcache_module module = { .name = NULL };

		image = symcache_process_image(p, &(struct symcache_file_id){ .path = sc_str_of("/opt/prog") });
		if (cases[i].of) {
			ext.load_base = cases[i].of->load_base;
			cache.segments = &cases[i].of->segment;
			atomic_store(&module.cache, &cache);
			image->asked = true;
			image->module = &module;
		}
		symcache_process_map(p, &(struct symcache_mapping){ 0x700000, 0x704000, 0, SYMCACHE_FROM_FILE, image });
		if (symcache_process_unwind(p, cases[i].address, &f) != cases[i].found)
			fail_msg("%llx", (unsigned long long)cases[i].address);
		assert_ptr_equal(f.cache, cases[i].cache ? &cache : NULL);
		assert_int_equal(f.base, cases[i].base);
		assert_ptr_equal(f.owner, cases[i].address < 0x700000 ? NULL : image);
		symcache_process_destroy(p);
	}
}

/* ---- images that are named on the command line ----------------------------------------------- */

/* Modules that are known by the beginning of a build ID. */
struct loadable {
	const char *id;
	uint64_t load_base, size; /* size 0: not known */
	struct symcache_ext_image ext;
	struct symcache cache;
	struct symcache_module module;
};

static struct loadable loadable[] = {
	{ "aa", 0, 0x3000 }, { "bb", 0x400000, 0x1000 }, { "cc", 0x10, 0x8000 }, { "dd", 0, 0 },
};

static int find_loadable(const struct symcache_finder *f, const struct symcache_file_id *of,
			 struct symcache_module **ret, struct sc_error *err)
{
	(void)f;
	for (size_t i = 0; of->bound && i < sizeof(loadable) / sizeof(*loadable); i++) {
		struct loadable *l = &loadable[i];

		if (strcmp(of->bound, l->id))
			continue;
		l->ext = (struct symcache_ext_image){ .load_base = l->load_base, .image_size = l->size };
		l->cache.image = l->size ? &l->ext : NULL;
		atomic_store(&l->module.cache, &l->cache);
		*ret = &l->module;
		return 0;
	}
	return sc_error_set(err, SC_ENOTFOUND, "%s", of->bound && !strcmp(of->bound, "ee") ? "" : "not here");
}

/* Where all are then, "NAME START-END VADDR", the last one that of the start; or why not. */
static void test_load(void **state)
{
	static const struct { const char *specs[4]; const char *want; } cases[] = {
		{ { "aa" }, "aa 0-3000 0" },
		{ { "aa@7000" }, "aa 7000-a000 0" },
		{ { "bb" }, "bb 400000-401000 400000" },
		{ { "bb@0x1000" }, "bb 401000-402000 400000" },
		{ { "cc@20" }, "cc 30-8030 10" },
		{ { "dd@10" }, "dd 10-10000000f 0" },
		{ { "aa@ffffffffffffe000" }, "aa ffffffffffffe000-ffffffffffffffff 0" },
		/* Of two the later beginning, in any order; of the same beginning the one that was named first. */
		{ { "aa@1000", "aa@2000" }, "aa 1000-2000 0 aa 2000-5000 0" },
		{ { "aa@2000", "aa@1000" }, "aa 1000-2000 0 aa 2000-5000 0" },
		{ { "cc", "aa@1000" }, "cc 10-1000 10 aa 1000-4000 0 cc 4000-8010 4000" },
		{ { "aa@1000", "cc", "bb" }, "cc 10-1000 10 aa 1000-4000 0 cc 4000-8010 4000 bb 400000-401000 400000" },
		{ { "aa@10", "cc" }, "aa 10-3010 0 cc 3010-8010 3010" },
		{ { "cc", "aa@10" }, "cc 10-8010 10" },
		{ { "aa@" }, "-2 'aa@': the bias is not a hex number" },
		{ { "aa@12x" }, "-2 'aa@12x': the bias is not a hex number" },
		{ { "aa@1@2" }, "-2 'aa@1' is neither a file nor a build ID" },
		{ { "@12" }, "-2 '' is neither a file nor a build ID" },
		{ { "none/prog@12" }, "-2 'none/prog' is neither a file nor a build ID" },
		{ { "ab@12" }, "-1 not here" },
		{ { "ee" }, "-1 the store has no file of that name" },
		{ { "aa", "ab@12" }, "-1 not here" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_process *p = symcache_process_create(&(struct symcache_finder){ .find = find_loadable });
		const struct symcache_mapping *list;
		struct symcache_address at;
		struct sc_error err = { .msg = "" };
		char got[300] = "";
		size_t n, len = 0;
		int rc = 0;

		for (size_t k = 0; !rc && cases[i].specs[k]; k++)
			rc = symcache_process_load(p, cases[i].specs[k], &err);
		if (rc)
			len = (size_t)snprintf(got, sizeof(got), "%d %s ", rc, err.msg);
		list = symcache_process_mappings(p, &n);
		for (size_t k = 0; !rc && k < n; k++) {
			symcache_process_find(p, list[k].start, SYMCACHE_EXACT, &at);
			len += (size_t)snprintf(got + len, sizeof(got) - len, "%s %llx-%llx %llx ", list[k].image->path,
						(unsigned long long)list[k].start, (unsigned long long)list[k].end,
						(unsigned long long)at.vaddr);
		}
		got[len - 1] = '\0';
		if (strcmp(got, cases[i].want))
			fail_msg("%s: %s, not %s", cases[i].specs[0], got, cases[i].want);
		symcache_process_destroy(p);
	}
}

/* ---- code ------------------------------------------------------------------------------------- */

extern const char __executable_start[]; /* the linker's */

/* This program's own bytes, out of its file, if that has the build ID of the cache. */
static void test_code(void **state)
{
	static const struct { bool no_files, other_id; size_t len; uint64_t at; bool read; } cases[] = {
		{ .len = 64, .read = true }, { .no_files = true, .len = 64 }, { .other_id = true, .len = 64 },
		{ .len = 1 << 30 }, { .len = 64, .at = 1ull << 60 },
	};
	struct symcache_caches *caches = symcache_caches_create(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_finder f = { .find = symcache_find_module, .caches = caches,
						   .no_files = cases[i].no_files };
		struct symcache_process *p = symcache_process_create(&f);
		uint8_t bytes[64] = { 0 };
		struct symcache_image *image;
		struct symcache_ext_image ext;
		struct symcache cache;
		struct sc_error err;
		char spec[64];

		assert_int_equal(symcache_process_load(p, "/proc/self/exe", &err), 0);
		image = symcache_process_image_at(p, 0);
		snprintf(spec, sizeof(spec), "/proc/self/exe@%llx", (unsigned long long)
			 ((uintptr_t)__executable_start - symcache_load_base(image->cache)));
		assert_int_equal(symcache_process_load(p, spec, &err), 0);
		image = symcache_process_image_at(p, 1);
		cache = *image->cache;
		ext = *cache.image;
		ext.build_id[0] ^= cases[i].other_id;
		cache.image = &ext;
		atomic_store(&image->module->cache, &cache);
		for (int again = 0; again < 2; again++)
			if (symcache_process_code(p, cases[i].at ? cases[i].at : (uintptr_t)test_code, bytes,
						  cases[i].len) != cases[i].read)
				fail_msg("case %zu", i);
		if (cases[i].read)
			assert_memory_equal(bytes, test_code, sizeof(bytes));
		atomic_store(&image->module->cache, symcache_process_image_at(p, 0)->cache);
		symcache_process_destroy(p);
	}
	symcache_caches_destroy(caches);
}

/* Of a cache without a file the code is in the file that the process had mapped. */
static void test_code_by_path(void **state)
{
	static const char *const paths[] = { "/proc/self/exe", "/proc/self/maps", "/none", "proc/self/exe", "" };
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_module *file = symcache_caches_module(caches, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	struct symcache_module *of_id = symcache_caches_module(caches, SYMCACHE_MODULE_BUILD_ID, "aabb");
	const uint64_t start = (uintptr_t)__executable_start;
	const struct symcache *cache;
	uint8_t bytes[64];

	(void)state;
	assert_int_equal(symcache_module_cache(file, &cache, NULL, NULL), 0);
	atomic_store(&of_id->cache, cache);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct symcache_process *p = symcache_process_create(&(struct symcache_finder){ .caches = caches });
		struct symcache_image *image = symcache_process_image(p, &(struct symcache_file_id){
			.path = sc_str_of(paths[i]) });

		image->asked = true;
		image->module = of_id;
		symcache_process_map(p, &(struct symcache_mapping){ start, UINT64_MAX, 0, SYMCACHE_FROM_LOAD_BASE, image });
		assert_int_equal(symcache_process_code(p, (uintptr_t)test_code, bytes, sizeof(bytes)), !i);
		if (!i)
			assert_memory_equal(bytes, test_code, sizeof(bytes));
		symcache_process_destroy(p);
	}
	atomic_store(&of_id->cache, NULL);
	/* Else in the one that the cache was made of. */
	for (int i = 0; i < 2; i++) {
		struct symcache_process *p = symcache_process_create(&(struct symcache_finder){ .caches = caches });
		struct symcache_image *image = symcache_process_image(p, &(struct symcache_file_id){ .path = sc_str_of("exe") });

		image->asked = true;
		image->module = i ? of_id : file;
		symcache_process_map(p, &(struct symcache_mapping){ start, UINT64_MAX, 0, SYMCACHE_FROM_LOAD_BASE, image });
		assert_int_equal(symcache_process_code(p, (uintptr_t)test_code, bytes, sizeof(bytes)), !i);
		symcache_process_destroy(p);
	}
	symcache_caches_destroy(caches);
}

/* ---- limits ------------------------------------------------------------------------------------ */

/* So many images, and so many bytes of paths, and no more, of hostile logs. */
static void test_limits(void **state)
{
	enum { TEXTS = 64 << 20 };
	struct symcache_process *p = symcache_process_create(NULL);
	char *text = malloc(TEXTS + 1), path[16];
	const struct symcache_file_id none = { .path = { NULL, 0 } };
	struct symcache_file_id of = { .path = { memset(text, 'a', TEXTS + 1), TEXTS + 1 } };

	(void)state;
	assert_null(symcache_process_image(p, &of));
	of.path.len = TEXTS - 1;
	assert_non_null(symcache_process_image(p, &of));
	assert_string_equal(symcache_process_image_at(p, 0)->name + TEXTS - 2, "a");
	of.path.len = 1;
	of.release = sc_str_of("6");
	assert_null(symcache_process_image(p, &of));
	of.release.len = 0;
	assert_non_null(symcache_process_image(p, &of));
	assert_non_null(symcache_process_image(p, &none));
	symcache_process_destroy(p);
	free(text);
	p = symcache_process_create(NULL);
	for (unsigned i = 0; i <= SYMCACHE_MAPPINGS_MAX; i++) {
		snprintf(path, sizeof(path), "%u", i);
		assert_int_equal(symcache_process_new_image(p, &(struct symcache_file_id){ .path = sc_str_of(path) }) != NULL,
				 i < SYMCACHE_MAPPINGS_MAX);
	}
	symcache_process_destroy(p);
}

/* Where a file without segments begins: the first page below, of the same file, up to 64 parts of it. */
static void test_bases(void **state)
{
	static const struct { unsigned parts; int other; bool found; } cases[] = {
		{ 1, -1, true }, { 63, -1, true }, { 64, -1, false }, { 10, 4, false }, { 10, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_process *p = symcache_process_create(NULL);
		struct symcache_ext_image ext = { .load_base = 0x10040 };
		struct symcache cache = { .image = &ext };
		struct symcache_module module = { .name = NULL };
		struct symcache_image *image = symcache_process_image(p, &(struct symcache_file_id){ .path = sc_str_of("/a") });
		struct symcache_image *other = symcache_process_image(p, &(struct symcache_file_id){ .path = sc_str_of("/b") });
		struct symcache_address at;

		atomic_store(&module.cache, &cache);
		image->asked = true;
		image->module = &module;
		for (unsigned k = 0; k <= cases[i].parts; k++)
			assert_int_equal(symcache_process_map(p, &(struct symcache_mapping){
				0x100000 + 0x2000 * k, 0x101000 + 0x2000 * k, k * 0x2000, SYMCACHE_FROM_FILE,
				(int)k == cases[i].other ? other : image }), 0);
		symcache_process_find(p, 0x100123 + 0x2000 * (uint64_t)cases[i].parts, SYMCACHE_EXACT, &at);
		if (at.reason != (cases[i].found ? SYMCACHE_FOUND : SYMCACHE_OUTSIDE) ||
		    (cases[i].found && at.vaddr != 0x10123 + 0x2000 * (uint64_t)cases[i].parts))
			fail_msg("case %zu: %d %llx", i, at.reason, (unsigned long long)at.vaddr);
		symcache_process_destroy(p);
	}
}

/* The longest build ID is the file's, as others are. */
static void test_code_of_longest_id(void **state)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	const struct symcache_finder f = { .find = symcache_find_module, .caches = caches };
	struct symcache_process *p = symcache_process_create(&f);
	char dir[] = "/tmp/symcache-walk-XXXXXX", spec[100], byte;
	const uint64_t start = 1 << 20;
	struct sc_error err;
	bool read = false;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(testing_run("cd %s && echo 'int f(int x) { return 2 * x; }' > a.c && gcc -shared -nostdlib "
				     "-Wl,--build-id=0x$(yes ab | head -n 64 | tr -d '\\n') -o a.so a.c", dir), 0);
	snprintf(spec, sizeof(spec), "%s/a.so@%llx", dir, (unsigned long long)start);
	assert_int_equal(symcache_process_load(p, spec, &err), 0);
	for (uint64_t at = start; at < 2 * start && !read; at += 16)
		read = symcache_process_code(p, at, &byte, 1);
	assert_true(read);
	assert_int_equal(symcache_process_image_at(p, 0)->cache->image->build_id_len, SYMCACHE_BUILD_ID_MAX);
	symcache_process_destroy(p);
	symcache_caches_destroy(caches);
	assert_int_equal(testing_run("rm -r %s", dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwind), cmocka_unit_test(test_load), cmocka_unit_test(test_code),
		cmocka_unit_test(test_code_by_path), cmocka_unit_test(test_code_of_longest_id),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_bases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
