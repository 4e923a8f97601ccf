/* A program and its debug file: one cache of both, or one of each, merged. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/unwind/merge.h"
#include "libsymcache/write/indexed_test.h"

static bool plain_named(const struct plain_cache *c, uint64_t rel_pc)
{
	uint32_t l = plain_lookup(c, rel_pc);

	return l != PLAIN_NONE && plain_frame(c, l).function.ptr;
}

/* What has both is, to the byte, what is merged of one with the symbols and one with the
 * unwind information. */
static void same_merged(const struct indexed *both, const struct indexed *symbols,
			const struct indexed *unwind)
{
	struct symcache a, b;
	struct symcache_merge merge;
	struct indexed merged = { 0 };

	assert_int_equal(symcache_open(&a, symbols->bytes, symbols->size, NULL), 0);
	assert_int_equal(symcache_open(&b, unwind->bytes, unwind->size, NULL), 0);
	assert_int_equal(symcache_merge_plan(&a, &b, &merge), 1);
	merged.size = merge.size;
	merged.bytes = malloc(merge.size);
	memset(merged.bytes, 0xaa, merge.size);
	symcache_merge_write(&merge, merged.bytes);
	symcache_merge_deinit(&merge);
	same_bytes(both, &merged);
	free(merged.bytes);
}

/* Also where the program alone knows its SONAME. */
static void test_merge(void **state)
{
	static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
	const struct symcache_build_options alone = { .no_debug_search = true };
	struct indexed both, symbols, unwind;
	char path[256];

	(void)state;
	debug_file_of(libc, path);
	if (access(path, R_OK)) {
		printf("skipped: no debug file of libc\n");
		skip();
	}
	index_file(libc, NULL, &both);
	must_index(path, &symbols);
	index_file(libc, &alone, &unwind);
	same_merged(&both, &symbols, &unwind);
	indexed_deinit(&both);
	indexed_deinit(&symbols);
	indexed_deinit(&unwind);
}

/* Of "whole" the program "p" and the debug file "d", which is where it is searched for, too. */
#define SPLIT "strip -o p whole && objcopy --only-keep-debug whole d && " \
	"id=$(readelf -n p | sed -n 's/.*Build ID: //p') && f=.build-id/$(echo $id | cut -c 1-2) && " \
	"mkdir -p $f && cp d $f/$(echo $id | cut -c 3-).debug"

/* Split into program and debug file, and put together again: the same cache. */
static void test_split(void **state)
{
	char path[64], root[64];
	const char *const dirs[] = { root, NULL };
	const struct symcache_build_options with = { .debug_dirs = dirs };
	struct indexed whole, r, program;

	(void)state;
	must_index(PROGRAMS "layouts", &whole);
	assert_null(whole.info.debug_path);
	assert_int_equal(testing_run("cp " PROGRAMS "layouts %s/whole && cd %s && " SPLIT " && objcopy -g whole s",
				     testing_dir, testing_dir), 0);
	snprintf(root, sizeof(root), "%s", testing_dir);
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	index_file(path, &with, &r);
	assert_int_equal(r.rc, 0);
	assert_non_null(r.info.debug_path);
	same_bytes(&whole, &r);
	indexed_deinit(&r);
	/* The debug file alone lacks the unwind information, which the program has. */
	snprintf(path, sizeof(path), "%s/d", testing_dir);
	must_index(path, &r);
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	must_index(path, &program);
	same_merged(&whole, &r, &program);
	indexed_deinit(&program);
	indexed_deinit(&r);
	/* Symbols alone: every function by name, no line. */
	snprintf(path, sizeof(path), "%s/s", testing_dir);
	must_index(path, &r);
	assert_int_equal(r.info.sources, SYMCACHE_FROM_SYMTAB | SYMCACHE_FROM_CFI);
	assert_int_equal(r.info.files, 0);
	for (uint32_t i = 0; i < whole.cache.ranges; i++) {
		uint32_t start = plain_u32(&whole.cache, whole.cache.at_ranges + i * 4u);
		/* (Between functions there are rows of no function.) */
		if (plain_named(&whole.cache, start))
			assert_true(plain_named(&r.cache, start));
	}
	indexed_deinit(&r);
	/* Stripped, and nothing found: what is dynamic is left. */
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	must_index(path, &r);
	assert_int_equal(r.info.sources, SYMCACHE_FROM_DYNSYM | SYMCACHE_FROM_CFI);
	indexed_deinit(&r);
	indexed_deinit(&whole);
}

/* What each file has: in the program .eh_frame, in the debug file the symbols, and .debug_frame of
 * code that lacks .eh_frame. Merged again, it is what one build from both gives. */
