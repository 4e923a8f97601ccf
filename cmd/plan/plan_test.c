/* How shards are dealt to tasks; rows and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/plan/deal.h"

enum { MANY = 500 };

/* Each task has about as much as the others, the first one most; all is dealt. */
static void test_deal(void **state)
{
	static struct plan_log logs[MANY];
	static struct plan_shard shards[MANY];
	const struct plan_logs l = { logs, MANY, MANY };
	struct plan_shards s = { shards, MANY, MANY };
	uint64_t loads[64] = { 0 }, total = 0, tasks;

	(void)state;
	srand(4);
	for (uint64_t i = 0; i < MANY; i++) {
		logs[i] = (struct plan_log){ .number = i, .kind = i % 10 ? LOG_PLAIN : LOG_GZIP };
		shards[i] = (struct plan_shard){ .number = i, .log = i, .to = 1 + (uint64_t)rand() % 1000 };
		total += plan_cost(&logs[i], &shards[i]);
	}
	tasks = plan_deal(&s, &l, total / 40, 64);
	assert_in_range(tasks, 40, 41);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(shards[i].number, i);
		assert_true(shards[i].task < tasks);
		loads[shards[i].task] += plan_cost(&logs[i], &shards[i]);
	}
	for (uint64_t t = 1; t < tasks; t++)
		assert_true(loads[t] <= loads[t - 1]);
	assert_true(loads[0] - loads[tasks - 1] <= 8000);
	/* No more than wanted, no more than shards, at least one. */
	assert_int_equal(plan_deal(&s, &l, 1, 7), 7);
	s.len = 3;
	assert_int_equal(plan_deal(&s, &l, 1, 7), 3);
	shards[0].to = 0;
	s.len = 1;
	assert_int_equal(plan_deal(&s, &l, 1000, 7), 1);
	s.len = 0;
	assert_int_equal(plan_deal(&s, &l, 1000, 7), 0);
}

static void test_row(void **state)
{
	static const char *const bad[] = {
		"", "[]", "{", "1", "{}{}", "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":1,}", "null",
	};
	static const char good[] = "{\"n\":-5,\"t\":\"a\\u0000b\",\"b\":true,\"z\":null,\"x_hex\":\"ff00\"}\n";
	struct row row = { 0 };
	char *bytes;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(row_parse(&row, bad[i], strlen(bad[i])));
	for (int i = 0; i < 2; i++) { /* again in the same row */
		assert_true(row_parse(&row, good, strlen(good)));
		assert_int_equal(row_signed(&row, "n"), -5);
		assert_true(row_bool(&row, "b"));
		assert_true(row_has(&row, "n") && !row_has(&row, "z") && !row_has(&row, "none"));
		bytes = row_bytes(&row, "x", &len);
		assert_int_equal(len, 2);
		assert_memory_equal(bytes, "\xff\0\0", 3);
		free(bytes);
		assert_false(row.bad);
		row_number(&row, "n");
		assert_true(row.bad);
		row.bad = false;
		row_text(&row, "t"); /* with a NUL in it */
		assert_true(row.bad);
	}
	row_deinit(&row);
}

/* Rows come back; every byte that is changed, and every cut, is found. */
static void test_rows(void **state)
{
	char path[] = "/tmp/plan_test.XXXXXX", hash[HASH_TEXT], text[512];
	struct rows_out w;
	struct rows_in r;
	struct sc_error err;
	size_t size;
	FILE *f;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(rows_create(&w, path, &err), 0);
	for (uint64_t i = 0; i < 3; i++) {
		json_gen_number(rows_open(&w), "i", i);
		assert_int_equal(rows_close(&w, &err), 0);
	}
	assert_int_equal(rows_commit(&w, hash, &err), 0);
	f = fopen(path, "r");
	size = fread(text, 1, sizeof(text), f);
	fclose(f);
	for (size_t i = 0; i <= 2 * size; i++) {
		const bool cut = i > size;
		int rc;

		f = fopen(path, "w");
		if (i < size)
			text[i] ^= 1;
		fwrite(text, 1, cut ? i - size - 1 : size, f);
		if (i < size)
			text[i] ^= 1;
		fclose(f);
		assert_int_equal(rows_read(&r, path, &err), 0);
		while ((rc = rows_next(&r, &err)) > 0)
			;
		assert_int_equal(rc, i == size ? 0 : SC_EFORMAT);
		if (!rc)
			assert_string_equal(r.hash, hash);
		rows_end(&r);
	}
	unlink(path);
	assert_int_equal(rows_read(&r, path, &err), SC_ENOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deal),
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_rows),
	};
	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
