/* Trees in parts: names of parts, manifests that lie, and which entries lie in which part. */
#include "libsymcache/bundle/testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/bundle/tree.h"

#define H64 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeef0"

static void names_of_parts(void **state)
{
	static const struct { const char *text; bool ok; } cases[] = {
		{ "a-" H64, true }, { "0123456789abcdef-" H64, true }, { "0123456789abcdef0-" H64, false },
		{ "-" H64, false }, { H64, false }, { "", false }, { "a", false }, { "a-", false },
		{ "A-" H64, false }, { "g-" H64, false }, { "a-" H64 "0", false },
		{ "a-0" H64, false }, { "a--" H64, false }, { "a-0112233445566778899aabbccddeeff00112233445566778899aabbccddeef0", false },
		{ "a-0A112233445566778899aabbccddeeff00112233445566778899aabbccddeef0", false },
		{ "a-0-112233445566778899aabbccddeeff00112233445566778899aabbccddeef0", false },
	};
	struct tree_part part;
	char name[TREE_NAME], *again;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (tree_part_parse(cases[i].text, strlen(cases[i].text), &part) != cases[i].ok)
			fail_msg("%s", cases[i].text);
		if (!cases[i].ok)
			continue;
		assert_true(part.sha256[0] == 0 && part.sha256[1] == 0x11 && part.sha256[31] == 0xf0);
		assert_int_equal(asprintf(&again, "parts/%s.json", cases[i].text) > 0, 1);
		assert_string_equal(tree_part_name(&part, name), again);
		free(again);
	}
}

static void which_part(void **state)
{
	static const struct { const char *prefix; uint8_t id[4]; size_t len; bool fits; } cases[] = {
		{ "a", { 0xab }, 1, true }, { "b", { 0xab }, 1, false }, { "ab", { 0xab }, 1, true },
		{ "ab0", { 0xab }, 1, true }, { "ab1", { 0xab }, 1, false }, { "abc", { 0xab, 0xcd }, 2, true },
		{ "abcd", { 0xab, 0xcd }, 2, true }, { "abce", { 0xab, 0xcd }, 2, false },
		{ "abcd00", { 0xab, 0xcd, 9 }, 2, true }, { "ac", { 0xab }, 1, false },
	};
	struct tree_top top = { 0 };
	struct tree_part parts[2] = { { .prefix = "1" }, { .prefix = "2f" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tree_part part = { 0 };

		strcpy(part.prefix, cases[i].prefix);
		if (tree_part_fits(&part, cases[i].id, cases[i].len) != cases[i].fits)
			fail_msg("case %zu, %s", i, cases[i].prefix);
	}
	top.data = parts;
	top.len = 2;
	assert_ptr_equal(tree_part_of(&top, (uint8_t[]){ 0x1c }, 1), &parts[0]);
	assert_ptr_equal(tree_part_of(&top, (uint8_t[]){ 0x2f, 1 }, 2), &parts[1]);
	assert_null(tree_part_of(&top, (uint8_t[]){ 0x2e }, 1));
}

#define TREE "{\"format\":\"symcache tree\",\"version\":3,\"entries\":"

/* What a server or a folder may say in the place of a manifest. */
static void manifests(void **state)
{
	static const struct { const char *text, *why; } cases[] = {
		{ TREE "7,\"parts\":[\"1-" H64 "\",\"20-" H64 "\"]}", NULL },
		{ TREE "0,\"parts\":[]}", NULL },
		{ TREE "7,\"parts\":[],\"new\":{\"version\":9,\"entries\":-1,\"parts\":[\"x\"]}}", NULL },
		{ TREE "7,\"parts\":[],\"new\":\"x\",\"more\":[\"x\",-1]}", NULL },
		{ "{\"format\":\"symcache bundle\",\"version\":3}", "not that of a tree in parts" },
		{ "{\"format\":\"symcache trees\",\"version\":3}", "not that of a tree in parts" },
		{ "{\"format\":\"symcache tree\",\"version\":4}", "version 4; this program knows 3" },
		{ "{\"format\":\"symcache tree\",\"version\":2}", "version 2; this program knows 3" },
		{ "{\"x\":{\"format\":\"symcache tree\"}}", "not that of a tree in parts" },
		{ TREE "-1}", "number of entries is negative" },
		{ TREE "1,\"parts\":[\"1\"]}", "a name that is none of a part" },
		{ TREE "1,\"parts\":[\"1-" H64 "\",\"1-" H64 "\"]}", "parts are not in order" },
		{ TREE "1,\"parts\":[\"2-" H64 "\",\"1-" H64 "\"]}", "parts are not in order" },
		{ TREE "1,\"x\":[[[[[[[1]]]]]]]}", NULL },
		{ TREE "1,\"x\":[[[[[[[[1]]]]]]]]}", "levels are too many" },
		{ TREE "1", "not JSON" },
	};
	struct tree_top top;
	char *text;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int rc = tree_top_read(&top, cases[i].text, strlen(cases[i].text), &err);

		if (!rc != !cases[i].why || (rc && !strstr(err.msg, cases[i].why)))
			fail_msg("%s: %s", cases[i].text, rc ? err.msg : "taken");
		if (i == 0) {
			assert_true(top.entries == 7 && top.len == 2 && !strcmp(top.data[1].prefix, "20"));
			assert_ok(tree_top_write(&top, &text, &len, &err));
			assert_string_equal(text, cases[0].text);
			assert_int_equal(len, strlen(text));
			assert_true(tree_begins(text, len) && !tree_begins(text, 10));
			free(text);
		}
		if (!rc)
			tree_top_deinit(&top);
	}
}

