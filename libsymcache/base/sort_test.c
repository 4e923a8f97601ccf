/* Sorting: the same as by insertion, whatever the runs, and stable. */
#include "libsymcache/base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"

struct item {
	uint32_t key, place;
};

static inline bool item_before(const struct item *a, const struct item *b)
{
	return a->key < b->key;
}

SC_SORT(sort_items, struct item, item_before)

static void check(struct item *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list[i].place = (uint32_t)i;
	assert_true(sort_items(list, n));
	for (size_t i = 1; i < n; i++) {
		assert_true(list[i - 1].key <= list[i].key);
		if (list[i - 1].key == list[i].key)
			assert_true(list[i - 1].place < list[i].place);
	}
}

static void test_random(void **state)
{
	struct item list[1000];
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t n = testing_below(&seed, 1000);
		uint32_t keys = 1 + testing_below(&seed, round % 3 ? 2000 : 5);

		for (size_t i = 0; i < n; i++)
			list[i].key = testing_below(&seed, keys);
		check(list, n);
	}
}

static void test_runs(void **state)
{
	struct item list[1000];
	uint64_t seed = 2;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t n = 0;

		while (n < 900) {
			uint32_t key = testing_below(&seed, 1000),
				 len = 1 + testing_below(&seed, 100);
			int kind = (int)testing_below(&seed, 3); /* up, down, level */

			while (len-- && n < 1000)
				list[n++].key = kind == 0 ? key++ : kind == 1 && key ? key-- : key;
		}
		check(list, n);
	}
}

static void test_few(void **state)
{
	struct item list[4] = { { 3, 0 }, { 2, 0 }, { 2, 0 }, { 1, 0 } };

	(void)state;
	assert_true(sort_items(NULL, 0));
	for (size_t n = 1; n <= 4; n++)
		check(list, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
