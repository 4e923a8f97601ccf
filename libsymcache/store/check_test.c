/*
 * Stores whose pages are sound, but not what stands there: a record, a cache, the hashes of its
 * blocks, of entries that are packed or not. What verify says of each, and what a look-up does.
 */
#include "libsymcache/store/self_test.h"

#include "libsymcache/store/upkeep.h"

/* Entries of the same cache: 1 is packed, 2 and 3 are not. */
static void put(struct symstore *store, uint32_t n)
{
	struct symstore_entry e = test_entry(n, cache_size);
	struct symstore_writer *writer = test_writer(store);

	if (n == 1)
		symstore_write_packed(writer, 1);
	assert_ok(symstore_put(writer, &e, NULL, cache_bytes, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
}

static struct symstore *make(void)
{
	struct symstore *store;

	test_setup(NULL);
	store = test_open(SYMSTORE_WRITE);
	for (uint32_t n = 1; n <= 3; n++)
		put(store, n);
	return store;
}

/* Puts a value behind the back of the store; NULL removes it. */
static void set_value(struct symstore *store, bool cache, uint32_t n, const void *bytes, size_t size)
{
	struct symstore_entry e = test_entry(n, 0);
	MDB_val key = { e.build_id_len, e.build_id }, value = { size, (void *)bytes };
	MDB_dbi dbi = cache ? store->caches : store->entries;
	MDB_txn *txn;

	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
	assert_int_equal(bytes ? mdb_put(txn, dbi, &key, &value, 0) : mdb_del(txn, dbi, &key, NULL), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
}

/* Says that an entry has `size` bytes of its cache. The others stay behind them, in the same page. */
static void cut_cache(struct symstore *store, uint32_t n, size_t size)
{
	struct symstore_entry e = test_entry(n, 0);
	MDB_val key = { e.build_id_len, e.build_id }, whole, value = { size, NULL };
	MDB_txn *txn;
	void *bytes;

	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_get(txn, store->caches, &key, &whole), 0);
	bytes = malloc(whole.mv_size);
	memcpy(bytes, whole.mv_data, whole.mv_size);
	assert_int_equal(mdb_put(txn, store->caches, &key, &value, MDB_RESERVE), 0);
	memcpy(value.mv_data, bytes, whole.mv_size);
	assert_int_equal(mdb_txn_commit(txn), 0);
	free(bytes);
}

/* Gives an entry other bytes of a cache, `size` of those that are there; `at` has one changed. */
static void change_cache(struct symstore *store, uint32_t n, size_t size, size_t at)
{
	const struct symstore_entry key = test_entry(n, 0);
	struct symstore_reader *reader = test_reader(store);
	struct symstore_bytes value;
	struct symstore_entry e;
	uint8_t *bytes;

	assert_ok(symstore_value(reader, key.build_id, key.build_id_len, &e, &value, &test_err));
	size = size < value.size ? size : value.size;
	bytes = malloc(size);
	memcpy(bytes, value.data, size);
	if (at < size)
		bytes[at] ^= 1;
	symstore_read_end(reader);
	set_value(store, true, n, bytes, size);
	free(bytes);
}

/* Which field of the record is another. */
enum field { TABLE_HASH, CACHE_HASH, CACHE_SIZE, PACKED_HASH, PACKED_SIZE, NO_TABLE };

static void change_record(struct symstore *store, uint32_t n, enum field field, int64_t by)
{
	const struct symstore_entry key = test_entry(n, 0);
	struct symstore_reader *reader = test_reader(store);
	struct symstore_entry e;
	uint8_t *record;
	size_t size;

	assert_ok(symstore_entry(reader, key.build_id, key.build_id_len, &e, &test_err));
	switch (field) {
	case TABLE_HASH: e.table_hash += (uint64_t)by; break;
	case CACHE_HASH: e.cache_hash += (uint64_t)by; break;
	case CACHE_SIZE: e.cache_size += (uint64_t)by; break;
	case PACKED_HASH: e.packed_hash += (uint64_t)by; break;
	case PACKED_SIZE: e.packed_size += (uint64_t)by; break;
	case NO_TABLE: e.table_hash = 0; break;
	}
	record = symstore_entry_encode(&e, &size);
	symstore_read_end(reader);
	set_value(store, false, n, record, size);
	free(record);
}

static char said[600];

static bool on_fault(void *ctx, const char *fault)
{
	(void)ctx;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s; ", fault);
	return true;
}

/* What is wrong with the cache of an entry, without the numbers, which are of this program. */
static void check_cache(struct symstore_reader *reader, uint32_t n)
{
	const struct symstore_entry e = test_entry(n, 0);

	*said = 0;
	symstore_check_entry(reader, &e, on_fault, NULL);
	said[strcspn(said, ":;")] = 0;
}

/* Is every address of the entry's cache found in it? The code of what is not. */
static int use(struct symstore_reader *reader, uint32_t n)
{
	const struct symstore_entry e = test_entry(n, 0);
	struct symcache_guard guard = { 0 };
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	struct symcache cache;
	int rc = symstore_get_guarded(reader, e.build_id, e.build_id_len, &guard, &cache, &test_err);

	for (uint32_t i = 0; !rc && i < cache.header->num_ranges; i++)
		if (symcache_lookup(&cache, cache.ranges[i], &frames))
			while (symcache_next_frame(&frames, &frame))
				;
	if (!rc && symcache_damaged(&cache))
		rc = SC_EFORMAT;
	symcache_guard_deinit(&guard);
	return rc;
}

static void assert_says(struct symstore *store, const char *want, int plain)
{
	struct symstore_reader *reader = test_reader(store);

	*said = 0;
	symstore_check(reader, on_fault, NULL);
	assert_string_equal(said, want);
	assert_int_equal(use(reader, 1), 0);
	assert_int_equal(use(reader, 2), plain);
	symstore_read_end(reader);
	symstore_close(store);
}

#define ID(n) "0000000" n "a4a5a6a7a8a9aaabacadaeafb0b1b2b3: "
#define BYTES "the bytes have changed since they were written"
#define BLOCKS "the hashes of its blocks have changed since they were written"
#define PACKED "the packed bytes have changed since they were written"

static void records(void **state)
{
	struct symstore *store = make();
	char text[200];

	(void)state;
	assert_says(store, "", 0);
	store = make();
	set_value(store, false, 2, "record", 6);
	set_value(store, true, 3, NULL, 0);
	assert_says(store, ID("2") "malformed entry record; " ID("3") "no cache; ", SC_EFORMAT);
	store = make();
	set_value(store, false, 2, NULL, 0);
	set_value(store, false, 3, NULL, 0);
	assert_says(store, "2 caches have no entry; ", SC_ENOTFOUND);
	store = make();
	change_cache(store, 2, 5000, SIZE_MAX);
	snprintf(text, sizeof(text), ID("2") "the cache has 5000 bytes, the entry says %zu; ", cache_size);
	assert_says(store, text, SC_EFORMAT);
	store = make();
	set_value(store, true, 2, NULL, 0);
	assert_says(store, ID("2") "no cache; ", SC_EFORMAT);
}

/* Of entry 1, which is packed, and of 2, which is not: what is changed, and what is said of it. */
static void caches(void **state)
{
	const size_t table = symstore_table_offset(cache_size);
	const struct {
		uint32_t n;
		bool record;
		size_t a; /* the field; or how much of the value there is */
		size_t b; /* by how much it changes; or which byte does */
		const char *want;
		bool usable; /* by look-ups */
	} cases[] = {
		{ 2, false, SIZE_MAX, cache_size / 2, BYTES, false },
		{ 2, false, SIZE_MAX, cache_size - 1, BYTES, false },
		{ 2, false, SIZE_MAX, table, BLOCKS, false },
		{ 2, false, SIZE_MAX, table + symcache_guard_table_size(cache_size) - 1, BLOCKS, false },
		{ 2, false, cache_size, SIZE_MAX, BLOCKS, false },
		{ 2, false, table, SIZE_MAX, BLOCKS, false },
		{ 2, false, table + symcache_guard_table_size(cache_size) - 1, SIZE_MAX, BLOCKS, false },
		{ 2, false, table + symcache_guard_table_size(cache_size), SIZE_MAX, "", true },
		{ 2, true, TABLE_HASH, 1, BLOCKS, false },
		/* The hashes of blocks are enough to look up. */
		{ 2, true, CACHE_HASH, 1, BYTES, true },
		{ 2, true, NO_TABLE, 0, "", true },
		{ 2, true, CACHE_SIZE, (size_t)-8, BYTES, false },
		{ 1, false, SIZE_MAX, 0, PACKED, false },
		{ 1, false, SIZE_MAX, 4, PACKED, false },
		{ 1, false, SIZE_MAX, 5000, PACKED, false },
		/* The hash of what is packed is. */
		{ 1, true, TABLE_HASH, 1, "the hashes of its blocks are not those that the entry says", true },
		{ 1, true, CACHE_HASH, 1, BYTES, true },
		{ 1, true, CACHE_SIZE, 1, "cannot be unpacked", false },
		{ 1, true, CACHE_SIZE, 8, "cannot be unpacked", false },
		{ 1, true, CACHE_SIZE, (size_t)-8, "cannot be unpacked", false },
		{ 1, true, PACKED_HASH, 1, PACKED, false },
		{ 1, true, PACKED_SIZE, (size_t)-1, PACKED, false },
	};
	struct symstore *store = make();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symstore_reader *reader;

		put(store, cases[i].n);
		if (cases[i].record)
			change_record(store, cases[i].n, (enum field)cases[i].a, (int64_t)cases[i].b);
		else
			change_cache(store, cases[i].n, cases[i].a, cases[i].b);
		reader = test_reader(store);
		check_cache(reader, cases[i].n);
		if (strcmp(said, cases[i].want))
			fail_msg("case %zu: %s", i, said);
		assert_int_equal(use(reader, cases[i].n), cases[i].usable ? 0 : SC_EFORMAT);
		symstore_read_end(reader);
	}
	symstore_close(store);
}

/* The hashes of blocks count only if the value has them, whatever is behind it. */
static void cut_off(void **state)
{
	const size_t end = symstore_table_offset(cache_size) + symcache_guard_table_size(cache_size);
	struct symstore *store = make();
	struct symstore_reader *reader;

	(void)state;
	if ((sizeof(struct symstore_page) + end - 1) % store->page_size == 0) {
		printf("skipped: the last byte is alone in its page\n");
		skip();
	}
	cut_cache(store, 2, end - 1);
	reader = test_reader(store);
	check_cache(reader, 2);
	assert_string_equal(said, BLOCKS);
	assert_int_equal(use(reader, 2), SC_EFORMAT);
	symstore_read_end(reader);
	symstore_close(store);
}

/* A guard of an earlier look-up serves again for the same bytes alone, of the same hash. */
static void guards(void **state)
{
	const struct symstore_entry e = test_entry(2, 0);
	struct symstore *store = make();
	struct symcache_guard guard = { 0 };
	struct symstore_reader *reader;
	struct symcache cache;

	(void)state;
	reader = test_reader(store);
	assert_ok(symstore_get_guarded(reader, e.build_id, e.build_id_len, &guard, &cache, &test_err));
	symstore_read_end(reader);
	change_record(store, 2, TABLE_HASH, 1);
	reader = test_reader(store);
	assert_int_equal(symstore_get_guarded(reader, e.build_id, e.build_id_len, &guard, &cache, &test_err),
			 SC_EFORMAT);
	symstore_read_end(reader);
	change_record(store, 2, TABLE_HASH, -1);
	reader = test_reader(store);
	assert_ok(symstore_get_guarded(reader, e.build_id, e.build_id_len, &guard, &cache, &test_err));
	symstore_read_end(reader);
	change_record(store, 2, CACHE_SIZE, -8);
	reader = test_reader(store);
	assert_int_equal(symstore_get_guarded(reader, e.build_id, e.build_id_len, &guard, &cache, &test_err),
			 SC_EFORMAT);
	symcache_guard_deinit(&guard);
	symstore_read_end(reader);
	symstore_close(store);
}

/* The packed bytes, as an export takes them: of what is packed, and as it was written. */
static void packed_bytes(void **state)
{
	struct symstore *store = make();
	struct packed_caches caches;
	const void *data;
	size_t size;

	(void)state;
	for (uint32_t n = 1; n <= 5; n++) {
		const struct symstore_entry e = test_entry(n % 4, 0);
		struct symstore_reader *reader = test_reader(store);
		const int rc = symstore_get_packed(reader, e.build_id, e.build_id_len, &data, &size, &test_err);

		assert_int_equal(rc, n == 1 ? 0 : n == 5 ? SC_EFORMAT : SC_ENOTFOUND);
		if (n == 1) {
			assert_ok(packed_unpack(data, size, &caches, &test_err));
			assert_int_equal(caches.caches->size, cache_size);
			assert_memory_equal(caches.caches->data, cache_bytes, cache_size);
			packed_caches_deinit(&caches);
		}
		symstore_read_end(reader);
		if (n == 4)
			change_cache(store, 1, SIZE_MAX, 100);
	}
	assert_string_equal(test_err.msg, "the store's entry 00000001a4a5a6a7a8a9aaabacadaeafb0b1b2b3 is damaged and "
			    "not used: run 'symcache verify --repair', then index its file again");
	symstore_close(store);
}

/* The list of trees, without which nothing can be read: opening the store says what is wrong with it. */
static void main_page(void **state)
{
	struct symstore_snapshot snapshot;
	struct symstore *store = make();
	char text[300];
	int fd;

	(void)state;
	symstore_close(store);
	fd = open(test_path, O_RDWR);
	assert_ok(symstore_snapshot_read(fd, SYMSTORE_ANY_TXN, &snapshot, &test_err));
	assert_int_equal(pwrite(fd, "\xff", 1, (off_t)(snapshot.trees[1].root * snapshot.page_size)), 1);
	close(fd);
	assert_int_equal(symstore_open(test_path, SYMSTORE_READ, &store, &test_err), SC_EFORMAT);
	snprintf(text, sizeof(text), "store %s: damaged or cut off: page %zu (index) says it is page %zu",
		 test_path, snapshot.trees[1].root, snapshot.trees[1].root | 0xff);
	assert_string_equal(test_err.msg, text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(records), cmocka_unit_test(caches), cmocka_unit_test(guards),
		cmocka_unit_test(packed_bytes), cmocka_unit_test(main_page), cmocka_unit_test(cut_off),
	};

	return cmocka_run_group_tests_name("check", tests, setup, teardown);
}
