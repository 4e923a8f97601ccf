/* verify_test.c: each breach of the format is named, by itself and in words that
 * say where it is. */
#include "libsymcache/read/tiny_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

struct faults {
	size_t n, stop_after;
	char text[1000]; /* each with a newline behind it */
};

static bool add_fault(void *ctx, const char *fault)
{
	struct faults *f = ctx;

	strncat(f->text, fault, sizeof(f->text) - strlen(f->text) - 2);
	strcat(f->text, "\n");
	return ++f->n != f->stop_after;
}

static void expect_faults(struct tiny *t, const char *want)
{
	struct symcache c;
	uint8_t *bytes = tiny_open(t, &c);
	struct faults f = { 0 };
	size_t n;

	n = symcache_verify(&c, add_fault, &f);
	assert_string_equal(f.text, want);
	assert_int_equal(n, f.n);
	assert_int_equal(n, symcache_verify(&c, NULL, NULL));
	free(bytes);
}

/* An example of version `v`, changed by `change`, with and without extension. */
#define EXPECT(v, change, want) do { \
	struct tiny t = tiny_example(v); \
	change; \
	expect_faults(&t, want); \
	t = tiny_example_ext(v); \
	change; \
	expect_faults(&t, want); \
} while (0)

static void test_in_order(void **state)
{
	(void)state;
	for (uint32_t version = 7; version <= 9; version++)
		EXPECT(version, (void)0, "");
}

static void test_ranges(void **state)
{
	struct tiny t = tiny_example(9);

	(void)state;
	t.ranges[2] = 0x20;
	t.ranges[4] = 0x2f;
	expect_faults(&t, "range 2: starts at 0x20, not after 0x20\n"
			  "range 4: starts at 0x2f, not after 0x30\n");
	t = tiny_example(9);
	t.h.num_source_locations = 4;
	expect_faults(&t, "5 ranges, but only 4 source locations\n"
			  "source location 1: inlined into 0, which is not a call location\n"
			  "source location 3: inlined into 1, which is not a call location\n");
}

static void test_locations(void **state)
{
	(void)state;
	EXPECT(7, t.locations[2].file_idx = 2, "source location 2: no file 2\n");
	EXPECT(8, t.locations[2].function_idx = 4, "source location 2: no function 4\n");
	EXPECT(9, t.locations[2].function_idx = SYMCACHE_NONE, "");
	EXPECT(9, t.locations[0].inlined_into_idx = 0,
	       "source location 0: inlined into 0, which is not before it\n");
	EXPECT(9, t.locations[0].inlined_into_idx = 1,
	       "source location 0: inlined into 1, which is not before it\n");
	EXPECT(9, t.locations[3].inlined_into_idx = 2,
	       "source location 3: inlined into 2, which is not a call location\n");
	EXPECT(9, t.locations[3].inlined_into_idx = 7,
	       "source location 3: inlined into 7, which is not a call location\n");
	EXPECT(9, t.locations[0] = (struct symcache_source_location)TINY_GAP,
	       "source location 1: inlined into 0, which is not a location\n");
}

static void test_string_offsets(void **state)
{
	(void)state;
	EXPECT(9, t.functions[0].name = 1,
	       "function 0: name: no string starts at offset 0x1\n");
	EXPECT(9, t.functions[3].comp_dir = 0x7fffffff,
	       "function 3: comp_dir: no string starts at offset 0x7fffffff\n");
	EXPECT(9, t.functions[3].name = SYMCACHE_NONE, "");
	EXPECT(7, t.files[1].comp_dir = 1,
	       "file 1: comp_dir: no string starts at offset 0x1\n");
	EXPECT(8, t.files[1].directory = 1,
	       "file 1: directory: no string starts at offset 0x1\n");
	EXPECT(9, t.files[0].name = 400,
	       "file 0: name: no string starts at offset 0x190\n");
	EXPECT(9, t.files[0].srcsrv_name = 1,
	       "file 0: srcsrv_name: no string starts at offset 0x1\n");
	EXPECT(9, t.files[0].srcsrv_revision = 1,
	       "file 0: srcsrv_revision: no string starts at offset 0x1\n");
}

