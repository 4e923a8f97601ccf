/* Unit tests of painting: against a painter that looks at each address. */
#include "libsymcache/write/flatten/paint.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"

#define WIDTH 48u

/* Ascending, disjoint, not empty; neighbours that touch differ. */
static void check_form(const struct sc_intervals *out)
{
	for (size_t i = 0; i < out->list.len; i++) {
		const struct sc_interval *a = &out->list.data[i];

		assert_true(a->start < a->end);
		if (!i)
			continue;
		assert_true(a[-1].end <= a->start);
		if (a[-1].end == a->start)
			assert_true(a[-1].id != a->id || a[-1].priority != a->priority);
	}
}

static const struct sc_interval *found(const struct sc_intervals *v, uint64_t at)
{
	for (size_t i = 0; i < v->list.len; i++)
		if (v->list.data[i].start <= at && at < v->list.data[i].end)
			return &v->list.data[i];
	return NULL;
}

/* Distinct priorities: the winner must be the same at each address. */
static void test_random(void **state)
{
	struct sc_paint pot = {0};
	struct sc_intervals in = {0}, out = {0};
	uint64_t seed = 1;

	(void)state;
	for (int run = 0; run < 20000; run++) {
		const struct sc_interval *best[WIDTH] = {0};
		uint32_t n = testing_below(&seed, 12), first = testing_below(&seed, 12);

		vec_clear(&in.list);
		for (uint32_t i = 0; i < n; i++) { /* some are empty or inverted */
			uint32_t start = testing_below(&seed, WIDTH);
			uint32_t end = start + testing_below(&seed, WIDTH - start + 1);

			if (!testing_below(&seed, 20))
				end = start / 2;
			assert_true(sc_intervals_add(&in, start, end, (first + i * 7) % 12, i));
		}
		assert_true(sc_paint(&pot, &in, &out));
		check_form(&out);
		for (size_t i = 0; i < in.list.len; i++)
			for (uint64_t at = in.list.data[i].start; at < in.list.data[i].end; at++)
				if (!best[at] || in.list.data[i].priority > best[at]->priority)
					best[at] = &in.list.data[i];
		for (uint64_t at = 0; at < WIDTH; at++) {
			const struct sc_interval *got = found(&out, at);

			assert_true(!got == !best[at]);
			if (got) {
				assert_int_equal(got->id, best[at]->id);
				assert_int_equal(got->priority, best[at]->priority);
			}
		}
	}
	sc_paint_deinit(&pot);
	vec_deinit(&in.list);
	vec_deinit(&out.list);
}

static bool inside(const struct sc_interval *a, const struct sc_interval *b)
{
	return a->start >= b->start && a->end <= b->end;
}

/* What lies within another one ranks above it; equal ones rank by id. */
static void test_containment(void **state)
{
	struct sc_intervals v = {0};
	uint64_t seed = 2;

	(void)state;
	for (int run = 0; run < 5000; run++) {
		uint32_t n = 1 + testing_below(&seed, 10);

		vec_clear(&v.list);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t start = testing_below(&seed, 10);
			assert_true(sc_intervals_add(&v, start, start + 1 +
						     testing_below(&seed, 10 - start), 0, i));
		}
		assert_true(sc_rank_by_containment(&v));
		for (uint32_t i = 0; i < n; i++) {
			const struct sc_interval *a = &v.list.data[i];

			assert_true(a->priority >= 1 && a->priority <= n);
			assert_true(!i || a[-1].start <= a->start);
			for (uint32_t k = 0; k < n; k++) {
				const struct sc_interval *b = &v.list.data[k];

				if (k == i)
					continue;
				assert_true(a->priority != b->priority);
				if (inside(a, b) && (!inside(b, a) || a->id < b->id))
					assert_true(a->priority > b->priority);
			}
		}
	}
	vec_deinit(&v.list);
}

/* The ends of the number space, and neighbours that become one. */
static void test_ends(void **state)
{
	struct sc_paint pot = {0};
	struct sc_intervals in = {0}, out = {0};

	(void)state;
	assert_true(sc_paint(&pot, &in, &out));
	assert_int_equal(out.list.len, 0);
	sc_intervals_add(&in, 0, UINT64_MAX, 1, 1);
	sc_intervals_add(&in, UINT64_MAX - 1, UINT64_MAX, 2, 2);
	sc_intervals_add(&in, 0, 1, 3, 3);
	sc_intervals_add(&in, 1, 2, 3, 3);
	sc_intervals_add(&in, UINT64_MAX, UINT64_MAX, 9, 9);
	assert_true(sc_paint(&pot, &in, &out));
	assert_int_equal(out.list.len, 3);
	assert_int_equal(out.list.data[0].end, 2);
	assert_int_equal(out.list.data[1].id, 1);
	assert_int_equal(out.list.data[1].end, UINT64_MAX - 1);
	assert_int_equal(out.list.data[2].id, 2);
	sc_paint_deinit(&pot);
	vec_deinit(&in.list);
	vec_deinit(&out.list);
}

/* n nested intervals, n that start together, n that end together. */
static void test_many(void **state)
{
	const uint32_t n = 200000;
	struct sc_paint pot = {0};
	struct sc_intervals in = {0}, out = {0};

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		assert_true(sc_intervals_add(&in, i, 4 * n - i, i, i));
		assert_true(sc_intervals_add(&in, 5 * n, 5 * n + 1 + i, n - i, i));
		assert_true(sc_intervals_add(&in, 7 * n + i, 8 * n, i, i));
	}
	assert_true(sc_paint(&pot, &in, &out));
	check_form(&out);
	assert_int_equal(out.list.len, 2 * n - 1 + n + n);
	sc_paint_deinit(&pot);
	vec_deinit(&in.list);
	vec_deinit(&out.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_containment),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
