/* Stores by the public names: one file opened twice, fork, threads, bundles, refusals. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "libsymcache/api/api.h"
#include "libsymcache/api/testing.h"

static int count_entry(void *ctx, const struct symcache_entry *e)
{
	size_t len;

	assert_non_null(symcache_entry_build_id(e, &len));
	assert_int_equal(symcache_entry_source_path(e)[0], '/');
	++*(int *)ctx;
	return 0;
}

static int count(struct symcache_store *s)
{
	int n = 0;

	ok(symcache_store_each(s, NULL, count_entry, &n, NULL));
	return n;
}

/* One file, opened twice: what the one handle writes, the other sees when it looks again. */
static void one_file_twice(void **state)
{
	struct symcache_put_options put = { sizeof(put), (const uint8_t *)"\1\2\3", 3, "/x", "a\nb", 1 };
	struct symcache_store *reader, *writer;
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c, *found, *none;
	struct symcache_error err;

	(void)state;
	make_store(in_dir("b.store"));
	ok(symcache_store_open(in_dir("b.store"), 0, &reader, NULL));
	c = get(reader);
	ok(symcache_store_open(in_dir("b.store"), SYMCACHE_STORE_WRITE, &writer, NULL));
	assert_int_equal(symcache_store_put(reader, c, &put, &err), SYMCACHE_EINVAL);
	ok(symcache_store_put(writer, c, &put, &err));
	assert_int_equal(count(reader), 1);
	symcache_store_refresh(reader);
	assert_int_equal(count(reader), 2);
	assert_int_equal(count(writer), 2);
	check_known(r, c);
	ok(symcache_store_get(reader, put.build_id, 3, &found, NULL));
	assert_ptr_not_equal(found, c);
	check_known(r, found);
	ok(symcache_store_tag(writer, put.build_id, 3, "c", NULL));
	ok(symcache_store_remove(writer, put.build_id, 3, NULL));
	assert_int_equal(symcache_store_remove(writer, put.build_id, 3, NULL), SYMCACHE_ENOTFOUND);
	assert_int_equal(symcache_store_get(writer, put.build_id, 3, &none, NULL),
			 SYMCACHE_ENOTFOUND);
	assert_null(none);
	symcache_cache_unref(c);
	symcache_store_close(writer);
	check_known(r, found);
	symcache_cache_unref(found);
	symcache_store_close(reader);
	symcache_resolver_destroy(r);
}