/* A manifest of which a part is missing is not taken for a shorter one. */
static void missing_part(void **state)
{
	struct manifest m;
	int rc;

	(void)state;
	mkdir(in_dir("lacks"), 0777);
	save(in_dir("lacks/manifest.json"), TREE "1,\"parts\":[\"1-" H64 "\"]}");
	rc = bundle_read_manifest(in_dir("lacks"), &m, &err);
	assert_int_not_equal(rc, 0);
	assert_non_null(strstr(err.msg, "1-" H64));
}

/* An entry whose cache is in the tree already: what of it is listed is all that is of interest. */
static void add(struct manifest *m, const char *folder, const char *id)
{
	struct symstore_entry entry = { .cache_size = 8, .source_path = "/x", .tool_version = "t" };
	char name[BUNDLE_NAME], path[600];

	entry.build_id_len = strlen(id) / 2;
	for (size_t i = 0; i < entry.build_id_len; i++)
		assert_int_equal(sscanf(id + 2 * i, "%2hhx", &entry.build_id[i]), 1);
	assert_ok(manifest_add(m, &entry, "12345678", true, &err));
	bundle_hashed_name(&m->data[m->len - 1], name);
	snprintf(path, sizeof(path), "%s/%.2s", folder, name);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	save(path, "");
}