static void test_utf8(void **state)
{
	static const struct {
		const char *string;
		bool good;
	} rows[] = {
		{ "", true }, { "abc\x7f", true }, { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", true },
		{ "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", true }, { "\xf0\x90\x80\x80", true },
		{ "\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80", true },
		{ "\x80", false }, { "a\xff", false }, { "\xc3", false }, { "\xc3(", false },
		{ "\xc0\x80", false }, { "\xc1\xbf", false }, { "\xe0\x9f\xbf", false },
		{ "\xed\xa0\x80", false }, { "\xf0\x8f\xbf\xbf", false },
		{ "\xf4\x90\x80\x80", false }, { "\xf5\x80\x80\x80", false },
		{ "\xe2\x82", false }, { "\xe2\x82" "a", false }, { "\xf0\x9f\x98", false },
	};
	char want[100];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tiny t = tiny_example(9);
		uint32_t at = tiny_string(&t, rows[i].string);

		tiny_string(&t, "behind");
		snprintf(want, sizeof(want), "strings: invalid UTF-8 at offset 0x%x\n", at);
		expect_faults(&t, rows[i].good ? "" : want);
	}
}

static void test_string_section(void **state)
{
	struct tiny t = tiny_example(7);
	uint32_t at = tiny_string(&t, "");
	char want[200];

	(void)state;
	snprintf(want, sizeof(want), "strings: empty string at offset 0x%x\n", at);
	expect_faults(&t, want);

	t = tiny_example(8);
	at = t.h.string_bytes;
	t.strings[t.h.string_bytes++] = 1; /* one more byte promised than there is */
	snprintf(want, sizeof(want), "strings: malformed or too long at offset 0x%x\n", at);
	expect_faults(&t, want);

	t = tiny_example(8);
	t.h.num_functions = t.h.num_source_locations = t.h.num_ranges = 0;
	t.h.num_files = 1;
	t.strings[0] = 0xff; /* and what is behind it cannot be found */
	expect_faults(&t, "strings: malformed or too long at offset 0x0\n"
			  "file 0: comp_dir: no string starts at offset 0x0\n"
			  "file 0: name: no string starts at offset 0xc\n");
}

static void test_padding(void **state)
{
	/* One file of 12 bytes and one range: padding in three places. */
	struct tiny t = { .h = { .magic = SYMCACHE_MAGIC, .version = 8, .num_files = 1,
				 .num_source_locations = 1, .num_ranges = 1 },
			  .files = { { SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE, 0, 0, 0 } },
			  .locations = { TINY_GAP }, .ext = true };
	uint8_t *bytes;
	struct symcache c;
	struct faults f = { 0 };

	(void)state;
	tiny_string(&t, "abc");
	bytes = tiny_bytes(&t);
	bytes[t.at_functions - 1] = 1;
	bytes[t.at_strings - 1] = 1;
	bytes[t.at_strings + t.h.string_bytes] = 1;
	tiny_rehash(bytes, t.size);
	assert_int_equal(symcache_open(&c, bytes, t.size, NULL), 0);
	symcache_verify(&c, add_fault, &f);
	assert_string_equal(f.text, "padding before the functions is not zero\n"
				    "padding before the strings is not zero\n"
				    "padding before the extension area is not zero\n");
	free(bytes);
}

#define EXPECT_EXT(change, want) do { \
	struct tiny t = tiny_example_ext(9); \
	change; \
	expect_faults(&t, want); \
} while (0)

static void test_extension(void **state)
{
	(void)state;
	EXPECT_EXT(t.image.elf_class = 1, "image: class 1, big-endian 0, derived 0\n");
	EXPECT_EXT(t.image.big_endian = 2, "image: class 64, big-endian 2, derived 0\n");
	EXPECT_EXT(t.image.build_id_derived = 2, "image: class 64, big-endian 0, derived 2\n");
	EXPECT_EXT(t.image.big_endian = t.image.build_id_derived = 1, "");
	EXPECT_EXT(t.image.elf_class = 32, "");
	EXPECT_EXT(t.image.soname++, "image 0: soname: no string starts at offset 0x46\n");
	EXPECT_EXT(t.image.writer = 1, "image 0: writer: no string starts at offset 0x1\n");
	EXPECT_EXT(t.decls[2].file_idx = 2, "declaration 2: no file 2\n");
	EXPECT_EXT(t.data[1].name++, "data symbol 1: name: no string starts at offset 0x40\n");
	EXPECT_EXT(t.data[1].file_idx = 2, "data symbol 1: no file 2\n");
	EXPECT_EXT(t.data[1].address = 0xfff,
		   "data symbol 1: 0xfff, size 4, must stand before 0x1000, size 256\n");
	EXPECT_EXT(t.data[1].address = 0x1000,
		   "data symbol 1: 0x1000, size 4, must stand before 0x1000, size 256\n");
	EXPECT_EXT((t.data[1].address = 0x1000, t.data[1].size = 256), "");
}