static void test_made(void **state)
{
	static const char source[] =
		"int outer(int a) { return a * 3; } int inner(int a) { return outer(a) + 1; }";
	static const struct {
		const char *what, *compile;
		bool merges; /* the program has what the debug file lacks */
		uint32_t version; /* 0: the latest */
	} cases[] = {
		{ "a library", "-shared -Wl,-soname,libwith.so.7", true },
		{ "without a SONAME", "-shared", true },
		{ "with .debug_frame as well", "-shared -Wl,-soname,libwith.so.7 more.o even.c", true },
		{ "with .debug_frame alone", "-shared -nostdlib -fno-asynchronous-unwind-tables", false },
		{ "a long SONAME", "-shared -Wl,-soname,$(printf 'lib%0200d.so' 7)", true },
		{ "a SONAME that is a function's name", "-shared -Wl,-soname,outer", true },
		{ "of version 7", "-shared -Wl,-soname,libwith.so.7", true, 7 }, /* of other strings */
		{ "of version 8", "-shared -Wl,-soname,libwith.so.7", true, 8 },
	};
	char path[64], root[64];
	const char *const dirs[] = { root, NULL };

	(void)state;
	snprintf(root, sizeof(root), "%s", testing_dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_build_options with = {
			.debug_dirs = dirs, .format_version = cases[i].version,
		};
		const struct symcache_build_options alone = {
			.no_debug_search = true, .format_version = cases[i].version,
		};
		struct indexed both, symbols, unwind;
		struct symcache a, b;
		struct symcache_merge merge;

		assert_int_equal(
			testing_run("cd %s && echo '%s' > a.c && sed 's/int \\([io]\\)/int "
				    "m\\1/g;s/return o/return mo/' a.c > more.c && "
				    "sed 's/int m/int e/g;s/return m/return e/' more.c > even.c && "
				    "gcc -fPIC -g -O1 -fno-asynchronous-unwind-tables -c more.c && "
				    "gcc -fPIC -g -O1 -Wl,--build-id=sha1 -o whole a.c %s && " SPLIT,
				    testing_dir, source, cases[i].compile),
			0);
		snprintf(path, sizeof(path), "%s/p", testing_dir);
		index_file(path, &with, &both);
		index_file(path, &alone, &unwind);
		snprintf(path, sizeof(path), "%s/d", testing_dir);
		index_file(path, &alone, &symbols);
		assert_int_equal(symcache_open(&a, symbols.bytes, symbols.size, NULL), 0);
		assert_int_equal(symcache_open(&b, unwind.bytes, unwind.size, NULL), 0);
		assert_int_equal(a.header->version, cases[i].version ? cases[i].version : SYMCACHE_VERSION_MAX);
		if (cases[i].merges)
			same_merged(&both, &symbols, &unwind);
		else
			assert_int_equal(symcache_merge_plan(&a, &b, &merge), 0);
		/* Nothing is merged twice, or where nothing is missing. */
		assert_int_equal(symcache_merge_plan(&a, &a, &merge), 0);
		assert_int_equal(symcache_open(&a, both.bytes, both.size, NULL), 0);
		assert_int_equal(symcache_merge_plan(&a, &b, &merge), 0);
		indexed_deinit(&both);
		indexed_deinit(&symbols);
		indexed_deinit(&unwind);
	}
}

/* Caches of two images, or of which one is damaged, are not put together. */
static void test_others(void **state)
{
	struct indexed symbols, unwind;
	struct symcache a, b;
	struct symcache_merge merge;
	struct symcache_ext_image *image;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/d", testing_dir);
	assert_int_equal(testing_run("cd %s && gcc -fPIC -g -shared -Wl,--build-id=sha1 -o whole "
				     "a.c && strip -o p whole && "
				     "objcopy --only-keep-debug whole d",
				     testing_dir),
			 0);
	must_index(path, &symbols);
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	must_index(path, &unwind);
	for (int change = 0; change < 9; change++) {
		assert_int_equal(symcache_open(&a, symbols.bytes, symbols.size, NULL), 0);
		assert_int_equal(symcache_open(&b, unwind.bytes, unwind.size, NULL), 0);
		image = (struct symcache_ext_image *)(uintptr_t)(change % 2 ? a.image : b.image);
		const struct symcache_ext_image old = *image;

		switch (change / 2 * 2) {
		case 2: image->load_base += 4096; break;
		case 4: image->machine = EM_AARCH64; break;
		case 6: image->build_id[image->build_id_len - 1] ^= 1; break;
		case 8: image->build_id_len--; break;
		}
		assert_int_equal(symcache_merge_plan(&a, &b, &merge), change < 2);
		if (change < 2)
			symcache_merge_deinit(&merge);
		*image = old;
	}
	assert_int_equal(symcache_open(&a, symbols.bytes, symbols.size, NULL), 0);
	assert_int_equal(symcache_open(&b, unwind.bytes, unwind.size, NULL), 0);
	a.image = NULL;
	assert_int_equal(symcache_merge_plan(&a, &b, &merge), 0);
	assert_int_equal(symcache_merge_plan(&b, &a, &merge), 0);
	indexed_deinit(&symbols);
	indexed_deinit(&unwind);
}

