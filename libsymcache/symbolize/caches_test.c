/*
 * Unit tests of where caches come from, and of frames: this test program itself is the ELF
 * file, with and without a store that has it, in a debug directory and nowhere.
 */
#include "libsymcache/symbolize/testing.h"

static const char *debug_dirs[] = { dir, NULL };

static void test_files(void **state)
{
	struct symcache_caches *c = open_caches((struct symcache_caches_options){
		.store = store_file });
	struct symcache_module *m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, self);
	const struct symcache *cache = assert_self(m);
	const char *files[3];

	(void)state;
	symcache_module_files(m, files);
	assert_string_equal(files[0], self);
	assert_null(files[1]);
	symcache_caches_update(c);
	assert_ptr_equal(symcache_caches_module(c, SYMCACHE_MODULE_FILE, self), m);
	assert_ptr_equal(assert_self(m), cache);
	assert_self(symcache_caches_module(c, SYMCACHE_MODULE_CACHE, cache_file));
	m = symcache_caches_module(c, SYMCACHE_MODULE_CACHE, self);
	assert_false(assert_fails(m, SC_EFORMAT, self));
	m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, "/nonexistent");
	assert_false(assert_fails(m, SC_ESYS, "/nonexistent"));
	assert_true(assert_fails(m, SC_ESYS, "/nonexistent"));
	symcache_caches_update(c);
	assert_true(assert_fails(m, SC_ESYS, "/nonexistent"));
	symcache_caches_destroy(c);
	assert_int_not_equal(access(store_file, F_OK), 0); /* nothing was to be stored */
}

/* Without a store, and with one whose entries come later. */
static void test_store(void **state)
{
	struct symcache_caches *c = open_caches((struct symcache_caches_options){
		.store = store_file });
	struct symcache_module *m, *of_id;
	uint8_t other[20];

	(void)state;
	m = symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, text_id);
	of_id = symcache_caches_module_of_id(c, self_id, self_id_len);
	assert_false(assert_fails(m, SC_ENOTFOUND, store_file));
	assert_true(assert_fails(m, SC_ENOTFOUND, store_file));
	assert_false(assert_fails(of_id, SC_ENOTFOUND, store_file));
	store_put(self_id, self_id_len);
	assert_true(assert_fails(m, SC_ENOTFOUND, store_file)); /* not before the update */
	symcache_caches_update(c);
	assert_self(m);
	assert_self(of_id);
	assert_self(symcache_caches_module(c, SYMCACHE_MODULE_FILE, self));
	assert_fails(symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, "xyz"), SC_EINVAL, "hex");

	text_id[7] = 0;
	m = symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, text_id);
	assert_self(m);
	memset(other, 0x5a, sizeof(other));
	memcpy(other, self_id, 4);
	symcache_caches_update(c);
	store_put(other, sizeof(other));
	assert_self(m); /* what was found stays found */
	text_id[6] = 0;
	m = symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, text_id);
	assert_fails(m, SC_EINVAL, "several build IDs");
	symcache_build_id_text(text_id, self_id, self_id_len);
	symcache_caches_destroy(c);
	unlink(store_file);
}

/* Puts a link to this program where debug files are looked for; or takes it away. */
static void link_debug_file(const char *to)
{
	char path[256], real[4096] = "";

	if (to == self && readlink(self, real, sizeof(real) - 1) > 0)
		to = real; /* an emulator's /proc/self/exe is its own for others */
	snprintf(path, sizeof(path), "%s/.build-id", dir);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s", dir, text_id);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir, text_id, text_id + 2);
	unlink(path);
	if (to)
		assert_int_equal(symlink(to, path), 0);
}

static void test_debug_directory(void **state)
{
	const struct symcache_caches_options options = {
		.store = store_file, .debug_dirs = debug_dirs, .search_debug_dirs = true };
	struct symcache_caches *c = open_caches(options);
	struct symcache_module *m = symcache_caches_module_of_id(c, self_id, self_id_len);
	const char *files[3];

	(void)state;
	link_debug_file(cache_file);
	assert_false(assert_fails(m, SC_EFORMAT, ".debug: ")); /* no ELF file */
	symcache_caches_destroy(c);

	link_debug_file(self);
	c = open_caches(options);
	m = symcache_caches_module_of_id(c, self_id, self_id_len);
	assert_self(m);
	symcache_module_files(m, files);
	assert_non_null(strstr(files[0], "caches_test"));
	symcache_caches_update(c);
	assert_self(m); /* in memory still */
	symcache_caches_destroy(c);
	link_debug_file(NULL);

	/* It was stored. */
	c = open_caches(options);
	assert_self(symcache_caches_module_of_id(c, self_id, self_id_len));
	symcache_caches_destroy(c);
	unlink(store_file);
	/* One that has it, also where it need not be there. */
	store_put(self_id, self_id_len);
	c = open_caches((struct symcache_caches_options){ .store = store_file, .store_optional = true });
	assert_self(symcache_caches_module_of_id(c, self_id, self_id_len));
	assert_self(symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, text_id));
	assert_int_equal(notices[SYMCACHE_NOTICE_STORE], 0);
	symcache_caches_destroy(c);
	unlink(store_file);
	/* A store that cannot be written. */
	link_debug_file(self);
	c = open_caches((struct symcache_caches_options){ .store = "/nonexistent/a",
		.debug_dirs = debug_dirs, .search_debug_dirs = true, .store_optional = true });
	assert_self(symcache_caches_module_of_id(c, self_id, self_id_len));
	symcache_caches_destroy(c);
	assert_int_equal(notices[SYMCACHE_NOTICE_NOT_KEPT], 1);
	link_debug_file(NULL);
}

