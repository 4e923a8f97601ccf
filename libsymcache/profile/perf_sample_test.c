/*
 * Fields of samples of perf.data, which lie one behind the other as the event's bits say: one that is
 * stepped over wrongly shifts all behind it. Written here in the order of linux/perf_event.h, with all
 * kinds of bits, and read again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/profile/perf_file.h"

enum {
	PID = 7, TID = 8, TIME = 99, THE_IP = 0x7110, FIXED = 4000, CHAIN = 3, STACK = 24, REGS = 5,
	ID_FIRST = 100, ID_SECOND = 200,
	SAMPLE_ID_ALL = 1 << 18, HW_INDEX = 1 << 17, COUNTERS = 1 << 19,
};

static const uint64_t bits[] = {
	PERF_IP, PERF_TID, PERF_TIME, PERF_ADDR, PERF_READ, PERF_CALLCHAIN, PERF_ID, PERF_CPU, PERF_PERIOD,
	PERF_STREAM_ID, PERF_RAW, PERF_BRANCH_STACK, PERF_REGS_USER, PERF_STACK_USER, PERF_IDENTIFIER,
};
enum { NUM_BITS = sizeof(bits) / sizeof(*bits) };

static const uint64_t branch_types[] = { 0, HW_INDEX, COUNTERS, HW_INDEX | COUNTERS };

/* Words, of which the first is this one. */
static void put_words(struct bytes *b, unsigned n, uint64_t first)
{
	for (unsigned i = 0; i < n; i++)
		put(b, 8, i ? 0x5555 : first);
}

/* Counters: the times, then one, or a group of two. */
static void put_read(struct bytes *b, uint64_t format)
{
	const unsigned n = format & 8 ? 2 : 1;

	if (format & 8)
		put(b, 8, n);
	for (unsigned i = 0; i < 2; i++)
		if (format >> i & 1)
			put(b, 8, 1000 + i);
	for (unsigned i = 0; i < n; i++) {
		put(b, 8, 5);
		for (unsigned bit = 4; bit <= 16; bit += 12)
			if (format & bit)
				put(b, 8, 6);
	}
}

static void put_branches(struct bytes *b, uint64_t type)
{
	put(b, 8, 2);
	if (type & HW_INDEX)
		put(b, 8, 0);
	for (unsigned i = 0; i < 2 * 3; i++)
		put(b, 8, 0x1111);
	for (unsigned i = 0; type & COUNTERS && i < 2; i++)
		put(b, 8, 0x2222);
}

/* A sample with all fields that the bits ask for. */
static void put_sample(struct bytes *b, const struct perf_event *e, bool user, unsigned mode)
{
	const uint64_t type = e->sample_type;

	put(b, 4, PERF_SAMPLE);
	put(b, 2, mode);
	put(b, 2, 0);
	if (type & PERF_IDENTIFIER)
		put(b, 8, ID_SECOND);
	if (type & PERF_IP)
		put(b, 8, THE_IP);
	if (type & PERF_TID)
		put(b, 4, PID), put(b, 4, TID);
	if (type & PERF_TIME)
		put(b, 8, TIME);
	if (type & PERF_ADDR)
		put(b, 8, 0xadd);
	if (type & PERF_ID)
		put(b, 8, ID_SECOND);
	if (type & PERF_STREAM_ID)
		put(b, 8, 0x57);
	if (type & PERF_CPU)
		put(b, 8, 3);
	if (type & PERF_PERIOD)
		put(b, 8, 12345);
	if (type & PERF_READ)
		put_read(b, e->read_format);
	if (type & PERF_CALLCHAIN)
		put(b, 8, CHAIN), put_words(b, CHAIN, 0xc4a1);
	if (type & PERF_RAW)
		put(b, 4, 12), put(b, 12, 0xaa);
	if (type & PERF_BRANCH_STACK)
		put_branches(b, e->branch_type);
	if (type & PERF_REGS_USER) {
		put(b, 8, user ? 2 : 0);
		if (user)
			put_words(b, 2, REGS);
	}
	if (type & PERF_STACK_USER) {
		put(b, 8, user ? STACK : 0);
		if (user)
			put_words(b, STACK / 8, 0x57ac), put(b, 8, STACK - 8);
	}
	patch(b, 6, 2, b->b.len);
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t ret;

	memcpy(&ret, p, sizeof(ret));
	return le64toh(ret);
}

static struct perf_file file_with(const struct perf_event *e)
{
	struct perf_file f = { 0 };

	for (uint32_t i = 0; i < 2; i++) {
		*vec_push(&f.events) = *e;
		*vec_push(&f.event_of) = i;
		assert_true(prof_ids_add(&f.ids, i ? ID_SECOND : ID_FIRST));
	}
	return f;
}