/* The cache with more sections, unknown ones, so that it has `n`. */
static struct indexed with_sections(const struct indexed *r, uint32_t n)
{
	struct indexed ret = { .size = r->size + n * sizeof(struct symcache_ext_section) };
	const size_t end = r->size - sizeof(struct symcache_ext_footer);
	struct symcache_ext_section *table;
	struct symcache_ext_footer footer;

	memcpy(&footer, r->bytes + end, sizeof(footer));
	ret.bytes = calloc(1, ret.size);
	memcpy(ret.bytes, r->bytes, end);
	table = (struct symcache_ext_section *)(ret.bytes + end);
	memcpy(table, r->bytes + footer.table_offset, footer.num_sections * sizeof(*table));
	for (uint32_t i = footer.num_sections; i < n; i++)
		table[i] = (struct symcache_ext_section){ SYMCACHE_EXT_TAG('X', 'X', 'X', i), 8, end - 8, 8 };
	footer.table_offset = end;
	footer.num_sections = n;
	footer.file_size = ret.size;
	memcpy(ret.bytes + ret.size - sizeof(footer), &footer, sizeof(footer));
	return ret;
}

/* The writer's name is not always the last string, and not always there: it stays what it is. */
static void test_writer(void **state)
{
	struct indexed symbols, unwind;
	struct symcache a, b, merged;
	char path[64];

	(void)state;
	assert_int_equal(testing_run("cd %s && gcc -fPIC -g -shared -Wl,-soname,libwith.so.7 "
				     "-Wl,--build-id=sha1 -o whole a.c && strip -o p whole && "
				     "objcopy --only-keep-debug whole d", testing_dir), 0);
	snprintf(path, sizeof(path), "%s/d", testing_dir);
	must_index(path, &symbols);
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	must_index(path, &unwind);
	assert_int_equal(symcache_open(&a, symbols.bytes, symbols.size, NULL), 0);
	assert_int_equal(symcache_open(&b, unwind.bytes, unwind.size, NULL), 0);
	const uint32_t writers[] = { a.image->writer, 0, SYMCACHE_NONE };
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		struct symcache_merge merge;
		struct sc_str want, got;
		uint8_t *bytes;

		((struct symcache_ext_image *)(uintptr_t)a.image)->writer = writers[i];
		assert_int_equal(symcache_merge_plan(&a, &b, &merge), 1);
		bytes = malloc(merge.size);
		symcache_merge_write(&merge, bytes);
		assert_int_equal(symcache_open(&merged, bytes, merge.size, NULL), 0);
		assert_true(sc_str_is(symcache_string(&merged, merged.image->soname), "libwith.so.7"));
		want = symcache_string(&a, writers[i]);
		got = symcache_string(&merged, merged.image->writer);
		assert_int_equal(!got.ptr, !want.ptr);
		assert_true(sc_str_same(got, want));
		symcache_merge_deinit(&merge);
		free(bytes);
	}
	indexed_deinit(&symbols);
	indexed_deinit(&unwind);
}

/* With so many sections that there is no room for those of the other one, nothing is merged. */
static void test_sections(void **state)
{
	struct indexed symbols, unwind;
	struct symcache a, b;
	struct symcache_merge merge;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/d", testing_dir);
	must_index(path, &symbols);
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	must_index(path, &unwind);
	assert_int_equal(symcache_open(&b, unwind.bytes, unwind.size, NULL), 0);
	for (uint32_t n = 50; n <= SYMCACHE_EXT_MAX_SECTIONS; n++) {
		struct indexed many = with_sections(&symbols, n);
		const bool fits = n + 6 < SYMCACHE_EXT_MAX_SECTIONS;

		assert_int_equal(symcache_open(&a, many.bytes, many.size, NULL), 0);
		assert_int_equal(symcache_merge_plan(&a, &b, &merge), fits);
		if (fits) {
			uint8_t *merged = malloc(merge.size);

			symcache_merge_write(&merge, merged);
			assert_int_equal(symcache_open(&a, merged, merge.size, NULL), 0);
			assert_non_null(a.unwind.facts);
			symcache_merge_deinit(&merge);
			free(merged);
		}
		indexed_deinit(&many);
	}
	indexed_deinit(&symbols);
	indexed_deinit(&unwind);
}

