/* What is exported comes back: each record and each byte, in every shape and form; and what the exporter
 * says of it is so. */
#include "libsymcache/bundle/testing.h"

#include <ftw.h>

#include "libsymcache/write/only_names.h"

enum { N = 5 };

static struct own own[N];
static struct symstore *store;

static int set_up(void **state)
{
	/* Of all lengths; two begin alike, two stand next to each other. */
	static const char *const ids[N] = {
		"00112233445566778899aabbccddeeff00112233", "0011223344556677", "7f",
		"8000000000000000000000000000000000000000000000000000000000000000"
		"00000000000000000000000000000000000000000000000000000000000000ff",
		"8000000000000000000000000000000000000001",
	};
	static const char *const programs[N] = { "inlines", "shapes", "inlines", "threads", "inlines" };

	if (testing_set_up(state))
		return -1;
	for (int i = 0; i < N; i++) {
		own[i] = own_entry(programs[i], ids[i]);
		own[i].entry.time += 1000 * i;
		own[i].entry.source_size += (uint64_t)i << 33;
		own[i].entry.bad_units += (uint32_t)i;
	}
	own[2].entry.tags = own[2].entry.debug_path = own[2].entry.transforms = own[2].entry.names = "";
	own[3].entry.tags = "only";
	store = own_open("a.store");
	own_put(store, own, N);
	own_keys();
	return 0;
}

static int tear_down(void **state)
{
	symstore_close(store);
	for (int i = 0; i < N; i++)
		free(own[i].cache);
	return testing_tear_down(state);
}

/* What callbacks said. */
struct heard {
	bool names_only, seen[N];
	unsigned entries, faults, missing, damaged;
	uint64_t hashed, hash_total, written, write_total, read, read_total;
	struct symstore_id missed;
	char last_fault[300];
};

static void on_hashing(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	struct heard *h = ctx;

	assert_int_equal(done, h->hashed++);
	assert_int_equal(strncmp(item, "/opt/", 5), 0);
	h->hash_total = total;
}

static void on_writing(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	struct heard *h = ctx;

	assert_int_equal(done, h->written++);
	assert_int_equal(strncmp(item, "/opt/", 5), 0);
	h->write_total = total;
}

static void on_reading(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	struct heard *h = ctx;

	assert_int_equal(done, h->read++);
	assert_non_null(item);
	h->read_total = total;
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	struct heard *h = ctx;

	snprintf(h->last_fault, sizeof(h->last_fault), "%s: %s", name, why);
	h->faults++;
}

static void on_damaged(void *ctx, const char *why)
{
	(void)why;
	((struct heard *)ctx)->damaged++;
}

static void on_missing(void *ctx, const struct symstore_id *id)
{
	((struct heard *)ctx)->missing++;
	((struct heard *)ctx)->missed = *id;
}

/* The cache as it should be, with its names alone or whole. */
static int on_entry(void *ctx, const struct symstore_entry *entry, const void *cache, size_t size,
		    struct sc_error *error)
{
	struct heard *h = ctx;
	struct symcache opened, whole;
	void *names = NULL;
	size_t i = 0, want;

	(void)error;
	while (i < N && (own[i].entry.build_id_len != entry->build_id_len ||
			 memcmp(own[i].entry.build_id, entry->build_id, entry->build_id_len)))
		i++;
	assert_in_range(i, 0, N - 1);
	assert_false(h->seen[i]);
	h->seen[i] = true;
	h->entries++;
	same_record(entry, &own[i].entry);
	want = own[i].size;
	if (h->names_only) {
		assert_ok(symcache_open(&whole, own[i].cache, own[i].size, &err));
		assert_ok(symcache_only_names(&whole, &names, &want, &err));
	}
	assert_int_equal(size, want);
	assert_memory_equal(cache, names ? names : own[i].cache, want);
	assert_int_equal((uintptr_t)cache % 8, 0);
	assert_int_equal(entry->cache_size, want);
	assert_true(entry->cache_hash == XXH3_64bits(cache, size));
	assert_ok(symcache_open(&opened, cache, size, &err));
	assert_int_equal(entry->sources, opened.image->sources & ~(names ? (uint32_t)SYMCACHE_FROM_DWARF : 0));
	free(names);
	return 0;
}

static struct symbundle_exported export_to(const char *name, struct symbundle_export_options o, struct heard *h)
{
	struct symstore_reader *reader = own_reader(store);
	struct symbundle_exported done;

