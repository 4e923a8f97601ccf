/*
 * Compressed streams, by pieces of every size: one behind the other, padded, cut off, with something
 * else behind them. A log that ends early must say so, and one that does not must not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "libsymcache/archive/inflate.h"
#include "libsymcache/base/testing_bytes.h"

enum { KINDS = 3 };
static const enum symcache_packing kinds[KINDS] = { SYMCACHE_GZIP, SYMCACHE_XZ, SYMCACHE_ZSTD };

static void pack(struct bytes *to, enum symcache_packing kind, const char *text)
{
	unsigned char out[1000];
	size_t len = 0;

	if (kind == SYMCACHE_GZIP) {
		z_stream z = { .next_in = (unsigned char *)text, .avail_in = (unsigned)strlen(text),
			       .next_out = out, .avail_out = sizeof(out) };

		assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		len = z.total_out;
		deflateEnd(&z);
	} else if (kind == SYMCACHE_XZ) {
		assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text, strlen(text),
							 out, &len, sizeof(out)), LZMA_OK);
	} else {
		len = ZSTD_compress(out, sizeof(out), text, strlen(text), 3);
	}
	put_block(to, out, len);
}

/* What a library has left uninitialised on the stack is this. */
static __attribute__((noinline)) void fill_stack(void)
{
	volatile char bytes[16384];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0x77;
}

/* Unpacks in pieces; what is wrong, or NULL. `text` gets what came. */
static const char *unpack(const struct bytes *b, size_t size, size_t piece, char text[1000])
{
	static struct sc_error err;
	struct symcache_inflate *d;
	size_t at = 0, n = 0;
	int rc = symcache_inflate_create(b->b.data, size < 6 ? size : 6, piece % 2 + 1, &d, &err);

	assert_int_equal(rc, 0);
	assert_non_null(d);
	for (;;) {
		struct symcache_inflate_step s = {
			.in = b->b.data + at, .in_len = size - at < piece ? size - at : piece, .out = text + n,
			.out_len = 999 - n < piece ? 999 - n : piece,
		};

		s.end = at + s.in_len == size;
		fill_stack();
		rc = symcache_inflate_run(d, &s, &err);
		if (rc)
			break;
		at += s.in_len;
		n += s.out_len;
		if (at == size && !s.out_len && !s.in_len)
			break;
	}
	text[n] = '\0';
	symcache_inflate_destroy(d);
	return rc ? err.msg : NULL;
}

