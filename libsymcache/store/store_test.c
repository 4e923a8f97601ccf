/* The store's API in one process: entries, snapshots, prefixes, what replaces
 * what, what was seen. */
#include "libsymcache/store/testing.h"

#include <pthread.h>

static void absent_store(void **state)
{
	struct symstore *store = (void *)1;
	struct sc_error err;

	(void)state;
	assert_int_equal(symstore_open(test_path, SYMSTORE_READ, &store, &err), SC_ENOTFOUND);
	assert_null(store);
	/* Asking leaves nothing behind. */
	assert_int_equal(access(test_path, F_OK), -1);
	assert_int_equal(access(test_lock, F_OK), -1);
	store = (void *)1;
	assert_int_equal(symstore_open(test_path, SYMSTORE_FROZEN, &store, &err), SC_ENOTFOUND);
	assert_null(store);
}

static void put_and_get(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	struct symstore_entry got, want = test_entry(7, 100000);
	struct test_cache cache = { 7, 100000 };
	struct sc_error err;

	(void)state;
	want.build_id_derived = true;
	want.bad_units = 3;
	want.debug_path = "/usr/lib/debug/.build-id/00/07.debug";
	struct symstore_writer *writer = test_writer(store);
	enum symstore_put_result result = SYMSTORE_BETTER_STAYS;
	assert_ok(symstore_put(writer, &want, test_fill, &cache, &result, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	assert_int_equal(result, SYMSTORE_WRITTEN);
	symstore_close(store);

	store = test_open(SYMSTORE_READ);
	reader = test_reader(store);
	test_has(reader, 7, 100000);
	assert_ok(symstore_entry(reader, want.build_id, 20, &got, &test_err));
	assert_int_equal(got.build_id_len, 20);
	assert_memory_equal(got.build_id, want.build_id, 20);
	assert_true(got.build_id_derived);
	assert_int_equal(got.sources, want.sources);
	assert_int_equal(got.bad_units, 3);
	assert_int_equal(got.cache_size, 100000);
	assert_int_equal(got.source_size, 7);
	assert_int_equal(got.source_hash.low64, 7);
	assert_true(got.source_hash.high64 == ~7ull);
	assert_int_equal(got.time, want.time);
	assert_string_equal(got.source_path, want.source_path);
	assert_string_equal(got.debug_path, want.debug_path);
	assert_string_equal(got.tool_version, want.tool_version);
	/* `xxhsum -H3` of these bytes. */
	assert_true(got.cache_hash == 0xdeb5b677d44f38fb);

	want.build_id[0] ^= 1;
	assert_int_equal(symstore_entry(reader, want.build_id, 20, &got, &err), SC_ENOTFOUND);
	assert_int_equal(symstore_entry(reader, want.build_id, 0, &got, &err), SC_ENOTFOUND);
	symstore_read_end(reader);
	symstore_close(store);
}

static void bad_arguments(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	struct symstore_entry entry = test_entry(1, 10);
	struct sc_error err;

	(void)state;
	entry.build_id_len = 0;
	assert_int_equal(symstore_put(writer, &entry, test_fill, NULL, NULL, &err), SC_EINVAL);
	entry.build_id_len = SYMCACHE_BUILD_ID_MAX + 1;
	assert_int_equal(symstore_put(writer, &entry, test_fill, NULL, NULL, &err), SC_EINVAL);
	entry.build_id_len = SYMCACHE_BUILD_ID_MAX;
	entry.cache_size = 1ull << 31;
	assert_int_equal(symstore_put(writer, &entry, test_fill, NULL, NULL, &err), SC_ELIMIT);
	symstore_abort(writer);
	symstore_abort(NULL);
	symstore_read_end(NULL);
	symstore_close(store);
	symstore_close(NULL);
}

/* Nothing before the commit, all after it, and a reader keeps what it saw. */
static void snapshots(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_entry entry = test_entry(2, 5000), got;
	struct test_cache cache = { 2, 5000 };
	struct symstore_reader *before, *after;
	struct symstore_writer *writer;
	struct sc_error err;

	(void)state;
	assert_ok(test_put(store, 1, 300000, &test_err));
	before = test_reader(store);
	writer = test_writer(store);
	assert_ok(symstore_put(writer, &entry, test_fill, &cache, NULL, &test_err));
	after = test_reader(store);
	assert_int_equal(symstore_entry(after, entry.build_id, 20, &got, &err), SC_ENOTFOUND);
	symstore_read_end(after);
	assert_ok(symstore_commit(writer, &test_err));
	/* Enough commits that the pages of entry 1 would have been reused. */
	for (uint32_t i = 0; i < 10; i++) {
		struct symstore_entry one = test_entry(1, 300000);
		struct test_cache other = { 100 + i, 300000 };

		writer = test_writer(store);
		assert_ok(symstore_put(writer, &one, test_fill, &other, NULL, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
	}
	test_has(before, 1, 300000);
	assert_int_equal(symstore_entry(before, entry.build_id, 20, &got, &err), SC_ENOTFOUND);
	after = test_reader(store);
	test_has(after, 2, 5000);
	symstore_read_end(before);
	symstore_read_end(after);

	/* An aborted writer leaves nothing. */
	writer = test_writer(store);
	entry = test_entry(3, 5000);
	assert_ok(symstore_put(writer, &entry, test_fill, &cache, NULL, &test_err));
	symstore_abort(writer);
	after = test_reader(store);
	assert_int_equal(symstore_entry(after, entry.build_id, 20, &got, &err), SC_ENOTFOUND);
	symstore_read_end(after);
	test_valid(store);
	symstore_close(store);
}

struct listing {
	char text[256];
	size_t stop_after, count;
};

static bool list_one(void *ctx, const struct symstore_entry *entry)
{
	struct listing *l = ctx;
	size_t len = strlen(l->text);

	for (size_t i = 0; i < entry->build_id_len; i++)
		len += (size_t)snprintf(l->text + len, sizeof(l->text) - len, "%02x",
					entry->build_id[i]);
	snprintf(l->text + len, sizeof(l->text) - len, " ");
	return ++l->count != l->stop_after;
}

static void prefixes(void **state)
{
	static const struct { uint8_t id[4]; size_t len; } ids[] = {
		{ { 0x12 }, 1 }, { { 0x12, 0x30 }, 2 }, { { 0x12, 0x34 }, 2 }, { { 0x12, 0x3f, 0xff }, 3 },
		{ { 0x12, 0x40 }, 2 }, { { 0xff, 0xff, 0xff, 0xff }, 4 }, { { 0x00 }, 1 },
	};
	static const struct { const char *prefix; size_t nibbles; const char *want; } cases[] = {
		{ "", 0, "00 12 1230 1234 123fff 1240 ffffffff " },
		{ "\x10", 1, "12 1230 1234 123fff 1240 " },
		{ "\x12", 2, "12 1230 1234 123fff 1240 " },
		{ "\x12\x30", 3, "1230 1234 123fff " },
		{ "\x12\x37", 3, "1230 1234 123fff " }, /* the eighth nibble is not looked at */
		{ "\x12\x34", 4, "1234 " },
		{ "\x12\x35", 4, "" },
		{ "\x12\x3f\xf0", 5, "123fff " },
		{ "\xf0", 1, "ffffffff " },
		{ "\xff\xff\xff\xff", 8, "ffffffff " },
		{ "\xff\xff\xff\xff\xf0", 9, "" },
		{ "\x00", 1, "00 " },
		{ "\x00\x00", 3, "" },
	};
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	struct test_cache cache = { 0, 0 };
	struct symstore_reader *reader;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		struct symstore_entry entry = test_entry(0, 0);

		memcpy(entry.build_id, ids[i].id, 4);
		entry.build_id_len = ids[i].len;
		assert_ok(symstore_put(writer, &entry, test_fill, &cache, NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	reader = test_reader(store);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct listing l = { .stop_after = 0 };

		assert_ok(symstore_each(reader, (const uint8_t *)cases[i].prefix, cases[i].nibbles,
					list_one, &l, &test_err));
		assert_string_equal(l.text, cases[i].want);
	}
	struct listing l = { .stop_after = 2 };
	assert_ok(symstore_each(reader, NULL, 0, list_one, &l, &test_err));
	assert_string_equal(l.text, "00 12 ");
	symstore_read_end(reader);
	symstore_close(store);
}

/* Puts entry 1 with these symbols, and bytes made from `n`; was it stored? */
static bool put_kind(struct symstore *store, uint32_t sources, uint32_t bad_units, uint32_t n)
{
	struct symstore_entry entry = test_entry(1, 5000);
	struct test_cache cache = { n, 5000 };
	struct symstore_writer *writer = test_writer(store);
	enum symstore_put_result result = SYMSTORE_BETTER_STAYS;

	entry.sources = sources;
	entry.bad_units = bad_units;
	assert_ok(symstore_put(writer, &entry, test_fill, &cache, &result, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	return result == SYMSTORE_WRITTEN;
}

static void better_symbols_stay(void **state)
{
	enum { D = SYMCACHE_FROM_DWARF, S = SYMCACHE_FROM_SYMTAB,
	       M = SYMCACHE_FROM_MINIDEBUGINFO, Y = SYMCACHE_FROM_DYNSYM,
	       N = SYMCACHE_FROM_NAMES, C = SYMCACHE_FROM_CFI };
	static const struct { uint32_t sources, bad; bool stored; } steps[] = {
		{ 0, 0, true }, { N, 0, true }, { C, 0, true }, { N | Y, 0, true }, { 0, 0, false },
		{ Y, 0, true }, { 0, 0, false }, { N | Y, 0, false },
		{ N | M, 0, true }, { Y, 0, false }, { M, 0, true }, { Y, 0, false }, { M | Y, 0, true },
		{ M, 0, false }, { N | M | Y, 0, false }, { N | S, 0, true }, { M | Y, 0, false },
		{ N | S, 0, true }, { N | S, 1, false }, { S, 0, true }, { N | S, 0, false }, { M | Y, 0, false }, { S | Y, 0, true },
		{ D, 0, true }, { S | M | Y, 0, false }, { D | S, 5, true }, { D | Y, 0, false },
		/* The same kind: newer, unless more of it is broken. */
		{ D | S, 6, false }, { D | S, 5, true }, { D | S, 0, true }, { D | S, 1, false },
		{ D | S, 0, true }, { D | S | Y, 9, true },
	};
	struct symstore *store = test_open(SYMSTORE_WRITE);
	uint32_t last = 0;

	(void)state;
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct symstore_entry id = test_entry(1, 0);
		struct symstore_reader *reader;
		const void *data;
		size_t size;

		assert_int_equal(put_kind(store, steps[i].sources, steps[i].bad, i),
				 steps[i].stored);
		if (steps[i].stored)
			last = i;
		reader = test_reader(store);
		assert_ok(symstore_get(reader, id.build_id, 20, &data, &size, &test_err));
		assert_true(test_right(last, data, size));
		symstore_read_end(reader);
	}
	symstore_close(store);
}

/* Also within one commit the better one wins, whatever the order. */
static void better_in_one_commit(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	struct test_cache caches[3] = { { 1, 9000 }, { 2, 9000 }, { 3, 9000 } };
	enum symstore_put_result result[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct symstore_entry entry = test_entry(1, 9000);

		entry.sources = i == 1 ? SYMCACHE_FROM_DWARF : SYMCACHE_FROM_DYNSYM;
		assert_ok(symstore_put(writer, &entry, test_fill, &caches[i], &result[i], &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	assert_true(result[0] == SYMSTORE_WRITTEN && result[1] == SYMSTORE_WRITTEN &&
		    result[2] == SYMSTORE_BETTER_STAYS);
	symstore_close(store);
}

/* What an older file gave takes the place of what is worse, and of nothing else. */
static void older(void **state)
{
	static const struct { uint32_t sources, bad_units; enum symstore_put_result result; } steps[] = {
		{ SYMCACHE_FROM_SYMTAB, 0, SYMSTORE_WRITTEN }, { SYMCACHE_FROM_SYMTAB, 0, SYMSTORE_BETTER_STAYS },
		{ SYMCACHE_FROM_DYNSYM, 0, SYMSTORE_BETTER_STAYS }, { SYMCACHE_FROM_DWARF, 3, SYMSTORE_WRITTEN },
		{ SYMCACHE_FROM_DWARF, 3, SYMSTORE_BETTER_STAYS }, { SYMCACHE_FROM_DWARF, 2, SYMSTORE_WRITTEN },
	};
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct test_cache cache = { 1, 5000 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct symstore_entry entry = test_entry(1, 5000);
		struct symstore_writer *writer = test_writer(store);
		enum symstore_put_result result;

		entry.sources = steps[i].sources;
		entry.bad_units = steps[i].bad_units;
		assert_ok(symstore_put_older(writer, &entry, test_fill, &cache, &result, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		assert_int_equal(result, steps[i].result);
	}
	symstore_close(store);
}

static void seen(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct sc_hash here = { 1, 2 }, gone = { 2, 1 }, none = { 3, 4 };
	struct symstore_outcome outcome = { .build_id_len = 20 }, got;
	struct symstore_writer *writer;
	struct symstore_reader *reader;
	struct sc_error err;

	(void)state;
	assert_ok(test_put(store, 1, 100, &test_err));
	writer = test_writer(store);
	memcpy(outcome.build_id, test_entry(1, 0).build_id, 20);
	assert_ok(symstore_remember(writer, &here, "v1", &outcome, &test_err));
	memcpy(outcome.build_id, test_entry(2, 0).build_id, 20);
	assert_ok(symstore_remember(writer, &gone, "v1", &outcome, &test_err));
	outcome = (struct symstore_outcome){ .code = SC_ENOSYMBOLS };
	assert_ok(symstore_remember(writer, &none, "v1", &outcome, &test_err));
	assert_ok(symstore_commit(writer, &test_err));

	reader = test_reader(store);
	assert_ok(symstore_seen(reader, &here, "v1", &got, &test_err));
	assert_int_equal(got.code, 0);
	assert_int_equal(got.build_id_len, 20);
	assert_memory_equal(got.build_id, test_entry(1, 0).build_id, 20);
	assert_int_equal(symstore_seen(reader, &here, "v2", &got, &err), SC_ENOTFOUND);
	assert_ok(symstore_seen(reader, &none, "v1", &got, &test_err));
	assert_int_equal(got.code, SC_ENOSYMBOLS);
	/* Indexed once, but the store has lost it: it is to be indexed again. */
	assert_int_equal(symstore_seen(reader, &gone, "v1", &got, &err), SC_ENOTFOUND);
	assert_int_equal(symstore_seen(reader, &(struct sc_hash){ 1, 3 }, "v1", &got, &err),
			 SC_ENOTFOUND);
	symstore_read_end(reader);
	symstore_close(store);
}

static void info(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	struct symstore_info first, second;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_ok(test_put(store, i, 1 << 20, &test_err));
	reader = test_reader(store);
	assert_ok(symstore_info(reader, &first, &test_err));
	assert_int_equal(first.entries, 3);
	assert_int_equal(first.format, SYMSTORE_FORMAT);
	assert_true(first.locked);
	assert_true(first.file_size >= 3 << 20 && first.file_size <= 4 << 20);
	assert_true(first.free_bytes <= 1 << 18);
	symstore_read_end(reader);
	assert_ok(test_put(store, 2, 1 << 20, &test_err)); /* its old pages become free */
	reader = test_reader(store);
	assert_ok(symstore_info(reader, &second, &test_err));
	assert_int_equal(second.entries, 3);
	assert_true(second.free_bytes >= 1 << 20 &&
		    second.free_bytes <= (1 << 20) + (1 << 18));
	symstore_read_end(reader);
	symstore_close(store);
}

struct shared {
	struct symstore *store;
	uint32_t first;
};

static void *write_some(void *arg)
{
	struct shared *s = arg;

	for (uint32_t i = 0; i < 10; i++)
		if (test_put(s->store, s->first + i, 20000, NULL))
			return "failed";
	return NULL;
}

/* Threads share a store: four that write, each in its own commits. */
static void threads(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct shared shared[4];
	pthread_t thread[4];
	struct symstore_reader *reader;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		shared[i] = (struct shared){ store, 100 * i };
		assert_int_equal(pthread_create(&thread[i], NULL, write_some, &shared[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		void *failed;

		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	reader = test_reader(store);
	for (uint32_t i = 0; i < 40; i++)
		test_has(reader, i / 10 * 100 + i % 10, 20000);
	symstore_read_end(reader);
	test_valid(store);
	symstore_close(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(absent_store), TEST(put_and_get), TEST(bad_arguments), TEST(snapshots),
		TEST(prefixes), TEST(better_symbols_stay), TEST(better_in_one_commit), TEST(older), TEST(seen),
		TEST(info), TEST(threads),
	};

	return cmocka_run_group_tests_name("store", tests, test_group_setup, test_group_teardown);
}
