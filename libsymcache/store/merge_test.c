/* A debug file has lines, its program has unwind information: whichever comes first, the entry has
 * both. */
#include "libsymcache/store/testing.h"

#include "libsymcache/read/rows.h"
#include "libsymcache/write/build.h"

struct side {
	struct symstore_entry entry;
	void *cache;
};

static const char *side_path(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/side-%s", test_dir, name);
	return path;
}

/* The cache of a file, and its record; what comes later is of a later time. */
static struct side side_of(const char *name, int64_t time)
{
	const struct symcache_build_options alone = { .no_debug_search = true };
	const struct symcache_build_info *info;
	struct symcache_build *b;
	struct side s = { .entry = { .tool_version = "symcache test",
				     .source_path = "/opt/layouts",
				     .time = time,
				     .source_size = (uint64_t)time } };

	assert_ok(symcache_build_create(side_path(name), &alone, &b, &test_err));
	info = symcache_build_info(b);
	s.entry.sources = info->sources;
	s.entry.build_id_len = info->build_id_len;
	memcpy(s.entry.build_id, info->build_id, info->build_id_len);
	s.entry.cache_size = symcache_build_size(b);
	s.cache = malloc(s.entry.cache_size);
	symcache_build_write(b, s.cache);
	symcache_build_destroy(b);
	return s;
}

static void put_side(struct symstore *store, const struct side *s, bool packed)
{
	struct symstore_writer *writer = test_writer(store);

	if (packed)
		symstore_write_packed(writer, PACKED_LEVEL);
	assert_ok(symstore_put(writer, &s->entry, NULL, s->cache, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
}

/* How many ranges have lines, and how many have a row of unwind information. */
static void count(const struct symcache *c, unsigned *lines, unsigned *rows)
{
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	struct symcache_row row;

	*lines = *rows = 0;
	for (uint32_t i = 0; i < c->header->num_ranges; i++) {
		*lines += symcache_lookup(c, c->ranges[i], &frames) &&
			  symcache_next_frame(&frames, &frame) && frame.line;
		*rows += symcache_find_row(c, c->ranges[i], &row);
	}
}

/* Makes the two sides, and the whole file. */
static int make_sides(void **state)
{
	char command[400];

	if (test_group_setup(state) || test_setup(state))
		return -1;
	snprintf(
		command, sizeof(command),
		"scripts/testprogs.sh build/testprogs && cd build/testprogs && cp layouts %s/side-full && "
		"objcopy --only-keep-debug layouts %s/side-debug && strip -o %s/side-program layouts",
		test_dir, test_dir, test_dir);
	return system(command);
}

static int remove_sides(void **state)
{
	static const char *const names[] = { "full", "debug", "program" };

	for (size_t i = 0; i < 3; i++)
		unlink(side_path(names[i]));
	return test_group_teardown(state);
}

static void both_are_there(void **state)
{
	unsigned all_lines, all_rows, lines, rows;
	struct symcache whole, cache;
	struct side sides[2], full;

	(void)state;
	full = side_of("full", 1);
	assert_ok(symcache_open(&whole, full.cache, full.entry.cache_size, &test_err));
	count(&whole, &all_lines, &all_rows);
	assert_true(all_lines > 10 && all_rows > 10);
	for (unsigned i = 0; i < 8; i++) {
		const bool program_first = i & 1, packed = i & 2, later = i & 4;
		struct symcache_guard guard = { 0 };
		struct symstore_entry entry;
		struct symstore_reader *reader;
		struct symstore *store;

		sides[program_first] = side_of("debug", later ? 9 : 5);
		sides[!program_first] = side_of("program", 7);
		unlink(test_path);
		unlink(test_lock);
		store = test_open(SYMSTORE_WRITE);
		for (int k = 0; k < 2; k++)
			put_side(store, &sides[k], packed);
		reader = test_reader(store);
		assert_ok(symstore_entry(reader, full.entry.build_id, full.entry.build_id_len,
					 &entry, &test_err));
		assert_int_equal(entry.sources, full.entry.sources);
		assert_ok(symstore_get_guarded(reader, full.entry.build_id, full.entry.build_id_len,
					       &guard, &cache, &test_err));
		count(&cache, &lines, &rows);
		assert_int_equal(lines, all_lines);
		assert_int_equal(rows, all_rows);
		assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
		symcache_guard_deinit(&guard);
		symstore_read_end(reader);
		test_valid(store);
		symstore_close(store);
		free(sides[0].cache);
		free(sides[1].cache);
	}
	free(full.cache);
}

/* What is damaged, or of another file, gives nothing to the entry that comes. */
static void not_from_damaged(void **state)
{
	enum { PACKED = 1, GONE = 2, CASES = 4 };
	struct side program = side_of("program", 5), debug = side_of("debug", 7);

	for (int i = 0; i < CASES; i++) {
		MDB_val key = { debug.entry.build_id_len, debug.entry.build_id }, value;
		struct symstore_reader *reader;
		struct symstore_entry entry;
		struct symstore *store;
		uint8_t *bytes;
		MDB_txn *txn;

		test_setup(state);
		store = test_open(SYMSTORE_WRITE);
		put_side(store, &program, i & PACKED);
		assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
		assert_int_equal(mdb_get(txn, store->caches, &key, &value), 0);
		bytes = malloc(value.mv_size);
		memcpy(bytes, value.mv_data, value.mv_size);
		bytes[1000] ^= 1;
		value.mv_data = bytes;
		assert_int_equal(i & GONE ? mdb_del(txn, store->caches, &key, NULL) :
			mdb_put(txn, store->caches, &key, &value, 0), 0);
		assert_int_equal(mdb_txn_commit(txn), 0);
		free(bytes);
		put_side(store, &debug, false);
		reader = test_reader(store);
		assert_ok(symstore_entry(reader, debug.entry.build_id, debug.entry.build_id_len, &entry, &test_err));
		assert_int_equal(entry.sources, debug.entry.sources);
		assert_int_equal(entry.cache_size, debug.entry.cache_size);
		symstore_read_end(reader);
		symstore_close(store);
	}
	free(program.cache);
	free(debug.cache);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_are_there), cmocka_unit_test(not_from_damaged),
	};

	return cmocka_run_group_tests_name("merge", tests, make_sides, remove_sides);
}
