/* Numbers as printf() writes them, of all lengths, and read again; buffers that grow and flush. */
#include <errno.h>
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
	char got[FMT_MAX + 1], want[FMT_MAX + 1], digits[32];
	uint64_t value;
	size_t len;

	got[mk_fmt_dec(got, v)] = 0;
	snprintf(want, sizeof(want), "%" PRIu64, v);
	assert_string_equal(got, want);
	got[mk_fmt_hex(got, v)] = 0;
	snprintf(want, sizeof(want), "0x%" PRIx64, v);
	assert_string_equal(got, want);
	len = strlen(want) - 2;
	memset(digits, "g/:`@FG\xe1"[v % 8], sizeof(digits));
	memcpy(digits, want + 2, len);
	assert_int_equal(mk_read_hex(digits, &value), len);
	assert_true(value == v);
	assert_int_equal(mk_read_hex(digits + len, &value), 0);
	assert_true(!value);
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

static int take(void *ctx, const char *data, size_t len)
{
	mk_out_put(ctx, data, len);
	return 0;
}

static void assert_taken(struct mk_out *o, const char *wanted)
{
	char *text = mk_out_take(o);

	assert_non_null(text);
	assert_string_equal(text, wanted);
	assert_null(o->buf);
	free(text);
}

/* The same text, whether it grows or goes through a buffer of any size. */
static void test_buffers(void **state)
{
	static const char padded[64] = "padded";

	(void)state;
	for (size_t cap = FMT_MAX; cap < 200; cap++) {
		struct mk_out all = { 0 }, grows = { 0 }, flushes, *both[] = { &grows, &flushes };

		assert_int_equal(mk_out_init(&flushes, cap, take, &all), 0);
		for (size_t i = 0; i < 2; i++) {
			mk_put(both[i], "text ", 1234567u, " ", mk_hex(0xabc), " ", (int64_t)-5, "; ");
			mk_out_put_padded(both[i], padded, 6);
			mk_out_printf(both[i], "%050d", 7);
			mk_put(both[i], mk_shown("\x1b[m\xe2\x82\xac\xff"));
		}
		mk_out_flush(&flushes);
		mk_out_deinit(&flushes);
		assert_taken(&all, "text 1234567 0xabc -5; padded00000000000000000000000000000000"
			     "000000000000000007\\x1b[m\xe2\x82\xac\\xff");
		mk_out_char(&grows, 0);
		assert_int_equal(strlen(grows.buf) + 1, grows.len);
		mk_out_deinit(&grows);
	}
}

/* Texts for terminals are made in pieces: no character is cut through. */
static void test_shown(void **state)
{
	char *text = calloc(1, 4096), *wanted = calloc(1, 4096);

	(void)state;
	for (size_t before = 0; before < 8; before++) {
		struct mk_out o = { 0 };
		char *p = text, *w = wanted;

		p = (char *)memset(p, 'x', before) + before;
		w = (char *)memset(w, 'x', before) + before;
		for (size_t i = 0; i < 300; i++) {
			p = stpcpy(p, "\xf0\x9f\x98\x80");
			w = stpcpy(w, "\xf0\x9f\x98\x80");
		}
		stpcpy(p, "\x1b\x80\x80\x80\x80");
		stpcpy(w, "\\x1b\\x80\\x80\\x80\\x80");
		mk_out_shown(&o, sc_str_of(text));
		assert_taken(&o, wanted);
	}
	free(text);
	free(wanted);
}

static int fail_later(void *ctx, const char *data, size_t len)
{
	int *calls = ctx;

	(void)data;
	(void)len;
	return ++*calls > 1;
}

/* When the sink fails it is not asked again, and the error stays. */
static void test_failing(void **state)
{
	struct mk_out o;
	int calls = 0;

	(void)state;
	assert_int_equal(mk_out_init(&o, 64, fail_later, &calls), 0);
	mk_out_flush(&o); /* of nothing */
	assert_int_equal(calls, 0);
	for (int i = 0; i < 100; i++) {
		mk_put(&o, "0123456789");
		assert_int_equal(o.error, calls < 2 ? 0 : -EIO);
	}
	mk_out_put(&o, "", 0);
	mk_out_flush(&o);
	assert_int_equal(calls, 2);
	assert_int_equal(o.error, -EIO);
	mk_out_deinit(&o);
}

/* What cannot be in the buffer at once has no room there, and what is large goes around it. */
static void test_room(void **state)
{
	struct mk_out all = { 0 }, o;
	char text[200];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(mk_out_init(&o, 64, take, &all), 0);
	mk_out_lit(&o, "before ");
	assert_null(mk_out_room(&o, 65));
	assert_ptr_equal(mk_out_room(&o, 64), o.buf);
	mk_out_put(&o, text, 200);
	mk_out_lit(&o, " behind");
	mk_out_flush(&o);
	assert_int_equal(all.len, 7 + 200 + 7);
	assert_memory_equal(all.buf, "before xxx", 10);
	assert_memory_equal(all.buf + 204, "xxx behind", 10);
	mk_out_deinit(&o);
	mk_out_deinit(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_failing),
		cmocka_unit_test(test_room),
	};
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
