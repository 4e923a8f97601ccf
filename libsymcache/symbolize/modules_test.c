/*
 * Modules by each option of caches: what is accepted and what is not, what is said, and what the store
 * has then.
 */
#include "libsymcache/symbolize/testing.h"

#include <limits.h>

#include "libsymcache/base/hash.h"
#include "libsymcache/base/testing.h"
#include "libsymcache/index/content.h"

static const char *debug_dirs[] = { dir, NULL };
static char other_id_file[200], said[1000];

/* Puts another program where this one's debug file is looked for. */
static void place_other(void)
{
	assert_int_equal(testing_run("mkdir -p %s/.build-id/%.2s && ln -sf $(pwd)/build/testprogs/inlines %s/.build-id/%.2s/%s.debug",
				     dir, text_id, dir, text_id, text_id + 2), 0);
	snprintf(other_id_file, sizeof(other_id_file), "%s/.build-id/%.2s/%s.debug", dir, text_id, text_id + 2);
}

static void note(void *ctx, const struct symcache_notice *n)
{
	(void)ctx;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%d %s: %s; ", n->kind, n->file ? n->file : "-",
		 n->message ? n->message : "");
}

/* "CODE message" or the size of the cache, behind what was noticed. The folder of this run is DIR. */
static void expect(struct symcache_caches_options o, enum symcache_module_kind kind, const char *name, const char *want)
{
	const size_t len = strlen(dir);
	struct symcache_caches *c;
	const struct symcache *cache;
	struct sc_error err;
	int rc;

	*said = 0;
	o.notify = note;
	c = symcache_caches_create(&o);
	rc = symcache_module_cache(symcache_caches_module(c, kind, name), &cache, NULL, &err);
	if (rc)
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%d %s", rc, err.msg);
	else
		strcat(said, cache->size == self_size ? "itself" : "another");
	symcache_caches_destroy(c);
	for (char *at; (at = strstr(said, dir));) {
		memcpy(at, "DIR", 3);
		memmove(at + 3, at + len, strlen(at + len) + 1);
	}
	for (char *at; (at = strstr(said, text_id + 2));) /* in paths */
		memmove(at, at + strlen(text_id + 2), strlen(at + strlen(text_id + 2)) + 1);
	for (char *at; (at = strstr(said, ".build-id/"));)
		memmove(at, at + 13, strlen(at + 13) + 1);
	if (strcmp(said, want))
		fail_msg("%s\nnot %s", said, want);
}

#define SEARCH .debug_dirs = debug_dirs, .search_debug_dirs = true

static void test_accepted(void **state)
{
	const enum symcache_module_kind by_id = SYMCACHE_MODULE_BUILD_ID, file = SYMCACHE_MODULE_FILE;

	(void)state;
	place_other();
	expect((struct symcache_caches_options){ SEARCH }, by_id, text_id, "-2 DIR/.debug has another build ID");
	expect((struct symcache_caches_options){ SEARCH, .any_build_id = true, .memory_only = true }, by_id, text_id, "another");
	expect((struct symcache_caches_options){ .debug_dirs = debug_dirs, .any_build_id = true }, by_id, text_id,
	       "-1 there is no store");
	unlink(other_id_file);
	expect((struct symcache_caches_options){ SEARCH }, by_id, text_id, "-1 there is no store");
	/* Not a store. */
	expect((struct symcache_caches_options){ .store = dir }, by_id, text_id, "-5 store DIR: not a store: it is not a regular file");
	expect((struct symcache_caches_options){ .store = dir, .store_optional = true }, by_id, text_id, "0 -: store DIR: not a store: it is not a regular file; -1 store DIR: not a store: it is not a regular file");
	expect((struct symcache_caches_options){ .store = dir }, file, self, "0 /proc/self/exe: store DIR: not a store: it is not a regular file; itself");
	expect((struct symcache_caches_options){ .store = store_file, .store_name = "the store" }, by_id, text_id, "-1 there is no store at DIR/test.store");
	expect((struct symcache_caches_options){ .store = cache_file }, by_id, text_id, "-5 store DIR/test.symc: not a store: no LMDB meta page at offset 0");
	/* Names. */
	expect((struct symcache_caches_options){ .store = store_file }, by_id, "", "-2 the build ID is empty");
	expect((struct symcache_caches_options){ .store = store_file }, by_id, "xy", "-2 build ID 'xy': 'x' is not a hex digit");
	expect((struct symcache_caches_options){ 0 }, SYMCACHE_MODULE_CACHE, "/nonexistent", "-3 /nonexistent: cannot open: No such file or directory");
	expect((struct symcache_caches_options){ 0 }, file, cache_file, "-5 DIR/test.symc: not an ELF file");
	expect((struct symcache_caches_options){ 0 }, file, dir, "-3 DIR: not a regular file: Is a directory");
}