	o.missing = on_missing;
	o.damaged = on_damaged;
	o.hashing = on_hashing;
	o.writing = on_writing;
	o.ctx = h;
	assert_ok(symbundle_export(reader, in_dir(name), symbundle_shape_of(name), &o, &done, &err));
	symstore_read_end(reader);
	assert_int_equal(h->damaged + done.damaged, 0);
	return done;
}

static int read_from(const char *name, struct symbundle_reader r, struct heard *h)
{
	r.entry = on_entry;
	r.fault = on_fault;
	r.missing = on_missing;
	r.progress = on_reading;
	r.ctx = h;
	return symbundle_read(in_dir(name), &r, &err);
}

static const struct form {
	const char *name;
	int format, level;
	bool names_only, sign;
} forms[] = {
	{ "a1.store", 0, 0, false, false }, { "a2.store", 0, 0, true, true },
	{ "plain", 1, 0, false, false }, { "plain-signed", 1, 0, false, true },
	{ "packed", 2, 0, false, false }, { "packed-signed", 0, 1, true, true },
	{ "plain.tar.zst", 1, 0, true, false }, { "plain-signed.tzst", 1, 0, false, true },
	{ "packed.tar.zst", 2, 19, false, false }, { "packed-signed.tar.zst", 0, 0, false, true },
};
enum { FORMS = sizeof(forms) / sizeof(*forms) };

static struct symbundle_export_options options_of(const struct form *f)
{
	return (struct symbundle_export_options){
		.format = f->format, .level = f->level, .names_only = f->names_only,
		.sign_key = f->sign ? in_dir("key") : NULL,
	};
}

static void all_comes_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		const struct form *f = &forms[i];
		struct heard h = { .names_only = f->names_only };
		const struct symbundle_exported done = export_to(f->name, options_of(f), &h);
		enum symbundle_shape shape;
		uint64_t bytes = 0;

		print_message("%s\n", f->name);
		assert_int_equal(done.exported, N);
		assert_int_equal(done.deltas + done.as_before + done.missing + done.damaged, 0);
		for (int k = 0; k < N; k++)
			bytes += own[k].size;
		assert_true(f->names_only ? done.bytes < bytes / 2 : done.bytes == bytes);
		assert_true(h.hashed == N && h.hash_total == N && h.written == N && h.write_total == N);
		assert_true(symbundle_is_one(in_dir(f->name), &shape) && shape == symbundle_shape_of(f->name));
		assert_ok(read_from(f->name, (struct symbundle_reader){
			.verify_key = f->sign ? in_dir("pub") : NULL }, &h));
		assert_true(h.entries == N && h.faults == 0 && h.missing == 0);
		assert_true(h.read == N && h.read_total == N);
		assert_int_equal(read_from(f->name, (struct symbundle_reader){
			.verify_key = in_dir("other") }, &h), SC_EFORMAT);
		if (!f->sign)
			assert_non_null(strstr(err.msg, "it is not signed"));
	}
}

