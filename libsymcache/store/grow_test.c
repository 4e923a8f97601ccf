/* The map grows, alone and under readers; caches of every size are aligned. */
#include "libsymcache/store/testing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>


enum { SMALL_MAP = 1 << 20 };

static struct symstore *open_small(enum symstore_mode mode)
{
	struct symstore *store;

	assert_ok(symstore_open_at(
		&(struct symstore_opening){ test_path, mode, .roomy = SMALL_MAP }, &store, &test_err));
	return store;
}

static size_t map_of(const struct symstore *store)
{
	MDB_envinfo info;

	mdb_env_info(store->env, &info);
	return info.me_mapsize;
}

/* Every size from 0 to 5000: at a multiple of 8, and the bytes are right. */
static void alignment(void **state)
{
	enum { SIZES = 5001 };
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct test_cache *caches = calloc(SIZES, sizeof(*caches));
	struct symstore_writer *writer = test_writer(store);
	struct symstore_reader *reader;

	(void)state;
	for (uint32_t i = 0; i < SIZES; i++) {
		struct symstore_entry entry = test_entry(i, i);

		/* Keys and paths of all lengths move what lies in a leaf page. */
		entry.build_id_len = 4 + i % 61;
		entry.source_path += i % 20;
		caches[i] = (struct test_cache){ i, i };
		assert_ok(symstore_put(writer, &entry, test_fill, &caches[i], NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	reader = test_reader(store);
	for (uint32_t i = 0; i < SIZES; i++) {
		struct symstore_entry entry = test_entry(i, i);
		const void *data;
		size_t size;

		assert_ok(symstore_get(reader, entry.build_id, 4 + i % 61, &data, &size, &test_err));
		assert_int_equal(size, i);
		assert_int_equal((uintptr_t)data % 8, 0);
		assert_true(test_right(i, data, size));
		if (i % 1000 == 77) { /* what was answered is as it was */
			symstore_release_pages(store);
			assert_true(test_right(i, data, size));
		}
	}
	symstore_read_end(reader);
	test_valid(store);
	symstore_close(store);
	free(caches);
}

static uint64_t fill_zero(void *ctx, void *dst)
{
	memset(dst, 0, *(size_t *)ctx);
	return XXH3_64bits(dst, *(size_t *)ctx);
}

/* From 1 MiB to 256 MiB in commits that each do not fit when they begin. */
static void grows(void **state)
{
	struct symstore *store = open_small(SYMSTORE_WRITE);
	size_t total = 0, last = map_of(store), moves = 0;
	struct symstore_reader *reader;

	(void)state;
	assert_int_equal(last, SMALL_MAP);
	for (uint32_t n = 0; total < 256u << 20; n++) {
		size_t size = total / 2 + (1u << 20);
		struct symstore_entry entry = test_entry(n, size);
		struct symstore_writer *writer = test_writer(store);

		assert_ok(symstore_put(writer, &entry, fill_zero, &size, NULL, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		total += size;
		moves += map_of(store) != last;
		last = map_of(store);
	}
	assert_true(moves >= 3);
	reader = test_reader(store);
	assert_int_equal(symstore_check(reader, test_fault, NULL), 0);
	symstore_read_end(reader);
	symstore_close(store);
}

/* A commit of many entries that has to start over does them all once. */
static void starts_over(void **state)
{
	enum { N = 100, SIZE = 50000 };
	struct symstore *store = open_small(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	struct test_cache caches[N];
	struct symstore_reader *reader;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		struct symstore_entry entry = test_entry(i, SIZE);

		caches[i] = (struct test_cache){ i, SIZE };
		assert_ok(symstore_put(writer, &entry, test_fill, &caches[i], NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	assert_true(map_of(store) > SMALL_MAP);
	reader = test_reader(store);
	for (uint32_t i = 0; i < N; i++)
		test_has(reader, i, SIZE);
	symstore_read_end(reader);
	test_valid(store);
	symstore_close(store);
}

/* The map must not move under a reader of this thread: that is an error. */
static void own_reader_in_the_way(void **state)
{
	struct symstore *store = open_small(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	struct sc_error err;

	(void)state;
	assert_ok(test_put(store, 1, 10000, &test_err));
	reader = test_reader(store);
	assert_int_equal(test_put(store, 2, 4 << 20, &err), SC_EINVAL);
	test_has(reader, 1, 10000);
	symstore_read_end(reader);
	assert_ok(test_put(store, 2, 4 << 20, &test_err));
	test_valid(store);
	symstore_close(store);
}

struct readers {
	struct symstore *store;
	atomic_bool stop;
	unsigned rounds;
};

static void *read_on(void *arg)
{
	struct readers *r = arg;
	struct symstore_entry entry = test_entry(1, 100000);

	do {
		struct symstore_reader *reader, *second;
		const void *data;
		size_t size;

		if (symstore_read_begin(r->store, &reader, NULL) ||
		    symstore_get(reader, entry.build_id, 20, &data, &size, NULL))
			return "cannot read";
		usleep(200);
		/* A second one, while a remap may already be waiting for the first. */
		if (symstore_read_begin(r->store, &second, NULL))
			return "cannot begin the second";
		symstore_read_end(second);
		if (size != 100000 || !test_right(1, data, size))
			return "wrong bytes";
		symstore_read_end(reader);
		r->rounds++;
	} while (!r->stop);
	return NULL;
}

/* Threads read while another makes the map grow under them. */
static void grows_under_readers(void **state)
{
	struct symstore *store = open_small(SYMSTORE_WRITE);
	struct readers readers[4];
	pthread_t thread[4];

	(void)state;
	assert_ok(test_put(store, 1, 100000, &test_err));
	for (int i = 0; i < 4; i++) {
		readers[i] = (struct readers){ .store = store };
		pthread_create(&thread[i], NULL, read_on, &readers[i]);
	}
	for (uint32_t n = 2; n < 20; n++)
		assert_ok(test_put(store, n, (size_t)n << 19, &test_err));
	assert_true(map_of(store) > 64u << 20);
	for (int i = 0; i < 4; i++) {
		void *failed;

		readers[i].stop = true;
		pthread_join(thread[i], &failed);
		if (failed)
			fail_msg("%s", (char *)failed);
		assert_true(readers[i].rounds > 0);
	}
	symstore_close(store);
}

/* Another process makes the file outgrow our map: we follow, in both modes. */
static void other_process_grows(void **state)
{
	static const struct { enum symstore_mode mode; bool writes_first; } cases[] = {
		{ SYMSTORE_READ, false }, { SYMSTORE_WRITE, true }, { SYMSTORE_WRITE, false },
	};
	enum { LARGE = 40 << 20 };

	for (uint32_t i = 0; i < 3; i++) {
		struct symstore_reader *reader;
		struct symstore *store;
		int status;

		test_setup(state);
		store = open_small(SYMSTORE_WRITE);
		assert_ok(test_put(store, 1, 10000, &test_err));
		symstore_close(store);
		store = open_small(cases[i].mode);
		if (!fork()) {
			struct symstore *own;

			/* The store of the parent is not ours to close. */
			_exit(symstore_open_at(&(struct symstore_opening){
				test_path, SYMSTORE_WRITE, .roomy = SMALL_MAP }, &own, NULL) ||
			      test_put(own, 10, LARGE, NULL));
		}
		wait(&status);
		assert_int_equal(status, 0);
		if (cases[i].writes_first)
			assert_ok(test_put(store, 20, 10000, &test_err));
		reader = test_reader(store);
		test_has(reader, 10, LARGE);
		test_has(reader, 1, 10000);
		symstore_read_end(reader);
		if (cases[i].mode == SYMSTORE_WRITE)
			assert_ok(test_put(store, 21, 10000, &test_err));
		symstore_close(store);
	}
}

/* Little address space (ulimit -v): the map is what can be had. */
static void little_address_space(void **state)
{
	int status;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	print_message("skipped: the sanitizer needs address space itself\n");
	skip();
#endif
	/* What is used, if no more can be had; nothing, if not even that twice. */
	if (!fork()) {
		const struct rlimit limit = { 1u << 30, 1u << 30 };

		_exit(setrlimit(RLIMIT_AS, &limit) ||
		      symstore_map_size(1u << 28, 1u << 30) != 1u << 28 ||
		      symstore_map_size(1u << 29, 1u << 30) != 0);
	}
	wait(&status);
	assert_int_equal(status, 0);
	if (!fork()) {
		struct rlimit limit = { 1u << 30, 1u << 30 };
		struct symstore *store;
		struct symstore_reader *reader;
		struct symstore_entry entry = test_entry(3, 0);
		const void *data;
		size_t size;

		if (setrlimit(RLIMIT_AS, &limit) ||
		    symstore_open(test_path, SYMSTORE_WRITE, &store, NULL))
			_exit(1);
		if (map_of(store) >= 1u << 30 || map_of(store) < 1u << 26)
			_exit(2);
		for (uint32_t i = 0; i < 5; i++)
			if (test_put(store, i, 20u << 20, NULL))
				_exit(3);
		if (symstore_read_begin(store, &reader, NULL) ||
		    symstore_get(reader, entry.build_id, 20, &data, &size, NULL) ||
		    !test_right(3, data, size))
			_exit(4);
		_exit(0);
	}
	wait(&status);
	assert_int_equal(status, 0);
}

/* The map has room for four times of what is used, in steps of two. */
static void sizes(void **state)
{
	enum { PAGE = 4096, ROOMY = 64 * PAGE };
	static const struct { uint64_t used, size; } cases[] = {
		{ 0, ROOMY }, { 16 * PAGE, ROOMY }, { 16 * PAGE + 1, 2 * ROOMY }, { 17 * PAGE, 2 * ROOMY },
		{ 32 * PAGE, 2 * ROOMY }, { 33 * PAGE, 4 * ROOMY }, { 100 * PAGE, 8 * ROOMY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(symstore_map_size(cases[i].used, ROOMY), cases[i].size);
	/* More than there are addresses. */
	assert_int_equal(symstore_map_size((uint64_t)1 << 62, ROOMY), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(alignment), TEST(grows), TEST(starts_over), TEST(own_reader_in_the_way),
		TEST(grows_under_readers), TEST(other_process_grows), TEST(little_address_space),
		TEST(sizes),
	};

	return cmocka_run_group_tests_name("grow", tests, test_group_setup, test_group_teardown);
}
