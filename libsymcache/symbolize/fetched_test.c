/*
 * Caches and debug files from servers, which are a thread here: what a module gets from them, what is
 * said, and what the store keeps, so that no server is asked again for what it has or lacks.
 */
#include "libsymcache/bundle/testing.h"

#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/testing_server.h"
#include "libsymcache/symbolize/symbolize.h"

static struct own in_tree;        /* build ID 0011223344 */
static const char *program = "build/testprogs/inlines";
static char url[100], store[700]; /* of the tree */
static uint8_t program_id[SYMCACHE_BUILD_ID_MAX]; /* of a program whose debug file another server has */
static size_t program_id_len;
static char said[1000];

static int set_up(void **state)
{
	char id[SYMCACHE_BUILD_ID_TEXT];
	bool derived;

	if (testing_set_up(state))
		return -1;
	in_tree = own_entry("inlines", "0011223344");
	own_tree(&in_tree, NULL);
	assert_ok(symcache_elf_build_id(program, program_id, &program_id_len, &derived, &err));
	symcache_build_id_text(id, program_id, program_id_len);
	if (testing_run("mkdir -p %s/buildid/%s && cp %s %s/buildid/%s/debuginfo", testing_dir, id, program,
			testing_dir, id))
		return -1;
	server_start(testing_dir);
	snprintf(url, sizeof(url), "%s/t", server.url);
	setenv("DEBUGINFOD_URLS", server.url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", in_dir("cache"), 1);
	setenv("DEBUGINFOD_TIMEOUT", "5", 1);
	strcpy(store, in_dir("test.store"));
	return 0;
}

static int tear_down(void **state)
{
	free(in_tree.cache);
	return testing_tear_down(state);
}

/* Addresses of this run as URL. */
static void notify(void *ctx, const struct symcache_notice *n)
{
	(void)ctx;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%d %s; ", n->kind, n->message ? n->message : "");
}

static const char *plain(char *text)
{
	const char *rest;

	for (char *at; (at = strstr(text, server.url));) {
		rest = at + strlen(server.url);
		memcpy(at, "URL", 3);
		memmove(at + 3, rest, strlen(rest) + 1);
	}
	return text;
}

enum { TREE = 1, FILES = 2, BROKEN = 4, NO_WRITES = 8, UNWIND = 16 };

/* Asks for the cache of a build ID, or of the program, once, and what is said; updates the caches. */
static void ask(unsigned servers, const uint8_t *id, size_t len, const char *want)
{
	const char *const urls[] = { url, NULL };
	const struct symbundle_sites_options o = { .urls = urls, .retry = 1000 };
	struct symbundle_sites *sites = NULL;
	struct symcache_debuginfod *d = NULL;
	struct symcache_caches *caches;
	const struct symcache *cache;
	struct symcache_module *m;
	int rc;

	if ((servers & TREE && symbundle_sites_create(&o, &sites, &err)) ||
	    (servers & FILES && symcache_debuginfod_create(1000, &d, &err))) {
		printf("skipped: %s\n", err.msg);
		skip();
	}
	server.broken = servers & BROKEN;
	server.requests = 0;
	*said = 0;
	caches = symcache_caches_create(&(struct symcache_caches_options){ .store = store, .sites = sites,
		.debuginfod = d, .memory_only = servers & NO_WRITES, .without_symbols = servers & UNWIND,
		.notify = notify });
	m = id ? symcache_caches_module_of_id(caches, id, len) :
		 symcache_caches_module(caches, SYMCACHE_MODULE_FILE, program);
	rc = symcache_module_cache(m, &cache, NULL, &err);
	if (rc)
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%d %s", rc, err.msg);
	else if (servers & UNWIND)
		strcat(said, cache->unwind.facts ? "rows" : "no rows");
	else
		strcat(said, cache->size == in_tree.size ? "it" : "another cache");
	assert_int_equal(symcache_module_cache(m, &cache, NULL, NULL), rc); /* no server is asked once more */
	for (char *at; (at = strstr(said, store));)
		memmove(at, at + strlen(store), strlen(at + strlen(store)) + 1);
	if (strcmp(plain(said), want))
		fail_msg("%s\nnot %s", said, want);
	symcache_caches_destroy(caches);
	symbundle_sites_destroy(sites);
	symcache_debuginfod_destroy(d);
}

static void test_tree(void **state)
{
	static const uint8_t other[] = { 1, 2, 3, 4 };
	const uint8_t *id = in_tree.entry.build_id;
	struct symstore_reader *reader;
	struct symstore_entry entry;
	struct symstore *opened;

	(void)state;
	ask(TREE | NO_WRITES, id, 5, "it");
	assert_int_not_equal(access(store, F_OK), 0);
	ask(TREE, id, 5, "it");
	assert_true(server.requests);
	ask(TREE, id, 5, "it"); /* the store's */
	assert_int_equal(server.requests, 0);
	opened = own_open("test.store");
	reader = own_reader(opened);
	assert_ok(symstore_entry(reader, id, 5, &entry, &err));
	same_record(&entry, &in_tree.entry);
	symstore_read_end(reader);
	symstore_close(opened);
	/* What it lacks is remembered, a failure is not. */
	ask(TREE, other, 4, "-1 not in store ");
	assert_true(server.requests);
	ask(TREE, other, 4, "-1 not in store ");
	assert_int_equal(server.requests, 0);
	ask(TREE | BROKEN, other + 1, 3, "-3 URL/t answers with status 503; it is not asked again");
	ask(TREE, other + 1, 3, "-1 not in store ");
	assert_true(server.requests);
	unlink(store);
}

static void test_debug_files(void **state)
{
	static const uint8_t other[] = { 1, 2, 3, 4 };
	struct symstore_reader *reader;
	struct symstore_entry entry;
	struct symstore *opened;

	(void)state;
	ask(FILES, program_id, program_id_len, "it");
	assert_true(server.requests);
	ask(FILES, program_id, program_id_len, "it");
	assert_int_equal(server.requests, 0);
	opened = own_open("test.store");
	reader = own_reader(opened);
	assert_ok(symstore_entry(reader, program_id, program_id_len, &entry, &err));
	assert_non_null(strstr(entry.source_path, "/cache/"));
	assert_true(entry.sources & SYMCACHE_FROM_DWARF && entry.source_size && entry.source_hash.low64);
	symstore_read_end(reader);
	symstore_close(opened);
	ask(FILES, other, 4, "-1 not in store ");
	assert_true(server.requests);
	ask(FILES, other, 4, "-1 not in store ");
	assert_int_equal(server.requests, 0);
	unlink(store);
	/* Both: the tree first; where that fails it is said, and the other server asked. */
	assert_int_equal(testing_run("rm -rf %s/cache", testing_dir), 0);
	ask(TREE | FILES, in_tree.entry.build_id, 5, "it");
	ask(TREE | FILES, program_id, program_id_len, "it");
	ask(TREE | FILES | BROKEN, other, 4, "2 URL/t answers with status 503; it is not asked again; -3 URL answers with status 503; it is not asked again");
	ask(FILES | BROKEN, other, 4, "-3 URL answers with status 503; it is not asked again");
	unlink(store);
}

/* A file that the store lacks: its cache or its debug file are asked for; where there is none, it is read
 * itself. */
static void test_file(void **state)
{
	(void)state;
	ask(TREE, NULL, 0, "it");
	assert_true(server.requests);
	ask(TREE, NULL, 0, "it");
	assert_int_equal(server.requests, 0); /* that the tree lacks it is remembered */
	unlink(store);
	ask(TREE | BROKEN, NULL, 0, "2 URL/t answers with status 503; it is not asked again; it");
	assert_int_equal(testing_run("rm -rf %s/cache", testing_dir), 0);
	ask(FILES, NULL, 0, "it");
	assert_true(server.requests);
	assert_int_equal(access(store, F_OK), 0);
	ask(FILES, NULL, 0, "it");
	assert_int_equal(server.requests, 0);
}

/* No server knows a build ID that a file does not have, but is computed. */
static void test_derived(void **state)
{
	const char *was = program;

	(void)state;
	assert_int_equal(testing_run("objcopy -R .note.gnu.build-id %s %s/plain", program, testing_dir), 0);
	program = in_dir("plain");
	ask(TREE | FILES | BROKEN, NULL, 0, "it");
	assert_int_equal(server.requests, 0);
	program = was;
}

/* A debug file has no call frame information: who needs that alone gets it out of the program. */
static void test_unwind(void **state)
{
	char id[SYMCACHE_BUILD_ID_TEXT];

	(void)state;
	symcache_build_id_text(id, program_id, program_id_len);
	assert_int_equal(testing_run("cd %s/buildid/%s && mv debuginfo executable && objcopy --only-keep-debug "
				     "executable debuginfo && rm -rf %s/cache %s", testing_dir, id, testing_dir, store), 0);
	ask(FILES | NO_WRITES, program_id, program_id_len, "another cache");
	ask(FILES | NO_WRITES | UNWIND, program_id, program_id_len, "rows");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_tree), cmocka_unit_test(test_debug_files),
		cmocka_unit_test(test_file), cmocka_unit_test(test_derived), cmocka_unit_test(test_unwind) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