/* Some of them, by build IDs, one of which is not there, and by tags: when written, and when read. */
static void some_come_back(void **state)
{
	static const char *const tags[] = { "release", NULL };
	const struct symstore_selection tagged = { .tags = tags, SYMSTORE_ANY };
	struct symstore_id ids[4] = { { { 0 }, 0 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		memcpy(ids[i].bytes, own[i + 1].entry.build_id, own[i + 1].entry.build_id_len);
		ids[i].len = own[i + 1].entry.build_id_len;
	}
	ids[3] = (struct symstore_id){ { 0x7e }, 1 };
	assert_int_equal(symstore_ids_sort(ids, 4), 4);
	for (size_t i = 0; i < FORMS; i++) {
		const struct form *f = &forms[i];
		const struct symbundle_reader all = { .verify_key = NULL },
			three = { .ids = ids, .num_ids = 4 }, two = { .ids = ids, .num_ids = 4, .choose = &tagged };
		struct symbundle_export_options o = options_of(f);
		struct heard h = { .names_only = f->names_only }, g = h, k = h;
		struct symbundle_exported done;
		char name[60];

		print_message("%s\n", f->name);
		assert_ok(read_from(f->name, three, &h));
		assert_true(h.entries == 3 && h.seen[1] && h.seen[2] && h.seen[3] && h.faults == 0);
		assert_true(h.missing == 1 && h.missed.bytes[0] == 0x7e && h.missed.len == 1);
		assert_ok(read_from(f->name, two, &g));
		assert_true(g.entries == 1 && g.seen[1] && g.faults == 0);
		o.ids = ids;
		o.num_ids = 4;
		o.choose = &tagged;
		snprintf(name, sizeof(name), "some-%s", f->name);
		done = export_to(name, o, &k);
		assert_true(done.exported == 1 && done.missing == 1 && k.missing == 1);
		assert_int_equal(done.bytes < own[1].size, f->names_only);
		assert_true(k.missed.bytes[0] == 0x7e);
		k.read = 0;
		assert_ok(read_from(name, all, &k));
		assert_true(k.entries == 1 && k.seen[1]);
	}
}

static bool on_has(void *ctx, const struct symstore_entry *entry)
{
	const bool has = !memcmp(entry->build_id, own[2].entry.build_id, own[2].entry.build_id_len);

	((struct heard *)ctx)->read += has; /* progress goes on behind it */
	return has;
}

/* Of a tree in parts the caches that the reader has are not read. */
static void what_is_there_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		const struct form *f = &forms[i];
		struct heard h = { .names_only = f->names_only };

		if (symbundle_shape_of(f->name) != SYMBUNDLE_TREE || f->format == 1)
			continue;
		assert_ok(read_from(f->name, (struct symbundle_reader){ .has = on_has }, &h));
		assert_true(h.entries == N - 1 && !h.seen[2] && h.faults == 0 && h.missing == 0);
		assert_true(h.read == N && h.read_total == N);
	}
}

/* Takes entry 1 out of a store, and puts another one in its place (or NULL). The manifest, which goes when
 * entries change, is put back. */
static void harm_store(const char *name, const struct own *other)
{
	struct symstore *harmed = own_open(name);
	struct symstore_reader *reader = own_reader(harmed);
	const void *text;
	size_t size;
	char *copy;
	struct symstore_writer *writer;

	assert_ok(symstore_get_note(reader, SYMBUNDLE_MANIFEST, &text, &size, &err));
	copy = memcpy(malloc(size), text, size);
	symstore_read_end(reader);
	assert_ok(symstore_write_begin(harmed, &writer, &err));
	assert_ok(symstore_remove(writer, own[1].entry.build_id, own[1].entry.build_id_len, NULL, &err));
	if (other)
		assert_ok(symstore_put(writer, &other->entry, NULL, other->cache, NULL, &err));
	assert_ok(symstore_commit(writer, &err));
	assert_ok(symstore_write_begin(harmed, &writer, &err));
	assert_ok(symstore_note(writer, SYMBUNDLE_MANIFEST, copy, size, &err));
	assert_ok(symstore_commit(writer, &err));
	free(copy);
	symstore_close(harmed);
}

/* One of them is gone, or another cache is in its place: that is said, and the rest comes back. */
static void names_what_is_bad(void **state)
{
	struct own other = own_entry("threads", "0011223344556677");
	static const struct { const char *form, *what, *says; unsigned entries; } cases[] = {
		{ "a1.store", "gone", "00/11223344556677.symcache: missing: the bundle is damaged", N - 1 },
		{ "a1.store", "other", "00/11223344556677.symcache: ", N - 1 },
		{ "plain", "gone", "00/11223344556677.symcache: cannot open: No such file", N - 1 },
		{ "plain", "other", "00/11223344556677.symcache: ", N - 1 },
		{ "packed", "gone", "it is not there", N - 1 },
		{ "packed", "other", "not the packed cache of which the manifest speaks", N - 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct heard h = { 0 };
		const bool gone = !strcmp(cases[i].what, "gone");

		testing_run("rm -rf %s/bad*; cp -r %s/%s %s/bad%s", testing_dir, testing_dir, cases[i].form, testing_dir,
			    i < 2 ? ".store" : "");
		if (i < 2)
			harm_store("bad.store", gone ? NULL : &other);
		else
			testing_run("cd %s/bad; f=$(ls 00/11223344556677.*); rm $f; %s || cp 80/*01.* $f", testing_dir,
				    gone ? "true" : "false");
		assert_ok(read_from(i < 2 ? "bad.store" : "bad", (struct symbundle_reader){ .verify_key = NULL }, &h));
		assert_int_equal(h.entries, cases[i].entries);
		assert_int_equal(h.faults, 1);
		if (!strstr(h.last_fault, cases[i].says))
			fail_msg("%s, %s: %s", cases[i].form, cases[i].what, h.last_fault);
	}
	free(other.cache);
}

static uint64_t tree_bytes;

static int add_size(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)path, (void)ftw;
	tree_bytes += kind == FTW_F ? (uint64_t)st->st_size : 0;
	return 0;
}

