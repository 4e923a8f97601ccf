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
#include "libsymcache/index/content.h"
#include "libsymcache/index/job.h"

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
	struct stat st;

	s->by_result[file->result]++;
	assert_int_equal(file->info != NULL, file->result == SYMCACHE_INDEX_BUILT);
	assert_int_equal(file->reason != NULL, file->result == SYMCACHE_INDEX_FAILED);
	assert_int_equal(file->size, file->result != SYMCACHE_INDEX_BUILT || stat(file->path, &st) ? 0 : st.st_size);
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

/* Has this process LMDB's lock on the store's lock file? */
static bool is_locked(const char *store_path)
{
	char path[300], line[300], inode[40], pid[40];
	FILE *f = fopen("/proc/locks", "r");
	bool found = false;
	struct stat st;

	snprintf(path, sizeof(path), "%s-lock", store_path);
	assert_int_equal(stat(path, &st), 0);
	snprintf(inode, sizeof(inode), ":%llu ", (unsigned long long)st.st_ino);
	snprintf(pid, sizeof(pid), " %d ", (int)getpid());
	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, inode) && strstr(line, pid);
	if (f)
		fclose(f);
	return found;
}

/* A folder with a program twice under one name each, a link to it, a link into a circle,
 * a text, a broken ELF file and the store itself. */
static void folder(void **state)
{
	static const char broken[] = "\177ELF\2\1\1 not one";
	struct symcache_index_options options = { .time = 1, .tags = "release=1" };
	char self[256], link_path[256], store_path[256], other_path[256];
	struct symcache_index_account a;
	struct symstore *store, *other;
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

	snprintf(other_path, sizeof(other_path), "%s/o.store", top);
	assert_int_equal(symstore_open(other_path, SYMSTORE_WRITE, &other, NULL), 0);
	assert_true(is_locked(other_path));
	seen = index_top(store, options, &a);
	assert_int_equal(a.indexed, 1);
	assert_int_equal(a.failed, 1);
	assert_int_equal(a.links, 1);
	assert_int_equal(a.other, 3); /* the text, the other store, and its lock file, */
	assert_true(is_locked(other_path)); /* which was not opened and closed */
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
	symstore_close(other);
}

static void overwrite(void *ctx, const struct symcache_index_file *file)
{
	char command[600], *said = ctx;

	snprintf(command, sizeof(command), "cat %s/later.tar > %s/changes.tar", top, top);
	if (!*said)
		assert_int_equal(system(command), 0);
	snprintf(said + strlen(said), 200, "%s %d %.100s; ", strrchr(file->path, '/'), file->result,
		 file->reason ? file->reason : "");
}

/* An archive is walked more than once, if its files need others of it. One that changes meanwhile is given up,
 * which is said. */
static void changing(void **state)
{
	char command[1000], path[256], said[2000] = "";
	const char *const paths[] = { path };
	const struct symcache_index_options options = { .build.threads = 1, .memory = 8 << 20, /* z1 does not wait in it */
		.events = { .file = overwrite, .ctx = said } };
	struct symcache_index_account a;
	struct sc_error err;

	(void)state;
	snprintf(path, sizeof(path), "%s/changes.tar", top);
	snprintf(command, sizeof(command), "command -v dwz > /dev/null && cd %s && mkdir c && cd c && "
		 "printf 'int g(int x) { return x; }\n' > a.c && cc() { gcc -g -O1 -shared -fPIC -nostdlib \"$@\"; } && "
		 "cc -Wl,--build-id=0x11 -o z1 a.c && cc -Wl,--build-id=0x22 -o z2 a.c && cc -Wl,--build-id=0x33 -o a.so a.c && "
		 "dwz -m all.debug z1 z2 && head -c 5M /dev/zero > pad && objcopy --add-section pad=pad z1 && "
		 "tar cf ../changes.tar a.so z1 z2 all.debug && tar cf ../later.tar a.so", top);
	if (system(command)) {
		print_message("skipped: there is no dwz\n");
		skip();
	}
	assert_int_equal(symcache_index(NULL, paths, 1, &options, &a, &err), 0);
	assert_string_equal(said, "/changes.tar!a.so 0 ; /changes.tar!all.debug 2 ; /changes.tar!z2 0 ; "
			    "/changes.tar 4 it changed while it was read; /changes.tar 4 it changed while it was read; ");
	assert_true(a.indexed == 2 && a.failed == 2 && a.archives == 1);
}

