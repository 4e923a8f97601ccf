/* What a store has, by the public names: each entry with all that is known of it, by build IDs and names. */
#include "libsymcache/api/testing.h"

struct list {
	char text[2000];
	size_t len;
	int stop; /* after so many */
};

static int on_entry(void *ctx, const struct symcache_entry *e)
{
	struct list *l = ctx;
	size_t len;
	const uint8_t *bytes = symcache_entry_build_id(e, &len);

	for (size_t i = 0; i < len; i++)
		l->len += (size_t)sprintf(l->text + l->len, "%02x", bytes[i]);
	l->len += (size_t)sprintf(l->text + l->len, " %s [%s] [%s] %lld\n", symcache_entry_source_path(e),
				  symcache_entry_debug_path(e), symcache_entry_tags(e), (long long)symcache_entry_time(e));
	assert_in_range(symcache_entry_size(e), 1000, 100 << 20);
	assert_true(symcache_entry_sources(e));
	return l->stop && !--l->stop ? 7 : 0;
}

static const char *list(struct symcache_store *s, const char *prefix, int stop)
{
	static struct list l;

	l = (struct list){ .stop = stop };
	assert_int_equal(symcache_store_each(s, prefix, on_entry, &l, NULL), stop ? 7 : 0);
	return l.text;
}

#define FIRST "010203 /lib/liba.so [] [n] 1700000000\n"
#define SECOND "010204 /lib/libb.so [] [] 5\n"
#define THIRD "20 /lib/libb.so [] [n\nr=2] 6\n"

static struct symcache_store *make_list(void)
{
	static const struct { uint8_t id[3]; size_t len; const char *path, *tags; int64_t time; } entries[] = {
		{ { 0x20 }, 1, "/lib/libb.so", "r=2\nn", 6 }, { { 1, 2, 3 }, 3, "/lib/liba.so", "n", 1700000000 },
		{ { 1, 2, 4 }, 3, "/lib/libb.so", NULL, 5 },
	};
	struct symcache_store *from = open_a(0), *s;
	struct symcache_cache *c = get(from);

	ok(symcache_store_open(in_dir("list.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	for (size_t i = 0; i < 3; i++) {
		const struct symcache_put_options put = { sizeof(put), entries[i].id, entries[i].len,
			entries[i].path, entries[i].tags, entries[i].time };

		ok(symcache_store_put(s, c, &put, NULL));
	}
	symcache_cache_unref(c);
	symcache_store_close(from);
	return s;
}

static void all_of_each(void **state)
{
	struct symcache_store *s = make_list();
	struct symcache_error err;

	(void)state;
	assert_string_equal(list(s, NULL, 0), FIRST SECOND THIRD);
	assert_string_equal(list(s, "", 0), FIRST SECOND THIRD);
	assert_string_equal(list(s, "01", 0), FIRST SECOND);
	assert_string_equal(list(s, "010", 0), FIRST SECOND);
	assert_string_equal(list(s, "010204", 0), SECOND);
	assert_string_equal(list(s, "2", 0), THIRD);
	assert_string_equal(list(s, "3", 0), "");
	assert_string_equal(list(s, NULL, 2), FIRST SECOND);
	assert_int_equal(symcache_store_each(s, "xy", on_entry, NULL, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_each(s, NULL, NULL, NULL, &err), SYMCACHE_EINVAL);
	ok(symcache_store_tag(s, (const uint8_t *)"\x20", 1, "a\nr=3", NULL));
	assert_string_equal(list(s, "20", 0), "20 /lib/libb.so [] [a\nn\nr=2\nr=3] 6\n");
	assert_int_equal(symcache_store_tag(s, (const uint8_t *)"", 0, "a", &err), SYMCACHE_EINVAL);
	ok(symcache_store_remove(s, (const uint8_t *)"\1\2\3", 3, NULL));
	assert_string_equal(list(s, "0", 0), SECOND);
	symcache_store_close(s);
}

/* A text is a build ID, its beginning, or a name; which of them may be said. */
static void by_texts(void **state)
{
	static const struct { const char *text; int either, id, name; } cases[] = {
		{ "010204", 0, 0, SYMCACHE_ENOTFOUND }, { "01020", SYMCACHE_EINVAL, SYMCACHE_EINVAL, SYMCACHE_ENOTFOUND },
		{ "0102 04", SYMCACHE_ENOTFOUND, SYMCACHE_EINVAL, SYMCACHE_ENOTFOUND },
		{ "liba.so", 0, SYMCACHE_EINVAL, 0 }, { "lib", SYMCACHE_ENOTFOUND, SYMCACHE_EINVAL, SYMCACHE_ENOTFOUND },
		{ "77", SYMCACHE_ENOTFOUND, SYMCACHE_ENOTFOUND, SYMCACHE_ENOTFOUND },
		{ NULL, SYMCACHE_EINVAL, SYMCACHE_EINVAL, SYMCACHE_EINVAL },
	};
	struct symcache_store *s, *same;
	struct symcache_cache *c;
	struct symcache_error err;

	(void)state;
	unlink(in_dir("list.store"));
	s = make_list();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int (*const find[])(struct symcache_store *, const char *, struct symcache_cache **,
				    struct symcache_error *) = {
			symcache_store_find, symcache_store_find_build_id, symcache_store_find_name,
		};
		const int want[] = { cases[i].either, cases[i].id, cases[i].name };

		for (int k = 0; k < 3; k++) {
			const int rc = find[k](s, cases[i].text, &c, &err);

			if (rc != want[k])
				fail_msg("%s, %d: %d, %s", cases[i].text, k, rc, rc ? err.msg : "");
			assert_int_equal(!c, !!rc);
			symcache_cache_unref(c);
		}
	}
	setenv("SYMCACHE_STORE", in_dir("list.store"), 1); /* the default one */
	ok(symcache_store_open(NULL, 0, &same, NULL));
	assert_string_equal(symcache_store_path(same), in_dir("list.store"));
	symcache_store_close(same);
	assert_int_equal(symcache_store_open(NULL, SYMCACHE_STORE_WRITE << 1 << 5, &same, &err), SYMCACHE_EINVAL);
	symcache_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_of_each), cmocka_unit_test(by_texts) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
