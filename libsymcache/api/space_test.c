/* Address spaces by the public names: of this process, of rows, of a kernel; also from eight threads. */
#include <pthread.h>
#include <stdbool.h>
#include <symcache-process.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libsymcache/api/testing.h"

struct seen {
	size_t n, frames;
	int reason, stop;
	char function[64], why[128], path[256];
	uint8_t build_id[SYMCACHE_ID_MAX];
	size_t build_id_len;
	struct symcache_cache *cache;
	uint64_t vaddr;
};

static bool is_jit; /* what is found is in no file */

static int on_located(void *ctx, size_t i, const struct symcache_located *l)
{
	struct seen *seen = ctx;

	(void)i;
	seen->n++;
	seen->frames = l->num_frames;
	seen->reason = l->reason;
	seen->cache = l->cache;
	seen->vaddr = l->vaddr;
	if (l->build_id_len)
		memcpy(seen->build_id, l->build_id, l->build_id_len);
	seen->build_id_len = l->build_id_len;
	snprintf(seen->why, sizeof(seen->why), "%s", l->why);
	snprintf(seen->path, sizeof(seen->path), "%s", l->path);
	assert_null(l->frames[l->num_frames].function);
	assert_int_equal(l->num_frames > 0, l->reason == SYMCACHE_REASON_FOUND);
	assert_int_equal(!*l->why, l->reason == SYMCACHE_REASON_FOUND);
	if (l->num_frames) {
		snprintf(seen->function, sizeof(seen->function), "%s", l->frames[0].function);
		assert_int_equal(l->build_id_len, is_jit ? 0 : id_len);
		assert_memory_equal(l->build_id, id, l->build_id_len);
	}
	return seen->stop;
}

static struct seen ask(struct symcache_space *space, uint64_t address, uint32_t flags)
{
	const struct symcache_addresses at = { sizeof(at), &address, 1, flags };
	struct seen seen = { 0 };

	ok(symcache_space_symbolize(space, &at, on_located, &seen, NULL));
	assert_int_equal(seen.n, 1);
	return seen;
}

static struct symcache_space *space_of(struct symcache_store *s)
{
	const struct symcache_space_options options = { sizeof(options), &s, 1, 0 };
	struct symcache_space *space;

	ok(symcache_space_create(&options, &space, NULL));
	return space;
}

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)known_function;
}

