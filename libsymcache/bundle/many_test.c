/* Bundles of more entries than are packed, unpacked or committed at once; and a disk that is full for a
 * while: what it had no room for is not forgotten. */
#include "libsymcache/bundle/testing.h"

#include <signal.h>
#include <sys/resource.h>

enum { MANY = 520, WRONG = 10, LAST = 499 /* that is put before the commit in front of the next */ };

static struct own base;
static struct symstore *from;

static struct own entry_of(unsigned i)
{
	struct own o = base;
	char id[20];

	snprintf(id, sizeof(id), "%08xef", i);
	o.cache = memcpy(malloc(o.size), base.cache, o.size);
	own_id(&o, id);
	return o;
}

static int set_up(void **state)
{
	static struct own list[MANY];

	if (testing_set_up(state))
		return -1;
	base = own_entry("shapes", "00");
	for (unsigned i = 0; i < MANY; i++)
		list[i] = entry_of(i);
	from = own_open("from.store");
	own_put(from, list, MANY);
	for (unsigned i = 0; i < MANY; i++)
		free(list[i].cache);
	return 0;
}

static int tear_down(void **state)
{
	symstore_close(from);
	free(base.cache);
	return testing_tear_down(state);
}

static void export_all(const char *bundle)
{
	const struct symbundle_export_options o = { .level = 1 };
	struct symstore_reader *reader = own_reader(from);
	struct symbundle_exported done;

	assert_ok(symbundle_export(reader, in_dir(bundle), symbundle_shape_of(bundle), &o, &done, &err));
	assert_int_equal(done.exported, MANY);
	symstore_read_end(reader);
}

/* Each cache arrives, in each shape; the second time none is new. */
static void all_arrive(void **state)
{
	static const char *const bundles[] = { "tree", "b.tar.zst", "b.store" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct symbundle_import_options o = { 0 };
		struct symbundle_imported done = { 0 };
		struct symstore_reader *reader;
		struct symstore *to;

		testing_run("rm -f %s/to.store*", testing_dir);
		to = own_open("to.store");
		export_all(bundles[i]);
		for (int again = 0; again < 2; again++)
			assert_ok(symbundle_import(&to, in_dir(bundles[i]), &o, &done, &err));
		assert_true(done.imported == MANY && done.unchanged == MANY && !done.bad && !done.conflicts);
		reader = own_reader(to);
		for (unsigned k = 0; k < MANY; k++) {
			struct own want = entry_of(k);
			struct symstore_entry e;

			assert_ok(symstore_entry(reader, want.entry.build_id, want.entry.build_id_len, &e, &err));
			assert_true(e.cache_hash == XXH3_64bits(want.cache, want.size));
			free(want.cache);
		}
		symstore_read_end(reader);
		symstore_close(to);
	}
}

static void limit_files(rlim_t size)
{
	struct rlimit limit;

	assert_ok(getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = size;
	assert_ok(setrlimit(RLIMIT_FSIZE, &limit));
}

/* Two entries are there already: from the first on the disk is full, from the second on no longer. */
static void on_conflict(void *ctx, const struct symstore_entry *entry, bool taken)
{
	(void)taken;
	++*(unsigned *)ctx;
	limit_files(entry->build_id[3] == (LAST & 0xff) ? 700 : RLIM_INFINITY);
}

/* `bad`: one file has another's cache, which is unpacked and not put, so that the commit is in front of the
 * next file, not behind an entry. */
static void import_when_full(unsigned bad)
{
	unsigned conflicts = 0;
	const struct symbundle_import_options o = { .conflict = on_conflict, .ctx = &conflicts };
	struct symbundle_imported done = { 0 };
	struct symstore *to = own_open(bad ? "bad.store" : "full.store");
	struct own there[2];
	int rc;

	for (unsigned i = 0; i < 2; i++) {
		there[i] = entry_of(LAST + i);
		own_image(&there[i])->build_id_derived ^= 1; /* other bytes */
		own_rehash(&there[i]);
	}
	own_put(to, there, 2);
	if (bad)
		assert_int_equal(testing_run("cd %s/tree/00 && cp %06xef.* $(ls %06xef.*)", testing_dir, WRONG + 1, WRONG), 0);
	rc = symbundle_import(&to, in_dir("tree"), &o, &done, &err);
	limit_files(RLIM_INFINITY);
	assert_int_equal(conflicts, 1);
	assert_int_equal(rc, SC_EFULL);
	assert_int_equal(done.bad, bad);
	assert_int_equal(done.imported, 0);
	symstore_close(to);
	free(there[0].cache);
	free(there[1].cache);
}

static void full_for_a_while(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	import_when_full(0);
	import_when_full(1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(all_arrive), cmocka_unit_test(full_for_a_while) };

	return cmocka_run_group_tests_name("many", tests, set_up, tear_down);
}
