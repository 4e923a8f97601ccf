/* The memo: what it returns is what was put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/resolve/memo.h"

/* However often the ring goes round. */
static void test_ring(void **state)
{
	struct mk_memo m = { 0 };
	uint32_t hits = 0;
	static char text[MEMO_MAX + 1];
	bool worth;

	(void)state;
	for (uint64_t i = 0; i < 20000; i++) {
		struct mk_memo_key key = { 5, i % 30 ? i : 7, 1 }, old = { 5, i - i % 50, 1 };
		size_t len = (key.address * 37) % sizeof(text);

		/* Worth keeping is what is asked for the second time. */
		if (!mk_memo_get(&m, &key, &worth) && !worth)
			assert_true(mk_memo_get(&m, &key, &worth) || worth);
		memset(text, (int)key.address, sizeof(text));
		mk_memo_put(&m, &key, text, len);
		const unsigned char *t = mk_memo_get(&m, &key, &worth);
		assert_non_null(t);
		assert_true(!len || (t[0] == (unsigned char)key.address && t[len - 1] == t[0]));
		t = mk_memo_get(&m, &old, &worth);
		len = (old.address * 37) % sizeof(text);
		if (t && len) {
			assert_int_equal(t[0], (unsigned char)old.address);
			assert_int_equal(t[len - 1], (unsigned char)old.address);
			hits++;
		}
	}
	assert_true(hits > 1000);
	struct mk_memo_key big = { 5, 1, 2 };
	mk_memo_put(&m, &big, text, sizeof(text));
	assert_null(mk_memo_get(&m, &big, &worth));
	mk_memo_deinit(&m);
}

/* An address has a text for each generation and each kind. */
static void test_keys(void **state)
{
	struct mk_memo m = { 0 };
	uint32_t hits = 0;
	bool worth;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 300; i++) {
			const struct mk_memo_key key = { 1 + i % 10, i / 10 % 10 * 16, i / 100 };
			const uint32_t *t = mk_memo_get(&m, &key, &worth);

			if (t)
				assert_int_equal(*t, i);
			else
				mk_memo_put(&m, &key, &i, sizeof(i));
			hits += t != NULL;
		}
	}
	assert_in_range(hits, 200, 300); /* of the second round; few have lost their slot */
	mk_memo_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ring), cmocka_unit_test(test_keys) };

	return cmocka_run_group_tests_name("memo", tests, NULL, NULL);
}
