/* Large memory: what is in it stays when it grows, over all sizes at which it comes from elsewhere; and
 * it is charged to the account. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/account.h"
#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/error.h"

static const size_t sizes[] = { 1,
			       63,
			       64,
			       65,
			       4096,
			       SC_BIG_PAGE - 1,
			       SC_BIG_PAGE,
			       SC_BIG_PAGE + 1,
			       2 * SC_BIG_PAGE,
			       3 * SC_BIG_PAGE - 5 };
enum { NUM_SIZES = sizeof(sizes) / sizeof(*sizes) };

static void fill(uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i += 61)
		p[i] = (uint8_t)(i / 61);
	p[size - 1] = 0x5a;
}

static void expect_filled(const uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size - 1; i += 61)
		assert_int_equal(p[i], (uint8_t)(i / 61));
	assert_int_equal(p[size - 1], 0x5a);
}

static void test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_SIZES; i++) {
		uint8_t *p = sc_big_alloc(sizes[i]);

		assert_int_equal((uintptr_t)p % (sizes[i] < SC_BIG_PAGE ? 64 : SC_BIG_PAGE), 0);
		fill(p, sizes[i]);
		sc_big_free(p, sizes[i]);
	}
	sc_big_free(NULL, 5);
	assert_null(sc_big_alloc(SIZE_MAX));
	assert_null(sc_big_alloc(SIZE_MAX - SC_BIG_PAGE));
	assert_null(sc_big_alloc(SIZE_MAX / 2));
}

static void test_grow(void **state)
{
	struct sc_account account = { .limit = SIZE_MAX };

	(void)state;
	sc_account = &account;
	for (size_t from = 0; from < NUM_SIZES; from++)
		for (size_t to = from; to < NUM_SIZES; to++) {
			uint8_t *p = sc_big_grow(NULL, 0, sizes[from]);

			fill(p, sizes[from]);
			p = sc_big_grow(p, sizes[from], sizes[to]);
			assert_int_equal(account.used, sizes[to]);
			assert_true(sizes[to] < SC_BIG_PAGE || !((uintptr_t)p % SC_BIG_PAGE)); /* as it is freed by */
			expect_filled(p, sizes[from]);
			fill(p, sizes[to]);
			sc_big_free(p, sizes[to]);
			assert_int_equal(account.used, 0);
		}
	sc_account = NULL;
}

/* Where there is none, what was there stays as it was; beyond the limit nobody was refused any. */
static void test_refused(void **state)
{
	struct sc_account account = { .limit = SC_BIG_PAGE };
	const unsigned long refusals = sc_memory_refusals();
	uint8_t *p;

	(void)state;
	sc_account = &account;
	p = sc_big_alloc(100);
	fill(p, 100);
	assert_null(sc_big_alloc(SC_BIG_PAGE - 99));
	assert_null(sc_big_grow(p, 100, SC_BIG_PAGE + 1));
	assert_int_equal(account.used, 100);
	assert_int_equal(sc_memory_refusals(), refusals);
	p = sc_big_grow(p, 100, SC_BIG_PAGE);
	expect_filled(p, 100);
	sc_big_free(p, SC_BIG_PAGE);
	/* What there was none of is not charged. */
	account.limit = SIZE_MAX;
	assert_null(sc_big_alloc(SIZE_MAX / 2));
	assert_int_equal(account.used, 0);
	p = sc_big_alloc(100);
	fill(p, 100);
	assert_null(sc_big_grow(p, 100, SIZE_MAX / 2));
	assert_int_equal(account.used, 100);
	sc_big_free(p, 100);
	sc_account = NULL;
	p = sc_big_alloc(100);
	fill(p, 100);
	assert_null(sc_big_grow(p, 100, SIZE_MAX / 2));
	assert_int_equal(sc_memory_refusals(), refusals + 1);
	expect_filled(p, 100);
	sc_big_free(p, 100);
}

/* Whole pages inside of it are given back, and are zero then; what is around them stays. */
static void test_drop(void **state)
{
	const size_t size = 2 * SC_BIG_PAGE;
	uint8_t *p = sc_big_alloc(size), *other = sc_big_alloc(size);

	(void)state;
	memset(p, 7, size);
	sc_big_drop(p + 100, 3 * 4096);
	assert_int_equal(p[4095], 7);
	assert_int_equal(p[4096], 0);
	assert_int_equal(p[3 * 4096 - 1], 0);
	assert_int_equal(p[3 * 4096], 7);
	sc_big_drop(p + 3 * 4096 + 1, 4095);
	assert_int_equal(p[3 * 4096 + 1], 7);
	sc_big_touch(p, size);
	sc_big_advise(p, size);
	sc_big_sparse(p, size);
	assert_int_equal(p[3 * 4096], 7);
	memset(other, 9, size);
	sc_big_move(other, p, SC_BIG_PAGE);
	assert_int_equal(p[0], 0);
	assert_int_equal(p[SC_BIG_PAGE], 7);
	assert_int_equal(other[SC_BIG_PAGE], 9);
	sc_big_free(p, size);
	sc_big_free(other, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
