/*
 * Unit tests of modules: this test program itself is the ELF file, once with
 * and once without a store that has it.
 */
#include "cmd/lookup/modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/cli/store.h"
#include "symcache/build.h"
#include "symcache/build_id.h"
#include "symcache/store.h"
#include "symcache/symcache.h"

static const char self[] = "/proc/self/exe";
static char dir[] = "/tmp/symcache-modules-XXXXXX";
static char store_file[64], cache_file[64];
static uint8_t self_id[SYMCACHE_BUILD_ID_MAX];
static size_t self_id_len;
static void *self_cache;
static size_t self_size;

static int setup(void **state)
{
	struct symcache_build *build;
	struct sc_error err;
	bool derived;
	FILE *file;

	(void)state;
	if (!mkdtemp(dir) || symcache_build_create(self, NULL, &build, &err) ||
	    symcache_elf_build_id(self, self_id, &self_id_len, &derived, &err))
		return -1;
	snprintf(store_file, sizeof(store_file), "%s/a/b/test.store", dir);
	snprintf(cache_file, sizeof(cache_file), "%s/test.symc", dir);
	self_size = symcache_build_size(build);
	self_cache = malloc(self_size);
	symcache_build_write(build, self_cache);
	symcache_build_destroy(build);
	file = fopen(cache_file, "w");
	return fwrite(self_cache, self_size, 1, file) != 1 || fclose(file);
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	free(self_cache);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void fill(void *ctx, void *to)
{
	(void)ctx;
	memcpy(to, self_cache, self_size);
}

/* Puts the cache of this program under `id` into the store. */
static void store_put(const uint8_t *id, size_t len)
{
	struct symstore_entry entry = { .build_id_len = len, .cache_size = self_size,
					.source_path = self, .tool_version = "test" };
	struct symstore_writer *writer;
	struct symstore *store;
	struct sc_error err;

	memcpy(entry.build_id, id, len);
	assert_int_equal(open_store(store_file, SYMSTORE_WRITE, &store, &err), 0);
	assert_int_equal(symstore_write_begin(store, &writer, &err), 0);
	assert_int_equal(symstore_put(writer, &entry, fill, NULL, NULL, &err), 0);
	assert_int_equal(symstore_commit(writer, &err), 0);
	symstore_close(store);
}

/* Has the cache the functions of this program? */
static void assert_is_self(const struct symcache *cache)
{
	assert_int_equal(cache->size, self_size);
	assert_memory_equal(cache->data, self_cache, self_size);
}

static void test_files(void **state)
{
	struct modules *m = modules_create(store_file, NULL);
	const struct symcache *cache, *same;
	struct sc_error err;
	bool again;

	(void)state;
	assert_int_equal(modules_get(m, MODULE_FILE, self, &cache, &again, &err), 0);
	assert_false(again);
	assert_is_self(cache);
	modules_release(m);
	assert_int_equal(modules_get(m, MODULE_FILE, self, &same, &again, &err), 0);
	assert_true(again);
	assert_ptr_equal(cache, same);
	assert_int_equal(modules_get(m, MODULE_CACHE, cache_file, &cache, &again, &err), 0);
	assert_is_self(cache);
	assert_int_equal(modules_get(m, MODULE_CACHE, self, &cache, &again, &err), SC_EFORMAT);
	assert_false(again);
	assert_non_null(strstr(err.msg, self));
	assert_int_equal(modules_get(m, MODULE_FILE, "/nonexistent", &cache, &again, &err),
			 SC_ESYS);
	assert_false(again);
	assert_int_equal(modules_get(m, MODULE_FILE, "/nonexistent", &cache, &again, &err),
			 SC_ESYS);
	assert_true(again);
	assert_non_null(strstr(err.msg, "/nonexistent"));
	assert_null(cache);
	modules_destroy(m);
}

static void test_store(void **state)
{
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1];
	uint8_t other[20];
	const struct symcache *cache;
	struct modules *m;
	struct sc_error err;
	bool again;

	(void)state;
	symcache_build_id_text(text, self_id, self_id_len);
	m = modules_create(store_file, NULL);
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, text, &cache, &again, &err), SC_ENOTFOUND);
	assert_non_null(strstr(err.msg, "symcache index"));
	modules_destroy(m);

	store_put(self_id, self_id_len);
	m = modules_create(store_file, NULL);
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, text, &cache, &again, &err), 0);
	assert_is_self(cache);
	text[7] = 0;
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, text, &cache, &again, &err), 0);
	assert_is_self(cache);
	assert_int_equal(modules_get(m, MODULE_FILE, self, &cache, &again, &err), 0);
	assert_is_self(cache);
	modules_release(m);
	assert_int_equal(modules_get(m, MODULE_FILE, self, &cache, &again, &err), 0);
	assert_is_self(cache);

	/* What the store gets later is seen after a release. */
	memset(other, (self_id[0] & 0xf0) ^ 0xf0, sizeof(other));
	symcache_build_id_text(text, other, sizeof(other));
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, text, &cache, &again, &err), SC_ENOTFOUND);
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, "xyz", &cache, &again, &err), SC_EINVAL);
	modules_release(m);
	modules_destroy(m);
	store_put(other, sizeof(other));
	memcpy(other, self_id, 4);
	store_put(other, sizeof(other));
	m = modules_create(store_file, NULL);
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, text, &cache, &again, &err), 0);
	assert_is_self(cache);
	symcache_build_id_text(text, other, 2);
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, text, &cache, &again, &err), SC_EINVAL);
	assert_non_null(strstr(err.msg, "several build IDs"));
	symcache_build_id_text(text, other, sizeof(other));
	assert_int_equal(modules_get(m, MODULE_BUILD_ID, text, &cache, &again, &err), 0);
	modules_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_store),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
