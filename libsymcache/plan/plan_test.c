/* How shards are dealt to tasks; rows and what is wrong with them. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/plan/cut.h"

enum { MANY = 500 };

/* Each task has about as much as the others, the first one most; all is dealt. */
static void test_deal(void **state)
{
	static struct markup_log logs[MANY];
	static struct mk_shard shards[MANY];
	struct mk_shards s = { shards, MANY, MANY };
	uint64_t loads[64] = { 0 }, total = 0, tasks;

	(void)state;
	srand(4);
	for (uint64_t i = 0; i < MANY; i++) {
		logs[i].kind = i % 10 ? MARKUP_LOG_PLAIN : MARKUP_LOG_GZIP;
		shards[i] = (struct mk_shard){ .number = i, .log = i, .to = 1 + (uint64_t)rand() % 1000 };
		total += markup_log_cost(logs[i].kind, shards[i].to);
	}
	assert_true(mk_deal(&s, logs, total / 40, 64, &tasks));
	assert_in_range(tasks, 40, 41);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(shards[i].number, i);
		assert_true(shards[i].task < tasks);
		loads[shards[i].task] += markup_log_cost(logs[i].kind, shards[i].to);
	}
	for (uint64_t t = 1; t < tasks; t++)
		assert_true(loads[t] <= loads[t - 1]);
	assert_true(loads[0] - loads[tasks - 1] <= 8000);
	/* No more than wanted, no more than shards, at least one. */
	assert_true(mk_deal(&s, logs, 1, 7, &tasks));
	assert_int_equal(tasks, 7);
	s.len = 3;
	assert_true(mk_deal(&s, logs, 1, 7, &tasks));
	assert_int_equal(tasks, 3);
	shards[0].to = 0;
	s.len = 1;
	assert_true(mk_deal(&s, logs, 1000, 7, &tasks));
	assert_int_equal(tasks, 1);
	s.len = 0;
	assert_true(mk_deal(&s, logs, 1000, 7, &tasks));
	assert_int_equal(tasks, 0);
}

/* Of equal shards the first ones come first, to the tasks in turn: the same logs give the same plan. */
static void test_equal(void **state)
{
	struct markup_log logs[7] = { { .kind = MARKUP_LOG_PLAIN } };
	struct mk_shard shards[7];
	struct mk_shards s = { shards, 7, 7 };
	uint64_t tasks;
	char got[8] = "";

	(void)state;
	for (uint64_t i = 0; i < 7; i++)
		shards[i] = (struct mk_shard){ .number = i, .log = i, .to = i == 3 ? 200 : 100 };
	assert_true(mk_deal(&s, logs, 200, 3, &tasks));
	assert_int_equal(tasks, 3);
	for (size_t i = 0; i < 7; i++)
		got[i] = (char)('0' + shards[i].task);
	assert_string_equal(got, "1210201");
}

