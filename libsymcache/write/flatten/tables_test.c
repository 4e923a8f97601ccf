/* Strings in the tables of a cache: each once, however many share a hash. */
#include "libsymcache/write/flatten/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MANY = 300000, LEN = 8 }; /* some ten pairs of them have the same hash of 32 bits */

static char texts[MANY][LEN + 1];

static int set_up(void **state)
{
	(void)state;
	for (int i = 0; i < MANY; i++)
		snprintf(texts[i], sizeof(texts[i]), "%0*d", LEN, i);
	return 0;
}

static int by_hash(const void *a, const void *b)
{
	const struct sc_string *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* How many strings have the hash of another one; the table is in no order then. */
static unsigned count_shared(struct sc_tables *t)
{
	unsigned n = 0;

	qsort(t->strings.data, t->strings.len, sizeof(*t->strings.data), by_hash);
	for (size_t i = 1; i < t->strings.len; i++)
		n += t->strings.data[i - 1].hash == t->strings.data[i].hash;
	return n;
}

static void test_same_hash(void **state)
{
	struct sc_tables t = {0};
	uint32_t number;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < MANY; i++) {
			assert_true(sc_table_string(&t, texts[i], &number));
			assert_int_equal(number, i);
		}
	}
	assert_int_equal(t.strings.len, MANY);
	assert_in_range(count_shared(&t), 1, 100);
	sc_tables_deinit(&t);
}

/* Of two tables, half of whose strings both have. */
static void test_joined(void **state)
{
	struct sc_tables to = {0}, from = {0};
	struct sc_maps maps = {0};
	uint32_t number;

	(void)state;
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_true(sc_table_string(&to, texts[i], &number));
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(sc_table_string(&from, texts[i], &number));
	assert_true(sc_tables_add(&to, &from, &maps));
	assert_int_equal(to.strings.len, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_true(sc_table_string(&to, texts[i], &number));
		assert_int_equal(number, i % 2 ? MANY / 2 + i / 2 : i / 2);
	}
	sc_maps_deinit(&maps);
	sc_tables_deinit(&to);
	sc_tables_deinit(&from);
}

/* Strings that are copied, into blocks of 64 KiB, and longer ones. */
static void test_copied(void **state)
{
	enum { BLOCK = 65536 };
	char *long_text = malloc(BLOCK + 2), passing[LEN + 1];

	(void)state;
	for (size_t len = BLOCK - 2; len < BLOCK + 2; len++) {
		struct sc_tables t = {0};
		uint32_t number;

		memset(long_text, 'x', len);
		long_text[len] = 0;
		assert_true(sc_table_passing_string(&t, long_text, &number));
		for (uint32_t i = 0; i < MANY / 10; i++)
			assert_true(sc_table_passing_string(&t, strcpy(passing, texts[i]), &number));
		assert_string_equal(t.strings.data[0].ptr, long_text);
		for (uint32_t i = 0; i < MANY / 10; i++)
			assert_string_equal(t.strings.data[i + 1].ptr, texts[i]);
		sc_tables_deinit(&t);
	}
	free(long_text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_hash),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_copied),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
