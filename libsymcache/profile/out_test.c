/* What is written: at most so much of a small profile, which may be made to grow without an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/profile/out.h"

enum { MIB = 1 << 20 };

static void test_limit(void **state)
{
	static const struct { size_t input, limit; } cases[] = {
		{ 0, (size_t)64 * MIB }, { 1, (size_t)64 * MIB + 64 }, { MIB, (size_t)128 * MIB },
		{ SIZE_MAX / 2, SIZE_MAX }, { SIZE_MAX, SIZE_MAX },
	};
	static uint8_t block[MIB];
	struct prof_out o = { .size = 0 };
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		prof_out_begin(&o, cases[i].input);
		assert_int_equal(o.limit, cases[i].limit);
	}
	for (int more = 0; more < 2; more++) {
		prof_out_begin(&o, 0);
		for (int i = 0; i < 64; i++)
			prof_put(prof_out_own(&o), block, MIB);
		prof_put(prof_out_own(&o), block, (size_t)more);
		assert_int_equal(prof_out_end(&o, &err), more ? SC_ELIMIT : 0);
		if (more)
			assert_string_equal(err.msg, "the output would have more than 64 MiB, which is 64 times the input "
						     "and 64 MiB");
		else
			assert_int_equal(o.size, (size_t)64 * MIB);
	}
	prof_out_deinit(&o);
}

/* Own bytes and those of the input in their order, whether these are taken as they are or copied. */
static void test_order(void **state)
{
	enum { SIZE = 400000, RUN = 64 << 10 };
	static uint8_t input[SIZE], got[SIZE + 100], want[SIZE + 100];

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		input[i] = (uint8_t)(i * 7 + i / 256);
	for (int in_one = 0; in_one < 2; in_one++) {
		static const size_t runs[] = { 1, RUN - 1, RUN, RUN + 1, 0, 5, 100000 };
		struct prof_out o = { .in_one = in_one };
		struct sc_error err;
		size_t at = 0, n = 0, len = 0;

		prof_out_begin(&o, SIZE);
		for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
			prof_out_input(&o, input + at, input + at + runs[i] / 2);
			prof_out_input(&o, input + at + runs[i] / 2, input + at + runs[i]); /* goes on */
			memcpy(want + n, input + at, runs[i]);
			n += runs[i];
			at += runs[i] + 1;
			if (i % 2) {
				prof_put(prof_out_own(&o), "own", 3);
				memcpy(want + n, "own", 3);
				n += 3;
			}
		}
		assert_int_equal(prof_out_end(&o, &err), 0);
		assert_int_equal(o.size, n);
		for (size_t i = 0; i < o.vecs.len; i++) {
			memcpy(got + len, o.vecs.data[i].iov_base, o.vecs.data[i].iov_len);
			len += o.vecs.data[i].iov_len;
		}
		assert_int_equal(len, n);
		assert_memory_equal(got, want, n);
		if (in_one)
			assert_int_equal(o.vecs.len, 1);
		prof_out_deinit(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_limit), cmocka_unit_test(test_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
