/* The table of modules: entries by build ID or name, their order, and its bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/resolve/missing.h"

static struct markup_module *entry(struct mk_modules *t, const char *name, const char *id)
{
	return mk_modules_entry(t, sc_str_of(name), (const uint8_t *)id, strlen(id));
}

/* Of two with a build ID that counts, of others the name. */
static void test_entries(void **state)
{
	struct mk_modules t = { 0 };
	struct markup_module *a, *b;

	(void)state;
	assert_null(mk_modules_find(&t, sc_str_of("a"), NULL, 0));
	a = entry(&t, "a", "");
	assert_ptr_equal(entry(&t, "a", ""), a);
	b = entry(&t, "a", "1");
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(entry(&t, "b", "1"), b);
	assert_ptr_not_equal(entry(&t, "b", ""), a);
	assert_ptr_not_equal(entry(&t, "aa", ""), a);
	assert_ptr_not_equal(entry(&t, "", ""), a);
	assert_ptr_not_equal(entry(&t, "a", "12"), b);
	assert_ptr_equal(mk_modules_find(&t, sc_str_of("x"), (const uint8_t *)"1", 1), b);
	assert_null(mk_modules_find(&t, sc_str_of("x"), (const uint8_t *)"2", 1));
	assert_int_equal(t.len, 6);
	assert_int_equal(b->name.len, 1);
	assert_memory_equal(b->name.ptr, "a", 1);
	assert_int_equal(b->build_id_len, 1);
	assert_memory_equal(b->build_id, "1", 1);
	mk_modules_deinit(&t);
	assert_int_equal(t.len, 0);
}

static void test_add(void **state)
{
	struct mk_modules t = { 0 };
	const struct markup_module one = { .name = { "a", 1 }, .frames = 3, .unplaced = 1, .table_only = true,
					   .symbols = "some" };
	const struct markup_module two = { .name = { "a", 1 }, .frames = 4, .no_symbols = true, .other_build = true };
	const struct markup_module *e;

	(void)state;
	mk_modules_add(&t, &one);
	e = mk_modules_find(&t, one.name, NULL, 0);
	assert_true(e->frames == 3 && e->unplaced == 1 && e->table_only && !e->no_symbols && !e->other_build && !e->symbols);
	mk_modules_add(&t, &two);
	assert_true(e->frames == 7 && e->unplaced == 1 && e->table_only && e->no_symbols && e->other_build);
	mk_modules_list(&t, &one);
	assert_string_equal(e->symbols, "some");
	mk_modules_list(&t, &two); /* what is known stays */
	assert_string_equal(e->symbols, "some");
	assert_int_equal(e->frames, 7);
	assert_int_equal(t.len, 1);
	mk_modules_deinit(&t);
}

static void put(void *to, const struct markup_module *m)
{
	sprintf((char *)to + strlen(to), "%llu:%.*s:%.*s ", (unsigned long long)m->frames, (int)m->build_id_len,
		m->build_id_len ? (const char *)m->build_id : "", (int)m->name.len, m->name.ptr);
}

/* Most frames first, then by build ID and name, whatever the order of their arrival. */
static void test_order(void **state)
{
	static const struct { const char *name, *id; uint64_t frames; } modules[] = {
		{ "a", "", 1 }, { "ab", "", 1 }, { "b", "", 1 }, { "z", "1", 1 }, { "y", "12", 1 }, { "x", "2", 1 },
		{ "w", "", 5 }, { "v", "", 2 }, { "u", "9", 2 }, { "", "", 1 },
	};
	enum { N = sizeof(modules) / sizeof(*modules) };

	(void)state;
	for (size_t first = 0; first < N; first++) {
		struct mk_modules t = { 0 };
		char got[300] = "";

		for (size_t i = 0; i < N; i++) {
			const size_t k = (first + i * 3) % N;

			entry(&t, modules[k].name, modules[k].id)->frames = modules[k].frames;
		}
		assert_int_equal(mk_modules_each(&t, put, got), 0);
		assert_string_equal(got, "5::w 2::v 2:9:u 1:: 1::a 1::ab 1::b 1:1:z 1:12:y 1:2:x ");
		mk_modules_deinit(&t);
	}
}

static void test_bounds(void **state)
{
	char long_name[600], id[600];
	struct mk_modules t = { 0 };
	struct markup_module *e;

	(void)state;
	assert_int_equal(mk_modules_each(&t, put, NULL), 0);
	memset(long_name, 'n', sizeof(long_name));
	memset(id, 'i', sizeof(id));
	e = mk_modules_entry(&t, (struct sc_str){ long_name, 256 }, NULL, 0);
	assert_int_equal(e->name.len, 256);
	/* What is longer has the same beginning. */
	assert_ptr_equal(mk_modules_entry(&t, (struct sc_str){ long_name, 257 }, NULL, 0), e);
	assert_ptr_not_equal(mk_modules_entry(&t, (struct sc_str){ long_name, 255 }, NULL, 0), e);
	assert_non_null(mk_modules_entry(&t, sc_str_of("a"), (const uint8_t *)id, 256));
	assert_null(mk_modules_entry(&t, sc_str_of("a"), (const uint8_t *)id, 257));
	assert_int_equal(t.len, 3);
	mk_modules_deinit(&t);
	for (unsigned i = 0; i < MISSING_MAX; i++) {
		sprintf(id, "%u", i);
		e = i % 2 ? entry(&t, "a", id) : entry(&t, id, "");
		e->frames = i;
	}
	assert_null(entry(&t, "one more", ""));
	assert_int_equal(t.len, MISSING_MAX);
	for (unsigned i = 0; i < MISSING_MAX; i++) {
		sprintf(id, "%u", i);
		e = i % 2 ? entry(&t, "b", id) : entry(&t, id, "");
		assert_int_equal(e->frames, i);
	}
	mk_modules_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries), cmocka_unit_test(test_add), cmocka_unit_test(test_order),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests_name("missing", tests, NULL, NULL);
}
