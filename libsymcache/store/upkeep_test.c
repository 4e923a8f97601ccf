/* Work on many entries: which are removed, kept, counted, verified; and which one a text means. */
#include "libsymcache/store/testing.h"

#include "libsymcache/store/upkeep.h"

enum { N = 6, SIZE = 5000 };

/* Entry n + 1: indexed at 1000 · (n + 1); its cache has SIZE · (n + 1) bytes. */
static struct symstore *make_store(void)
{
	static const struct { const char *path, *names, *tags; uint32_t sources, bad_units; } facts[N] = {
		{ "/lib/liba.so", "liba.so\nliba.so.1", "r=1", SYMCACHE_FROM_DWARF | SYMCACHE_FROM_CFI, 0 },
		{ "/lib/libb.so", "libb.so", "", SYMCACHE_FROM_DWARF, 2 },
		{ "/lib/libb.so", "libb.so", "r=1\nx", SYMCACHE_FROM_DYNSYM, 0 },
		{ "/d/0123456789abcdef.debug", "", "", SYMCACHE_FROM_SYMTAB, 0 },
		{ "/boot/vmlinux-6.1", "vmlinux-6.1", "", SYMCACHE_FROM_NAMES | SYMCACHE_FROM_DWARF, 0 },
		{ "/bin/prog", "prog\nother", "", 0, 0 },
	};
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_writer *writer = test_writer(store);
	struct test_cache caches[N];

	for (uint32_t n = 0; n < N; n++) {
		struct symstore_entry e = test_entry(n + 1, SIZE * (n + 1));

		e.time = 1000 * (n + 1);
		e.source_path = facts[n].path;
		e.names = facts[n].names;
		e.tags = facts[n].tags;
		e.sources = facts[n].sources;
		e.bad_units = facts[n].bad_units;
		caches[n] = (struct test_cache){ n + 1, SIZE * (n + 1) };
		assert_ok(symstore_put(writer, &e, test_fill, &caches[n], NULL, &test_err));
	}
	assert_ok(symstore_commit(writer, &test_err));
	return store;
}

static struct symstore_id id_of(uint32_t n)
{
	const struct symstore_entry e = test_entry(n, 0);
	struct symstore_id id = { .len = e.build_id_len };

	memcpy(id.bytes, e.build_id, e.build_id_len);
	return id;
}

/* What goes, by number, in the order in which it is listed. */
static void pruned(void **state)
{
	const struct symstore_id kept[] = { id_of(2), id_of(5), id_of(9) };
	const struct { int64_t indexed, used; uint64_t to_size; bool keep; const char *goes; } cases[] = {
		{ INT64_MIN, INT64_MIN, UINT64_MAX, false, "" }, { 3000, INT64_MIN, UINT64_MAX, false, "1 2 " },
		{ 3001, INT64_MIN, UINT64_MAX, false, "1 2 3 " }, { INT64_MIN, 3000, UINT64_MAX, false, "1 2 " },
		{ INT64_MIN, 3001, UINT64_MAX, false, "1 2 3 " }, { 2000, 3000, UINT64_MAX, false, "1 2 " },
		{ INT64_MIN, INT64_MIN, SIZE * 21, false, "" }, { INT64_MIN, INT64_MIN, SIZE * 21 - 1, false, "1 " },
		{ INT64_MIN, INT64_MIN, SIZE * 11, false, "4 3 2 1 " }, { INT64_MIN, INT64_MIN, 0, false, "6 5 4 3 2 1 " },
		{ 3000, INT64_MIN, SIZE * 15, false, "1 2 3 " }, { INT64_MIN, INT64_MIN, UINT64_MAX, true, "1 3 4 6 " },
		{ INT64_MAX, INT64_MAX, 0, true, "1 3 4 6 " },
	};
	struct symstore *store = make_store();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symstore_prune_rules rules = {
			cases[i].indexed, cases[i].used, cases[i].to_size, cases[i].keep ? kept : NULL, 3,
		};
		struct symstore_removals list = { 0 };
		char goes[100] = "";

		assert_ok(symstore_condemn(store, &rules, &list, &test_err));
		for (size_t k = 0; k < list.len; k++) {
			const struct symstore_removal *r = &list.data[k];

			snprintf(goes + strlen(goes), sizeof(goes) - strlen(goes), "%u ", r->id.bytes[3]);
			assert_int_equal(r->cache_size, SIZE * r->id.bytes[3]);
			assert_int_equal(r->stored_size, r->cache_size);
			assert_int_equal(r->time, 1000 * r->id.bytes[3]);
			assert_int_equal(r->source_path[0], '/');
			assert_false(r->removed);
		}
		if (strcmp(goes, cases[i].goes))
			fail_msg("case %zu: %s", i, goes);
		symstore_removals_deinit(&list);
	}
	symstore_close(store);
}

