/* perf.data whose records are compressed, in pieces or in one, and with records that more bytes
 * follow than their size says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/profile/perf_file_test.h"

enum { TRACING_DATA = 66, AUXTRACE = 71, COMPRESSED = 81, COMPRESSED2 = 83 };

static const uint64_t chain[] = { USER, 0x7140, 0x7140 };

/* As a file and as a pipe: a part of the message, or the folded stacks. */
static void expect(const struct bytes *records, const char *want)
{
	const struct symprofile_options options = { .form = SYMPROFILE_FOLDED,
						    .value = "cpu-clock_sample" };

	for (unsigned pipe = 0; pipe < 2; pipe++) {
		struct bytes file = { 0 };
		struct sc_error err;
		size_t len;
		char *got;

		wrap(&file, records, pipe);
		testing_seed(file.b.data, file.b.len);
		got = prof_symbolized(options, file.b.data, file.b.len, &len, &err);
		if (!strstr(got ? got : err.msg, want))
			fail_msg("%s, not %s", got ? got : err.msg, want);
		free(got);
		bytes_deinit(&file);
	}
}

/* A frame of zstd that holds the bytes as they are. */
static void put_frame(struct bytes *to, const struct bytes *records)
{
	put_block(to, "\x28\xb5\x2f\xfd\x00\x58", 6);
	put(to, 2, (records->b.len << 3 | 1) & 0xffff);
	put(to, 1, records->b.len << 3 >> 16);
	put_block(to, records->b.data, records->b.len);
}

/* One record of bytes [from, to) of a frame; the kind that says how many they are has some behind
 * them. */
static void put_compressed(struct bytes *b, const struct bytes *frame, size_t from, size_t to,
			   bool sized)
{
	const size_t at = begin_record(b, sized ? COMPRESSED2 : COMPRESSED, 0);

	if (sized)
		put(b, 8, to - from);
	put_block(b, frame->b.data + from, to - from);
	if (sized)
		put(b, 5, 0x55);
	end_record(b, at);
}

static void make_records(struct bytes *records)
{
	put_sample(records, PID, 100, 10, chain, 3, NULL, 0);
	put_sample(records, PID, 100, 11, chain, 3, NULL, 0);
	put_mmap(records, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
}

/* Wherever the frame is cut in two; what is within it is one stream. */
static void test_compressed(void **state)
{
	struct bytes records = { 0 }, frame = { 0 };

	(void)state;
	make_records(&records);
	put_frame(&frame, &records);
	for (unsigned sized = 0; sized < 2; sized++)
		for (size_t cut = 5; cut < frame.b.len; cut += 37) {
			struct bytes b = { 0 };

			put_compressed(&b, &frame, 0, cut, sized);
			put_compressed(&b, &frame, cut, frame.b.len, sized);
			put_sample(&b, PID, 100, 12, chain, 3, NULL, 0);
			expect(&b, "grind;mill::turn(int) 3\n");
			bytes_deinit(&b);
		}
	bytes_deinit(&records);
	bytes_deinit(&frame);
}

/* What is damaged in it is said with its place. */
static void test_damaged(void **state)
{
	struct bytes records = { 0 }, frame = { 0 }, b = { 0 };

	(void)state;
	make_records(&records);
	records.b.len -= 8;
	put_frame(&frame, &records);
	put_compressed(&b, &frame, 0, frame.b.len, false);
	expect(&b, "in the uncompressed data: a record is cut off");
	bytes_deinit(&b);
	memset(&b, 0, sizeof(b));
	frame.b.data[6] |= 6; /* a kind of block that there is not */
	put_compressed(&b, &frame, 0, frame.b.len, false);
	expect(&b, "perf.data: at 0x");
	bytes_deinit(&b);
	memset(&b, 0, sizeof(b));
	frame.b.data[0] = 0;
	put_compressed(&b, &frame, 0, frame.b.len, false);
	expect(&b, "the compressed data is not zstd's");
	bytes_deinit(&b);
	memset(&b, 0, sizeof(b));
	records.b.len = 0;
	put(&records, 8, (uint64_t)7 << 48 | 1);
	bytes_deinit(&frame);
	memset(&frame, 0, sizeof(frame));
	put_frame(&frame, &records);
	put_compressed(&b, &frame, 0, frame.b.len, false);
	expect(&b, "a record is shorter than its header");
	bytes_deinit(&b);
	bytes_deinit(&records);
	bytes_deinit(&frame);
}

/* Traces stand behind their records, which say how long they are; those of tracepoints fill up
 * words. */
static void test_behind(void **state)
{
	static const uint8_t trace[24] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0 };

	(void)state;
	for (unsigned bytes = 0; bytes <= sizeof(trace); bytes += 3) {
		struct bytes b = { 0 };
		size_t at = begin_record(&b, TRACING_DATA, 0);

		put(&b, 4, bytes);
		put(&b, 4, 0);
		end_record(&b, at);
		put_block(&b, trace, (bytes + 7) & ~7u);
		at = begin_record(&b, AUXTRACE, 0);
		put(&b, 8, bytes);
		put(&b, 16, 0);
		put(&b, 16, 0);
		end_record(&b, at);
		put_block(&b, trace, bytes);
		make_records(&b);
		expect(&b, "grind;mill::turn(int) 2\n");
		b.b.len = at + 48 + bytes - 1;
		if (bytes)
			expect(&b, "a record goes past the end");
		b.b.len = at + 48;
		if (bytes)
			expect(&b, "a record goes past the end");
		bytes_deinit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_behind),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}