/* Adds entries to a tree, which then has parts with these prefixes. */
static void add_some(const char *form, unsigned first, unsigned n, const char *want)
{
	struct symstore *store = own_open("a.store");
	const struct bundle_source how = { .reader = own_reader(store), .level = 1 };
	const char *folder = in_dir("parts");
	struct manifest fresh = { 0 };
	struct tree_written written;
	struct tree_state state;
	char id[60], got[400] = "";
	struct tree_top *top = &state.top;

	mkdir(folder, 0777);
	assert_ok(tree_state_read(folder, &state, &err));
	for (unsigned i = 0; i < n; i++) {
		snprintf(id, sizeof(id), form, first + i);
		add(&fresh, folder, id);
	}
	manifest_sort(&fresh);
	assert_ok(tree_write(folder, &state, &fresh, &how, &written, &err));
	manifest_deinit(&fresh);
	tree_state_deinit(&state);
	assert_ok(tree_state_read(folder, &state, &err));
	for (size_t i = 0; i < top->len; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", top->data[i].prefix);
	assert_string_equal(got, want);
	assert_int_equal(top->entries, state.entries.len);
	tree_state_deinit(&state);
	symstore_read_end(how.reader);
	symstore_close(store);
}

/* A part has 512 entries at most, however long its prefix must be for that, but those of 16 digits
 * alike: a look-up takes the manifest and one part, which stays small. */
static void sizes_of_parts(void **state)
{
	(void)state;
	add_some("2222%08x", 0, 512, "2 ");
	add_some("41%02x", 0, 3, "2 4 ");
	add_some("2222%08x", 512, 1, "2222000000 2222000001 2222000002 4 ");
	add_some("23%02x", 0, 1, "2222000000 2222000001 2222000002 23 4 ");
	add_some("7777777777777777%04x", 0, 514, "2222000000 2222000001 2222000002 23 4 7777777777777777 ");
	add_some("78%02x", 0, 1, "2222000000 2222000001 2222000002 23 4 7777777777777777 78 ");
}

/* What need not be exported to a tree that has this already. */
static void what_a_tree_has(void **state)
{
	enum { D = SYMCACHE_FROM_DWARF, S = SYMCACHE_FROM_SYMTAB };
	static const struct { uint32_t sources; uint64_t hash; int64_t time; const char *tags, *names; bool deltas, has; } cases[] = {
		{ D, 1, 5, "a", "n", false, true }, { D, 1, 9, "", "", false, true }, { D, 1, 1, "b", "n", false, false },
		{ D, 1, 5, "a", "m", false, false }, { D, 1, 5, "a\nb", "n", false, false },
		/* Other bytes: better ones, or newer ones that are as good, come. */
		{ D, 2, 4, "", "", false, true }, { D, 2, 5, "", "", false, false }, { D, 2, 6, "", "", false, false },
		{ S, 2, 9, "b", "m", false, true }, { S, 2, 1, "", "", false, true },
	};
	struct symstore_entry e = { .build_id = { 0xab, 0xcd }, .build_id_len = 2, .sources = D, .cache_size = 8,
				    .cache_hash = 1, .time = 5, .source_path = "/x", .tags = "a", .names = "n" };
	const char *folder = in_dir("had");
	struct tree_state s = { .dir = -1 };
	char name[BUNDLE_NAME], path[600];

	(void)state;
	mkdir(folder, 0777);
	assert_ok(tree_state_read(folder, &s, &err));
	assert_true(s.dir >= 0 && !s.entries.len);
	assert_ok(manifest_add(&s.entries, &e, "12345678", false, &err));
	assert_false(tree_state_has(&s, &e)); /* its file is not there */
	bundle_hashed_name(s.entries.data, name);
	snprintf(path, sizeof(path), "%s/%.2s", folder, name);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	save(path, "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		e.sources = cases[i].sources;
		e.cache_hash = cases[i].hash;
		e.time = cases[i].time;
		e.tags = cases[i].tags;
		e.names = cases[i].names;
		if (tree_state_has(&s, &e) != cases[i].has)
			fail_msg("case %zu", i);
	}
	e.cache_hash = 1;
	e.cache_size = 9; /* other bytes, newer */
	e.time = 6;
	e.sources = D;
	assert_false(tree_state_has(&s, &e));
	e.build_id_len = 1;
	assert_false(tree_state_has(&s, &e));
	/* What is packed against another will do for who gives such himself. */
	e.build_id_len = 2;
	e.cache_size = 8;
	s.entries.data->old.len = 1;
	bundle_hashed_name(s.entries.data, name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	save(path, "");
	assert_false(tree_state_has(&s, &e));
	s.deltas = true;
	e.tags = e.names = "";
	assert_true(tree_state_has(&s, &e));
	tree_state_deinit(&s);
}

/* Files of parts/ that neither the manifest names nor the one before it go, but not what others put
 * there. */
static void old_parts_go(void **state)
{
	static const char *const others[] = { "x.json", "a-12.json", "a.sig", "README" };
	char path[700];

	(void)state;
	testing_run("rm -rf %s/parts", testing_dir);
	for (unsigned i = 0; i < 3; i++) {
		add_some("8%07x", i, 1, "8 ");
		testing_run("cd %s/parts && test $(ls parts/8-*.json | wc -l) = %u", testing_dir, i ? 2 : 1);
		for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++) {
			snprintf(path, sizeof(path), "%s/parts/%s", in_dir("parts"), others[k]);
			if (i)
				assert_int_equal(access(path, F_OK), 0);
			save(path, "");
		}
		/* The signature of an earlier manifest. */
		snprintf(path, sizeof(path), "%s/parts/" H64 ".sig", in_dir("parts"));
		assert_int_equal(access(path, F_OK), -1);
		save(path, "");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_parts), cmocka_unit_test(which_part), cmocka_unit_test(manifests), cmocka_unit_test(missing_part),
		cmocka_unit_test(sizes_of_parts), cmocka_unit_test(what_a_tree_has),
		cmocka_unit_test(old_parts_go),
	};

	return cmocka_run_group_tests_name("tree", tests, testing_set_up, testing_tear_down);
}