static void removed(void **state)
{
	const struct symstore_prune_rules rules = { 3001, INT64_MIN, UINT64_MAX, NULL, 0 };
	struct symstore *store = make_store();
	struct symstore_removals list = { 0 };
	struct symstore_info info;
	struct symstore_reader *reader;

	(void)state;
	assert_ok(symstore_condemn(store, &rules, &list, &test_err));
	assert_int_equal(list.len, 3);
	for (int again = 0; again < 2; again++) {
		assert_ok(symstore_remove_all(store, &list, &test_err));
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(list.data[i].removed, !again);
		reader = test_reader(store);
		assert_ok(symstore_info(reader, &info, &test_err));
		assert_int_equal(info.entries, N - 3);
		assert_int_equal(info.used_bytes, info.file_size);
		symstore_read_end(reader);
	}
	symstore_removals_deinit(&list);
	test_valid(store);
	symstore_close(store);
}

static void counted(void **state)
{
	struct symstore *store = make_store();
	struct symstore_reader *reader = test_reader(store);
	struct symstore_totals t;
	static const struct { int kind; uint64_t entries, size; } kinds[] = {
		{ 0, 2, 3 }, { 1, 0, 0 }, { 2, 1, 4 }, { 3, 1, 5 }, { 4, 0, 0 }, { 5, 1, 3 }, { 6, 1, 6 },
	};

	(void)state;
	assert_ok(symstore_count(reader, &t, &test_err));
	for (size_t i = 0; i < SYMSTORE_KINDS; i++) {
		assert_int_equal(t.kinds[i].entries, kinds[i].entries);
		assert_int_equal(t.kinds[i].bytes, SIZE * kinds[i].size);
	}
	assert_int_equal(t.bytes, SIZE * 21);
	assert_int_equal(t.packed.entries + t.packed.bytes + t.packed.stored, 0);
	assert_true(t.tagged == 2 && t.broken == 1 && t.oldest == 1000 && t.newest == 6000);
	symstore_read_end(reader);
	symstore_close(store);
}

/* What to keep, of a file that someone wrote, or that `list` printed. */
static void keep_files(void **state)
{
	static const struct { const char *text; int rc; size_t num; const char *says; } cases[] = {
		{ "0102\n", 0, 1, NULL }, { "0102", 0, 1, NULL }, { "# a list\n\n \t0102  x y\n0102\n03\r\n", 0, 2, NULL },
		{ "#0102\n", SC_EINVAL, 0, "names no build ID: that would remove everything" },
		{ "", SC_EINVAL, 0, "names no build ID" }, { "01\nxyz\n", SC_EINVAL, 0, ":2: " },
		{ "01\n02\n012\n", SC_EINVAL, 0, ":3: '012' is not a whole build ID" },
	};
	struct symstore_ids ids;
	char path[80];

	(void)state;
	snprintf(path, sizeof(path), "%s-keep", test_path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		FILE *f = fopen(path, "we");

		fputs(cases[i].text, f);
		fclose(f);
		assert_int_equal(symstore_keep_read(path, &ids, &test_err), cases[i].rc);
		if (cases[i].says && !strstr(test_err.msg, cases[i].says))
			fail_msg("%s: %s", cases[i].text, test_err.msg);
		if (!cases[i].rc)
			assert_int_equal(ids.len, cases[i].num);
		symstore_ids_deinit(&ids);
	}
	assert_int_equal(symstore_keep_read("/nonexistent", &ids, &test_err), SC_ESYS);
	symstore_ids_deinit(&ids);
}

