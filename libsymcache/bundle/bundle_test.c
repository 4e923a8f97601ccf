/* Bundles that change while they are read: what is handed on is what was checked. */
#include "libsymcache/bundle/bundle.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/bundle/manifest.h"
#include "libsymcache/bundle/write.h"
#include "libsymcache/write/build.h"

static char top[] = "/tmp/bundle.XXXXXX";
static struct sc_error err;
#define assert_ok(call) do { \
	if ((call)) \
		fail_msg("%s: %s", #call, err.msg); \
} while (0)

static const char *in_top(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, 512, "%s/%s", top, name);
	return path;
}

static struct symstore *open_store(const char *name, enum symstore_mode mode)
{
	struct symstore *store;

	assert_ok(symstore_open(in_top(name), mode, &store, &err));
	return store;
}

/* A store with this program as bundles of each shape; of a tree the path may end with slashes. */
static int setup(void **state)
{
	static const char *const shapes[] = { "b.store", "b//", "b.tar.zst" };
	const struct symbundle_export_options options = { .format = MANIFEST_PLAIN };
	struct symcache_build *build;
	struct symstore_entry entry = { .source_path = "/self", .tool_version = "test", .time = 1 };
	struct symbundle_exported done;
	struct symstore_reader *reader;
	struct symstore_writer *writer;
	struct symstore *store;
	void *cache;

	(void)state;
	assert_non_null(mkdtemp(top));
	store = open_store("a.store", SYMSTORE_WRITE);
	assert_ok(symcache_build_create("/proc/self/exe", NULL, &build, &err));
	entry.cache_size = symcache_build_size(build);
	entry.sources = symcache_build_info(build)->sources;
	entry.build_id_len = symcache_build_info(build)->build_id_len;
	memcpy(entry.build_id, symcache_build_info(build)->build_id, entry.build_id_len);
	cache = aligned_alloc(8, (entry.cache_size + 7) & ~(size_t)7);
	symcache_build_write(build, cache);
	assert_ok(symstore_write_begin(store, &writer, &err));
	assert_ok(symstore_put(writer, &entry, NULL, cache, NULL, &err));
	assert_ok(symstore_commit(writer, &err));
	assert_ok(symstore_read_begin(store, &reader, &err));
	for (int i = 0; i < 3; i++)
		assert_ok(symbundle_export(reader, in_top(shapes[i]), symbundle_shape_of(shapes[i]),
					   &options, &done, &err));
	assert_int_equal(done.exported, 1);
	symstore_read_end(reader);
	symstore_close(store);
	symcache_build_destroy(build);
	free(cache);
	return 0;
}

static int teardown(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

struct attack {
	const char *path;     /* of what is changed */
	struct manifest_entry want;
	unsigned taken, faults;
};

/* Overwrites all of the file, or cuts it off. */
static void change(const char *path, bool cut)
{
	char block[4096];
	struct stat st;
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0 && !fstat(fd, &st));
	memset(block, 0xee, sizeof(block));
	for (off_t at = 0; !cut && at < st.st_size; at += (off_t)sizeof(block))
		assert_true(pwrite(fd, block, sizeof(block), at) == sizeof(block));
	assert_int_equal(ftruncate(fd, cut ? 0 : st.st_size), 0);
	close(fd);
}

static int take(void *ctx, const struct symstore_entry *entry, const void *cache, size_t size,
		struct sc_error *error)
{
	struct attack *a = ctx;

	a->want.entry.cache_size = entry->cache_size;
	change(a->path, false);
	assert_ok(manifest_check(&a->want, cache, size, error));
	change(a->path, true);
	assert_ok(manifest_check(&a->want, cache, size, error));
	a->taken++;
	return 0;
}

static void fault(void *ctx, const char *name, const char *why)
{
	(void)name, (void)why;
	((struct attack *)ctx)->faults++;
}

/* The cache's path in the tree. */
static const char *tree_file(const struct manifest_entry *e)
{
	static char name[300];
	char file[BUNDLE_NAME];

	snprintf(name, sizeof(name), "b/%s", bundle_name(&e->entry, file));
	return in_top(name);
}

static void changed_while_read(void **state)
{
	static const char *const shapes[] = { "b", "b.tar.zst", "b.store" };
	struct manifest m;
	char *text = NULL;
	size_t cap = 0;
	ssize_t len = 0;
	FILE *f = fopen(in_top("b/" SYMBUNDLE_MANIFEST), "re");

	(void)state;
	assert_true(f && (len = getdelim(&text, &cap, 0, f)) > 0);
	fclose(f);
	assert_ok(manifest_read(&m, text, (size_t)len, &err));
	for (int i = 0; i < 3; i++) {
		struct attack a = {
			.path = i ? in_top(shapes[i]) : tree_file(&m.data[0]), .want = m.data[0],
		};
		const struct symbundle_reader reader = { .entry = take, .fault = fault, .ctx = &a };
		char *path = strdup(in_top(shapes[i]));

		symbundle_read(path, &reader, &err); /* an archive is cut off behind it */
		assert_int_equal(a.taken, 1);
		assert_int_equal(a.faults, 0);
		free(path);
	}
	manifest_deinit(&m);
	free(text);
}