static void test_samples(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned n = 0; n < 4096; n++) {
		struct perf_event e = { .period = FIXED, .read_format = testing_below(&seed, 32), .regs = 1 << 6 | 1 << 8,
					.branch_type = branch_types[n % 4], .flags = SAMPLE_ID_ALL };
		const bool user = testing_below(&seed, 2);
		const unsigned mode = testing_below(&seed, 6);
		struct bytes b = { 0 };
		struct perf_sample s;
		struct perf_file f;
		uint64_t type;

		for (unsigned i = 0; i < NUM_BITS; i++)
			e.sample_type |= testing_below(&seed, 2) ? bits[i] : 0;
		type = e.sample_type;
		put_sample(&b, &e, user, mode);
		f = file_with(&e);
		if (!perf_read_sample(&f, b.b.data, b.b.len, &s))
			fail_msg("bits 0x%llx, counters %llu", (unsigned long long)type, (unsigned long long)e.read_format);
		assert_int_equal(s.event, type & (PERF_IDENTIFIER | PERF_ID) ? 1 : 0);
		assert_int_equal(s.ip, type & PERF_IP ? THE_IP : 0);
		assert_int_equal(s.pid, type & PERF_TID ? PID : 0);
		assert_int_equal(s.tid, type & PERF_TID ? TID : 0);
		assert_int_equal(s.period, type & PERF_PERIOD ? 12345 : FIXED);
		assert_int_equal(s.guest, mode == 4 || mode == 5);
		assert_int_equal(s.num_chain, type & PERF_CALLCHAIN ? CHAIN : 0);
		assert_int_equal(s.chain ? word_at(s.chain) : 0, type & PERF_CALLCHAIN ? 0xc4a1 : 0);
		assert_int_equal(s.abi, user && type & PERF_REGS_USER ? 2 : 0);
		assert_int_equal(s.regs ? word_at(s.regs) : 0, user && type & PERF_REGS_USER ? REGS : 0);
		assert_int_equal(s.stack ? word_at(s.stack) : 0, user && type & PERF_STACK_USER ? 0x57ac : 0);
		assert_int_equal(s.stack_size, user && type & PERF_STACK_USER ? STACK - 8 : 0);
		assert_int_equal(perf_time_of(&f, b.b.data, b.b.len), type & PERF_TIME ? TIME : 0);
		/* Cut off anywhere, it is none; nothing is read behind the end. */
		for (size_t len = 8; len < b.b.len; len++) {
			uint8_t *cut = malloc(len);

			memcpy(cut, b.b.data, len);
			assert_false(perf_read_sample(&f, cut, len, &s));
			free(cut);
		}
		perf_file_deinit(&f);
		bytes_deinit(&b);
	}
}

/* What ends other records, by the same bits: the time, from the end. */
static void test_other_records(void **state)
{
	static const uint64_t order[] = { PERF_TID, PERF_TIME, PERF_ID, PERF_STREAM_ID, PERF_CPU, PERF_IDENTIFIER };

	(void)state;
	for (unsigned n = 0; n < 128; n++) {
		struct perf_event e = { .flags = n & 64 ? SAMPLE_ID_ALL : 0 };
		struct bytes b = { 0 };
		struct perf_file f;

		put(&b, 4, PERF_COMM);
		put(&b, 4, 0);
		put(&b, 16, 0x77); /* of its own */
		for (unsigned i = 0; i < 6; i++)
			if (n >> i & 1) {
				e.sample_type |= order[i];
				put(&b, 8, order[i] == PERF_TIME ? TIME : ID_SECOND);
			}
		patch(&b, 6, 2, b.b.len);
		f = file_with(&e);
		assert_int_equal(perf_time_of(&f, b.b.data, b.b.len), n & 64 && e.sample_type & PERF_TIME ? TIME : 0);
		/* A record that is too short has none. */
		assert_int_equal(perf_time_of(&f, b.b.data, 8), 0);
		perf_file_deinit(&f);
		bytes_deinit(&b);
	}
}

/* Counts that would go past the end are refused before anything is counted with them. */
static void test_counts(void **state)
{
	static const struct { uint64_t type, format; } cases[] = {
		{ PERF_CALLCHAIN, 0 }, { PERF_READ, 8 }, { PERF_BRANCH_STACK, 0 }, { PERF_STACK_USER, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static const uint64_t counts[] = { 3, 1ull << 29, 1ull << 61, UINT64_MAX };
		const struct perf_event e = { .sample_type = cases[i].type, .read_format = cases[i].format };
		struct perf_file f = file_with(&e);

		for (size_t k = 0; k < 4; k++) {
			struct bytes b = { 0 };
			struct perf_sample s;

			put(&b, 4, PERF_SAMPLE);
			put(&b, 4, 0);
			put(&b, 8, counts[k]);
			put(&b, 16, 0);
			/* Two words of a stack may be 3 bytes of it and 8 of its size. */
			assert_int_equal(perf_read_sample(&f, b.b.data, b.b.len, &s),
					 cases[i].type == PERF_STACK_USER && counts[k] == 3);
			bytes_deinit(&b);
		}
		perf_file_deinit(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples), cmocka_unit_test(test_other_records),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
