/* Entries that are stored packed: the same caches, whoever asks and whatever is wrong elsewhere. */
#include "libsymcache/store/testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <xxhash.h>

#include "libsymcache/store/apply.h"
#include "libsymcache/store/upkeep.h"

enum { N = 12 };

static size_t size_of(uint32_t n)
{
	return 20000 + 1000 * n;
}

static void put_all(struct symstore *store, int level)
{
	struct test_cache caches[N];
	struct symstore_writer *writer = test_writer(store);

	symstore_write_packed(writer, level);
	for (uint32_t n = 0; n < N; n++) {
		struct symstore_entry entry = test_entry(n, size_of(n));

		caches[n] = (struct test_cache){ n, size_of(n) };
		assert_ok(symstore_put(writer, &entry, test_fill, &caches[n], NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
}

static struct symstore_entry get_entry(struct symstore_reader *reader, uint32_t n)
{
	const struct symstore_entry key = test_entry(n, 0);
	struct symstore_entry e;

	assert_ok(symstore_entry(reader, key.build_id, key.build_id_len, &e, &test_err));
	return e;
}

static size_t num_packed(struct symstore *store)
{
	struct symstore_reader *reader = test_reader(store);
	struct symstore_totals totals;

	assert_ok(symstore_count(reader, &totals, &test_err));
	symstore_read_end(reader);
	return totals.packed.entries;
}

/* The format of the file, as who opens it now sees it. */
static uint32_t format_of(struct symstore **store)
{
	symstore_close(*store);
	*store = test_open(SYMSTORE_WRITE);
	return (*store)->format;
}

static size_t repack(struct symstore *store, int level)
{
	const struct symstore_repack_options options = { .level = level, .used_before = INT64_MAX };
	struct symstore_repacked done;

	assert_ok(symstore_repack(store, &options, &done, &test_err));
	assert_int_equal(done.damaged, 0);
	return done.entries;
}

static void check_all(struct symstore *store)
{
	struct symstore_reader *reader = test_reader(store);

	for (uint32_t n = 0; n < N; n++)
		test_has(reader, n, size_of(n));
	symstore_read_end(reader);
}

/* The records are those of plain entries, but for the form. */
static void same_records(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	char before[SC_HASH_TEXT], after[SC_HASH_TEXT];
	struct symstore_entry plain[N];
	struct symstore_reader *reader;

	(void)state;
	put_all(store, 0);
	reader = test_reader(store);
	assert_ok(symstore_identity(reader, before, &test_err));
	for (uint32_t n = 0; n < N; n++)
		plain[n] = get_entry(reader, n);
	symstore_read_end(reader);
	assert_int_equal(format_of(&store), SYMSTORE_FORMAT);
	assert_int_equal(repack(store, 3), N);
	assert_int_equal(repack(store, 3), 0);
	assert_int_equal(format_of(&store), SYMSTORE_FORMAT_PACKED);
	assert_int_equal(num_packed(store), N);
	test_valid(store);
	check_all(store);
	reader = test_reader(store);
	assert_ok(symstore_identity(reader, after, &test_err));
	assert_string_equal(before, after);
	for (uint32_t n = 0; n < N; n++) {
		const struct symstore_entry e = get_entry(reader, n);

		assert_true(e.packed_size && e.packed_size < e.cache_size);
		assert_int_equal(symstore_stored_size(&e), e.packed_size);
		assert_int_equal(e.cache_size, plain[n].cache_size);
		assert_int_equal(e.cache_hash, plain[n].cache_hash);
		assert_int_equal(e.table_hash, plain[n].table_hash);
		assert_int_equal(e.time, plain[n].time);
	}
	symstore_read_end(reader);
	{
		const char *const tags[] = { "cold", NULL };
		const struct symstore_selection some = { SYMSTORE_ANY, .tags = tags };
		struct symstore_repack_options options = { .used_before = INT64_MAX, .choose = &some };
		struct symstore_writer *writer = test_writer(store);
		struct symstore_repacked done;

		assert_ok(symstore_add_words(writer, plain[1].build_id, 20, "cold", NULL, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		assert_ok(symstore_repack(store, &options, &done, &test_err));
		assert_int_equal(done.entries, 1);
	}
	assert_int_equal(format_of(&store), SYMSTORE_FORMAT_PACKED);
	assert_int_equal(repack(store, 0), N - 1);
	assert_int_equal(format_of(&store), SYMSTORE_FORMAT);
	assert_int_equal(num_packed(store), 0);
	check_all(store);
	symstore_close(store);
}

/* Put so at once; what would not take fewer pages stays as it is. */
static void put_packed(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;

	(void)state;
	put_all(store, 3);
	assert_int_equal(num_packed(store), N);
	check_all(store);
	assert_int_equal(test_put(store, 100, 900, &test_err), 0);
	assert_int_equal(repack(store, 3), 0);
	/* Words are added to what is packed, and another cache takes its place. */
	{
		struct symstore_writer *writer = test_writer(store);
		const struct symstore_entry e = test_entry(1, 0);

		assert_ok(symstore_add_words(writer, e.build_id, e.build_id_len, "cold", NULL, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
	}
	assert_ok(test_put(store, 2, 50000, &test_err));
	reader = test_reader(store);
	assert_string_equal(get_entry(reader, 1).tags, "cold");
	assert_true(get_entry(reader, 1).packed_size);
	assert_false(get_entry(reader, 2).packed_size);
	test_has(reader, 1, size_of(1));
	test_has(reader, 2, 50000);
	symstore_read_end(reader);
	symstore_close(store);
}

/* A cache that has come meanwhile is not exchanged for the one that was packed. */
static void changed_meanwhile(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	const struct symstore_entry e = test_entry(1, 0);
	struct symstore_writer *writer;
	bool repacked = true;
	struct symstore_op op = { .kind = SYMSTORE_REPACK, .key_size = e.build_id_len,
				  .repacked = &repacked };
	struct test_cache cache = { 7, 30000 };
	uint8_t *bytes = malloc(cache.size);

	(void)state;
	test_fill(&cache, bytes);
	assert_int_equal(symstore_form_make(store, bytes, cache.size, 3, &op.form), 0);
	assert_non_null(op.form.bytes);
	memcpy(op.key, e.build_id, e.build_id_len);
	assert_ok(test_put(store, 1, 30000, &test_err));
	writer = test_writer(store);
	assert_ok(symstore_push(writer, &op, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	assert_false(repacked);
	assert_int_equal(num_packed(store), 0);
	free(bytes);
	symstore_close(store);
}

static size_t num_unpacked(const struct symstore *store)
{
	size_t n = 0;

	for (const void *const *at = (void *)store->unpacked; at; at = *at)
		n++; /* their first member is the next one */
	return n;
}

/* What is unpacked stays, within the bound, and is given again; what is held beyond it is whole. */
static void bounded(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	const struct symstore_entry e = test_entry(3, 0);
	struct symstore_reader *reader;
	const void *first, *again;
	size_t size;

	(void)state;
	put_all(store, 3);
	store->unpacked_most = 60000;
	reader = test_reader(store);
	for (int round = 0; round < 2; round++)
		for (uint32_t n = 0; n < N; n++)
			test_has(reader, n, size_of(n));
	assert_int_equal(num_unpacked(store), N);
	symstore_let_go(reader);
	assert_in_range(num_unpacked(store), 1, 2);
	for (uint32_t n = 0; n < N; n++) {
		test_has(reader, n, size_of(n));
		symstore_let_go(reader);
		assert_in_range(num_unpacked(store), 1, 2);
	}
	assert_ok(symstore_get(reader, e.build_id, e.build_id_len, &first, &size, &test_err));
	symstore_read_end(reader);
	reader = test_reader(store);
	assert_ok(symstore_get(reader, e.build_id, e.build_id_len, &again, &size, &test_err));
	assert_ptr_equal(first, again);
	symstore_read_end(reader);
	symstore_close(store);
}

static void *read_often(void *ctx)
{
	struct symstore *store = ctx;

	for (uint32_t i = 0; i < 40; i++) {
		struct symstore_reader *reader;

		if (symstore_read_begin(store, &reader, NULL))
			return "no reader";
		for (uint32_t n = i % 5; n < N; n += 3) {
			const struct symstore_entry e = test_entry(n, 0);
			const void *data;
			size_t size;

			if (symstore_get(reader, e.build_id, e.build_id_len, &data, &size, NULL) ||
			    size != size_of(n) || !test_right(n, data, size))
				return "wrong bytes";
			if (n % 4 == 0)
				symstore_let_go(reader);
		}
		symstore_read_end(reader);
	}
	return NULL;
}

static void threads_at_once(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	pthread_t threads[6];

	(void)state;
	put_all(store, 3);
	store->unpacked_most = 70000;
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_often, store), 0);
	for (size_t i = 0; i < 6; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	symstore_close(store);
}

/* ---- what is wrong with one is said of it alone ----------------------------------------- */

/* Writes entry `n` as a hostile program would: the value as it is given, hashes that fit. */
static void put_hostile(struct symstore *store, uint32_t n, uint8_t *bytes, size_t size,
			uint64_t cache_size)
{
	struct symstore_entry e = test_entry(n, cache_size);
	const size_t least = store->page_size - SYMSTORE_PAGE_HEADER;
	MDB_val key = { e.build_id_len, e.build_id }, value = { size > least ? size : least, NULL };
	MDB_txn *txn;

	e.packed_size = size;
	e.packed_hash = XXH3_64bits(bytes, size);
	e.cache_hash = e.table_hash = 1;
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_put(txn, store->caches, &key, &value, MDB_RESERVE), 0);
	memset(value.mv_data, 0, value.mv_size);
	memcpy(value.mv_data, bytes, size);
	value.mv_data = symstore_entry_encode(&e, &value.mv_size);
	assert_int_equal(mdb_put(txn, store->entries, &key, &value, 0), 0);
	free(value.mv_data);
	assert_int_equal(mdb_txn_commit(txn), 0);
}

static void expect_damage(struct symstore *store, uint32_t n, const char *fault)
{
	struct symstore_reader *reader = test_reader(store);
	struct symcache_guard guard = { 0 };
	const struct symstore_entry e = test_entry(n, 0);
	struct sc_error first = { 0 };
	struct symcache cache;
	const void *data;
	size_t size;
	char id[9];

	snprintf(id, sizeof(id), "%08x", n);
	assert_int_equal(symstore_get(reader, e.build_id, 20, &data, &size, &test_err), SC_EFORMAT);
	if (!strstr(test_err.msg, id))
		fail_msg("%u: %s", n, test_err.msg);
	assert_int_equal(symstore_get_guarded(reader, e.build_id, 20, &guard, &cache, &test_err), SC_EFORMAT);
	if (!strstr(test_err.msg, id))
		fail_msg("%u: %s", n, test_err.msg);
	assert_int_equal(symstore_check_entry(reader, &e, test_fault, &first), 1);
	if (!strstr(first.msg, fault))
		fail_msg("%u: %s", n, first.msg);
	test_has(reader, 1, size_of(1));
	symcache_guard_deinit(&guard);
	symstore_read_end(reader);
}

static void hostile(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct test_cache cache = { 40, 30000 };
	struct symstore_repacked done;
	struct symstore_form form;
	uint8_t *bytes = malloc(cache.size), *lies;

	(void)state;
	put_all(store, 3);
	test_fill(&cache, bytes);
	assert_int_equal(symstore_form_make(store, bytes, cache.size, 3, &form), 0);
	lies = malloc(form.size);
	/* The record lies about the size of the cache, */
	put_hostile(store, 40, form.bytes, form.size, 30008);
	expect_damage(store, 40, "has not the 30008 bytes that the entry says");
	put_hostile(store, 41, form.bytes, form.size, (uint64_t)1 << 62);
	expect_damage(store, 41, "bytes that the entry says");
	put_hostile(store, 42, form.bytes, form.size, 29999);
	expect_damage(store, 42, "it is not one cache of 29999 bytes");
	/* so does the packed file: */
	memcpy(lies, form.bytes, form.size);
	memcpy(lies + 8 + 12, &(uint64_t){ htole64(0x7f000000) }, 8);
	put_hostile(store, 43, lies, form.size, 0x7f000000);
	expect_damage(store, 43, "bytes cannot have such large caches");
	/* it is cut off, or something else; */
	put_hostile(store, 44, form.bytes, form.size - 100, 30000);
	expect_damage(store, 44, "cannot be unpacked");
	put_hostile(store, 45, bytes, 5000, 30000);
	expect_damage(store, 45, "have changed since they were written");
	/* it is packed against another cache, or by a later version; */
	memcpy(lies, form.bytes, form.size);
	lies[8 + 8] = 2;
	put_hostile(store, 47, lies, form.size, 30000);
	expect_damage(store, 47, "a delta against another cache");
	lies[8 + 8] = 99;
	put_hostile(store, 48, lies, form.size, 30000);
	expect_damage(store, 48, "by a later version");
	/* the record says something else of the cache. */
	put_hostile(store, 46, form.bytes, form.size, 30000);
	{
		struct symstore_reader *reader = test_reader(store);
		const struct symstore_entry e = test_entry(46, 0);

		assert_int_equal(symstore_check_entry(reader, &e, test_fault, NULL), 1);
		symstore_read_end(reader);
	}
	/* They are left as they are, and the others are unpacked. */
	assert_ok(symstore_repack(store, &(struct symstore_repack_options){ .used_before = INT64_MAX },
				  &done, &test_err));
	assert_int_equal(done.entries, N);
	assert_int_equal(done.damaged, 9);
	check_all(store);
	symstore_form_deinit(&form);
	free(bytes);
	free(lies);
	symstore_close(store);
}

/* ---- killed -------------------------------------------------------------------------- */

static void pack_for_ever(void)
{
	const struct symstore_repack_options to[] = {
		{ .level = 3, .used_before = INT64_MAX }, { .used_before = INT64_MAX },
	};
	struct symstore_repacked done;
	struct symstore *store;

	if (symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err))
		_exit(2);
	for (int i = 0; ; i++)
		if (symstore_repack(store, &to[i % 2], &done, &test_err))
			_exit(3);
}

static void killed(void **state)
{
	const char *env = getenv("TORTURE_ROUNDS");
	const unsigned rounds = env ? (unsigned)atoi(env) : 15;
	size_t both = 0;

	(void)state;
	srand((unsigned)time(NULL));
	for (unsigned round = 0; round < rounds; round++) {
		struct symstore *store = test_open(SYMSTORE_WRITE);
		int status;
		pid_t pid;

		if (!round)
			put_all(store, 0);
		symstore_close(store);
		if (!(pid = fork()))
			pack_for_ever();
		usleep((useconds_t)(rand() % 60000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		store = test_open(SYMSTORE_WRITE);
		test_valid(store);
		check_all(store);
		both |= num_packed(store) ? 1 : 2;
		symstore_close(store);
	}
	if (rounds >= 100)
		assert_int_equal(both, 3);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(same_records), TEST(put_packed), TEST(changed_meanwhile), TEST(bounded),
		TEST(threads_at_once), TEST(hostile), TEST(killed),
	};

	return cmocka_run_group_tests_name("cold", tests, test_group_setup, test_group_teardown);
}