static int count(void *ctx, const struct symstore_entry *entry, const void *cache, size_t size,
		 struct sc_error *error)
{
	(void)entry, (void)cache, (void)size, (void)error;
	((struct attack *)ctx)->taken++;
	return 0;
}

/* A folder without a manifest: its caches are taken, what lies next to them is not. */
static void other_files(void **state)
{
	static const char *const others[] = { "README", "cache.symcache.bak", "symcache", "a.so", "none." };
	struct attack a = { .path = NULL };
	const struct symbundle_reader reader = { .entry = count, .fault = fault, .ctx = &a };
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "cp -r %s/b %s/loose && rm %s/loose/manifest.json", top, top, top);
	assert_int_equal(system(command), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		snprintf(command, sizeof(command), "loose/%s", others[i]);
		FILE *f = fopen(in_top(command), "we");
		assert_non_null(f);
		fputs("nothing of ours", f);
		fclose(f);
	}
	assert_ok(symbundle_read(in_top("loose"), &reader, &err));
	assert_int_equal(a.taken, 1);
	assert_int_equal(a.faults, 0);
}

static int no_store(void *ctx, struct symstore **ret, struct sc_error *error)
{
	(void)ctx, (void)ret;
	return sc_error_set(error, SC_ESYS, "there is no room");
}

static int no_memory(void *ctx, struct symstore **ret, struct sc_error *error)
{
	(void)ctx, (void)ret;
	return sc_no_memory(error);
}

static int read_only(void *ctx, struct symstore **ret, struct sc_error *error)
{
	(void)ctx;
	return symstore_open(in_top("a.store"), SYMSTORE_READ, ret, error);
}

/* An import that cannot write says so, whatever the bundle is, and counts nothing. */
static void failed_import(void **state)
{
	static const char *const shapes[] = { "b.store", "b", "b.tar.zst" };
	static const struct { __typeof__(no_store) *open; const char *tags, *says; } cases[] = {
		{ no_store, NULL, "there is no room" }, { read_only, "new", "cannot begin" },
		{ no_memory, NULL, ": out of memory" }, /* which bundle that is of */
	};

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		const struct symbundle_import_options o = { .open_store = cases[i / 3].open,
							    .tags = cases[i / 3].tags };
		struct symbundle_imported done = { 0 };
		struct symstore *store = NULL;

		err = (struct sc_error){ 0 };
		assert_int_not_equal(symbundle_import(&store, in_top(shapes[i % 3]), &o, &done, &err), 0);
		if (!strstr(err.msg, cases[i / 3].says))
			fail_msg("%s: %s", shapes[i % 3], err.msg);
		assert_int_equal(done.imported + done.bad, 0);
		symstore_close(store);
	}
}

/* A process without standard input: the first file that is opened has its number. */
static void without_input(void **state)
{
	const struct symbundle_export_options options = { .format = MANIFEST_PLAIN };
	struct symstore *store = open_store("a.store", SYMSTORE_READ);
	struct symbundle_exported done;
	struct symstore_reader *reader;
	const int input = dup(0);
	int rc;

	(void)state;
	assert_ok(symstore_read_begin(store, &reader, &err));
	close(0);
	rc = symbundle_export(reader, in_top("c.tar.zst"), symbundle_shape_of("c.tar.zst"), &options, &done, &err);
	assert_int_equal(dup2(input, 0), 0);
	close(input);
	assert_ok(rc);
	assert_int_equal(done.exported, 1);
	symstore_read_end(reader);
	symstore_close(store);
}

/* Where export --hashed puts the hash. */
static void hashed_names(void **state)
{
	static const struct { const char *path, *name; } cases[] = {
		{ "x.tar.zst", "x-H.tar.zst" }, { "d/x.store", "d/x-H.store" }, { "tree", "tree-H" },
		{ "tree/", "tree-H/" }, { "d/tree//", "d/tree-H//" }, { "/", "/-H" }, { "x.y", "x.y-H" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *name = bundle_name_with(cases[i].path, "H");

		assert_string_equal(name, cases[i].name);
		free(name);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(failed_import), cmocka_unit_test(other_files),
		cmocka_unit_test(without_input), cmocka_unit_test(hashed_names), cmocka_unit_test(changed_while_read),
	};

	return cmocka_run_group_tests_name("bundle", tests, setup, teardown);
}
