/* Which of the entries that the receiver has an entry is written against: a bad choice makes large
 * bundles, and a wrong one makes bundles that cannot be imported. */
#include "libsymcache/bundle/testing.h"

#include "libsymcache/bundle/manifest.h"
#include "libsymcache/bundle/reading.h"

enum { NAMES = 1, OTHER_MACHINE = 2, MOST = 3 };

struct candidate {
	const char *id, *names; /* names "": that of its file alone, which is `path` */
	int time, flags;
	const char *path;
};

static const struct {
	const char *what, *id, *names, *path;
	struct candidate has[MOST];
	const char *want; /* a build ID; "": none */
} cases[] = {
	{ "numbers are left aside", "a0", "a.so.12", "/x", { { "a1", "a.so.9", 5, 0, "/x" } }, "a1" },
	{ "another name", "b0", "b.so.12", "/x", { { "b1", "bb.so.12", 5, 0, "/x" } }, "" },
	{ "the newest", "c0", "c.so", "/x", { { "c1", "c.so", 5, 0, "/x" }, { "c2", "c.so", 7, 0, "/x" },
					      { "c3", "c.so", 6, 0, "/x" } }, "c2" },
	{ "of the same time the last", "d0", "d.so", "/x", { { "d1", "d.so", 5, 0, "/x" },
		{ "d2", "d.so", 5, 0, "/x" } }, "d2" },
	{ "most names that are the same", "e0", "e.so\ne.so.3", "/x", { { "e1", "e.so\ne.so.3", 1, 0, "/x" },
		{ "e2", "e.so\ne.so.4", 9, 0, "/x" }, { "e3", "e.so", 8, 0, "/x" } }, "e1" },
	{ "its own build ID", "f0", "f.so.2", "/x", { { "f0", "f.so.1", 1, 0, "/x" },
		{ "f1", "f.so.2", 9, 0, "/x" } }, "f0" },
	{ "names alone are for names alone", "1a", "g.so", "/x", { { "1b", "g.so", 9, NAMES, "/x" },
		{ "1c", "g.so", 1, 0, "/x" } }, "1c" },
	{ "another machine", "2a", "h.so", "/x", { { "2b", "h.so", 9, OTHER_MACHINE, "/x" },
		{ "2c", "h.so", 1, 0, "/x" } }, "2c" },
	{ "files without names", "3a", "", "/lib/i.so.3", { { "3b", "", 1, 0, "/usr/lib/debug/i.so.4.debug" } }, "3b" },
	{ "a name among several", "4a", "k.so.1\nl.so.2", "/x", { { "4b", "aa\nl.so.7\nzz", 1, 0, "/x" } }, "4b" },
	{ "a long and a short one", "5a", "m", "/x", { { "5b", "mm", 1, 0, "/x" } }, "" },
	{ "digits in other places", "6a", "n1o", "/x", { { "6b", "no1", 1, 0, "/x" } }, "" },
	{ "more digits", "7a", "p1q", "/x", { { "7b", "p123q", 1, 0, "/x" } }, "7b" },
};
enum { CASES = sizeof(cases) / sizeof(*cases) };

static void chosen(void **state)
{
	struct own fresh[CASES], has[CASES * MOST];
	struct symstore *store = own_open("new.store"), *old = own_open("old.store");
	const struct symbundle_export_options o = { .level = 1, .delta_from = in_dir("old.store") };
	struct symbundle_exported done;
	struct symstore_reader *reader;
	struct manifest m;
	size_t n = 0, against = 0;

	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		fresh[i] = own_entry("inlines", cases[i].id);
		fresh[i].entry.names = cases[i].names;
		fresh[i].entry.source_path = cases[i].path;
		for (const struct candidate *c = cases[i].has; c < cases[i].has + MOST && c->id; c++, n++) {
			has[n] = own_entry("shapes", c->id);
			if (c->flags & OTHER_MACHINE)
				((struct symcache_header *)has[n].cache)->arch = SYMCACHE_ARCH_ARM64;
			own_sources(&has[n], c->flags & NAMES ? SYMCACHE_FROM_NAMES : has[n].entry.sources);
			has[n].entry.names = c->names;
			has[n].entry.source_path = c->path;
			has[n].entry.time = c->time;
		}
	}
	own_put(store, fresh, CASES);
	own_put(old, has, n);
	reader = own_reader(store);
	assert_ok(symbundle_export(reader, in_dir("d"), SYMBUNDLE_TREE, &o, &done, &err));
	assert_ok(bundle_read_manifest(in_dir("d"), &m, &err));
	assert_int_equal(m.len, CASES);
	for (size_t i = 0; i < CASES; i++) {
		const struct manifest_entry *e =
			manifest_find(&m, fresh[i].entry.build_id, fresh[i].entry.build_id_len);
		char got[3] = "";

		if (e->old.len)
			snprintf(got, sizeof(got), "%02x", e->old.bytes[0]);
		if (strcmp(got, cases[i].want))
			fail_msg("%s: '%s'", cases[i].what, got);
		against += e->old.len > 0;
	}
	assert_int_equal(done.deltas, against);
	manifest_deinit(&m);
	symstore_read_end(reader);
	symstore_close(store);
	symstore_close(old);
	for (size_t i = 0; i < CASES; i++)
		free(fresh[i].cache);
	while (n)
		free(has[--n].cache);
}