/* A supplementary file is unpacked also if it is larger than all that are held together. */
static void large_supplement(void **state)
{
	char command[1000], path[256];
	const char *const paths[] = { path };
	struct symcache_index_account a;
	struct sc_error err;

	(void)state;
	snprintf(path, sizeof(path), "%s/large.tar", top);
	snprintf(command, sizeof(command), "command -v dwz > /dev/null && cd %s && mkdir l && cd l && "
		 "printf 'int g(int x) { return x; }\n' > a.c && cc() { gcc -g -O1 -shared -fPIC -nostdlib \"$@\"; } && "
		 "cc -Wl,--build-id=0x11 -o z1 a.c && cc -Wl,--build-id=0x22 -o z2 a.c && dwz -m all.debug z1 z2 && "
		 "truncate -s 257M all.debug && tar cSf ../large.tar z1 z2 all.debug && "
		 "rm all.debug", top);
	if (system(command)) {
		print_message("skipped: there is no dwz\n");
		skip();
	}
	assert_int_equal(symcache_index(NULL, paths, 1, &(struct symcache_index_options){ .build.threads = 1 }, &a, &err), 0);
	assert_int_equal(a.indexed, 2);
	assert_int_equal(a.broken, 0);
}

/* What is not there is reported; the rest is done. */
static void missing(void **state)
{
	char path[256], lock_path[270];
	const char *const paths[] = { "/nonexistent/x", "", lock_path, "/dev/null" };
	struct seen seen = { 0 };
	const struct symcache_index_options options = { .events = { .file = on_file, .ctx = &seen } };
	struct symcache_index_account a;
	struct symstore *store, *other;

	(void)state;
	snprintf(path, sizeof(path), "%s/o.store", top);
	assert_int_equal(symstore_open(path, SYMSTORE_WRITE, &other, NULL), 0);
	assert_true(is_locked(path));
	snprintf(lock_path, sizeof(lock_path), "%s-lock", path);
	snprintf(path, sizeof(path), "%s/s.store", top);
	assert_int_equal(symstore_open(path, SYMSTORE_WRITE, &store, NULL), 0);
	strcat(path, "-lock");
	assert_int_equal(unlink(path), 0); /* nor need that be there */
	assert_int_equal(symcache_index(store, paths, 4, &options, &a, NULL), 0);
	assert_int_equal(a.failed, 4);
	lock_path[strlen(lock_path) - 5] = 0;
	assert_true(is_locked(lock_path));
	symstore_close(other);
	assert_int_equal(a.indexed + a.unchanged, 0);
	assert_string_equal(seen.failed, "/dev/null");
	assert_string_equal(seen.reason, "not a regular file");
	symstore_close(store);
}

