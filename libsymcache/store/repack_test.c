/* Entries packed and unpacked where they are: what else there is in the store. */
#include "libsymcache/store/testing.h"

#include "libsymcache/store/apply.h"
#include "libsymcache/store/upkeep.h"

/* A tenth of it is left when it is packed. */
static uint64_t fill_sparse(void *ctx, void *dst)
{
	const struct test_cache *c = ctx;
	uint32_t x = c->n;

	memset(dst, 0, c->size);
	for (size_t i = 0; i + 4 <= c->size; i += 64) {
		x = x * 1664525 + 1013904223;
		memcpy((uint8_t *)dst + i, &x, 4);
	}
	return XXH3_64bits(dst, c->size);
}

static uint64_t fill_noise(void *ctx, void *dst)
{
	const struct test_cache *c = ctx;
	uint32_t x = c->n;

	for (size_t i = 0; i < c->size; i++) {
		x = x * 1664525 + 1013904223;
		((uint8_t *)dst)[i] = (uint8_t)(x >> 24);
	}
	return XXH3_64bits(dst, c->size);
}

static void put_packed(struct symstore *store, uint32_t n, size_t size)
{
	struct symstore_entry entry = test_entry(n, size);
	struct test_cache cache = { n, size };
	struct symstore_writer *writer = test_writer(store);

	symstore_write_packed(writer, 1);
	assert_ok(symstore_put(writer, &entry, fill_sparse, &cache, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
}

static size_t unpack(struct symstore *store)
{
	const struct symstore_repack_options options = { .used_before = INT64_MAX };
	struct symstore_repacked done;

	assert_ok(symstore_repack(store, &options, &done, &test_err));
	assert_int_equal(done.damaged, 0);
	return done.entries;
}

/* The format of the file, as who opens it now sees it. */
static uint32_t format_of(struct symstore **store)
{
	symstore_close(*store);
	*store = test_open(SYMSTORE_WRITE);
	return (*store)->format;
}

/* Also where the last packed entry went another way, or who unpacked it was killed. */
static void format_goes_back(void **state)
{
	const struct symstore_entry e = test_entry(1, 0);
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer;

	(void)state;
	put_packed(store, 1, 20000);
	assert_ok(test_put(store, 2, 900, &test_err));
	writer = test_writer(store);
	assert_ok(symstore_remove(writer, e.build_id, e.build_id_len, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	assert_int_equal(format_of(&store), SYMSTORE_FORMAT_PACKED);
	assert_int_equal(unpack(store), 0);
	assert_ok(test_put(store, 3, 900, &test_err)); /* it can be written to */
	assert_int_equal(format_of(&store), SYMSTORE_FORMAT);
	test_valid(store);
	symstore_close(store);
}

static struct symstore_entry entry_of(struct symstore *store, uint32_t n)
{
	struct symstore_reader *reader = test_reader(store);
	struct symstore_entry e = test_entry(n, 0);

	assert_ok(symstore_entry(reader, e.build_id, e.build_id_len, &e, &test_err));
	symstore_read_end(reader);
	return e; /* its strings are gone */
}

/* Whatever is a page smaller so, be it large or small; what is not, stays as it is. */
static void what_is_packed(void **state)
{
	static const struct { size_t size; bool sparse, packed; } cases[] = {
		{ 3000, true, false }, { 20000, true, true }, { 400000, true, true }, { 20000, false, false },
		{ 400000, false, false },
	};
	struct symstore *store = test_open(SYMSTORE_WRITE);

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct symstore_entry entry = test_entry(i, cases[i].size), got;
		struct test_cache cache = { i, cases[i].size };
		struct symstore_writer *writer = test_writer(store);

		symstore_write_packed(writer, 1);
		assert_ok(symstore_put(writer, &entry, cases[i].sparse ? fill_sparse : fill_noise, &cache, NULL,
				       &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		got = entry_of(store, i);
		assert_int_equal(got.cache_size, cases[i].size);
		if (cases[i].packed)
			assert_in_range(got.packed_size, cases[i].size / 50, cases[i].size / 6);
		else
			assert_int_equal(got.packed_size, 0);
	}
	assert_int_equal(unpack(store), 2);
	assert_int_equal(entry_of(store, 2).packed_size, 0);
	test_valid(store);
	symstore_close(store);
}

/* A thing to do that is not taken is freed with all that it has. */
static void not_taken(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	struct symstore_op op = { .kind = SYMSTORE_PUT }; /* without a record */
	uint8_t *bytes = malloc(20000);

	(void)state;
	fill_sparse(&(struct test_cache){ 1, 20000 }, bytes);
	assert_int_equal(symstore_form_make(store, bytes, 20000, 3, &op.form), 0);
	assert_non_null(op.form.bytes);
	assert_int_equal(symstore_push(writer, &op, &test_err), SC_ENOMEM);
	symstore_abort(writer);
	free(bytes);
	symstore_close(store);
}

/* LMDB writes dirty pages early where a value has very many, and takes their memory for other pages:
 * also that of the record that is about to change. Here entries LARGE - 1 and LARGE share a page of
 * records, but not one of caches. */
static void large(void **state)
{
	enum { ALL = 300, LARGE = 106, SIZE = 280 << 20 };
	struct test_cache caches[ALL];
	struct symstore_writer *writer;
	struct symstore_reader *reader;
	struct symstore_entry e;
	struct symstore *store;

	(void)state;
	if (!getenv("TORTURE_ROUNDS")) {
		printf("skipped: it writes 280 MB, so it is a part of 'make torture'\n");
		skip();
	}
	store = test_open(SYMSTORE_WRITE);
	writer = test_writer(store);
	for (uint32_t n = 0; n < ALL; n++) {
		e = test_entry(n, 900);
		caches[n] = (struct test_cache){ n, 900 };
		assert_ok(symstore_put(writer, &e, test_fill, &caches[n], NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	put_packed(store, LARGE - 1, 20000);
	put_packed(store, LARGE, SIZE);
	assert_int_equal(unpack(store), 2);
	test_valid(store);
	reader = test_reader(store);
	e = test_entry(LARGE, SIZE);
	assert_ok(symstore_entry(reader, e.build_id, e.build_id_len, &e, &test_err));
	assert_string_equal(e.source_path, "/usr/lib/libthing.so");
	assert_string_equal(e.tool_version, "symcache test");
	symstore_read_end(reader);
	symstore_close(store);
}

/* What fits into one page, with its hashes, stays as it is. */
static void one_page(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	const size_t most = store->page_size - SYMSTORE_PAGE_HEADER - symcache_guard_table_size(store->page_size / 2);
	struct symstore_reader *reader;

	(void)state;
	for (int more = -2; more < 3; more++) {
		struct symstore_writer *writer = test_writer(store);
		struct test_cache cache = { (uint32_t)(10 + more), most + (size_t)(8 * more) };
		const struct symstore_entry entry = test_entry(cache.n, cache.size);
		struct symstore_entry put;

		symstore_write_packed(writer, 3);
		assert_ok(symstore_put(writer, &entry, test_fill, &cache, NULL, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		reader = test_reader(store);
		assert_ok(symstore_entry(reader, entry.build_id, entry.build_id_len, &put, &test_err));
		assert_int_equal(!!put.packed_size, more > 0);
		symstore_read_end(reader);
	}
	symstore_close(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(format_goes_back), TEST(what_is_packed), TEST(not_taken), TEST(large), TEST(one_page),
	};

	return cmocka_run_group_tests_name("repack", tests, test_group_setup, test_group_teardown);
}
