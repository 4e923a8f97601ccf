/* Tags, names, misses and notes: which words are taken, what they find, how long they count. */
#include "libsymcache/store/testing.h"

#include <time.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/store/misses.h"

static void tags(void **state)
{
	static const char *const words[] = { "b=1=2", "a" };
	static const struct { const char *tags, *word, *without; bool there; } cases[] = {
		{ "a\nab\na=1", "a", "ab\na=1", true }, { "ab\nabc", "a", "ab\nabc", false },
		{ "a=1", "a", "a=1", true }, { "a=1=2", "a=1", "a=1=2", false }, { "a=1", "a=1", "", true },
		{ "\n\nb\n\nc", "b", "c", true }, { "a", "abc", "a", false }, { NULL, "a", "", false },
	};
	char tag[SYMSTORE_TAG_MAX + 2], *text;

	(void)state;
	memset(tag, 'x', sizeof(tag));
	tag[SYMSTORE_TAG_MAX + 1] = 0;
	assert_false(symstore_tag_valid(tag));
	tag[SYMSTORE_TAG_MAX] = 0;
	assert_true(symstore_tag_valid(tag));
	assert_false(symstore_tag_valid("a\x7f"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(symstore_tags_have(cases[i].tags, cases[i].word), cases[i].there);
		text = symstore_tags_without(cases[i].tags, cases[i].word);
		assert_string_equal(text, cases[i].without);
		free(text);
	}
	assert_ok(symstore_tags_make(words, 2, true, &text, &test_err));
	assert_string_equal(text, "pinned\nb=1=2\na");
	free(text);
	assert_ok(symstore_tags_make(words + 1, 1, false, &text, &test_err));
	assert_string_equal(text, "\na");
	free(text);
	assert_ok(symstore_tags_make(NULL, 0, true, &text, &test_err));
	assert_string_equal(text, "pinned");
	free(text);
	assert_ok(symstore_tags_make(NULL, 0, false, &text, &test_err));
	assert_null(text);
	assert_int_equal(symstore_tags_make((const char *[]){ "a", "=b" }, 2, true, &text, &test_err), SC_EINVAL);
	assert_string_equal(test_err.msg, "'=b' is not a tag: it is KEY=VALUE or a word, up to 255 bytes without "
					  "control characters");
	assert_null(text);
}

/* What a file is called by: its own name, its SONAME, and that of its debug file. */
static void names(void **state)
{
	static const struct { const char *path, *soname, *debug_link, *want; } cases[] = {
		{ "/usr/lib/libc-2.36.so", "libc.so.6", "libc.debug", "libc\nlibc-2.36.so\nlibc.so.6" },
		{ "prog", NULL, NULL, "prog" }, { NULL, NULL, NULL, "" }, { "/", "", NULL, "" },
		{ "/d/0123456789abcdef.debug", NULL, NULL, "" }, { "/d/0123456789abcde", NULL, NULL, "0123456789abcde" },
		{ "/d/0123456789abcdeg", "0123456789ABCDEF", NULL, "0123456789ABCDEF\n0123456789abcdeg" },
		{ "/d/a\nb", "a\x1f", "b", "b" }, { "/a/x", "x", "x", "x" },
		{ "/d/g123456789abcdef0", "\x1f" "a", "y", "g123456789abcdef0\ny" },
	};
	static const struct { const char *names, *want; bool all; } subsets[] = {
		{ "a\nb\nc", "a\nc", true }, { "a\nb", "", true }, { "a\nb", "a\nd", false }, { "ab", "a", false },
		{ "a", "ab", false }, { "", "a", false }, { "ab\nc", "ad", false },
	};
	char path[300], *got;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		got = symstore_names_of(cases[i].path, cases[i].soname, cases[i].debug_link);
		if (strcmp(got, cases[i].want))
			fail_msg("case %zu: %s", i, got);
		free(got);
	}
	for (size_t i = 0; i < sizeof(subsets) / sizeof(*subsets); i++)
		if (symstore_names_have(subsets[i].names, subsets[i].want) != subsets[i].all)
			fail_msg("%s: %s", subsets[i].names, subsets[i].want);
	memset(path, 'x', sizeof(path));
	for (size_t len = 254; len <= 256; len++) {
		path[len] = 0;
		got = symstore_names_of(path, path, path);
		assert_int_equal(strlen(got), len <= 255 ? len : 0);
		free(got);
		path[len] = 'x';
	}
}