/* From the store itself: what is exported, and what the import of it replaces, may be gone by then. */
static void of_the_same_store(void **state)
{
	static const char *const ids[] = { "a1", "a2", "a3" };
	const struct symstore_id chosen = { { 0xa3 }, 1 };
	struct symstore *store = own_open("same.store");
	const struct symbundle_export_options o = {
		.level = 1, .delta_from = in_dir("same.store"), .ids = &chosen, .num_ids = 1,
	}, all = { .level = 1, .delta_from = in_dir("same.store") };
	struct symbundle_exported done;
	struct symstore_reader *reader;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct own one = own_entry(i ? "shapes" : "inlines", ids[i]);

		own_put(store, &one, 1);
		free(one.cache);
	}
	reader = own_reader(store);
	assert_ok(symbundle_export(reader, in_dir("one.tar.zst"), SYMBUNDLE_ARCHIVE, &o, &done, &err));
	assert_true(done.exported == 1 && done.deltas == 1);
	assert_ok(symbundle_export(reader, in_dir("all.tar.zst"), SYMBUNDLE_ARCHIVE, &all, &done, &err));
	assert_true(done.exported == 3 && done.deltas == 0);
	symstore_read_end(reader);
	symstore_close(store);
}

/* Of those of a name that are for another machine eight are looked at, and no more. */
static void tries(void **state)
{
	enum { LOOKED_AT = 8, MANY = LOOKED_AT + 2 };

	(void)state;
	for (size_t n = LOOKED_AT - 1; n <= LOOKED_AT; n++) {
		struct symstore *store = own_open("few.store"), *old = own_open("many.store");
		const struct symbundle_export_options o = { .level = 1, .delta_from = in_dir("many.store") };
		struct own fresh = own_entry("inlines", "aa"), has[MANY];
		struct symbundle_exported done;
		struct symstore_reader *reader;

		own_put(store, &fresh, 1);
		free(fresh.cache);
		for (size_t i = 0; i <= n; i++) {
			char id[5];

			snprintf(id, sizeof(id), "bb%02zx", i);
			has[i] = own_entry("shapes", id);
			if (i) /* the oldest will do */
				((struct symcache_header *)has[i].cache)->arch = SYMCACHE_ARCH_ARM64;
			own_rehash(&has[i]);
			has[i].entry.time = (int64_t)i;
		}
		own_put(old, has, n + 1);
		reader = own_reader(store);
		assert_ok(symbundle_export(reader, in_dir("few.tar.zst"), SYMBUNDLE_ARCHIVE, &o, &done, &err));
		assert_int_equal(done.deltas, n < LOOKED_AT);
		symstore_read_end(reader);
		symstore_close(store);
		symstore_close(old);
		for (size_t i = 0; i <= n; i++)
			free(has[i].cache);
		testing_run("rm %s/few.store* %s/many.store*", testing_dir, testing_dir);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { 
		cmocka_unit_test(chosen), cmocka_unit_test(of_the_same_store), cmocka_unit_test(tries),
	 };

	return cmocka_run_group_tests_name("deltas", tests, testing_set_up, testing_tear_down);
}