/* This process, by the build ID in its own file. */
static void knows_itself(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_space *space = space_of(s);
	struct symcache_error err;
	struct seen seen;

	(void)state;
	ok(symcache_space_add_process(space, 0, NULL));
	assert_int_equal(symcache_space_add_process(space, 1, &err), SYMCACHE_EINVAL);
	symcache_store_close(s); /* the space has a reference */
	seen = ask(space, here(), 0);
	assert_string_equal(seen.function, "known_function");
	assert_non_null(strstr(seen.path, "space_test"));
	assert_non_null(seen.cache);
	seen = ask(space, here(), SYMCACHE_RETURN_ADDRESSES);
	assert_string_not_equal(seen.function, "known_function");
	assert_string_equal(ask(space, here() + 1, SYMCACHE_RETURN_ADDRESSES).function, "known_function");
	seen = ask(space, (uint64_t)(uintptr_t)getpid, 0);
	assert_int_equal(seen.reason, SYMCACHE_REASON_NO_CACHE);
	assert_non_null(strstr(seen.why, "not in store"));
	assert_int_equal(ask(space, 1, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	assert_int_equal(ask(space, UINT64_MAX, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	symcache_space_destroy(space);
}

/* By build ID, and by what offsets count from; the first store that has it. */
static void maps_rows(void **state)
{
	struct symcache_store *empty, *both[2];
	struct symcache_space_options options = { sizeof(options), both, 2, SYMCACHE_SHORT_NAMES };
	struct symcache_mapped m = { sizeof(m), 0x10000, 0x10000000, 0, NULL, id, id_len,
				     SYMCACHE_OFFSET_VADDR, 0 };
	struct symcache_resolver *r = resolver(0);
	struct symcache_space *space;
	struct symcache_cache *c;
	uint64_t vaddr, base;

	(void)state;
	ok(symcache_store_open(in_dir("empty.store"), SYMCACHE_STORE_WRITE, &empty, NULL));
	both[0] = empty;
	both[1] = open_a(0);
	c = get(both[1]);
	vaddr = address_of_known(r, c);
	base = symcache_cache_load_base(c);
	ok(symcache_space_create(&options, &space, NULL));
	m.end = m.start + (64 << 20);
	ok(symcache_space_add(space, &m, NULL));
	assert_string_equal(ask(space, 0x10000 + vaddr, 0).function, "known_function");
	assert_int_equal(ask(space, 0x10000 + vaddr, 0).vaddr, vaddr);
	m.build_id_len = 16; /* as minidumps have it */
	ok(symcache_space_add(space, &m, NULL));
	assert_string_equal(ask(space, 0x10000 + vaddr, 0).function, "known_function");
	m.build_id_len = 15;
	ok(symcache_space_add(space, &m, NULL));
	assert_int_equal(ask(space, 0x10000 + vaddr, 0).reason, SYMCACHE_REASON_NO_CACHE);
	/* Whoever wants to fetch it learns what it is. */
	assert_int_equal(ask(space, 0x10000 + vaddr, 0).build_id_len, 15);
	assert_memory_equal(ask(space, 0x10000 + vaddr, 0).build_id, id, 15);
	m.build_id_len = id_len;
	m.from = SYMCACHE_OFFSET_IN_IMAGE;
	m.path = "/x/other";
	ok(symcache_space_add(space, &m, NULL));
	assert_string_equal(ask(space, 0x10000 + vaddr - base, 0).function, "known_function");
	m.build_id_len = 0; /* by the name */
	m.path = "/elsewhere/space_test";
	ok(symcache_space_add(space, &m, NULL));
	assert_string_equal(ask(space, 0x10000 + vaddr - base, 0).function, "known_function");
	m.path = NULL;
	ok(symcache_space_add(space, &m, NULL));
	assert_int_equal(ask(space, 0x10000 + vaddr - base, 0).reason, SYMCACHE_REASON_NO_CACHE);
	symcache_space_destroy(space);
	symcache_cache_unref(c);
	symcache_store_close(empty);
	symcache_store_close(both[1]);
	symcache_resolver_destroy(r);
}

/* Without a store of its own a space asks the default one, which is opened when it is first needed. */
static void asks_default_store(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	const uint64_t vaddr = address_of_known(r, c);
	const struct symcache_mapped m = { sizeof(m), 0x10000, 64 << 20, 0, NULL, id, id_len,
					   SYMCACHE_OFFSET_VADDR, 0 };
	struct symcache_space *space;

	(void)state;
	ok(symcache_space_create(NULL, &space, NULL));
	ok(symcache_space_add(space, &m, NULL));
	setenv("SYMCACHE_STORE", in_dir("a.store"), 1);
	assert_string_equal(ask(space, 0x10000 + vaddr, 0).function, "known_function");
	unsetenv("SYMCACHE_STORE");
	assert_string_equal(ask(space, 0x10000 + vaddr, 0).function, "known_function");
	symcache_space_destroy(space);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

/* The JIT of this process says what is in memory of no file. */
static void knows_jits(void **state)
{
	const uint64_t code = 0x12345678000;
	struct symcache_store *s = open_a(0);
	struct symcache_space *space = space_of(s);
	const struct symcache_addresses at = { sizeof(at), &code, 1, SYMCACHE_RETURN_ADDRESSES };
	struct seen seen = { 0 };
	char path[40];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%llx 10 py::one\n%llx 10 py::two\n", (unsigned long long)code,
		(unsigned long long)code - 0x10);
	ok(fclose(f));
	ok(chmod(path, 0600));
	is_jit = true;
	ok(symcache_space_add_process(space, 0, NULL));
	assert_string_equal(ask(space, code, 0).function, "py::one");
	assert_string_equal(ask(space, code + 0xf, 0).function, "py::one");
	assert_int_equal(ask(space, code + 0x10, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	ok(symcache_space_symbolize(space, &at, on_located, &seen, NULL));
	assert_string_equal(seen.function, "py::two");
	is_jit = false;
	ok(unlink(path));
	assert_string_equal(ask(space, here(), 0).function, "known_function");
	symcache_space_destroy(space);
	symcache_store_close(s);
}

/* A copy of this program, mapped. */
static uint8_t *map_copy(const char *path, int protection)
{
	char command[300];
	uint8_t *ret;
	int fd;

	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path);
	ok(system(command));
	fd = open(path, O_RDONLY);
	ret = mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0);
	assert_true(ret != MAP_FAILED && !close(fd));
	return ret;
}

/* A file that was replaced while it is mapped is the one that is mapped. Another says itself what it is,
 * also where memory no longer does; and so does the next one of its folder. */
static void knows_mapped(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_space *space = space_of(s);
	uint8_t *mapped[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		char command[300], path[100], name[8];

		snprintf(name, sizeof(name), "copy%d", i);
		snprintf(path, sizeof(path), "%s", in_dir(name));
		mapped[i] = map_copy(path, PROT_READ | PROT_WRITE);
		snprintf(command, sizeof(command), "rm %s && cp /bin/sh %s", path, path);
		if (i)
			memset(mapped[i], 0, 4096);
		else
			ok(system(command));
		ok(mprotect(mapped[i], 4096, PROT_READ | PROT_EXEC));
	}
	ok(symcache_space_add_process(space, 0, NULL));
	for (int i = 0; i < 3; i++) {
		const struct seen seen = ask(space, (uintptr_t)mapped[i] + 0x100, 0);

		assert_int_equal(seen.build_id_len, id_len);
		assert_memory_equal(seen.build_id, id, id_len);
	}
	for (int i = 0; i < 3; i++)
		munmap(mapped[i], 4096);
	symcache_space_destroy(space);
	symcache_store_close(s);
}

static void reads_maps(void **state)
{
	static const char text[] = "no row\n"
		"00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/none\n"
		"7ffd0000-7ffd1000 rw-p 00000000 00:00 0           [stack]\n"
		"00452000-00453000 r--p 00052000 08:02 173521      /usr/bin/none";
	struct symcache_store *s = open_a(0);
	struct symcache_space *space = space_of(s);

	(void)state;
	assert_int_equal(symcache_space_add_maps(space, text, sizeof(text) - 1, NULL), 3);
	assert_string_equal(ask(space, 0x400010, 0).path, "/usr/bin/none");
	assert_int_equal(ask(space, 0x7ffd0000, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	symcache_space_destroy(space);
	symcache_store_close(s);
}

/* The kernel is the entry called vmlinux-RELEASE. */
static void knows_kernels(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 T startup_64\nffffffff81000000 T _text\n"
		"ffffffff82000000 T _etext\n", zeros[] = "0000000000000000 T _text\n",
		modules[] = "kvm 1056768 1 kvm_intel, Live 0xffffffffc0a00000\nbad\n"
			"huge 18446744073709551615 1 - Live 0xffffffffc0b80000\n"
			"hidden 4096 0 - Live 0x0000000000000000\nlast 4096 0 - Live 0xffffffffc0c00000";
	struct symcache_put_options put = { sizeof(put), (const uint8_t *)"\3\4", 2,
		"/boot/vmlinux-6.1", NULL, 1 };
	struct symcache_store *s = open_a(SYMCACHE_STORE_WRITE);
	struct symcache_space *space = space_of(s);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	const uint64_t vaddr = address_of_known(r, c), base = symcache_cache_load_base(c);
	struct seen seen = { 0 };
	struct symcache_error err;
	const uint64_t address = 0xffffffff81000000 + vaddr - base;
	const struct symcache_addresses at = { sizeof(at), &address, 1, 0 };

	(void)state;
	ok(symcache_store_put(s, c, &put, NULL));
	put.build_id = (const uint8_t *)"\5\6";
	put.source_path = "/boot/vmlinux-6.2";
	ok(symcache_store_put(s, c, &put, NULL));
	assert_int_equal(symcache_space_add_kernel(space, zeros, NULL, NULL, &err), SYMCACHE_ENOTFOUND);
	ok(symcache_space_add_kernel(space, kallsyms, modules, "6.2", NULL));
	id_len = 2;
	memcpy(id, "\5\6", 2); /* for on_located() */
	ok(symcache_space_symbolize(space, &at, on_located, &seen, NULL));
	assert_string_equal(seen.function, "known_function");
	assert_string_equal(ask(space, 0xffffffffc0a00010, 0).path, "kvm");
	assert_string_equal(ask(space, 0xffffffffc0c00fff, 0).path, "last");
	assert_int_equal(ask(space, 0xffffffffc0c01000, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	assert_int_equal(ask(space, 0xffffffffc0b80010, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	assert_int_equal(ask(space, 0x10, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	symcache_cache_unref(c);
	symcache_space_destroy(space);
	ok(symcache_store_remove(s, (const uint8_t *)"\3\4", 2, NULL));
	ok(symcache_store_remove(s, (const uint8_t *)"\5\6", 2, NULL));
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

static void refuses(void **state)
{
	struct symcache_space_options options = { sizeof(options), NULL, 1, 0 };
	struct symcache_mapped m = { sizeof(m), 2, 2, 0, NULL, NULL, 0, 0, 0 };
	struct symcache_addresses at = { sizeof(at), NULL, 1, 0 };
	struct symcache_space *space;

	(void)state;
	assert_int_equal(symcache_space_create(&options, &space, NULL), SYMCACHE_EINVAL);
	options.num_stores = 0;
	options.flags = 1u << 31;
	assert_int_equal(symcache_space_create(&options, &space, NULL), SYMCACHE_EINVAL);
	ok(symcache_space_create(NULL, &space, NULL));
	assert_int_equal(symcache_space_add(space, &m, NULL), SYMCACHE_EINVAL);
	m.end = 3;
	m.from = 7;
	assert_int_equal(symcache_space_add(space, &m, NULL), SYMCACHE_EINVAL);
	m.from = 0;
	m.build_id = id;
	m.build_id_len = 65;
	assert_int_equal(symcache_space_add(space, &m, NULL), SYMCACHE_EINVAL);
	assert_int_equal(symcache_space_add_process(space, 0x7fffffff, NULL), SYMCACHE_ESYS);
	assert_int_equal(symcache_space_symbolize(space, &at, on_located, NULL, NULL), SYMCACHE_EINVAL);
	at.num = 0;
	ok(symcache_space_symbolize(space, &at, on_located, NULL, NULL));
	at.flags = 2;
	assert_int_equal(symcache_space_symbolize(space, &at, on_located, NULL, NULL), SYMCACHE_EINVAL);
	symcache_space_destroy(space);
	symcache_space_destroy(NULL);
}

/* A resolver asks its stores in turn. */
static void resolves_in_several(void **state)
{
	struct symcache_store *empty, *full = open_a(0);
	struct symcache_resolver_options options = { sizeof(options), 0, NULL };
	const struct symcache_frame *f;
	struct symcache_resolver *r;
	struct symcache_error err;

	(void)state;
	ok(symcache_store_open(in_dir("empty.store"), SYMCACHE_STORE_WRITE, &empty, NULL));
	options.store = empty;
	ok(symcache_resolver_create(&options, &r, NULL));
	assert_int_equal(symcache_resolve_name(r, "space_test", 1, &f, &err), SYMCACHE_ENOTFOUND);
	ok(symcache_resolver_add_store(r, full, NULL));
	symcache_store_close(full); /* the resolver has a reference */
	assert_int_equal(symcache_resolve_name(r, "space_test", 1, &f, &err), SYMCACHE_ENOTFOUND);
	assert_non_null(strstr(err.msg, "0x1")); /* it has the file now, and nothing there */
	assert_int_equal(symcache_resolve_name(r, "other", 1, &f, &err), SYMCACHE_ENOTFOUND);
	assert_null(strstr(err.msg, "0x1"));
	symcache_resolver_destroy(r);
	symcache_store_close(empty);
}

/* What no store has: its own file, by the path in its maps. */
static void uses_files(void **state)
{
	const char *const none[] = { "/nonexistent", NULL };
	struct symcache_space_files files = { sizeof(files), none, 0, NULL, NULL };
	struct symcache_store *s;
	struct symcache_space *space;
	struct seen seen;

	(void)state;
	ok(symcache_store_open(in_dir("empty.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	space = space_of(s);
	ok(symcache_space_add_process(space, 0, NULL));
	/* As a program has it that was built before there were URLs. */
	files.size = offsetof(struct symcache_space_files, urls);
	ok(symcache_space_use_files(space, &files, NULL));
	files.size = sizeof(files);
	assert_int_equal(symcache_space_use_files(space, NULL, NULL), SYMCACHE_EINVAL);
	seen = ask(space, here(), 0);
	assert_string_equal(seen.function, "known_function");
	assert_null(seen.cache);
	assert_int_equal(ask(space, 1, 0).reason, SYMCACHE_REASON_NO_IMAGE);
	symcache_space_destroy(space);
	space = space_of(s);
	files.flags = 2;
	assert_int_equal(symcache_space_use_files(space, &files, NULL), SYMCACHE_EINVAL);
	files.flags = 0;
	files.urls = (const char *const[]){ "file:///etc", NULL };
	assert_int_equal(symcache_space_use_files(space, &files, NULL), SYMCACHE_EINVAL);
	files.urls = NULL;
	files.verify_key = "key";
	assert_int_equal(symcache_space_use_files(space, &files, NULL), SYMCACHE_EINVAL);
	files.verify_key = NULL;
	files.flags = SYMCACHE_FILES_DEBUGINFOD;
	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(symcache_space_use_files(space, &files, NULL), SYMCACHE_EUNSUPPORTED);
	symcache_space_destroy(space);
	symcache_store_close(s);
}

static void *thread(void *store)
{
	struct symcache_space *space = space_of(store);

	ok(symcache_space_add_process(space, 0, NULL));
	for (int i = 0; i < 200; i++)
		assert_string_equal(ask(space, here() + 1, SYMCACHE_RETURN_ADDRESSES).function,
				    "known_function");
	symcache_space_destroy(space);
	return NULL;
}

static void from_threads(void **state)
{
	struct symcache_store *s = open_a(0);
	pthread_t threads[8];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		ok(pthread_create(&threads[i], NULL, thread, s));
	for (size_t i = 0; i < 8; i++)
		ok(pthread_join(threads[i], NULL));
	symcache_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_itself), cmocka_unit_test(maps_rows), cmocka_unit_test(asks_default_store), cmocka_unit_test(knows_jits), cmocka_unit_test(resolves_in_several),
		cmocka_unit_test(knows_mapped), cmocka_unit_test(reads_maps), cmocka_unit_test(refuses), cmocka_unit_test(uses_files),
		cmocka_unit_test(from_threads), cmocka_unit_test(knows_kernels),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
