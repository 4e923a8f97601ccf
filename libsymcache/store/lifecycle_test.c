/* What happens to entries after they were put: tags, removal, compaction. */
#include "libsymcache/store/testing.h"

#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void tags_unite(void **state)
{
	static const struct { const char *a, *b, *want; } cases[] = {
		{ NULL, NULL, "" }, { "", "x", "x" }, { "b\na", NULL, "a\nb" },
		{ "a\nb", "b\nc\na", "a\nb\nc" }, { "a=1", "a=2\na", "a\na=1\na=2" },
		{ "\n\na\n", "\n", "a" }, { "ab", "a\nabc", "a\nab\nabc" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *got = symstore_tags_unite(cases[i].a, cases[i].b);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

static void tags_have(void **state)
{
	const char *tags = "nightly\nrelease=1.4\nrelease=1.4.2";

	(void)state;
	assert_true(symstore_tags_have(tags, "nightly"));
	assert_true(symstore_tags_have(tags, "release"));
	assert_true(symstore_tags_have(tags, "release=1.4"));
	assert_true(symstore_tags_have(tags, "release=1.4.2"));
	assert_false(symstore_tags_have(tags, "release=1"));
	assert_false(symstore_tags_have(tags, "night"));
	assert_false(symstore_tags_have(tags, "1.4"));
	assert_false(symstore_tags_have(NULL, "a"));
	assert_true(symstore_tag_valid("a=b=c"));
	assert_false(symstore_tag_valid("=b"));
	assert_false(symstore_tag_valid(""));
	assert_false(symstore_tag_valid("a\nb"));
}

static void put_tagged(struct symstore *store, uint32_t n, uint32_t sources, const char *tags)
{
	struct symstore_entry entry = test_entry(n, 5000);
	struct test_cache cache = { n, 5000 };
	struct symstore_writer *writer = test_writer(store);

	entry.sources = sources;
	entry.tags = tags;
	assert_ok(symstore_put(writer, &entry, test_fill, &cache, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
}

static void has_tags(struct symstore *store, uint32_t n, uint32_t sources, const char *tags)
{
	struct symstore_reader *reader = test_reader(store);
	struct symstore_entry entry = test_entry(n, 0);

	assert_ok(symstore_entry(reader, entry.build_id, 20, &entry, &test_err));
	assert_string_equal(entry.tags, tags);
	assert_int_equal(entry.sources, sources);
	test_has(reader, n, 5000);
	symstore_read_end(reader);
}

/* Whether an entry replaces the old one or not, the tags of both stay. */
static void tags_stay(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_entry absent = test_entry(2, 0);
	struct symstore_writer *writer;

	(void)state;
	put_tagged(store, 1, SYMCACHE_FROM_SYMTAB, "r=1");
	put_tagged(store, 1, SYMCACHE_FROM_DWARF, "r=2");
	has_tags(store, 1, SYMCACHE_FROM_DWARF, "r=1\nr=2");
	put_tagged(store, 1, SYMCACHE_FROM_SYMTAB, "r=3");
	has_tags(store, 1, SYMCACHE_FROM_DWARF, "r=1\nr=2\nr=3");
	put_tagged(store, 1, SYMCACHE_FROM_DWARF, NULL);
	has_tags(store, 1, SYMCACHE_FROM_DWARF, "r=1\nr=2\nr=3");
	writer = test_writer(store);
	assert_ok(symstore_add_words(writer, test_entry(1, 0).build_id, 20, "a\nr=2", NULL, &test_err));
	assert_ok(symstore_add_words(writer, absent.build_id, 20, "a", "b", &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	has_tags(store, 1, SYMCACHE_FROM_DWARF, "a\nr=1\nr=2\nr=3");
	test_valid(store);
	symstore_close(store);
}

static void removal(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_entry one = test_entry(1, 0), got;
	struct symstore_writer *writer;
	struct symstore_reader *reader;
	bool first = false, second = true;
	struct sc_error err;

	(void)state;
	assert_ok(test_put(store, 1, 50000, &test_err));
	assert_ok(test_put(store, 2, 50000, &test_err));
	writer = test_writer(store);
	assert_ok(symstore_remove(writer, one.build_id, 20, &first, &test_err));
	assert_ok(symstore_remove(writer, one.build_id, 20, &second, &test_err));
	assert_int_equal(symstore_remove(writer, one.build_id, 0, NULL, &err), SC_EINVAL);
	assert_ok(symstore_commit(writer, &test_err));
	assert_true(first);
	assert_false(second);
	reader = test_reader(store);
	assert_int_equal(symstore_entry(reader, one.build_id, 20, &got, &err), SC_ENOTFOUND);
	test_has(reader, 2, 50000);
	symstore_read_end(reader);
	test_valid(store);
	symstore_close(store);
}

static void compaction(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	struct symstore_writer *writer = test_writer(store);
	struct symstore_info info;
	uint64_t before, after;
	struct sc_error err;
	struct stat st;

	(void)state;
	for (uint32_t n = 0; n < 20; n++)
		assert_ok(test_put(store, n, 100000, &test_err));
	for (uint32_t n = 0; n < 19; n++)
		assert_ok(symstore_remove(writer, test_entry(n, 0).build_id, 20, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	/* Not while it is open, here or elsewhere. */
	assert_int_equal(symstore_compact(test_path, &before, &after, &err), SC_EINVAL);
	symstore_close(store);
	assert_int_equal(chmod(test_path, 0640), 0);
	assert_ok(symstore_compact(test_path, &before, &after, &test_err));
	assert_true(before > 2000000);
	assert_true(after < 200000);
	assert_int_equal(stat(test_path, &st), 0);
	assert_int_equal(st.st_size, after);
	assert_int_equal(st.st_mode & 07777, 0640);

	/* The next commits find a store like any other. */
	store = test_open(SYMSTORE_WRITE);
	test_valid(store);
	for (uint32_t n = 30; n < 35; n++)
		assert_ok(test_put(store, n, 100000, &test_err));
	reader = test_reader(store);
	test_has(reader, 19, 100000);
	test_has(reader, 34, 100000);
	assert_ok(symstore_info(reader, &info, &test_err));
	assert_int_equal(info.entries, 6);
	symstore_read_end(reader);
	symstore_close(store);
	assert_int_equal(symstore_compact("/nowhere/store", &before, &after, &err), SC_ENOTFOUND);
}

/* A store that several users share stays theirs when root compacts it. Who may write to it but cannot give a
 * file away compacts it as well, and owns it then. */
static void compaction_keeps_owner(void **state)
{
	static const struct { unsigned by, owner, group, want_owner, want_group; } cases[] = {
		{ 0, 4321, 5432, 4321, 5432 }, { 4321, 4321, 5432, 4321, 4321 }, { 4321, 0, 5432, 4321, 4321 },
		{ 4321, 0, 4321, 4321, 4321 },
	};
	uint64_t before, after;
	struct stat st;
	int status;

	(void)state;
	if (geteuid()) {
		printf("skipped: only root gives files away\n");
		skip();
	}
	symstore_close(test_open(SYMSTORE_WRITE));
	assert_int_equal(chmod(test_dir, 0777), 0);
	assert_int_equal(chmod(test_lock, 0666), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned by = cases[i].by;

		assert_int_equal(chown(test_path, cases[i].owner, cases[i].group), 0);
		assert_int_equal(chmod(test_path, 0666), 0);
		if (!fork())
			_exit(setgroups(0, NULL) || setgid(by) || setuid(by) ||
			      symstore_compact(test_path, &before, &after, NULL));
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
		assert_int_equal(stat(test_path, &st), 0);
		assert_int_equal(st.st_uid, cases[i].want_owner);
		assert_int_equal(st.st_gid, cases[i].want_group);
		assert_int_equal(st.st_mode & 07777, 0666);
	}
	assert_int_equal(chmod(test_dir, 0700), 0);
}

/* A note stays until entries change. */
static void notes(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_outcome outcome = { .code = SC_ENOSYMBOLS };
	struct sc_hash hash = { 1, 2 };
	struct symstore_reader *reader;
	struct symstore_writer *writer;
	const void *data;
	struct sc_error err;
	size_t size;

	(void)state;
	assert_ok(test_put(store, 1, 5000, &test_err));
	writer = test_writer(store);
	assert_ok(symstore_note(writer, "manifest", "{}", 2, &test_err));
	assert_ok(symstore_note(writer, "signature", "s", 1, &test_err));
	assert_int_equal(symstore_note(writer, "", "s", 1, &err), SC_EINVAL);
	assert_ok(symstore_commit(writer, &test_err));
	writer = test_writer(store);
	assert_ok(symstore_remember(writer, &hash, "t", &outcome, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	reader = test_reader(store);
	assert_ok(symstore_get_note(reader, "manifest", &data, &size, &test_err));
	assert_int_equal(size, 2);
	assert_memory_equal(data, "{}", 2);
	assert_int_equal(symstore_get_note(reader, "other", &data, &size, &err), SC_ENOTFOUND);
	symstore_read_end(reader);
	assert_ok(test_put(store, 2, 5000, &test_err));
	symstore_close(store);
	store = test_open(SYMSTORE_READ);
	reader = test_reader(store);
	assert_int_equal(symstore_get_note(reader, "manifest", &data, &size, &err), SC_ENOTFOUND);
	assert_int_equal(symstore_get_note(reader, "signature", &data, &size, &err), SC_ENOTFOUND);
	test_has(reader, 1, 5000);
	symstore_read_end(reader);
	symstore_close(store);
}

/* Processes that write while others compact: no entry is lost. */
static void compaction_and_writers(void **state)
{
	enum { WRITERS = 3, EACH = 25 };
	struct symstore *store;
	struct symstore_reader *reader;
	uint64_t before, after;
	unsigned done = 0;
	int status;

	(void)state;
	symstore_close(test_open(SYMSTORE_WRITE));
	for (uint32_t w = 0; w < WRITERS; w++) {
		if (fork())
			continue;
		for (uint32_t n = 0; n < EACH; n++) {
			struct sc_error err;

			if (symstore_open(test_path, SYMSTORE_WRITE, &store, &err) ||
			    test_put(store, w * EACH + n, 20000, &err)) {
				fprintf(stderr, "%s\n", err.msg);
				_exit(1);
			}
			symstore_close(store);
			usleep(500);
		}
		_exit(0);
	}
	for (int i = 0; i < 2000 && done < 20; i++) {
		done += !symstore_compact(test_path, &before, &after, NULL);
		usleep(200);
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_ok(symstore_compact(test_path, &before, &after, &test_err));
	store = test_open(SYMSTORE_READ);
	test_valid(store);
	reader = test_reader(store);
	for (uint32_t n = 0; n < WRITERS * EACH; n++)
		test_has(reader, n, 20000);
	symstore_read_end(reader);
	symstore_close(store);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_unite), cmocka_unit_test(tags_have),
		cmocka_unit_test_setup(tags_stay, test_setup),
		cmocka_unit_test_setup(removal, test_setup), cmocka_unit_test_setup(notes, test_setup),
		cmocka_unit_test_setup(compaction, test_setup),
		cmocka_unit_test_setup(compaction_keeps_owner, test_setup),
		cmocka_unit_test_setup(compaction_and_writers, test_setup),
	};

	return cmocka_run_group_tests_name("lifecycle", tests, test_group_setup,
					   test_group_teardown);
}