/* Segments are those of the file that is run, as far as they are known: all of a cache are marked. */
static void test_segments(void **state)
{
	enum { NONE, ASSUMED, KNOWN };
	static const struct { int symbols, other; uint64_t taken; } cases[] = {
		{ NONE, NONE, 0 },	   { NONE, ASSUMED, 0x2000 },	 { NONE, KNOWN, 0x2000 },
		{ ASSUMED, NONE, 0x1000 }, { ASSUMED, ASSUMED, 0x2000 }, { ASSUMED, KNOWN, 0x2000 },
		{ KNOWN, NONE, 0x1000 },   { KNOWN, ASSUMED, 0x1000 },	 { KNOWN, KNOWN, 0x1000 },
	};
	struct indexed files[2];
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/d", testing_dir);
	must_index(path, &files[0]);
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	must_index(path, &files[1]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int kinds[] = { cases[i].symbols, cases[i].other };
		struct symcache caches[2], of_both;
		struct symcache_merge merge;
		uint8_t *merged;

		for (int k = 0; k < 2; k++) {
			struct symcache_ext_segment *s;

			assert_int_equal(symcache_open(&caches[k], files[k].bytes, files[k].size, NULL), 0);
			assert_true(caches[k].num_segments > 0);
			s = (struct symcache_ext_segment *)(uintptr_t)caches[k].segments;
			for (size_t n = 0; n < caches[k].num_segments; n++) {
				s[n].vaddr = k ? 0x2000 : 0x1000;
				s[n].flags = kinds[k] == ASSUMED ? SYMCACHE_SEGMENT_ASSUMED : 0;
			}
			caches[k].num_segments = kinds[k] == NONE ? 0 : caches[k].num_segments;
		}
		assert_int_equal(symcache_merge_plan(&caches[0], &caches[1], &merge), 1);
		merged = malloc(merge.size);
		symcache_merge_write(&merge, merged);
		assert_int_equal(symcache_open(&of_both, merged, merge.size, NULL), 0);
		if ((of_both.num_segments ? of_both.segments->vaddr : 0) != cases[i].taken)
			fail_msg("case %zu: 0x%llx", i, of_both.num_segments ?
				 (unsigned long long)of_both.segments->vaddr : 0);
		symcache_merge_deinit(&merge);
		free(merged);
	}
	indexed_deinit(&files[0]);
	indexed_deinit(&files[1]);
}

/* Where both have rows, those of .eh_frame, by which the program itself unwinds, come first. */
static void test_rows_of_both(void **state)
{
	static const struct { uint32_t symbols, other; int first; } cases[] = {
		{ SYMCACHE_UNWIND_EH_FRAME, SYMCACHE_UNWIND_DEBUG_FRAME, 0 },
		{ SYMCACHE_UNWIND_DEBUG_FRAME, SYMCACHE_UNWIND_EH_FRAME, 1 },
	};
	struct indexed files[2];
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/p", testing_dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache caches[2];
		struct symcache_merge merge;

		for (int k = 0; k < 2; k++) {
			struct symcache_ext_row *rows;

			must_index(path, &files[k]);
			assert_int_equal(symcache_open(&caches[k], files[k].bytes, files[k].size, NULL), 0);
			((struct symcache_ext_unwind *)(uintptr_t)caches[k].unwind.facts)->sources =
				k ? cases[i].other : cases[i].symbols;
			rows = (struct symcache_ext_row *)(uintptr_t)caches[k].unwind.rows;
			for (size_t n = 1; n < caches[k].unwind.num_rows; n++)
				if (rows[n].cfa == SYMCACHE_CFA_REGISTER)
					rows[n].n = k; /* whose row it is */
		}
		assert_int_equal(symcache_merge_plan(&caches[0], &caches[1], &merge), 1);
		assert_int_equal(merge.unwind.facts->sources, SYMCACHE_UNWIND_EH_FRAME | SYMCACHE_UNWIND_DEBUG_FRAME);
		assert_true(merge.unwind.num_rows > 1);
		for (uint32_t n = 1; n < merge.unwind.num_rows; n++)
			if (merge.unwind.rows[n].cfa == SYMCACHE_CFA_REGISTER)
				assert_int_equal(merge.unwind.rows[n].n, cases[i].first);
		symcache_merge_deinit(&merge);
		indexed_deinit(&files[0]);
		indexed_deinit(&files[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_rows_of_both),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