/* What is built of a file, and kept if that is asked for. */
static void test_kept(void **state)
{
	static const struct { bool files, memory_only, kept; } cases[] = {
		{ false, false, false }, { true, true, false }, { true, false, true },
	};
	struct symcache_caches *c;
	struct symcache_module *m;
	struct symstore_reader *reader;
	struct symstore_entry e;
	struct symstore *store;
	struct sc_hash hash;
	uint64_t size;
	const char *files[3];
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		expect((struct symcache_caches_options){ .store = store_file, .store_files = cases[i].files,
							 .memory_only = cases[i].memory_only },
		       SYMCACHE_MODULE_FILE, self, "itself");
		assert_int_equal(access(store_file, F_OK) == 0, cases[i].kept);
	}
	assert_non_null(realpath(self, path));
	assert_int_equal(symstore_open(store_file, SYMSTORE_READ, &store, NULL), 0);
	assert_int_equal(symstore_read_begin(store, &reader, NULL), 0);
	assert_int_equal(symstore_entry(reader, self_id, self_id_len, &e, NULL), 0);
	assert_string_equal(e.source_path, path);
	assert_true(!e.debug_path || !*e.debug_path);
	assert_string_equal(e.names, "modules_test");
	sc_content_hash_file(path, &hash, &size);
	assert_true(sc_hash_same(hash, e.source_hash));
	assert_int_equal(e.source_size, size);
	assert_int_equal(e.cache_size, self_size);
	assert_true(e.sources & SYMCACHE_FROM_DWARF && e.time > 1700000000);
	symstore_read_end(reader);
	expect((struct symcache_caches_options){ .store = store_file, .store_name = "the store" }, SYMCACHE_MODULE_BUILD_ID,
	       "0102", "-1 not in the store: 0102");
	/* A store that is open already is asked, and remains its owner's; its entry has been used then. */
	assert_int_equal(symstore_last_used(store, self_id, self_id_len), 0);
	c = symcache_caches_create(&(struct symcache_caches_options){ .borrowed = store, .memory_only = true });
	m = symcache_caches_module_of_id(c, self_id, self_id_len);
	assert_self(m);
	symcache_module_files(m, files);
	assert_string_equal(files[0], path);
	assert_null(files[1]);
	symcache_caches_destroy(c);
	assert_true(symstore_last_used(store, self_id, self_id_len) > 1700000000);
	c = symcache_caches_create(&(struct symcache_caches_options){ .borrowed = store, .memory_only = true, .store_name = "here" });
	assert_fails(symcache_caches_module_of_id(c, (const uint8_t *)"no", 2), SC_ENOTFOUND, "not in store here");
	symcache_caches_destroy(c);
	assert_int_equal(symstore_read_begin(store, &reader, NULL), 0);
	symstore_read_end(reader);
	symstore_close(store);
	unlink(store_file);
}

static bool put_entry(void *ctx, const struct symstore_entry *e)
{
	char *text = ctx, id[SYMCACHE_BUILD_ID_TEXT];

	sprintf(text + strlen(text), "%s %s %s, %s; ", symcache_build_id_text(id, e->build_id, e->build_id_len),
		e->source_path, e->debug_path ? e->debug_path : "", e->names ? e->names : "");
	return true;
}

/* What is stored of a file says where its debug file was; nothing is stored of one without a build ID; one
 * without symbols is stored for its unwind information. */
static void test_stored_files(void **state)
{
	static const char files[] =
		"cd %s && printf 'int f(int x) { return 2 * x; }\n' > f.c && "
		"cc() { gcc -g -shared -fPIC -nostdlib \"$@\"; } && cc -Wl,--build-id=0xabcdef -o a.so f.c && "
		"cc -Wl,--build-id=none -o no-id.so f.c && objcopy --only-keep-debug a.so a.debug && strip a.so && "
		"mkdir -p .build-id/ab && mv a.debug .build-id/ab/cdef.debug && cc -Wl,--build-id=0x1234 -o bare.so f.c && "
		"strip bare.so && objcopy --strip-all --remove-section=.dynsym bare.so 2> /dev/null; rm f.c";
	static const struct { const char *name; const char *wants; } cases[] = {
		{ "a.so", "0 | abcdef DIR/a.so DIR/.build-id/ab/cdef.debug, a.so; " }, { "no-id.so", "0 | " },
		{ "bare.so", "-7 DIR/bare.so: no debug information and no symbols| 1234 DIR/bare.so , bare.so; " },
	};

	(void)state;
	assert_int_equal(testing_run(files, dir), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_caches *c = symcache_caches_create(&(struct symcache_caches_options){
			.store = store_file, .store_files = true, SEARCH });
		const struct symcache *cache;
		struct symstore_reader *reader;
		struct symstore *store;
		struct sc_error err = { .msg = "" };
		char path[100], got[500];
		int rc;

		snprintf(path, sizeof(path), "%s/%s", dir, cases[i].name);
		rc = symcache_module_cache(symcache_caches_module(c, SYMCACHE_MODULE_FILE, path), &cache, NULL, &err);
		symcache_caches_destroy(c);
		snprintf(got, sizeof(got), "%d %s| ", rc, err.msg);
		if (!symstore_open(store_file, SYMSTORE_READ, &store, NULL)) {
			assert_int_equal(symstore_read_begin(store, &reader, NULL), 0);
			assert_int_equal(symstore_each(reader, NULL, 0, put_entry, got, NULL), 0);
			symstore_read_end(reader);
			symstore_close(store);
			unlink(store_file);
		}
		for (char *at; (at = strstr(got, dir)); memcpy(at, "DIR", 3))
			memmove(at + 3, at + strlen(dir), strlen(at + strlen(dir)) + 1);
		assert_string_equal(got, cases[i].wants);
	}
}

/* Modules that have no cache are remembered up to a number, and one that has got one does not count. */
static void test_many(void **state)
{
	enum { MOST = 1 << 16 };
	struct symcache_caches *c = symcache_caches_create(NULL);
	const struct symcache *cache;
	char name[20];

	(void)state;
	for (int i = 0; i < MOST; i++) {
		struct symcache_module *m;

		snprintf(name, sizeof(name), "x%d", i);
		m = symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, name);
		assert_non_null(m);
		assert_int_equal(symcache_module_cache(m, &cache, NULL, NULL), SC_EINVAL);
	}
	assert_null(symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, "another"));
	assert_non_null(symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, "x7"));
	assert_null(symcache_caches_module_of_id(c, self_id, SYMCACHE_BUILD_ID_MAX + 1));
	symcache_caches_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted), cmocka_unit_test(test_kept), cmocka_unit_test(test_stored_files), cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
