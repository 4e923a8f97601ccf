/* Numbers as printf() writes them, of all lengths. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/out.h"

static void check(uint64_t v)
{
	char got[FMT_MAX + 1], want[FMT_MAX + 1];

	got[mk_fmt_dec(got, v)] = 0;
	snprintf(want, sizeof(want), "%" PRIu64, v);
	assert_string_equal(got, want);
	got[mk_fmt_hex(got, v)] = 0;
	snprintf(want, sizeof(want), "0x%" PRIx64, v);
	assert_string_equal(got, want);
	got[mk_fmt_addr(got, v)] = 0;
	snprintf(want, sizeof(want), "0x%016" PRIx64, v);
	assert_string_equal(got, want);
}

static void test_numbers(void **state)
{
	(void)state;
	for (uint64_t v = 0; v < 200000; v++)
		check(v);
	for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10)
		for (uint64_t v = power - 1; v < 10 * power && v <= UINT64_MAX - power; v += power)
			for (uint64_t near = 0; near < 3; near++)
				check(v + near);
	for (int shift = 0; shift < 64; shift++)
		for (uint64_t below = 0; below < 2; below++)
			check((1ull << shift) - below);
	srand(1);
	for (int i = 0; i < 200000; i++)
		check(((uint64_t)rand() << 33 ^ (uint64_t)rand() << 16 ^ (uint64_t)rand()) >>
		      rand() % 64);
	check(UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
	};
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