static void test_streams(void **state)
{
	static const struct {
		const char *what;
		unsigned streams, zeros; /* streams of "0", "1", …; zeros behind them */
		const char *behind;
		bool gzip, xz, zstd;     /* is it valid? */
	} cases[] = {
		{ "one", 1, 0, "", true, true, true },
		{ "three", 3, 0, "", true, true, true },
		{ "padded", 2, 512, "", true, true, false },
		{ "not padded by fours", 1, 3, "", true, false, false },
		{ "with something else behind", 1, 0, "something else", false, false, false },
		{ "with something else behind zeros", 1, 512, "something else", false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool valid[KINDS] = { cases[i].gzip, cases[i].xz, cases[i].zstd };

		for (int k = 0; k < KINDS; k++) {
			struct bytes b = { 0 };
			char text[1000], want[8] = "";

			for (unsigned n = 0; n < cases[i].streams; n++) {
				sprintf(want + n, "%u", n);
				pack(&b, kinds[k], want + n);
			}
			for (unsigned n = 0; n < cases[i].zeros; n++)
				put(&b, 1, 0);
			put_block(&b, cases[i].behind, strlen(cases[i].behind));
			for (size_t piece = 1; piece < 900; piece = piece * 2 + 1) {
				const char *why = unpack(&b, b.b.len, piece, text);

				if (!why != valid[k])
					fail_msg("%s, %d, in pieces of %zu: %s", cases[i].what, k, piece, why ? why : "valid");
				if (!why)
					assert_string_equal(text, want);
			}
			bytes_deinit(&b);
		}
	}
}

/* A file that is cut is an error, but for a cut between two streams. */
static void test_cut_off(void **state)
{
	static const char *const says[KINDS] = { "gzip: the file is cut off", "xz: the file is cut off",
						 "zstd: the file is cut off" };

	(void)state;
	for (int k = 0; k < KINDS; k++) {
		struct bytes b = { 0 };
		char text[1000];
		size_t first;

		pack(&b, kinds[k], "first");
		first = b.b.len;
		pack(&b, kinds[k], "second");
		for (size_t size = 6; size < b.b.len; size++) {
			for (size_t piece = 1; piece < 900; piece = piece * 4 + 3) {
				const char *why = unpack(&b, size, piece, text);

				if (size == first)
					assert_null(why);
				else if (!why || strcmp(why, says[k]))
					fail_msg("%d, %zu of %zu: %s", k, size, b.b.len, why ? why : "valid");
				assert_true(size < first || !strncmp(text, "first", 5));
			}
		}
		bytes_deinit(&b);
	}
}

/* All there is to read at once, after there was nothing to read for a while, and room for one byte at
 * a time: it is as little cut off as in pieces. */
static void test_little_room(void **state)
{
	char want[301], text[301];

	(void)state;
	memset(want, 'a', 300);
	want[300] = '\0';
	for (int k = 0; k < KINDS; k++) {
		struct symcache_inflate *d;
		struct bytes b = { 0 };
		struct sc_error err;
		size_t at = 0, n = 0;

		pack(&b, kinds[k], want);
		assert_int_equal(symcache_inflate_create(b.b.data, b.b.len, 1, &d, &err), 0);
		for (size_t i = 0;; i++) {
			struct symcache_inflate_step s = {
				.in = b.b.data + at, .in_len = i < 5 ? 0 : b.b.len - at,
				.out = text + n, .out_len = 1, .end = i >= 5,
			};

			if (symcache_inflate_run(d, &s, &err))
				fail_msg("%d, step %zu: %s", k, i, err.msg);
			if (i >= 5 && !s.in_len && !s.out_len)
				break;
			at += s.in_len;
			n += s.out_len;
			assert_true(n <= 300);
		}
		assert_int_equal(at, b.b.len);
		assert_int_equal(n, 300);
		assert_memory_equal(text, want, 300);
		symcache_inflate_destroy(d);
		bytes_deinit(&b);
	}
}

/* An xz file says how much memory it wants. */
static void test_xz_memory(void **state)
{
	struct bytes b = { 0 };
	unsigned char *header;
	char text[1000];
	size_t len;

	(void)state;
	pack(&b, SYMCACHE_XZ, "a text");
	header = b.b.data + 12; /* of the block: behind the stream's */
	len = (header[0] + 1u) * 4 - 4;
	assert_memory_equal(header + 4, "\x21\1", 2); /* LZMA2; the size of its dictionary is next */
	for (unsigned size = 25; size <= 40; size += 15) { /* 24 MiB, 4 GiB */
		const char *why;
		uint32_t sum;

		header[6] = (unsigned char)size;
		sum = lzma_crc32(header, len, 0);
		for (int i = 0; i < 4; i++)
			header[len + (size_t)i] = (unsigned char)(sum >> 8 * i);
		for (size_t piece = 99; piece < 101; piece++) {
			why = unpack(&b, b.b.len, piece, text);
			if (size == 40)
				assert_string_equal(why, "xz: it wants more than 512 MiB of memory");
			else
				assert_null(why);
		}
	}
	bytes_deinit(&b);
}

/* A wrong byte anywhere is noticed, or the text is what it was. */
static void test_damaged(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		struct bytes b = { 0 };
		unsigned noticed = 0;
		char text[1000];

		pack(&b, kinds[k], "a text, a text, a text, a text");
		for (size_t i = 6; i < b.b.len; i++) {
			b.b.data[i] ^= 0x55;
			if (unpack(&b, b.b.len, 100, text))
				noticed++;
			else if (kinds[k] != SYMCACHE_ZSTD) /* which has a sum only if it is asked to */
				assert_string_equal(text, "a text, a text, a text, a text");
			b.b.data[i] ^= 0x55;
		}
		assert_true(noticed > b.b.len / 3);
		bytes_deinit(&b);
	}
}

