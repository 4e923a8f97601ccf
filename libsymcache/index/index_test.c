/* Unit tests of symcache_index(): what is reported and counted, with no program around it. */
#include "libsymcache/index/index.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"

static char top[] = "/tmp/index_test.XXXXXX";

struct seen {
	unsigned by_result[SYMCACHE_INDEX_FAILED + 1];
	unsigned phases[SYMCACHE_INDEX_INDEXING + 1];
	char failed[256], reason[256];
	uint64_t cache_bytes;
};

static void on_file(void *ctx, const struct symcache_index_file *file)
{
	struct seen *s = ctx;

	s->by_result[file->result]++;
	assert_int_equal(file->info != NULL, file->result == SYMCACHE_INDEX_BUILT);
	assert_int_equal(file->reason != NULL, file->result == SYMCACHE_INDEX_FAILED);
	s->cache_bytes += file->cache_size;
	if (!file->reason)
		return;
	snprintf(s->failed, sizeof(s->failed), "%s", file->path);
	snprintf(s->reason, sizeof(s->reason), "%s", file->reason);
}

static void on_progress(void *ctx, enum symcache_index_phase phase, uint64_t done, uint64_t total,
			const char *path)
{
	struct seen *s = ctx;

	assert_true(path && (!total || done <= total));
	s->phases[phase]++;
}

static void put_file(const char *name, const void *bytes, size_t size)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !close(fd));
}

static struct seen index_top(struct symstore *store, struct symcache_index_options options,
			     struct symcache_index_account *a)
{
	const char *const paths[] = { top };
	struct seen seen = { 0 };
	struct sc_error err;

	options.events = (struct symcache_index_events){
		.file = on_file, .progress = on_progress, .ctx = &seen,
	};
	if (symcache_index(store, paths, 1, &options, a, &err))
		fail_msg("%s", err.msg);
	return seen;
}

/* A folder with a program twice under one name each, a link to it, a link into a circle,
 * a text, a broken ELF file and the store itself. */
static void folder(void **state)
{
	static const char broken[] = "\177ELF\2\1\1 not one";
	struct symcache_index_options options = { .time = 1, .tags = "release=1" };
	char self[256], link_path[256], store_path[256];
	struct symcache_index_account a;
	struct symstore *store;
	struct seen seen;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_true(readlink("/proc/self/exe", self, sizeof(self)) < (ssize_t)sizeof(self));
	self[readlink("/proc/self/exe", self, sizeof(self))] = 0;
	snprintf(link_path, sizeof(link_path), "%s/a", top);
	assert_int_equal(symlink(self, link_path), 0);
	snprintf(link_path, sizeof(link_path), "%s/b", top);
	assert_int_equal(symlink(self, link_path), 0);
	snprintf(link_path, sizeof(link_path), "%s/circle", top);
	assert_int_equal(symlink(".", link_path), 0);
	put_file("text", "hello\n", 6);
	put_file("broken", broken, sizeof(broken));
	snprintf(store_path, sizeof(store_path), "%s/s.store", top);
	assert_int_equal(symstore_open(store_path, SYMSTORE_WRITE, &store, NULL), 0);

	seen = index_top(store, options, &a);
	assert_int_equal(a.indexed, 1);
	assert_int_equal(a.failed, 1);
	assert_int_equal(a.links, 1);
	assert_true(a.other >= 1);
	assert_int_equal(seen.by_result[SYMCACHE_INDEX_BUILT], 1);
	assert_int_equal(seen.by_result[SYMCACHE_INDEX_FAILED], 1);
	assert_true(seen.phases[SYMCACHE_INDEX_SEARCHING] && seen.phases[SYMCACHE_INDEX_INDEXING]);
	assert_string_equal(seen.failed + strlen(top), "/broken");
	assert_true(*seen.reason && seen.cache_bytes);
	assert_null(symcache_index_at_work());

	options.follow = true;
	seen = index_top(store, options, &a);
	assert_int_equal(a.unchanged, 1);
	assert_int_equal(a.loops, 1);
	assert_int_equal(a.links, 0);
	assert_int_equal(seen.by_result[SYMCACHE_INDEX_UNCHANGED], 1);

	options.again = true;
	options.transforms = "map-path /a=/b";
	index_top(store, options, &a);
	assert_int_equal(a.indexed, 1);
	symstore_close(store);
}

/* What is not there is reported; the rest is done. */
static void missing(void **state)
{
	const char *const paths[] = { "/nonexistent/x", "", "/dev/null" };
	struct seen seen = { 0 };
	const struct symcache_index_options options = { .events = { .file = on_file, .ctx = &seen } };
	struct symcache_index_account a;
	struct symstore *store;
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s/s.store", top);
	assert_int_equal(symstore_open(path, SYMSTORE_WRITE, &store, NULL), 0);
	assert_int_equal(symcache_index(store, paths, 3, &options, &a, NULL), 0);
	assert_int_equal(a.failed, 3);
	assert_int_equal(a.indexed + a.unchanged, 0);
	assert_string_equal(seen.failed, "/dev/null");
	assert_string_equal(seen.reason, "not a regular file");
	symstore_close(store);
}

static int clean_up(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folder),
		cmocka_unit_test(missing),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