/* What cannot be written is said, with the reason. */
static void test_full(void **state)
{
	static const struct mk_column columns[] = { { "i", MK_NUMBER, 0, NULL }, { 0 } };
	char path[] = "/tmp/plan_full.XXXXXX", want[100];
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit, small = { 1000, 0 };
	struct mk_rows_out w;
	struct sc_error err;
	int rc;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small.rlim_max = limit.rlim_max;
	assert_int_equal(mk_rows_create(&w, path, 0, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint64_t i = 0; i < 100000; i++)
		mk_rows_put(&w, columns, &i);
	errno = 0;
	rc = mk_rows_commit(&w, NULL, &err);
	setrlimit(RLIMIT_FSIZE, &limit);
	signal(SIGXFSZ, before);
	assert_int_equal(rc, SC_ESYS);
	snprintf(want, sizeof(want), "cannot write %s: File too large", path);
	assert_string_equal(err.msg, want);
	unlink(path);
}

static void test_row(void **state)
{
	static const char *const bad[] = {
		"", "[]", "{", "1", "{}{}", "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":1,}", "null",
		"{\"a\\u0000b\":1}",
	};
	static const char good[] =
		"{\"n\":-5,\"t\":\"a\\u0000b\",\"b\":true,\"z\":null,\"x_hex\":\"ff00\"}\n";
	static const struct mk_column n[] = { { "n", MK_SIGNED, 0, NULL }, { 0 } };
	static const struct mk_column b[] = { { "b", MK_BOOL, 0, NULL }, { 0 } };
	static const struct mk_column x[] = { { "x", MK_BYTES, 0, NULL }, { 0 } };
	static const struct mk_column negative[] = { { "n", MK_NUMBER, 0, NULL }, { 0 } };
	static const struct mk_column zero[] = { { "t", MK_TEXT, 0, NULL }, { 0 } };
	static const struct mk_column none[] = { { "z", MK_HASH_OR_NONE, 0, NULL }, { 0 } };
	struct mk_object row = { 0 };
	struct sc_str bytes;
	char hash[SC_HASH_TEXT] = "";
	int64_t number;
	bool truth;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mk_object_parse(&row, bad[i], strlen(bad[i])), SC_EFORMAT);
	for (int i = 0; i < 2; i++) { /* again in the same row */
		assert_int_equal(mk_object_parse(&row, good, strlen(good)), 0);
		assert_true(mk_object_read(&row, n, &number));
		assert_int_equal(number, -5);
		assert_true(mk_object_read(&row, b, &truth) && truth);
		assert_true(mk_object_has(&row, "n"));
		assert_false(mk_object_has(&row, "z") || mk_object_has(&row, "none"));
		assert_true(mk_object_read(&row, x, &bytes));
		assert_int_equal(bytes.len, 2);
		assert_memory_equal(bytes.ptr, "\xff\0\0", 3);
		assert_false(mk_object_read(&row, negative, &number));
		assert_false(mk_object_read(&row, zero, &bytes)); /* with a NUL in it */
		assert_true(mk_object_read(&row, none, hash));
	}
	/* Bytes are pairs of hex digits. */
	static const struct { const char *text; size_t len; } hex[] = {
		{ "{\"x_hex\":\"\"}", 0 }, { "{\"x_hex\":\"09afA\"}", SIZE_MAX }, { "{\"x_hex\":\"09af\"}", 2 },
		{ "{\"x_hex\":\"fff\"}", SIZE_MAX }, { "{\"x_hex\":\"fg\"}", SIZE_MAX }, { "{\"x_hex\":\"gf\"}", SIZE_MAX },
		{ "{\"x_hex\":\"AF\"}", SIZE_MAX }, { "{\"x_hex\":7}", SIZE_MAX }, { "{\"x\":\"\",\"x_hex\":\"ff\"}", 0 },
	};
	for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
		assert_int_equal(mk_object_parse(&row, hex[i].text, strlen(hex[i].text)), 0);
		if (mk_object_read(&row, x, &bytes) != (hex[i].len != SIZE_MAX))
			fail_msg("%s", hex[i].text);
		if (hex[i].len != SIZE_MAX)
			assert_int_equal(bytes.len, hex[i].len);
		if (hex[i].len == 2)
			assert_memory_equal(bytes.ptr, "\x09\xaf", 2);
	}
	mk_object_deinit(&row);
}

/* Rows come back; every byte that is changed, and every cut, is found. */
static void test_rows(void **state)
{
	char path[] = "/tmp/plan_test.XXXXXX", hash[SC_HASH_TEXT], text[512];
	static const struct mk_column columns[] = { { "i", MK_NUMBER, 0, NULL }, { 0 } };
	struct mk_rows_out w;
	struct mk_rows_in r = { 0 };
	struct sc_error err;
	size_t size;
	FILE *f;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(mk_rows_create(&w, path, 0, &err), 0);
	for (uint64_t i = 0; i < 3; i++) {
		mk_rows_put(&w, columns, &i);
	}
	assert_int_equal(mk_rows_commit(&w, hash, &err), 0);
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
		assert_int_equal(mk_rows_read(&r, path, 0, &err), 0);
		while ((rc = mk_rows_next(&r, &err)) > 0)
			;
		assert_int_equal(rc, i == size ? 0 : SC_EFORMAT);
		if (!rc)
			assert_string_equal(r.hash, hash);
		mk_rows_end(&r);
	}
	unlink(path);
	assert_int_equal(mk_rows_read(&r, path, 0, &err), SC_ENOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deal),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_rows),
	};
	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