/* Methods and flags of gzip that there are not. */
static void test_gzip_unknown(void **state)
{
	static const struct { size_t at; unsigned char value; } cases[] = {
		{ 2, 7 }, { 2, 9 }, { 2, 0 }, { 3, 0x20 }, { 3, 0x40 }, { 3, 0x80 },
	};
	struct bytes b = { 0 };
	char text[1000];

	(void)state;
	pack(&b, SYMCACHE_GZIP, "a text");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned char was = b.b.data[cases[i].at];

		b.b.data[cases[i].at] = cases[i].value;
		for (size_t piece = 1; piece < 900; piece = piece * 4 + 3) {
			const char *why = unpack(&b, b.b.len, piece, text);

			if (!why || strcmp(why, "gzip: damaged"))
				fail_msg("case %zu, in pieces of %zu: %s", i, piece, why ? why : "valid");
		}
		b.b.data[cases[i].at] = was;
	}
	assert_null(unpack(&b, b.b.len, 100, text));
	assert_string_equal(text, "a text");
	bytes_deinit(&b);
}

/* What may stand in a gzip header, behind a plain stream and in front of one. */
static void test_gzip_headers(void **state)
{
	char text[1000];

	(void)state;
	for (int i = 0; i < 16; i++) {
		unsigned char out[900], extra[300] = "extra";
		gz_header header = {
			.name = i & 1 ? (unsigned char *)"a-name" : NULL, .extra = i & 2 ? extra : NULL,
			.extra_len = sizeof(extra), .comment = i & 4 ? (unsigned char *)"why" : NULL,
			.hcrc = i >> 3,
		};
		z_stream z = { .next_in = (unsigned char *)"with", .avail_in = 4,
			       .next_out = out, .avail_out = sizeof(out) };
		struct bytes b = { 0 };

		assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
		assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		for (int first = 0; first < 2; first++) {
			pack(&b, SYMCACHE_GZIP, "before ");
			put_block(&b, out, z.total_out);
			pack(&b, SYMCACHE_GZIP, " behind");
			for (size_t piece = 1; piece < 400; piece = first ? piece * 2 + 1 : piece + 1) {
				const char *why = unpack(&b, b.b.len, piece, text);

				if (why)
					fail_msg("header %d, in pieces of %zu: %s", i, piece, why);
				assert_string_equal(text, first ? "before with behindbefore with behind" :
								  "before with behind");
			}
		}
		deflateEnd(&z);
		bytes_deinit(&b);
	}
}

static void test_kinds(void **state)
{
	static const struct { const char *bytes; size_t len; enum symcache_packing kind; } cases[] = {
		{ "\x1f\x8b", 2, SYMCACHE_GZIP }, { "\x1f", 1, SYMCACHE_PLAIN }, { "", 0, SYMCACHE_PLAIN },
		{ "\xfd" "7zXZ\0", 6, SYMCACHE_XZ }, { "\xfd" "7zXZ\1", 6, SYMCACHE_PLAIN }, { "\xfd" "7zXZ", 5, SYMCACHE_PLAIN },
		{ "\x28\xb5\x2f\xfd", 4, SYMCACHE_ZSTD }, { "\x28\xb5\x2f", 3, SYMCACHE_PLAIN },
		{ "\x50\x2a\x4d\x18", 4, SYMCACHE_ZSTD }, { "\x5f\x2a\x4d\x18", 4, SYMCACHE_ZSTD },
		{ "\x60\x2a\x4d\x18", 4, SYMCACHE_PLAIN }, { "text", 4, SYMCACHE_PLAIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_inflate *d;

		assert_int_equal(symcache_packing_of(cases[i].bytes, cases[i].len), cases[i].kind);
		assert_int_equal(symcache_inflate_create(cases[i].bytes, cases[i].len, 1, &d, NULL), 0);
		assert_int_equal(d != NULL, cases[i].kind != SYMCACHE_PLAIN);
		symcache_inflate_destroy(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams), cmocka_unit_test(test_cut_off), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_little_room), cmocka_unit_test(test_xz_memory),
		cmocka_unit_test(test_gzip_headers), cmocka_unit_test(test_gzip_unknown), cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