static void test_tables(void **state)
{
	const struct symcache_ext_segment whole = { 0, 0, UINT64_MAX, 0, 0 };

	(void)state;
#define SYMBOLS(first, second) (t.num_symbols = 2, \
	t.symbols[0] = (struct symcache_ext_symbol){ .address = first, .name = SYMCACHE_NONE, .file = SYMCACHE_NONE }, \
	t.symbols[1] = (struct symcache_ext_symbol){ .address = second, .name = SYMCACHE_NONE, .file = SYMCACHE_NONE })
	EXPECT_EXT(SYMBOLS(0x10, 0x11), "");
	EXPECT_EXT(SYMBOLS(0x10, 0x10), "symbol 1: 0x10 must come after 0x10\n");
	EXPECT_EXT(SYMBOLS(0x10, 0xf), "symbol 1: 0xf must come after 0x10\n");
#define SEGMENT(o, v, s) (t.num_segments = 1, t.segments[0] = (struct symcache_ext_segment){ o, v, s, 0, 0 })
	EXPECT_EXT((t.num_segments = 1, t.segments[0] = whole), "");
	EXPECT_EXT(SEGMENT(0, 0, 0), "");
	EXPECT_EXT(SEGMENT(1, 0, UINT64_MAX), "segment 0: ends past the last address\n");
	EXPECT_EXT(SEGMENT(0, 1, UINT64_MAX), "segment 0: ends past the last address\n");
	EXPECT_EXT(SEGMENT(1, 1, UINT64_MAX - 1), "");
	EXPECT_EXT((SEGMENT(0, 5, 1), t.num_segments = 2, t.segments[1].vaddr = 4),
		   "segment 1: 0x4 must stand before 0x5\n");
	EXPECT_EXT((SEGMENT(0, 5, 1), t.num_segments = 2, t.segments[1].vaddr = 5), "");
}

static void test_index(void **state)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);
	struct faults f = { 0 };
	uint32_t *index;

	(void)state;
	assert_int_equal(c.index_buckets, 1);
	index = (uint32_t *)c.index;
	index[0] = 1;
	index[1] = 3;
	tiny_rehash(bytes, t.size);
	symcache_verify(&c, add_fault, &f);
	assert_string_equal(f.text, "index: bucket 0: wrong range 1\n"
				    "index: last entry: wrong range 3\n");
	free(bytes);
}

static void test_hash(void **state)
{
	struct tiny t = tiny_example_ext(9);
	uint8_t *bytes = tiny_bytes(&t);
	struct symcache c;
	struct faults f = { 0 };
	uint64_t hash;

	(void)state;
	memcpy(&hash, bytes + t.size - 8, 8);
	bytes[t.size - 1] ^= 0x10;
	assert_int_equal(symcache_open(&c, bytes, t.size, NULL), 0);
	assert_non_null(c.image); /* open does not look */
	symcache_verify(&c, add_fault, &f);
	char want[100];
	snprintf(want, sizeof(want), "hash: %016llx, the footer says %016llx\n",
		 (unsigned long long)hash, (unsigned long long)(hash ^ 0x10ull << 56));
	assert_string_equal(f.text, want);
	free(bytes);
}

static void test_stop(void **state)
{
	struct tiny t = tiny_example(9);
	uint8_t *bytes;
	struct symcache c;

	(void)state;
	for (int i = 0; i < 4; i++)
		t.functions[i].name = 1;
	bytes = tiny_open(&t, &c);
	for (size_t stop = 1; stop <= 5; stop++) {
		struct faults f = { .stop_after = stop };

		assert_int_equal(symcache_verify(&c, add_fault, &f), stop < 4 ? stop : 4);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_string_offsets),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_string_section),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_extension),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