/* Which entry a build ID, its beginning, or a name means. */
static void found(void **state)
{
	static const struct { const char *text; bool name; int rc; unsigned n; const char *says; } cases[] = {
		{ "00000001a4a5a6a7a8a9aaabacadaeafb0b1b2b3", false, 0, 1, NULL }, { "00000002", false, 0, 2, NULL },
		{ "0000000", false, SC_EINVAL, 0, "several build IDs begin with 0000000: 00000001a4" },
		{ "00000007", false, SC_ENOTFOUND, 0, "not in the store: 00000007" }, { "xy", false, SC_EINVAL, 0, "" },
		{ "liba.so", true, 0, 1, NULL }, { "liba.so.1", true, 0, 1, NULL }, { "other", true, 0, 6, NULL },
		{ "libb.so", true, SC_EINVAL, 0, "several entries are named libb.so: 00000002a4" },
		{ "lib", true, SC_ENOTFOUND, 0, "no module named lib, but one debug file without a name; if it belongs to "
		  "this module, use --build-id 00000004a4" },
		{ "vmlinux", true, 0, 5, NULL }, { "vmlinux-6.1", true, 0, 5, NULL }, { "prog", true, 0, 6, NULL },
	};
	struct symstore *store = make_store();
	struct symstore_reader *reader = test_reader(store);
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int rc = (cases[i].name ? symstore_find_name : symstore_find_id)
			(reader, cases[i].text, id, &len, &test_err);

		if (rc != cases[i].rc || (rc && !strstr(test_err.msg, cases[i].says)))
			fail_msg("%s: %d, %s", cases[i].text, rc, rc ? test_err.msg : "");
		if (!rc)
			assert_true(len == 20 && id[3] == cases[i].n);
	}
	symstore_read_end(reader);
	symstore_close(store);
}

struct verified {
	uint64_t done;
};

static void on_verified(void *ctx, const struct symstore_entry *entry, const struct symstore_faults *faults,
			uint64_t done, uint64_t total)
{
	struct verified *v = ctx;

	assert_int_equal(done, ++v->done);
	assert_int_equal(total, N);
	assert_int_equal(entry->build_id[3], done); /* in their order */
	assert_int_equal(entry->source_path[0], '/');
	assert_true(faults->num == 1 && faults->num_texts == 1); /* test_fill() makes no cache */
}

/* Every one is reported, in order, on any number of threads. */
static void verified(void **state)
{
	struct symstore *store = make_store();
	struct symstore_reader *reader = test_reader(store);

	(void)state;
	for (unsigned threads = 0; threads < 4; threads++) {
		struct verified v = { 0 };

		assert_ok(symstore_verify(reader, threads, on_verified, &v, &test_err));
		assert_int_equal(v.done, N);
	}
	symstore_read_end(reader);
	symstore_close(store);
}

/* Words that are added stay with the entry, whichever are empty; names only up to a bound. */
static void words(void **state)
{
	struct symstore *store = make_store();
	const struct symstore_id id = id_of(6);
	char many[SYMSTORE_NAMES_MAX + 2], *both;
	struct symstore_reader *reader;
	struct symstore_entry e;
	static const struct { const char *tags, *names, *all_tags, *all_names; } steps[] = {
		{ "b", NULL, "b", "other\nprog" }, { NULL, "third", "b", "other\nprog\nthird" },
		{ "a=1", "prog", "a=1\nb", "other\nprog\nthird" }, { "", "", "a=1\nb", "other\nprog\nthird" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct symstore_writer *writer = test_writer(store);

		assert_ok(symstore_add_words(writer, id.bytes, id.len, steps[i].tags, steps[i].names, &test_err));
		assert_ok(symstore_commit(writer, &test_err));
		reader = test_reader(store);
		assert_ok(symstore_entry(reader, id.bytes, id.len, &e, &test_err));
		assert_string_equal(e.tags, steps[i].all_tags);
		assert_string_equal(e.names, steps[i].all_names);
		symstore_read_end(reader);
	}
	for (size_t bytes = SYMSTORE_NAMES_MAX - 1; bytes <= SYMSTORE_NAMES_MAX + 1; bytes++) {
		memset(many, 'x', bytes - 2); /* "a", a newline, and they */
		many[bytes - 2] = 0;
		both = symstore_names_unite("a", many);
		assert_int_equal(strlen(both), bytes <= SYMSTORE_NAMES_MAX ? bytes : 1);
		free(both);
		both = symstore_names_unite(many, "yy");
		assert_int_equal(strlen(both), bytes < SYMSTORE_NAMES_MAX ? bytes + 1 : bytes - 2);
		free(both);
	}
	symstore_close(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(pruned), TEST(removed), TEST(counted), TEST(keep_files), TEST(found), TEST(verified), TEST(words),
	};

	return cmocka_run_group_tests_name("upkeep", tests, test_group_setup, test_group_teardown);
}
