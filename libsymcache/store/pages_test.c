/*
 * Damaged files: what symstore_check() and symstore_open() say of them, and
 * that they never crash. The files are real stores, written by LMDB.
 */
#include "libsymcache/store/testing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libsymcache/store/pages.h"

/* A store with deep trees, values on overflow pages, and free pages. */
static void make_store(void)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	static struct test_cache caches[3000];

	for (uint32_t i = 0; i < 3000; i++) {
		struct symstore_entry entry = test_entry(i * 7919, i % 100 ? 100 : 20000);
		struct symstore_outcome outcome = { .build_id_len = 20 };

		caches[i] = (struct test_cache){ i, entry.cache_size };
		memcpy(outcome.build_id, entry.build_id, 20);
		assert_ok(symstore_put(writer, &entry, test_fill, &caches[i], NULL, &test_err));
		assert_ok(symstore_remember(writer, &entry.source_hash, "v1", &outcome, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	for (uint32_t i = 0; i < 5; i++)
		assert_ok(test_put(store, 7919 * 100 * i, 30000, &test_err));
	test_valid(store);
	symstore_close(store);
}

static uint8_t *load(size_t *size)
{
	FILE *f = fopen(test_path, "rb");
	struct stat st;
	uint8_t *data;

	assert_non_null(f);
	fstat(fileno(f), &st);
	*size = (size_t)st.st_size;
	data = malloc(*size);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

static void save(const uint8_t *data, size_t size)
{
	FILE *f = fopen(test_path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

/* The snapshot of these bytes; an SC_E… code if there is none. */
static int snapshot_of(const uint8_t *data, size_t size, struct symstore_snapshot *ret)
{
	int fd = memfd_create("store", 0), rc;

	assert_int_equal(write(fd, data, size), size);
	rc = symstore_snapshot_read(fd, SYMSTORE_ANY_TXN, ret, &test_err);
	close(fd);
	return rc;
}

static size_t faults_in(const uint8_t *data, size_t size,
			const struct symstore_snapshot *snapshot, struct sc_error *first)
{
	struct symstore_report report = { .fn = test_fault, .ctx = first };

	symstore_snapshot_check(data, size, snapshot, &report);
	return report.faults;
}

/* LMDB's own word: each page but the two metas is used or free. The walk must
 * find all of them, or it overlooks some. */
static void finds_every_page(void **state)
{
	struct symstore_snapshot snapshot;
	size_t size, used, free_pages = 0, page;
	MDB_cursor *cursor;
	MDB_val key, value;
	MDB_stat stat;
	MDB_env *env;
	MDB_txn *txn;
	uint8_t *data;

	(void)state;
	make_store();
	data = load(&size);
	assert_int_equal(snapshot_of(data, size, &snapshot), 0);
	assert_int_equal(faults_in(data, size, &snapshot, NULL), 0);

	mdb_env_create(&env);
	mdb_env_set_maxdbs(env, 8);
	assert_int_equal(mdb_env_open(env, test_path, MDB_NOSUBDIR | MDB_RDONLY, 0), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
	assert_int_equal(mdb_cursor_open(txn, 0, &cursor), 0);
	while (!mdb_cursor_get(cursor, &key, &value, MDB_NEXT))
		free_pages += *(size_t *)value.mv_data;
	mdb_stat(txn, 0, &stat);
	used = 2 + stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
	mdb_stat(txn, 1, &stat);
	used += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
	static const char *const names[] = { "meta", "entries", "caches", "seen" };
	for (size_t i = 0; i < 4; i++) {
		MDB_dbi dbi;

		assert_int_equal(mdb_dbi_open(txn, names[i], 0, &dbi), 0);
		mdb_stat(txn, dbi, &stat);
		used += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
	}
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	assert_int_equal(used + free_pages, snapshot.last_page + 1);
	assert_true(free_pages > 0);

	/* So a page that is in use cannot be added to the free ones unnoticed, nor
	 * any byte of an index page's structure be changed without a word: here,
	 * each page number of each branch. */
	for (page = 2; page <= snapshot.last_page; page++) {
		uint8_t *p = data + page * snapshot.page_size;
		uint16_t flags, lower, at;

		memcpy(&flags, p + 10, 2);
		memcpy(&lower, p + 12, 2);
		if (flags != 1 || *(size_t *)p != page)
			continue;
		for (size_t i = 16; i < lower; i += 2) {
			struct sc_error first = { 0 };

			memcpy(&at, p + i, 2);
			p[at] ^= 1;
			/* A page that was freed has no say. */
			if (faults_in(data, size, &snapshot, &first))
				used++;
			p[at] ^= 1;
		}
	}
	assert_true(used > free_pages);
	free(data);
}

static void names_the_damage(void **state)
{
	enum { ON_BOTH_PAGES = 5 }; /* from this case on */
	struct { size_t offset; uint8_t value; int code; const char *says; } cases[] = {
		{ 16, 0, SC_EFORMAT, "no LMDB meta page" },
		{ 10, 0, SC_EFORMAT, "no LMDB meta page" },
		{ 20, 9, SC_EUNSUPPORTED, "data version" },
		{ 4096 + 16, 0, SC_EFORMAT, "no meta page at offset 4096" },
		{ 41, 0x11, SC_EFORMAT, "page size of" },
		/* ON_BOTH_PAGES: */
		{ 136 + 4, 1, SC_EFORMAT, "cut off" },
		{ 4096 + 136 + 4, 1, SC_EFORMAT, "cut off" },
		{ 128 + 3, 9, SC_EFORMAT, "root page" },
		{ 4096 + 128 + 3, 9, SC_EFORMAT, "root page" },
	};
	size_t size, older = 0;
	uint8_t *data;

	(void)state;
	make_store();
	data = load(&size);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symstore *store;
		struct sc_error err;
		uint8_t kept = data[cases[i].offset];
		int rc;

		data[cases[i].offset] = cases[i].value;
		save(data, size);
		data[cases[i].offset] = kept;
		rc = symstore_open(test_path, i % 2 ? SYMSTORE_READ : SYMSTORE_WRITE, &store, &err);
		if (rc == 0 && i >= ON_BOTH_PAGES) {
			symstore_close(store); /* the older meta page, which has no say */
			older++;
			continue;
		}
		assert_int_equal(rc, cases[i].code);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("case %zu: %s", i, err.msg);
	}
	assert_int_equal(older, 2);
	free(data);
}

/* Files that are no store at all. */
static void foreign_files(void **state)
{
	static const struct { const char *bytes; size_t size; int code; } files[] = {
		{ "x", 1, SC_EFORMAT },
		{ "build ID,function\n", 18, SC_EFORMAT },
		/* LMDB's magic number where other machines have it. */
		{ "0123456789ab\xde\xc0\xef\xbe________________", 32, SC_EUNSUPPORTED },
		{ "0123456789abcdef\xbe\xef\xc0\xde____________", 32, SC_EUNSUPPORTED },
	};
	struct symstore *store;
	struct sc_error err;
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val key = { 1, "k" }, value = { 1, "v" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		save((const uint8_t *)files[i].bytes, files[i].size);
		assert_int_equal(symstore_open(test_path, SYMSTORE_READ, &store, &err),
				 files[i].code);
		assert_int_equal(symstore_open(test_path, SYMSTORE_WRITE, &store, &err),
				 files[i].code);
		test_remove();
	}
	assert_int_equal(mkdir(test_path, 0700), 0);
	assert_int_equal(symstore_open(test_path, SYMSTORE_READ, &store, &err), SC_EFORMAT);
	rmdir(test_path);
	assert_int_equal(mkfifo(test_path, 0600), 0);
	assert_int_equal(symstore_open(test_path, SYMSTORE_WRITE, &store, &err), SC_EFORMAT);
	test_remove();

	/* Somebody else's LMDB file is left alone. */
	mdb_env_create(&env);
	assert_int_equal(mdb_env_open(env, test_path, MDB_NOSUBDIR, 0600), 0);
	mdb_txn_begin(env, NULL, 0, &txn);
	mdb_dbi_open(txn, NULL, 0, &dbi);
	mdb_put(txn, dbi, &key, &value, 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	assert_int_equal(symstore_open(test_path, SYMSTORE_WRITE, &store, &err), SC_EFORMAT);
	assert_non_null(strstr(err.msg, "not a store"));
	test_remove();

	/* What a first writer leaves when it is killed at once is a store to be. */
	save((const uint8_t *)"", 0);
	assert_int_equal(symstore_open(test_path, SYMSTORE_READ, &store, &err), SC_ENOTFOUND);
	mdb_env_create(&env);
	assert_int_equal(mdb_env_open(env, test_path, MDB_NOSUBDIR, 0600), 0);
	mdb_env_close(env);
	assert_int_equal(symstore_open(test_path, SYMSTORE_READ, &store, &err), SC_ENOTFOUND);
	store = test_open(SYMSTORE_WRITE);
	assert_ok(test_put(store, 1, 100, &test_err));
	symstore_close(store);
}

/* Cut off anywhere: opening says so, or all that is there is valid. */
static void cut_off(void **state)
{
	size_t size, damaged = 0;
	uint8_t *data;

	(void)state;
	make_store();
	data = load(&size);
	for (size_t cut = 1; cut < size; cut += size / 150 + 1) {
		struct symstore *store;
		struct sc_error err;
		int rc;

		save(data, size - cut);
		rc = symstore_open(test_path, cut % 2 ? SYMSTORE_READ : SYMSTORE_WRITE, &store,
				   &err);
		if (rc) {
			assert_int_equal(rc, SC_EFORMAT);
			if (!strstr(err.msg, "cut off") && !strstr(err.msg, "meta page"))
				fail_msg("%s", err.msg);
			damaged++;
			continue;
		}
		test_valid(store);
		symstore_close(store);
	}
	assert_true(damaged > 140);
	free(data);
}

/* Bytes of index pages, one at a time: the walk ends, and does not crash (the
 * address sanitizer watches). Most changes are noticed. */
static void random_damage(void **state)
{
	struct symstore_snapshot snapshot;
	size_t size, noticed = 0, tried = 0;
	uint32_t seed = 1;
	uint8_t *data;

	(void)state;
	make_store();
	data = load(&size);
	assert_int_equal(snapshot_of(data, size, &snapshot), 0);
	for (int i = 0; i < 2000; i++) {
		size_t offset;
		uint8_t kept;

		seed = seed * 1664525 + 1013904223;
		offset = (size_t)(seed >> 8) % (size / 4096) * 4096 + (seed >> 3) % 64;
		kept = data[offset];
		data[offset] ^= (uint8_t)(1 << (seed & 7));
		tried++;
		noticed += faults_in(data, size, &snapshot, NULL) > 0;
		data[offset] = kept;
	}
	assert_int_equal(faults_in(data, size, &snapshot, NULL), 0);
	assert_true(noticed > tried / 10);
	free(data);
}

/* Where the first record of free pages stands in the file: its number of pages, and behind it they. */
static size_t *find_free_list(uint8_t *data, size_t size)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	MDB_env *env;
	MDB_txn *txn;
	size_t *found;

	mdb_env_create(&env);
	mdb_env_set_maxdbs(env, 8);
	assert_int_equal(mdb_env_open(env, test_path, MDB_NOSUBDIR | MDB_RDONLY, 0), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
	assert_int_equal(mdb_cursor_open(txn, 0, &cursor), 0);
	do
		assert_int_equal(mdb_cursor_get(cursor, &key, &value, MDB_NEXT), 0);
	while (*(size_t *)value.mv_data < 4);
	found = memmem(data, size, value.mv_data, value.mv_size);
	assert_non_null(found);
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	return found;
}

/* A list of free pages that names a page in use gives it to the next writer, over an entry. */
static void damaged_free_list(void **state)
{
	struct symstore_snapshot snapshot;
	size_t size, *list, kept[5];
	uint8_t *data;

	(void)state;
	make_store();
	data = load(&size);
	list = find_free_list(data, size);
	memcpy(kept, list, sizeof(kept));
	const struct { size_t at, value; const char *says; } cases[] = {
		{ 0, kept[0] + 1000, "a list of" },
		{ 0, SIZE_MAX, "a list of" },
		{ 0, SIZE_MAX / sizeof(size_t), "a list of" },
		{ 1, kept[2], "the list of free pages is not in order" },
		{ 2, kept[2] + size, "the list of free pages is not in order" },
		{ 2, kept[3], "the list of free pages is not in order" },
		{ 1, 1 << 30, "(free) is outside of the store's" },
		{ kept[0], 1, "(free) is outside of the store's" },
		{ kept[0], 0, "(free) is outside of the store's" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sc_error first = { 0 };
		const size_t was = list[cases[i].at];

		list[cases[i].at] = cases[i].value;
		assert_int_equal(snapshot_of(data, size, &snapshot), 0);
		assert_true(faults_in(data, size, &snapshot, &first) > 0);
		if (!strstr(first.msg, cases[i].says))
			fail_msg("case %zu: %s", i, first.msg);
		list[cases[i].at] = was;
	}
	assert_int_equal(faults_in(data, size, &snapshot, NULL), 0);
	free(data);
}

/* A store of a version to come: refused, with words; one that says that we may
 * read it is read. */
static void newer_versions(void **state)
{
	/* format, the oldest that reads, the oldest that writes; what we do */
	static const struct { uint8_t format, read, write; int reads, writes; } cases[] = {
		{ 4, 4, 4, SC_EUNSUPPORTED, SC_EUNSUPPORTED },
		{ 4, 1, 4, 0, SC_EUNSUPPORTED },
		{ 4, 1, 1, 0, 0 },
		{ 3, 1, 3, 0, 0 },
		{ 1, 1, 1, 0, 0 },
		{ 0, 1, 1, SC_EFORMAT, SC_EFORMAT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* version 1, 16 bytes, and something behind that we do not know */
		uint8_t record[] = { 1, 0, 24, 0, cases[i].format, 0, 0, 0, cases[i].read, 0, 0, 0,
				     cases[i].write, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'n', 'e', 'w' };
		MDB_val key = { 6, "format" }, value = { sizeof(record), record };
		struct symstore *store = test_open(SYMSTORE_WRITE);
		struct sc_error err;
		MDB_txn *txn;

		assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
		assert_int_equal(mdb_put(txn, store->meta, &key, &value, 0), 0);
		assert_int_equal(mdb_txn_commit(txn), 0);
		symstore_close(store);
		assert_int_equal(symstore_open(test_path, SYMSTORE_READ, &store, &err),
				 cases[i].reads);
		symstore_close(store);
		assert_int_equal(symstore_open(test_path, SYMSTORE_WRITE, &store, &err),
				 cases[i].writes);
		if (cases[i].writes == SC_EUNSUPPORTED)
			assert_non_null(strstr(err.msg, "newer symcache"));
		symstore_close(store);
		test_remove();
	}
}

/* A check that cannot find the snapshot says so, although what a reader has of it is still right. */
static void no_snapshot(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	const size_t size = 2 * store->page_size;
	char *metas = malloc(size), *zeros = calloc(1, size);
	struct symstore_reader *reader;
	struct sc_error first = { 0 };
	const int fd = open(test_path, O_RDWR | O_CLOEXEC);

	(void)state;
	assert_ok(test_put(store, 1, 900, &test_err));
	reader = test_reader(store);
	assert_int_equal(pread(fd, metas, size, 0), size);
	assert_int_equal(pwrite(fd, zeros, size, 0), size);
	assert_int_equal(symstore_check(reader, test_fault, &first), 1);
	assert_int_equal(pwrite(fd, metas, size, 0), size);
	assert_int_equal(symstore_check(reader, test_fault, &first), 0);
	close(fd);
	symstore_read_end(reader);
	symstore_close(store);
	free(metas);
	free(zeros);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(finds_every_page), TEST(names_the_damage), TEST(foreign_files), TEST(cut_off),
		TEST(random_damage), TEST(damaged_free_list), TEST(newer_versions), TEST(no_snapshot),
	};

	return cmocka_run_group_tests_name("pages", tests, test_group_setup, test_group_teardown);
}