/* What a file has, of sizes around that of the buffer; and whether it changed. */
static void content(void **state)
{
	static const size_t sizes[] = { 0, 1, 131071, 131072, 131073, 400000 };
	static uint8_t bytes[400000];
	struct sc_hash got, want;
	struct stat before;
	uint64_t size;
	char path[256];
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	snprintf(path, sizeof(path), "%s/content", top);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		put_file("content", bytes, sizes[i]);
		want = sc_hash_of(bytes, sizes[i]);
		sc_content_hash_file(path, &got, &size);
		assert_true(sc_hash_same(got, want) && size == sizes[i]);
		fd = open(path, O_RDWR);
		assert_int_equal(fstat(fd, &before), 0);
		assert_int_equal(sc_content_hash(fd, sizes[i] / 2, &got), 0);
		want = sc_hash_of(bytes, sizes[i] / 2);
		assert_true(sc_hash_same(got, want));
		assert_false(sc_content_changed(fd, &before));
		close(fd);
	}
	assert_int_equal(sc_content_hash(-1, 1, &got), -1);
	sc_content_hash_file("/nonexistent", &got, &size);
	assert_true(!got.low64 && !got.high64 && !size);
	/* By its size, and by each part of its time. */
	fd = open(path, O_RDWR);
	const struct { off_t size; struct timespec time; bool changed; } cases[] = {
		{ 400000, { 1000, 5 }, false }, { 400001, { 1000, 5 }, true }, { 399999, { 1000, 5 }, true },
		{ 400000, { 1001, 5 }, true }, { 400000, { 1000, 6 }, true },
	};
	before.st_size = 400000;
	before.st_mtim = (struct timespec){ 1000, 5 };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(ftruncate(fd, cases[i].size), 0);
		assert_int_equal(futimens(fd, (struct timespec[]){ cases[i].time, cases[i].time }), 0);
		assert_int_equal(sc_content_changed(fd, &before), cases[i].changed);
	}
	close(fd);
	assert_true(sc_content_changed(fd, &before));
}

/* Would an entry be another one, if it was made with these options? */
static void differs(void **state)
{
	enum { D = SYMCACHE_FROM_DWARF, L = SYMCACHE_FROM_LOCALS, N = SYMCACHE_FROM_NAMES, S = SYMCACHE_FROM_SYMTAB };
	static const struct { uint32_t sources; bool locals; const char *transforms; bool differs; } cases[] = {
		{ D, false, "t", false }, { D, true, "t", true }, { D | L, true, "t", false }, { D | L, false, "t", false },
		{ S, true, "t", false }, { D | N, false, "t", true }, { N, false, "t", true }, { D, false, "", true }, { D, false, "tt", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symstore_entry e = { .sources = cases[i].sources, .transforms = "t" };
		const struct symcache_build_options o = { .locals = cases[i].locals };

		assert_int_equal(sc_entry_differs(&e, &o, cases[i].transforms), cases[i].differs);
	}
}

/* Small files are taken together, as far as there is memory for them. */
static void groups(void **state)
{
	enum { SMALL = 8 << 20, MANY_FILES = SC_GROUP_MAX + 1 };
	static struct sc_found many[MANY_FILES];
	static const struct { uint64_t sizes[5], memory; int archive; size_t group; } cases[] = {
		{ { 10, 10, 10, 10, 10 }, 1000, -1, 5 }, { { 10, 10, 10, 10, 10 }, 400, -1, 5 }, { { 10, 10, 10, 10, 10 }, 399, -1, 4 },
		{ { 10, 10, 10, 10, 10 }, 0, -1, 1 }, { { SMALL, 10, 10, 10, 10 }, UINT64_MAX, -1, 5 },
		{ { SMALL + 1, 10, 10, 10, 10 }, UINT64_MAX, -1, 1 }, { { 10, 10, SMALL + 1, 10, 10 }, UINT64_MAX, -1, 2 },
		{ { 10, 10, 10, 10, 10 }, 1000, 0, 1 }, { { 10, 10, 10, 10, 10 }, 1000, 3, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sc_found five[5] = { 0 };

		for (int k = 0; k < 5; k++)
			five[k] = (struct sc_found){ .size = cases[i].sizes[k], .archive = k == cases[i].archive };
		assert_int_equal(sc_job_group(five, 5, cases[i].memory), cases[i].group);
	}
	assert_int_equal(sc_job_group(many, MANY_FILES, 0), SC_GROUP_MAX);
	assert_int_equal(sc_job_group(many, 3, 0), 3);
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
		cmocka_unit_test(missing), cmocka_unit_test(changing), cmocka_unit_test(large_supplement),
		cmocka_unit_test(groups),
		cmocka_unit_test(content),
		cmocka_unit_test(differs),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
