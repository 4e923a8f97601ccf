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
	assert_int_equal(testing_run("P=$PWD/" PROGRAMS "layouts; cd %s && strip -o p $P &&"
		"id=$(readelf -n $P | sed -n 's/.*Build ID: //p') &&"
		"f=.build-id/$(echo $id | cut -c 1-2) && mkdir -p $f &&"
		"objcopy --only-keep-debug $P $f/$(echo $id | cut -c 3-).debug &&"
		"cp $f/*.debug d && objcopy -g $P s", testing_dir), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