/* ---- frames ----------------------------------------------------------------------- */

static bool has_name(struct sc_str s, const char *name)
{
	return s.len == strlen(name) && !memcmp(s.ptr, name, s.len);
}

static void test_frames(void **state)
{
	const struct symcache_names_options plain = { .paths = SYMCACHE_PATHS_BASENAME,
						      .table = SYMCACHE_TABLE_OUTERMOST };
	struct symcache_names *names = symcache_names_create(&plain);
	struct symcache_caches *c = open_caches((struct symcache_caches_options){ 0 });
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
	struct symcache_module *m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, self);
	struct symcache_shown_data data;
	struct symcache_start start;
	struct symcache_answer a;
	const struct sc_str name = { "main", 4 };
	uint32_t at = 0;
	uint64_t vaddr;

	(void)state;
	assert_int_equal(symcache_symbolize(s, m, main_vaddr, &a), SYMCACHE_FOUND);
	assert_true(has_name(a.frames[a.num_frames - 1].function, "main"));
	assert_true(has_name(a.frames[a.num_frames - 1].file, "caches_test.c"));
	assert_true(a.frames[a.num_frames - 1].of_table);
	start = symcache_symbolize_start(s, &a, a.num_frames - 1);
	assert_true(start.known && start.vaddr == main_vaddr && start.line);
	assert_true(has_name(start.file, "caches_test.c"));
	assert_int_equal(symcache_symbolize_as(s, m, main_vaddr, SYMCACHE_ONE_FRAME,
					       SYMCACHE_TABLE_NEVER, &a), SYMCACHE_FOUND);
	assert_int_equal(a.num_frames, 1);
	assert_true(has_name(a.frames[0].function, "main"));
	assert_false(a.frames[0].of_table);

	assert_int_equal(symcache_symbolize(s, m, 0, &a), SYMCACHE_OUTSIDE);
	assert_int_equal(symcache_symbolize(s, m, UINT64_MAX, &a), SYMCACHE_OUTSIDE);
	m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, "/nonexistent");
	assert_int_equal(symcache_symbolize(s, m, main_vaddr, &a), SYMCACHE_NO_CACHE);
	assert_int_equal(a.num_frames, 0);
	m = symcache_caches_module(c, SYMCACHE_MODULE_CACHE, cache_file);
	assert_true(symcache_symbolize_name(s, m, name, &at, &vaddr) && vaddr == main_vaddr);
	assert_false(symcache_symbolize_name(s, m, name, &at, &vaddr));
	assert_true(symcache_symbolize_function(s, m, main_vaddr + 3, &data));
	assert_true(has_name(data.name, "main") && data.vaddr == main_vaddr && data.line);
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

enum { ADDRESSES = 20000 };

struct worker {
	struct symcache_caches *caches;
	struct symcache_names *names;
	bool ahead;
	uint64_t hash;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return hash;
}

/* All answers to the same random addresses of two modules, as one hash. */
static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct symcache_symbolizer *s = symcache_symbolizer_create(w->caches, w->names);
	struct symcache_module *both[] = {
		symcache_caches_module(w->caches, SYMCACHE_MODULE_FILE, self),
		symcache_caches_module(w->caches, SYMCACHE_MODULE_CACHE, cache_file),
	}, *modules[SYMCACHE_BATCH];
	uint64_t random = 1, vaddrs[SYMCACHE_BATCH];
	struct symcache_answer a;

	for (int n = 0; n < ADDRESSES; n += SYMCACHE_BATCH) {
		for (int i = 0; i < SYMCACHE_BATCH; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			vaddrs[i] = main_vaddr - 0x8000 + (random >> 40) % 0x20000;
			modules[i] = both[random >> 62 & 1];
		}
		if (w->ahead)
			symcache_symbolize_ahead(s, modules, vaddrs, SYMCACHE_BATCH);
		for (int i = 0; i < SYMCACHE_BATCH; i++) {
			symcache_symbolize(s, modules[i], vaddrs[i], &a);
			w->hash = mix(w->hash, &a.reason, sizeof(a.reason));
			for (size_t k = 0; k < a.num_frames; k++) {
				const struct sc_frame *f = &a.frames[k];
				w->hash = mix(w->hash, f->function.ptr, f->function.len);
				w->hash = mix(w->hash, f->file.ptr, f->file.len);
				w->hash = mix(w->hash, &f->line, 2 * sizeof(f->line));
			}
		}
	}
	symcache_symbolizer_destroy(s);
	return NULL;
}

/* One by one, in batches, and by two threads that share caches and names: the same. */
static void test_batches_and_threads(void **state)
{
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c = open_caches((struct symcache_caches_options){ 0 });
	struct worker single = { c, names, false, 1 }, ahead = { c, names, true, 1 },
		      other = single;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, work, &other), 0);
	work(&ahead);
	pthread_join(thread, NULL);
	work(&single);
	assert_int_equal(ahead.hash, single.hash);
	assert_int_equal(other.hash, single.hash);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_debug_directory),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_batches_and_threads),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