/* The ID and what stands for the file of entry i of the store below. */
static const struct { const char *id; size_t len; const char *path, *names; } facts[] = {
	{ "\xab\xcd", 2, "/lib/modules/6.1/kvm-intel.ko.xz", "" },
	{ "\xab\xcd\x01", 3, "prog_a", "prog_a\nother.debug\nlib_x" },
	{ "\xab\xce", 2, "/d/a/vmlinuz-6.1", "vmlinuz-6.1" },
	{ "\xff\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11\x12\x13\x14\x15", 22, "/d/one", "one\nsame" },
	{ "\xff\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11\x12\x13\x14\x16", 22, "/d/two", "same" },
	{ "\x10", 1, "/d/0123456789abcdef.debug", "" },
	{ "\x11\x22", 2, "/d/1123456789abcdef.debug", "" },
};

static void put_facts(struct symstore *store)
{
	struct symstore_writer *writer = test_writer(store);

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		struct symstore_entry e = { .build_id_len = facts[i].len, .source_path = facts[i].path,
					    .names = facts[i].names };

		memcpy(e.build_id, facts[i].id, facts[i].len);
		assert_ok(symstore_put(writer, &e, NULL, (char[1]){ 0 }, NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
}

static void found(void **state)
{
	static const struct { const char *text; bool name; int rc; const char *says; } cases[] = {
		/* A whole ID is meant, also where another begins with it. */
		{ "abcd", false, 0, "abcd" }, { "abcd0", false, 0, "abcd01" }, { "ABCD01", false, 0, "abcd01" },
		{ "abc", false, SC_EINVAL, "several build IDs begin with abc: abcd, abcd01: give more digits" },
		{ "abcd02", false, SC_ENOTFOUND, "not in the store: abcd02" }, { "1", false, SC_EINVAL,
		  "several build IDs begin with 1: 10, 1122: give more digits" },
		{ "ff", false, SC_EINVAL, "several build IDs begin with ff: ff0102030405060708090a0b0c0d0e0f10111213, "
		  "ff0102030405060708090a0b0c0d0e0f10111213: give more digits" },
		{ "kvm_intel", true, 0, "abcd" }, { "kvm-intel.ko", true, 0, "abcd" },
		{ "kvm.intel", true, SC_ENOTFOUND, "the store has no module named kvm.intel, but 3 debug files without "
		  "a name: index their programs, too, or use --build-id" },
		{ "prog-a", true, 0, "abcd01" }, { "other", true, 0, "abcd01" }, { "lib-x.gz", true, 0, "abcd01" },
		{ "vmlinux", true, SC_ENOTFOUND, "the store has no module named vmlinux, but 3 debug files without a "
		  "name: index their programs, too, or use --build-id" },
		{ "same", true, SC_EINVAL, "several entries are named same: ff0102030405060708090a0b0c0d0e0f10111213, "
		  "ff0102030405060708090a0b0c0d0e0f10111213: choose by --build-id" },
	};
	struct symstore *store = test_open(SYMSTORE_WRITE);
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_reader *reader;
	size_t len;

	(void)state;
	put_facts(store);
	reader = test_reader(store);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int rc = (cases[i].name ? symstore_find_name : symstore_find_id)
			(reader, cases[i].text, id, &len, &test_err);

		if (!rc)
			symcache_build_id_text(test_err.msg, id, len);
		if (rc != cases[i].rc || strcmp(test_err.msg, cases[i].says))
			fail_msg("%s: %d, %s", cases[i].text, rc, test_err.msg);
	}
	memset(id, 0, sizeof(id));
	assert_int_equal(symstore_each(reader, id, 2 * sizeof(id), NULL, NULL, &test_err), 0);
	assert_int_equal(symstore_each(reader, id, 2 * sizeof(id) + 1, NULL, NULL, &test_err), SC_EINVAL);
	assert_string_equal(test_err.msg, "a build ID has no 129 digits");
	symstore_read_end(reader);
	symstore_close(store);
}

/* A server is asked again after a while, by another version, or if the clock was wrong. */
static void missed(void **state)
{
	static const uint8_t id[] = { 1, 2, 3 };
	static const struct { const char *kind, *server; size_t len; } others[] = {
		{ "debuginfod", "http://b", 3 }, { "symbols", "http://a", 3 }, { "debuginfod", "http://a", 2 },
		{ "debuginfod of a kind with a long n", "http://a", 3 },
	};
	const struct sc_hash key = symstore_miss_key("debuginfod", "http://a", id, 3);
	static const struct { int64_t ago, retry; bool counts; } times[] = {
		{ 0, 100, true }, { 50, 100, true }, { 100, 100, false }, { 150, 100, false }, { -1000, 100, false },
	};
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	struct symstore_reader *reader;

	(void)state;
	assert_ok(symstore_remember_miss(writer, &key, "v1", &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	reader = test_reader(store);
	assert_true(symstore_missed(reader, &key, "v1", 100));
	assert_false(symstore_missed(reader, &key, "v2", 100));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct sc_hash other = symstore_miss_key(others[i].kind, others[i].server, id, others[i].len);

		assert_false(symstore_missed(reader, &other, "v1", 100));
	}
	symstore_read_end(reader);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		const struct symstore_outcome outcome = { .code = SC_ENOTFOUND, .time = time(NULL) - times[i].ago };

		writer = test_writer(store);
		assert_ok(symstore_remember(writer, &key, "v1", &outcome, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		reader = test_reader(store);
		assert_int_equal(symstore_missed(reader, &key, "v1", times[i].retry), times[i].counts);
		symstore_read_end(reader);
	}
	symstore_close(store);
}

/* Notes have names of a bounded length; any change of entries drops all of them. */
static void notes(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	char name[SYMCACHE_BUILD_ID_MAX + 2], longer[200];
	const struct symstore_entry e = test_entry(1, 100);
	struct symstore_reader *reader;
	const void *data;
	size_t size;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[SYMCACHE_BUILD_ID_MAX + 1] = 0;
	assert_int_equal(symstore_note(writer, name, "x", 1, &test_err), SC_EINVAL);
	assert_string_equal(test_err.msg, "a note's name of 65 bytes");
	assert_int_equal(symstore_note(writer, "", "x", 1, &test_err), SC_EINVAL);
	name[SYMCACHE_BUILD_ID_MAX] = 0;
	assert_ok(symstore_note(writer, name, "one", 3, &test_err));
	assert_ok(symstore_note(writer, "b", "", 0, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	reader = test_reader(store);
	assert_ok(symstore_get_note(reader, name, &data, &size, &test_err));
	assert_int_equal(size, 3);
	assert_memory_equal(data, "one", 3);
	assert_ok(symstore_get_note(reader, "b", &data, &size, &test_err));
	assert_int_equal(size, 0);
	memset(longer, 'n', sizeof(longer));
	for (size_t len = 122; len <= 124; len++) {
		longer[len] = 0;
		assert_int_equal(symstore_get_note(reader, longer, &data, &size, &test_err), SC_ENOTFOUND);
		assert_int_equal(!strcmp(test_err.msg, "no note has such a name"), len > 122);
		longer[len] = 'n';
	}
	symstore_read_end(reader);

	for (int kind = 0; kind < 4; kind++) {
		struct sc_hash content = { 1, 1 };
		struct symstore_outcome outcome = { .code = SC_ENOSYMBOLS };
		struct test_cache cache = { 1, 100 };

		writer = test_writer(store);
		if (kind == 0)
			assert_ok(symstore_remember(writer, &content, "v1", &outcome, &test_err));
		if (kind == 1)
			assert_ok(symstore_put(writer, &e, test_fill, &cache, NULL, &test_err));
		if (kind == 2)
			assert_ok(symstore_add_words(writer, e.build_id, e.build_id_len, "t", NULL, &test_err));
		if (kind == 3)
			assert_ok(symstore_remove(writer, e.build_id, e.build_id_len, NULL, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		reader = test_reader(store);
		assert_int_equal(symstore_get_note(reader, "b", &data, &size, &test_err), kind ? SC_ENOTFOUND : 0);
		assert_int_equal(symstore_get_note(reader, name, &data, &size, &test_err), kind ? SC_ENOTFOUND : 0);
		symstore_read_end(reader);
		writer = test_writer(store);
		assert_ok(symstore_note(writer, name, "one", 3, &test_err));
		assert_ok(symstore_note(writer, "b", "two", 3, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
	}
	symstore_close(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(tags), TEST(names), TEST(found), TEST(missed), TEST(notes),
	};

	return cmocka_run_group_tests_name("words", tests, test_group_setup, test_group_teardown);
}
