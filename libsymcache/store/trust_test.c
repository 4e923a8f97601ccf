/* Damage in a store: of a cache, of its hashes, of records and of index pages, found
 * when it is used; and stores of format 1, which have no hashes of blocks. */
#include "libsymcache/store/self_test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "libsymcache/store/record.h"

static void put(struct symstore *store, uint32_t n)
{
	struct symstore_entry entry = test_entry(n, cache_size);
	struct symstore_writer *writer = test_writer(store);

	assert_ok(symstore_put(writer, &entry, NULL, cache_bytes, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
}

/* A store of some entries; returns where the cache of entry 1 lies in the file. */
static size_t make(uint32_t entries)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	struct symstore_entry e = test_entry(1, 0);
	const void *data;
	size_t size, at;

	for (uint32_t n = 1; n <= entries; n++)
		put(store, n);
	reader = test_reader(store);
	assert_ok(symstore_get(reader, e.build_id, e.build_id_len, &data, &size, &test_err));
	assert_int_equal(size, cache_size);
	assert_memory_equal(data, cache_bytes, size);
	at = (size_t)((const uint8_t *)data - store->map);
	symstore_read_end(reader);
	symstore_close(store);
	return at;
}

static void flip(size_t at)
{
	int fd = open(test_path, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

/* Looks entry 1 up here and there; false: it is damaged. */
static bool usable(struct symstore_reader *reader, struct symcache_guard *guard, bool all)
{
	struct symstore_entry e = test_entry(1, 0);
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	struct symcache cache;
	struct sc_error err;
	int rc = symstore_get_guarded(reader, e.build_id, e.build_id_len, guard, &cache, &err);

	if (rc) {
		assert_int_equal(rc, SC_EFORMAT);
		assert_non_null(strstr(err.msg, "00000001a4a5"));
		assert_non_null(strstr(err.msg, "verify --repair"));
		return false;
	}
	for (uint32_t i = 0; i < (all ? cache.header->num_ranges : 1); i++)
		if (symcache_lookup(&cache, cache.ranges[i], &frames))
			while (symcache_next_frame(&frames, &frame))
				;
	return !symcache_damaged(&cache);
}

static bool usable_now(bool all)
{
	struct symstore *store = test_open(SYMSTORE_READ);
	struct symstore_reader *reader = test_reader(store);
	struct symcache_guard guard = { 0 };
	bool ok = usable(reader, &guard, all);

	symcache_guard_deinit(&guard);
	symstore_read_end(reader);
	symstore_close(store);
	return ok;
}

static size_t faults_now(void)
{
	struct symstore *store = test_open(SYMSTORE_READ);
	struct symstore_reader *reader = test_reader(store);
	struct symstore_entry e = test_entry(1, 0);
	size_t n = symstore_check(reader, test_fault, NULL) +
		   symstore_check_entry(reader, &e, test_fault, NULL);

	symstore_read_end(reader);
	symstore_close(store);
	return n;
}

static void damaged_caches(void **state)
{
	const size_t at = make(1), table = symstore_table_offset(cache_size);

	(void)state;
	assert_true(cache_size > 256 << 10);
	assert_true(usable_now(true));
	assert_int_equal(faults_now(), 0);
	for (size_t i = 0; i < 40; i++) {
		size_t where = cache_size * i / 40;

		flip(at + where);
		assert_false(usable_now(true));
		assert_true(faults_now() > 0);
		flip(at + where);
	}
	/* The hashes. */
	flip(at + table + 8);
	assert_false(usable_now(false));
	assert_true(faults_now() > 0);
	flip(at + table + 8);
	/* One look-up does not see what it does not need. */
	flip(at + cache_size / 2);
	assert_true(usable_now(false));
	flip(at + cache_size / 2);
	assert_true(usable_now(true));
}

/* What a guard has tested is not tested again, as long as the bytes are the same. */
static void guards_are_kept(void **state)
{
	struct symstore_entry e = test_entry(1, 0);
	struct symcache_guard guard = { 0 };
	struct symstore_reader *reader;
	struct symstore *store;
	struct symcache cache;
	size_t tested;

	(void)state;
	make(1);
	store = test_open(SYMSTORE_WRITE);
	reader = test_reader(store);
	assert_true(usable(reader, &guard, false));
	tested = guard.tested;
	assert_true(tested > 0);
	symstore_read_end(reader);
	reader = test_reader(store);
	assert_true(usable(reader, &guard, false));
	assert_int_equal(guard.tested, tested);
	symstore_read_end(reader);
	assert_ok(test_put(store, 1, 200000, &test_err)); /* other bytes: begun anew */
	reader = test_reader(store);
	symstore_get_guarded(reader, e.build_id, e.build_id_len, &guard, &cache, &test_err);
	assert_int_equal(guard.size, 200000);
	assert_false(guard.damaged);
	symstore_read_end(reader);
	symcache_guard_deinit(&guard);
	symstore_close(store);
}

/* Turns the entries and the version of the store into those of format 1. */
static void make_old(void)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	uint8_t format[24] = { 1, 0, 24, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 77 };
	MDB_val key = { 6, "format" }, value = { sizeof(format), format };
	MDB_cursor *cursor;
	MDB_txn *txn;

	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_put(txn, store->meta, &key, &value, 0), 0);
	assert_int_equal(mdb_cursor_open(txn, store->entries, &cursor), 0);
	while (!mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
		uint8_t *old = malloc(value.mv_size), id[SYMCACHE_BUILD_ID_MAX];

		memcpy(old, value.mv_data, 64);
		memcpy(old + 64, (uint8_t *)value.mv_data + 80, value.mv_size - 80);
		old[2] = 64;
		memcpy(id, key.mv_data, key.mv_size);
		key.mv_data = id;
		value = (MDB_val){ value.mv_size - 16, old };
		assert_int_equal(mdb_cursor_put(cursor, &key, &value, MDB_CURRENT), 0);
		free(old);
	}
	mdb_cursor_close(cursor);
	assert_int_equal(mdb_txn_commit(txn), 0);
	symstore_close(store);
}

static uint32_t format_now(void)
{
	struct symstore *store = test_open(SYMSTORE_READ);
	uint32_t format = store->format;

	symstore_close(store);
	return format;
}

/* Format 1 is read, its caches are compared as a whole, and the next commit raises it. */
static void older_format(void **state)
{
	struct symstore_entry e;
	struct symstore_reader *reader;
	struct symstore *store;
	size_t at = make(2);

	(void)state;
	make_old();
	assert_int_equal(format_now(), 1);
	assert_true(usable_now(true));
	assert_int_equal(faults_now(), 0);
	flip(at + cache_size / 2);
	assert_false(usable_now(false)); /* since all of it is read */
	assert_true(faults_now() > 0);
	flip(at + cache_size / 2);

	store = test_open(SYMSTORE_WRITE);
	put(store, 3);
	put(store, 1);
	reader = test_reader(store);
	for (uint32_t n = 1; n <= 3; n++) {
		e = test_entry(n, 0);
		assert_ok(symstore_entry(reader, e.build_id, e.build_id_len, &e, &test_err));
		assert_int_equal(e.table_hash != 0, n != 2);
	}
	symstore_read_end(reader);
	symstore_close(store);
	assert_int_equal(format_now(), SYMSTORE_FORMAT);
	assert_true(usable_now(true));
	test_valid(store = test_open(SYMSTORE_READ));
	symstore_close(store);
}

static bool count(void *ctx, const struct symstore_entry *entry)
{
	(void)entry;
	++*(size_t *)ctx;
	return true;
}

/* Index pages with any byte changed, or the file cut: whatever is asked, an answer or an
 * error, never a signal; and nothing is written into it. */
static void damaged_pages(void **state)
{
	enum { ENTRIES = 120 };
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct test_cache caches[ENTRIES];
	struct symstore_writer *writer;
	uint32_t seed = 1;
	size_t errors = 0, refused = 0, size;
	struct stat st;
	uint8_t *whole;
	int fd;

	(void)state;
	writer = test_writer(store);
	for (uint32_t n = 0; n < ENTRIES; n++) {
		struct symstore_entry e = test_entry(n * 2654435761u, 64);

		caches[n] = (struct test_cache){ n, 64 };
		assert_ok(symstore_put(writer, &e, test_fill, &caches[n], NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	assert_ok(test_put(store, 1, 64, &test_err)); /* so that there are free pages */
	symstore_close(store);
	fd = open(test_path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	size = (size_t)st.st_size;
	whole = malloc(size);
	assert_int_equal(pread(fd, whole, size, 0), size);
	for (int i = 0; i < 800; i++) {
		struct symstore_reader *reader = NULL;
		struct symcache_guard guard = { 0 };
		struct symcache cache;
		struct symstore_info info;
		struct symstore_entry e = test_entry((uint32_t)i % ENTRIES * 2654435761u, 0);
		size_t at, n = 0;
		uint8_t byte;
		int rc;

		seed = seed * 1664525 + 1013904223;
		at = (size_t)(seed >> 8) % (size / 4096) * 4096 +
		     (i % 3 ? (seed >> 3) % 48 : (seed >> 3) % 4096);
		byte = whole[at] ^ (uint8_t)(seed >> 24 | 1);
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		if (i % 10 == 0)
			assert_int_equal(ftruncate(fd, (off_t)at + 1), 0);
		rc = symstore_open(test_path, i % 4 ? SYMSTORE_READ : SYMSTORE_WRITE, &store,
				   &test_err);
		if (!rc && !(rc = symstore_read_begin(store, &reader, &test_err))) {
			rc = symstore_each(reader, NULL, 0, count, &n, &test_err);
			assert_true(rc || n <= ENTRIES + 1);
			symstore_info(reader, &info, &test_err);
			symstore_get_guarded(reader, e.build_id, e.build_id_len, &guard, &cache,
					     &test_err);
			symstore_check(reader, test_fault, NULL);
			symcache_guard_deinit(&guard);
			symstore_read_end(reader);
			if (i % 4 == 0)
				refused += test_put(store, (uint32_t)i, 64, &test_err) ==
					   SC_EFORMAT;
		}
		errors += rc != 0;
		if (!rc || store)
			symstore_close(store);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, whole, size, 0), size);
	}
	free(whole);
	close(fd);
	assert_true(errors > 50);
	assert_true(refused > 20);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(damaged_caches), TEST(guards_are_kept), TEST(older_format), TEST(damaged_pages),
	};

	return cmocka_run_group_tests_name("trust", tests, setup, teardown);
}