/* As xxhsum -H128 prints it. */
static void check_hash(const char *path, const char *want)
{
	static char text[1 << 20];
	FILE *f = fopen(path, "re");
	XXH128_hash_t hash;
	char hex[33];

	assert_non_null(f);
	hash = XXH3_128bits(text, fread(text, 1, sizeof(text), f));
	fclose(f);
	snprintf(hex, sizeof(hex), "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	assert_string_equal(hex, want);
}

/* An estimate says how many bytes a tree has, and writes nothing; and the hash is that of the manifest,
 * which --hashed puts into the name. */
static void estimates(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		struct symbundle_export_options o = options_of(&forms[i]);
		struct heard h = { 0 }, g = { 0 };
		struct symbundle_exported done, named;
		char name[120];

		tree_bytes = 0;
		nftw(in_dir(forms[i].name), add_size, 10, FTW_PHYS);
		o.estimate = true;
		snprintf(name, sizeof(name), "guess-%s", forms[i].name);
		done = export_to(name, o, &h);
		assert_int_not_equal(access(in_dir(name), F_OK), 0);
		if (symbundle_shape_of(name) == SYMBUNDLE_TREE)
			assert_int_equal(done.bundle_bytes, tree_bytes);
		else if (symbundle_shape_of(name) == SYMBUNDLE_ARCHIVE && forms[i].format != 1)
			assert_in_range(done.bundle_bytes, tree_bytes / 4, tree_bytes + 500);
		assert_int_equal(done.exported, N);
		o.estimate = false;
		o.name_hash = true;
		named = export_to(name, o, &g);
		assert_int_equal(strlen(named.hash), 32);
		assert_int_not_equal(access(in_dir(name), F_OK), 0);
		if (symbundle_shape_of(name) != SYMBUNDLE_TREE)
			continue;
		snprintf(name, sizeof(name), "guess-%s-%s/" SYMBUNDLE_MANIFEST, forms[i].name, named.hash);
		check_hash(in_dir(name), named.hash);
	}
}

/* What an earlier bundle has is left out, unless its tags are others now; whatever the bundle is. */
static void since(void **state)
{
	struct symstore_writer *writer;

	(void)state;
	assert_ok(symstore_write_begin(store, &writer, &err));
	assert_ok(symstore_add_words(writer, own[2].entry.build_id, 1, "fresh", NULL, &err));
	assert_ok(symstore_commit(writer, &err));
	own[2].entry.tags = "fresh";
	for (size_t i = 0; i < FORMS; i++) {
		struct symbundle_export_options o = { .since = in_dir(forms[i].name), .format = 1,
						      .names_only = forms[i].names_only };
		struct heard h = { .names_only = forms[i].names_only };
		struct symbundle_exported done;
		char name[60];

		snprintf(name, sizeof(name), "since-%s", forms[i].name);
		done = export_to(name, o, &h);
		assert_true(done.exported == 1 && done.as_before == N - 1);
		assert_ok(read_from(name, (struct symbundle_reader){ .verify_key = NULL }, &h));
		assert_true(h.entries == 1 && h.seen[2]);
		/* Nothing is new: the bundle is empty, and that is no fault. */
		struct heard now = { .names_only = forms[i].names_only }, none = now;
		export_to("now", (struct symbundle_export_options){ .names_only = now.names_only }, &now);
		o = options_of(&forms[i]);
		o.since = in_dir("now");
		snprintf(name, sizeof(name), "none-%s", forms[i].name);
		done = export_to(name, o, &none);
		assert_true(done.exported == 0 && done.as_before == N);
		assert_ok(read_from(name, (struct symbundle_reader){ .verify_key = o.sign_key ? in_dir("pub") : NULL }, &none));
		assert_true(none.entries == 0 && none.faults == 0);
		testing_run("rm -r %s/now", testing_dir);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_comes_back), cmocka_unit_test(some_come_back),
		cmocka_unit_test(what_is_there_stays),
		cmocka_unit_test(names_what_is_bad),
		cmocka_unit_test(estimates), cmocka_unit_test(since),
	};

	return cmocka_run_group_tests_name("round trip", tests, set_up, tear_down);
}
