/*
 * What an address space lacks, from servers: a cache of a tree, signed or not, and a debug file; and what is
 * said of a server that fails.
 */
#include "libsymcache/bundle/testing.h"

#include <symcache-build.h>
#include <symcache-process.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/testing_server.h"

static struct own in_tree;        /* build ID 0011223344 */
static const char program[] = "build/testprogs/inlines";
static uint8_t program_id[SYMCACHE_BUILD_ID_MAX]; /* of a program whose debug file a server has */
static size_t program_id_len;
static uint64_t vaddr; /* of main() in both */

static int set_up(void **state)
{
	struct symcache_resolver *r;
	struct symcache_cache *c;
	char hex[SYMCACHE_BUILD_ID_TEXT];

	if (testing_set_up(state))
		return -1;
	own_keys();
	in_tree = own_entry("inlines", "0011223344");
	own_tree(&in_tree, in_dir("key"));
	assert_ok(symcache_make(program, NULL, &c, NULL));
	assert_ok(symcache_resolver_create(NULL, &r, NULL));
	assert_int_equal(symcache_addresses_of(r, c, "main", &vaddr, 1), 1);
	symcache_resolver_destroy(r);
	symcache_cache_unref(c);
	assert_ok(symcache_file_build_id(program, program_id, &program_id_len, NULL, NULL));
	symcache_build_id_text(hex, program_id, program_id_len);
	assert_ok(testing_run("mkdir -p %s/buildid/%s && cp %s %s/buildid/%s/debuginfo", testing_dir, hex, program,
			      testing_dir, hex));
	server_start(testing_dir);
	setenv("DEBUGINFOD_URLS", server.url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", in_dir("cache"), 1);
	setenv("DEBUGINFOD_TIMEOUT", "5", 1);
	return 0;
}

static int tear_down(void **state)
{
	free(in_tree.cache);
	return testing_tear_down(state);
}

/* What differs from run to run gets a name that is not longer. */
static void shorten(char *text, const char *what, const char *name)
{
	for (char *at; (at = strstr(text, what)); memcpy(at, name, strlen(name)))
		memmove(at + strlen(name), at + strlen(what), strlen(at + strlen(what)) + 1);
}

static int keep(void *ctx, size_t i, const struct symcache_located *l)
{
	char *to = ctx;

	(void)i;
	snprintf(to, 300, "%s%s", l->num_frames ? l->frames->function : "", l->why);
	shorten(to, server.url, "URL");
	shorten(to, testing_dir, "DIR");
	return 0;
}

enum { TREE = 1, DEBUGINFOD = 2, BROKEN = 4 };

/* Asks twice for main() of an image that has a build ID alone. */
static void expect(unsigned servers, const uint8_t *id, size_t len, const char *key, const char *wants)
{
	char url[60], got[300] = "";
	const char *const urls[] = { url, NULL };
	const struct symcache_space_files files = { .size = sizeof(files), .urls = servers & TREE ? urls : NULL,
		.verify_key = key, .flags = servers & DEBUGINFOD ? SYMCACHE_FILES_DEBUGINFOD : 0 };
	const struct symcache_mapped m = { sizeof(m), 0x10000, 64 << 20, 0, NULL, id, len, SYMCACHE_OFFSET_VADDR, 0 };
	const uint64_t at = 0x10000 + vaddr;
	const struct symcache_addresses addresses = { sizeof(addresses), &at, 1, 0 };
	struct symcache_space_options options = { .size = sizeof(options), .num_stores = 1 };
	struct symcache_space *space;
	struct symcache_store *s;
	struct symcache_error e;
	unsigned first;

	assert_ok(symcache_store_open(in_dir("none.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	options.stores = &s;
	assert_ok(symcache_space_create(&options, &space, NULL));
	assert_ok(symcache_space_add(space, &m, NULL));
	snprintf(url, sizeof(url), "%s/t", server.url);
	server.broken = servers & BROKEN;
	if (symcache_space_use_files(space, &files, &e)) {
		printf("skipped: %s\n", e.msg);
		skip();
	}
	server.requests = 0;
	assert_ok(symcache_space_symbolize(space, &addresses, keep, got, NULL));
	if (strcmp(got, wants))
		fail_msg("%s\nnot %s", got, wants);
	assert_true(!server.requests == !(servers & (TREE | DEBUGINFOD)));
	first = server.requests;
	assert_ok(symcache_space_symbolize(space, &addresses, keep, got, NULL));
	assert_string_equal(got, wants);
	assert_int_equal(server.requests, first);
	symcache_space_destroy(space);
	symcache_store_close(s);
}

static void asks_trees(void **state)
{
	static const uint8_t other[] = { 1, 2, 3, 4 };
	const uint8_t *id = in_tree.entry.build_id;

	(void)state;
	expect(0, id, 5, NULL, "not in store DIR/none.store");
	expect(TREE, id, 5, NULL, "main");
	expect(TREE, id, 5, in_dir("pub"), "main");
	expect(TREE, id, 5, in_dir("other"),
	       "URL/t: the manifest was not signed by the key DIR/other; it is not asked again");
	expect(TREE, other, 4, NULL, "not in store DIR/none.store");
	expect(TREE | BROKEN, id, 5, NULL, "URL/t answers with status 503; it is not asked again");
}

static void asks_debuginfod(void **state)
{
	(void)state;
	expect(TREE, program_id, program_id_len, NULL, "not in store DIR/none.store");
	expect(DEBUGINFOD, program_id, program_id_len, NULL, "main");
	assert_ok(testing_run("rm -rf %s", in_dir("cache")));
	expect(DEBUGINFOD | BROKEN, program_id, program_id_len, NULL,
	       "URL answers with status 503; it is not asked again");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(asks_trees), cmocka_unit_test(asks_debuginfod) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
