/* Imports: which of two entries of a build ID stays, what is counted, and what becomes of tags. */
#include "libsymcache/bundle/testing.h"

#include <time.h>

enum { D = SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB, S = SYMCACHE_FROM_SYMTAB, EARLY = 1600000000, LATE = 1700000000 };

/* An entry as the store has it, or the bundle. program NULL: it has none. */
struct side {
	const char *program;
	uint32_t sources;
	int64_t time;
	const char *path, *tags;
};

static const struct {
	const char *what;
	struct side there, comes;
	bool no_replace;
	bool taken; /* the bundle's bytes are in the store */
	struct symbundle_imported want;
	int conflicts, replaced; /* calls */
	const char *tags;        /* afterwards */
} cases[] = {
	{ "a new one", { 0 }, { "inlines", D, EARLY, "/a", "t" }, false, true, { .imported = 1 }, 0, 0, "own\nt" },
	{ "a new one, pinned elsewhere", { 0 }, { "inlines", D, EARLY, "/a", "pinned\nt" }, false, true,
	  { .imported = 1 }, 0, 0, "own\nt" },
	{ "a new one is also taken without replacing", { 0 }, { "inlines", D, EARLY, "/a", "" }, true, true,
	  { .imported = 1 }, 0, 0, "own" },
	{ "the same", { "inlines", D, EARLY, "/a", "s" }, { "inlines", D, LATE, "/b", "t" }, false, true,
	  { .unchanged = 1 }, 0, 0, "own\ns\nt" },
	{ "as good, later", { "inlines", D, EARLY, "/a", "s" }, { "shapes", D, LATE, "/b", "t" }, false, true,
	  { .imported = 1, .conflicts = 1 }, 1, 0, "own\ns\nt" },
	{ "as good, at the same time", { "inlines", D, EARLY, "/a", "s" }, { "shapes", D, EARLY, "/b", "t" }, false,
	  true, { .imported = 1, .conflicts = 1 }, 1, 0, "own\ns\nt" },
	{ "as good, earlier", { "inlines", D, LATE, "/a", "s" }, { "shapes", D, EARLY, "/b", "t" }, false, false,
	  { .better_in_store = 1, .conflicts = 1 }, 1, 0, "own\ns\nt" },
	{ "better, of another file", { "inlines", S, LATE, "/a", "s" }, { "shapes", D, EARLY, "/b", "t" }, false,
	  true, { .imported = 1 }, 0, 1, "own\ns\nt" },
	{ "better, of the same file", { "inlines", S, LATE, "/a", "s" }, { "shapes", D, EARLY, "/a", "t" }, false,
	  true, { .imported = 1 }, 0, 0, "own\ns\nt" },
	{ "worse", { "inlines", D, EARLY, "/a", "s" }, { "shapes", S, LATE, "/b", "t" }, false, false,
	  { .better_in_store = 1 }, 0, 0, "own\ns\nt" },
	{ "pinned", { "inlines", S, EARLY, "/a", "pinned" }, { "shapes", D, LATE, "/b", "t" }, false, false,
	  { .kept = 1 }, 0, 0, "own\npinned\nt" },
	{ "nothing is to be replaced", { "inlines", S, EARLY, "/a", "s" }, { "shapes", D, LATE, "/b", "t" }, true,
	  false, { .kept = 1 }, 0, 0, "own\ns\nt" },
	{ "the same, and nothing is to be replaced", { "inlines", S, EARLY, "/a", "pinned" },
	  { "inlines", S, LATE, "/b", "t" }, true, true, { .unchanged = 1 }, 0, 0, "own\npinned\nt" },
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

/* Calls by cases: each has a build ID of its own. */
struct heard {
	int conflicts[CASES], replaced[CASES];
	bool taken[CASES];
};

static void on_conflict(void *ctx, const struct symstore_entry *entry, bool taken)
{
	struct heard *h = ctx;

	assert_string_equal(entry->source_path, "/b");
	h->conflicts[entry->build_id[1]]++;
	h->taken[entry->build_id[1]] = taken;
}

static void on_replaced(void *ctx, const struct symstore_entry *entry, const struct symstore_entry *old)
{
	assert_string_equal(entry->source_path, "/b");
	assert_string_equal(old->source_path, "/a");
	((struct heard *)ctx)->replaced[entry->build_id[1]]++;
}

/* As case `i` has it. */
static struct own make_side(const struct side *s, size_t i)
{
	char id[20];
	struct own o;

	snprintf(id, sizeof(id), "ab%02zxef", i);
	o = own_entry(s->program, id);
	own_sources(&o, s->sources);
	o.entry.time = s->time;
	o.entry.source_path = s->path;
	o.entry.source_hash.low64 = (uint64_t)s->path[1]; /* other content */
	o.entry.tags = s->tags;
	return o;
}

/* The cases that have `no_replace` so: what comes, or what is there. */
static void put_sides(struct symstore *store, bool no_replace, bool comes)
{
	struct own list[CASES];
	size_t n = 0;

	for (size_t i = 0; i < CASES; i++) {
		const struct side *side = comes ? &cases[i].comes : &cases[i].there;

		if (cases[i].no_replace == no_replace && side->program)
			list[n++] = make_side(side, i);
	}
	own_put(store, list, n);
	while (n)
		free(list[--n].cache);
}

static void export_all(struct symstore *store, const char *bundle)
{
	const struct symbundle_export_options o = { .format = 0 };
	struct symstore_reader *reader = own_reader(store);
	struct symbundle_exported done;

	testing_run("rm -rf %s", in_dir(bundle));
	assert_ok(symbundle_export(reader, in_dir(bundle), symbundle_shape_of(bundle), &o, &done, &err));
	symstore_read_end(reader);
}

static void add_counts(struct symbundle_imported *to, const struct symbundle_imported *n)
{
	to->imported += n->imported;
	to->unchanged += n->unchanged;
	to->better_in_store += n->better_in_store;
	to->conflicts += n->conflicts;
	to->kept += n->kept;
	to->bad += n->bad;
}

static void check_case(struct symstore_reader *reader, size_t i, const struct heard *h)
{
	const struct side *side = cases[i].taken ? &cases[i].comes : &cases[i].there;
	struct own want = make_side(side, i);
	struct symstore_entry e;

	print_message("%s\n", cases[i].what);
	assert_int_equal(h->conflicts[i], cases[i].conflicts);
	assert_int_equal(h->replaced[i], cases[i].replaced);
	assert_true(!h->conflicts[i] || h->taken[i] == cases[i].taken);
	assert_ok(symstore_entry(reader, want.entry.build_id, want.entry.build_id_len, &e, &err));
	assert_string_equal(e.tags, cases[i].tags);
	assert_true(e.cache_hash == XXH3_64bits(want.cache, want.size));
	free(want.cache);
}

/* The cases that have `no_replace` so, in a bundle of this shape, as each shape is read by other code. */
static void import_cases(bool no_replace, const char *bundle)
{
	struct heard heard = { 0 };
	const struct symbundle_import_options o = {
		.tags = "own", .no_replace = no_replace, .conflict = on_conflict, .replaced = on_replaced,
		.ctx = &heard,
	};
	struct symbundle_imported done = { 0 }, want = { 0 };
	struct symstore *from, *to;
	struct symstore_reader *reader;

	testing_run("rm -f %s/*.store*", testing_dir);
	from = own_open("from.store");
	to = own_open("to.store");
	put_sides(from, no_replace, true);
	put_sides(to, no_replace, false);
	for (size_t i = 0; i < CASES; i++)
		if (cases[i].no_replace == no_replace)
			add_counts(&want, &cases[i].want);
	export_all(from, bundle);
	assert_ok(symbundle_import(&to, in_dir(bundle), &o, &done, &err));
	reader = own_reader(to);
	for (size_t i = 0; i < CASES; i++)
		if (cases[i].no_replace == no_replace)
			check_case(reader, i, &heard);
	assert_memory_equal(&done, &want, sizeof(done));
	symstore_read_end(reader);
	symstore_close(to);
	symstore_close(from);
}

static void who_stays(void **state)
{
	static const char *const bundles[] = { "b.store", "b.tar.zst", "b" };

	(void)state;
	for (int shape = 0; shape < 3; shape++) {
		import_cases(false, bundles[shape]);
		import_cases(true, bundles[shape]);
	}
}

/* Again, nothing is new; a time in the future becomes now; what is imported may be stored packed. */
static void again(void **state)
{
	static const uint8_t id[] = { 0xab, 0, 0xef };
	const struct side comes = { "layouts.gcc4", D, INT64_MAX / 2, "/b", "t" };
	const struct symbundle_import_options o = { .packed = true };
	struct symbundle_imported done = { 0 };
	struct symstore *store = own_open("late.store");
	struct symstore_reader *reader;
	const int64_t before = time(NULL);
	struct own late;
	struct symstore_entry e;

	(void)state;
	late = make_side(&comes, 0);
	own_put(store, &late, 1);
	free(late.cache);
	export_all(store, "b");
	symstore_close(store);
	store = own_open("again.store");
	for (uint64_t i = 0; i < 3; i++) {
		assert_ok(symbundle_import(&store, in_dir("b"), &o, &done, &err));
		assert_true(done.imported == 1 && done.unchanged == i);
	}
	reader = own_reader(store);
	assert_ok(symstore_entry(reader, id, sizeof(id), &e, &err));
	assert_in_range(e.time, before, time(NULL));
	assert_in_range(e.packed_size, 100, e.cache_size - 1);
	assert_string_equal(e.tags, "t");
	symstore_read_end(reader);
	symstore_close(store);
}

static void pin(void *ctx, const struct symstore_entry *entry, const struct symstore_entry *old)
{
	struct symstore_writer *writer;

	(void)old;
	assert_ok(symstore_write_begin(ctx, &writer, &err));
	assert_ok(symstore_add_words(writer, entry->build_id, entry->build_id_len, "pinned", NULL, &err));
	assert_ok(symstore_commit(writer, &err));
}

/* An entry that another program pins meanwhile stays, too, and is counted so. */
static void pinned_meanwhile(void **state)
{
	static const struct side there = { "inlines", S, EARLY, "/a", "x" }, comes = { "shapes", D, LATE, "/b", "t" };
	struct symstore *from = own_open("comes.store"), *to = own_open("there.store");
	const struct symbundle_import_options o = { .replaced = pin, .ctx = to };
	struct symbundle_imported done = { 0 };
	struct own was = make_side(&there, 0), new = make_side(&comes, 0);
	struct symstore_reader *reader;
	struct symstore_entry e;

	(void)state;
	own_put(to, &was, 1);
	own_put(from, &new, 1);
	export_all(from, "b");
	assert_ok(symbundle_import(&to, in_dir("b"), &o, &done, &err));
	assert_memory_equal(&done, &(struct symbundle_imported){ .kept = 1 }, sizeof(done));
	reader = own_reader(to);
	assert_ok(symstore_entry(reader, was.entry.build_id, was.entry.build_id_len, &e, &err));
	assert_true(e.cache_hash == XXH3_64bits(was.cache, was.size));
	symstore_read_end(reader);
	symstore_close(to);
	symstore_close(from);
	free(was.cache);
	free(new.cache);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(who_stays), cmocka_unit_test(again),
		cmocka_unit_test(pinned_meanwhile) };

	return cmocka_run_group_tests_name("import", tests, testing_set_up, testing_tear_down);
}