static void finds_by_text(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_cache *c, *whole = get(s);
	struct symcache_error err;
	char hex[2 * SYMCACHE_ID_MAX + 1];

	(void)state;
	for (size_t i = 0; i < id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	ok(symcache_store_find(s, hex, &c, NULL));
	assert_ptr_equal(c, whole);
	symcache_cache_unref(c);
	hex[7] = 0;
	ok(symcache_store_find(s, hex, &c, NULL));
	symcache_cache_unref(c);
	ok(symcache_store_find(s, "api_test", &c, NULL));
	assert_ptr_equal(c, whole);
	symcache_cache_unref(c);
	assert_int_equal(symcache_store_find(s, "no such", &c, &err), SYMCACHE_ENOTFOUND);
	assert_int_equal(symcache_store_find(s, "", &c, &err), SYMCACHE_EINVAL);
	symcache_cache_unref(whole);
	symcache_store_close(s);
}

static void refuses(void **state)
{
	struct symcache_resolver_options resolving = { sizeof(resolving), 1u << 31 };
	struct symcache_filter_options filtering = { sizeof(filtering), 0, 0, NULL, NULL, NULL };
	struct { struct symcache_resolver_options options; uint64_t unknown; } newer = { .unknown = 1 };
	struct symcache_resolver *r;
	struct symcache_filter *f;
	struct symcache_store *s;
	struct symcache_cache *c;
	struct symcache_error err;

	(void)state;
	assert_int_equal(symcache_store_open(in_dir("none"), 0, &s, &err), SYMCACHE_ENOTFOUND);
	assert_int_equal(err.code, SYMCACHE_ENOTFOUND);
	assert_non_null(strstr(err.msg, "none"));
	assert_int_not_equal(access(in_dir("none"), F_OK), 0);
	assert_int_equal(symcache_store_open(in_dir("a.store"), 1u << 31, &s, &err),
			 SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_open("/proc/self/exe", 0, &s, &err), SYMCACHE_EFORMAT);
	assert_int_equal(symcache_cache_open("/proc/self/exe", &c, &err), SYMCACHE_EFORMAT);
	assert_int_equal(symcache_cache_open(in_dir("none"), &c, &err), SYMCACHE_ESYS);
	assert_int_equal(symcache_cache_open_memory("abc", 3, NULL, NULL, &c, &err),
			 SYMCACHE_EFORMAT);
	assert_int_equal(symcache_resolver_create(&resolving, &r, &err), SYMCACHE_EINVAL);
	resolving = (struct symcache_resolver_options){ 4, 0 };
	assert_int_equal(symcache_resolver_create(&resolving, &r, &err), SYMCACHE_EINVAL);
	newer.options.size = sizeof(newer);
	assert_int_equal(symcache_resolver_create(&newer.options, &r, &err), SYMCACHE_EINVAL);
	newer.unknown = 0;
	ok(symcache_resolver_create(&newer.options, &r, &err));
	symcache_resolver_destroy(r);
	assert_int_equal(symcache_filter_create(NULL, &filtering, &f, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_make("Makefile", NULL, &c, &err), SYMCACHE_EFORMAT);
	for (int code = 1; code > -15; code--)
		assert_true(strlen(symcache_strerror(code)) > 3);
	assert_string_equal(symcache_version_string(), SYMCACHE_VERSION_STRING);
	symcache_store_close(NULL);
	symcache_cache_unref(NULL);
	symcache_resolver_destroy(NULL);
	symcache_filter_destroy(NULL);
}

/* What the child inherits works for look-ups, and leaves the parent's store as it is. */
static void survives_fork(void **state)
{
	struct symcache_store *s = open_a(SYMCACHE_STORE_WRITE), *anew;
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s), *none;
	struct symcache_error err;
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		check_known(r, c);
		assert_int_equal(symcache_store_get(s, id, 3, &none, &err), SYMCACHE_EINVAL);
		assert_non_null(strstr(err.msg, "fork"));
		symcache_cache_unref(c);
		symcache_store_close(s);
		ok(symcache_store_open(in_dir("a.store"), 0, &anew, &err));
		c = get(anew);
		check_known(r, c);
		symcache_cache_unref(c);
		symcache_store_close(anew);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	check_known(r, c);
	ok(symcache_store_tag(s, id, id_len, "forked", NULL));
	symcache_cache_unref(c);
	c = get(s);
	check_known(r, c);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

static void *look_up(void *ctx)
{
	struct symcache_store *s = ctx;

	for (int i = 0; i < 300; i++) {
		struct symcache_resolver *r = resolver(0);
		struct symcache_cache *c = get(s);

		if (i % 7 == 0)
			symcache_store_refresh(s);
		check_known(r, c);
		symcache_cache_unref(c);
		symcache_resolver_destroy(r);
	}
	return NULL;
}

static void threads_share(void **state)
{
	struct symcache_store *s = open_a(0), *writer = open_a(SYMCACHE_STORE_WRITE);
	pthread_t threads[4];
	char tag[20];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		ok(pthread_create(&threads[i], NULL, look_up, s));
	for (int i = 0; i < 20; i++) {
		snprintf(tag, sizeof(tag), "round=%d", i);
		ok(symcache_store_tag(writer, id, id_len, tag, NULL));
	}
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	symcache_store_close(s);
	symcache_store_close(writer);
}

/* Is the store locked, as another process sees it? */
static int locked(const char *store)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	char name[120];
	int fd, status;
	pid_t pid = fork();

	if (!pid) {
		snprintf(name, sizeof(name), "%s-lock", store);
		fd = open(name, O_RDWR);
		_exit(fd < 0 || fcntl(fd, F_GETLK, &lock) ? 2 : lock.l_type != F_UNLCK);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

/* Lock files in an indexed folder are not opened: that would end the locks of their stores. */
static void index_keeps_locks(void **state)
{
	struct symcache_store *own, *other = open_a(0);
	struct symcache_counts counts = { sizeof(counts), 0, 0, 0, 0 };
	struct symcache_cache *c = get(other);
	const char *folder = dir;

	(void)state;
	ok(symcache_store_open(in_dir("own.store"), SYMCACHE_STORE_WRITE, &own, NULL));
	assert_int_equal(symlink("a.store-lock", in_dir("link")), 0);
	ok(symcache_store_index(own, &folder, 1, NULL, &counts, NULL));
	assert_int_equal(counts.done + counts.failed, 0);
	assert_int_equal(locked(in_dir("a.store")), 1);
	assert_int_equal(locked(in_dir("own.store")), 1);
	symcache_cache_unref(c);
	symcache_store_close(other);
	symcache_store_close(own);
	assert_int_equal(locked(in_dir("a.store")), 0);
}

/* Packed in memory, from any address, it comes back; a file of it is opened as it is. */
static void packs(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_cache *c = get(s), *packed_cache;
	struct symcache_error e;
	size_t size, packed_size, back_size, same_size;
	const uint8_t *bytes = symcache_cache_bytes(c, &size);
	uint8_t *odd = malloc(size + 1);
	void *packed, *back, *same;
	FILE *f = fopen(in_dir("packed"), "wb");

	(void)state;
	memcpy(odd + 1, bytes, size);
	ok(symcache_pack(odd + 1, size, 0, &packed, &packed_size, &e));
	ok(symcache_pack(bytes, size, 3, &same, &same_size, &e));
	assert_int_equal(packed_size, same_size);
	assert_memory_equal(packed, same, same_size);
	assert_true(packed_size < size / 3);
	memcpy(odd, packed, packed_size < size ? packed_size : 0);
	ok(symcache_unpack(odd, packed_size, &back, &back_size, &e));
	assert_int_equal(back_size, size);
	assert_memory_equal(back, bytes, size);
	assert_int_equal((uintptr_t)back % 8, 0);
	assert_int_equal(fwrite(packed, 1, packed_size, f), packed_size);
	fclose(f);
	ok(symcache_cache_open(in_dir("packed"), &packed_cache, &e));
	assert_memory_equal(symcache_cache_bytes(packed_cache, &back_size), bytes, size);
	assert_int_equal(back_size, size);
	symcache_cache_unref(packed_cache);
	free(back);
	assert_int_equal(symcache_unpack(packed, packed_size - 1, &back, &back_size, &e), SYMCACHE_EFORMAT);
	assert_null(back);
	assert_int_equal(symcache_pack(bytes, size, 20, &back, &back_size, NULL), SYMCACHE_EINVAL);
	free(packed);
	free(same);
	free(odd);
	symcache_cache_unref(c);
	symcache_store_close(s);
}

/* What is put says of what version it is, and does not replace what is pinned. */
static void puts_caches(void **state)
{
	const struct symcache_put_options put = { sizeof(put), (const uint8_t *)"ab", 2, "/x/a.so", "pinned", 7 };
	struct symcache_store *s = open_a(SYMCACHE_STORE_WRITE);
	struct symcache_cache *c = get(s);
	struct symstore_reader *reader;
	struct symstore_entry e;

	(void)state;
	ok(symcache_store_put(s, c, &put, NULL));
	assert_int_equal(symcache_store_put(s, c, &put, NULL), 1);
	ok(symstore_read_begin(s->file, &reader, NULL));
	ok(symstore_entry(reader, put.build_id, 2, &e, NULL));
	assert_true(!strncmp(e.tool_version, "symcache ", 9) && !strcmp(e.tool_version + 9, symcache_version_string()));
	assert_true(e.time == 7 && e.sources && !strcmp(e.source_path, "/x/a.so"));
	symstore_read_end(reader);
	ok(symcache_store_remove(s, put.build_id, 2, NULL));
	symcache_cache_unref(c);
	symcache_store_close(s);
}

static off_t size_of(const char *name)
{
	struct stat st;

	ok(stat(in_dir(name), &st));
	return st.st_size;
}

static void save(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_true(f && fputs(text, f) >= 0 && !fclose(f));
}

static void bundles(void **state)
{
	struct symcache_store *s = open_a(0), *other;
	struct symcache_counts counts = { sizeof(counts), 0, 0, 0, 0 };
	struct symcache_export_options o = { sizeof(o), .level = 15 };

	(void)state;
	ok(symcache_store_export(s, in_dir("b.tar.zst"), NULL, &counts, NULL));
	assert_int_equal(counts.done, 1);
	ok(symcache_store_open(in_dir("c.store"), SYMCACHE_STORE_WRITE, &other, NULL));
	ok(symcache_store_import(other, in_dir("b.tar.zst"), NULL, &counts, NULL));
	assert_int_equal(counts.done, 1);
	assert_int_equal(count(other), 1);
	/* Smaller: with more effort, what changed since what the other one has, and names alone. */
	ok(symcache_store_export_bundle(s, in_dir("b15.tar.zst"), &o, NULL, NULL));
	assert_true(size_of("b15.tar.zst") < size_of("b.tar.zst"));
	o.delta_from = in_dir("c.store");
	ok(symcache_store_export_bundle(s, in_dir("d.tar.zst"), &o, &counts, NULL));
	assert_true(size_of("d.tar.zst") < size_of("b.tar.zst") / 2);
	assert_int_equal(counts.done, 1);
	ok(symcache_store_import(other, in_dir("d.tar.zst"), NULL, &counts, NULL));
	assert_int_equal(counts.done + counts.failed, 0);
	assert_int_equal(counts.stayed, 1);
	symcache_store_close(other);
	o = (struct symcache_export_options){ sizeof(o), .flags = SYMCACHE_EXPORT_NAMES, .level = 19 };
	ok(symcache_store_export_bundle(s, in_dir("n.tar.zst"), &o, &counts, NULL));
	ok(symcache_store_open(in_dir("n.store"), SYMCACHE_STORE_WRITE, &other, NULL));
	ok(symcache_store_import(other, in_dir("n.tar.zst"), NULL, &counts, NULL));
	assert_int_equal(counts.done, 1);
	assert_true(size_of("n.tar.zst") < size_of("b.tar.zst") / 2);
	/* Signed by a key, or not. */
	save("key", "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMc\nrn9g\n"
	     "-----END PRIVATE KEY-----\n");
	save("pub", "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
	     "-----END PUBLIC KEY-----\n");
	assert_int_equal(symcache_store_import(other, in_dir("n.tar.zst"), in_dir("pub"), NULL, NULL), SYMCACHE_EFORMAT);
	o.sign_key = in_dir("key");
	ok(symcache_store_export_bundle(s, in_dir("s.tar.zst"), &o, NULL, NULL));
	ok(symcache_store_import(other, in_dir("s.tar.zst"), in_dir("pub"), NULL, NULL));
	o.level = 20;
	assert_int_equal(symcache_store_export_bundle(s, in_dir("x.tar.zst"), &o, NULL, NULL), SYMCACHE_EINVAL);
	o = (struct symcache_export_options){ sizeof(o), .flags = 2 };
	assert_int_equal(symcache_store_export_bundle(s, in_dir("x.tar.zst"), &o, NULL, NULL), SYMCACHE_EINVAL);
	symcache_store_close(other);
	symcache_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_twice),
		cmocka_unit_test(finds_by_text),
		cmocka_unit_test(refuses),
		cmocka_unit_test(survives_fork),
		cmocka_unit_test(threads_share),
		cmocka_unit_test(index_keeps_locks),
		cmocka_unit_test(packs), cmocka_unit_test(puts_caches), cmocka_unit_test(bundles),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
