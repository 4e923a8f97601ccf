/* open_test.c: which bytes symcache_open() takes, and in what words it refuses
 * others: each row of "What a reader answers" in format/symcache.md, and files
 * that are cut or damaged at every place. */
#include "libsymcache/read/tiny_test.h"
#include "libsymcache/read/read_fuzz.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void expect_error(const void *bytes, size_t size, const char *message)
{
	struct symcache cache;
	struct sc_error err = { 0 };

	assert_int_equal(symcache_open(&cache, bytes, size, &err), SC_EFORMAT);
	assert_string_equal(err.msg, message);
	assert_int_equal(symcache_open(&cache, bytes, size, NULL), SC_EFORMAT);
}

static void test_header(void **state)
{
	struct tiny t = tiny_example(9);
	uint8_t *bytes = tiny_bytes(&t);
	struct symcache_header *h = (void *)bytes;
	uint8_t *shifted = malloc(t.size + 4);

	(void)state;
	expect_error(NULL, 0, "could not read header");
	expect_error(bytes, 7, "could not read header");
	expect_error(bytes, 8, "could not read header");
	expect_error(bytes, 79, "could not read header");
	expect_error(bytes, 80, "could not read files");
	for (int i = 1; i < 4; i++) {
		memcpy(shifted + i, bytes, t.size);
		expect_error(shifted + i, t.size, "could not read header");
	}
	/* Magic before version before size. */
	h->version = 6;
	expect_error(bytes, 8, "unknown version 6");
	expect_error(bytes, t.size, "unknown version 6");
	h->version = 10;
	expect_error(bytes, t.size, "unknown version 10");
	memcpy(bytes, "CMYS", 4);
	expect_error(bytes, 8, "wrong byte order");
	memcpy(bytes, "\x7f" "ELF", 4);
	expect_error(bytes, 8, "not a SymCache");
	expect_error(bytes, 7, "could not read header");
	free(shifted);
	free(bytes);
}

/* The smallest size at which each section of the example can be read. */
static void test_sections(void **state)
{
	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct tiny t = tiny_example(version);
		uint8_t *bytes = tiny_bytes(&t);
		char message[100];

		for (size_t size = 80; size < t.size; size++) {
			const char *what =
				size < t.at_files + t.h.num_files * (version == 9 ? 24 : 12) ?
					"could not read files" :
				size < t.at_functions + t.h.num_functions * 16 ?
					"could not read functions" :
				size < t.at_locations + t.h.num_source_locations * 16 ?
					"could not read source locations" :
				size < t.at_ranges + t.h.num_ranges * 4 ?
					"could not read ranges" : NULL;

			if (!what) {
				snprintf(message, sizeof(message),
					 "expected %u string bytes, found %zu", t.h.string_bytes,
					 size < t.at_strings ? 0 : size - t.at_strings);
				what = message;
			}
			expect_error(bytes, size, what);
		}
		free(bytes);
	}
}

static void test_huge_counts(void **state)
{
	static const struct {
		size_t field;
		const char *message;
	} rows[] = {
		{ offsetof(struct symcache_header, num_files), "could not read files" },
		{ offsetof(struct symcache_header, num_functions), "could not read functions" },
		{ offsetof(struct symcache_header, num_source_locations),
		  "could not read source locations" },
		{ offsetof(struct symcache_header, num_ranges), "could not read ranges" },
		{ offsetof(struct symcache_header, string_bytes),
		  "expected 4294967295 string bytes, found 57" },
	};
	struct tiny t = tiny_example(9);
	uint8_t *bytes = tiny_bytes(&t);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t old;

		memcpy(&old, bytes + rows[i].field, 4);
		memset(bytes + rows[i].field, 0xff, 4);
		expect_error(bytes, t.size, rows[i].message);
		memcpy(bytes + rows[i].field, &old, 4);
	}
	free(bytes);
}

static void test_padding_missing(void **state)
{
	/* One file of 12 bytes and nothing else: the functions, though none,
	 * would start at 96. */
	struct tiny t = { .h = { .magic = SYMCACHE_MAGIC, .version = 8, .num_files = 1 } };
	uint8_t *bytes = tiny_bytes(&t);
	struct symcache cache;

	(void)state;
	assert_int_equal(t.size, 96);
	assert_int_equal(symcache_open(&cache, bytes, 96, NULL), 0);
	expect_error(bytes, 95, "could not read functions");
	expect_error(bytes, 91, "could not read files");
	free(bytes);
}

static void test_accepted(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache cache;
	uint8_t *bytes, *longer;

	(void)state;
	/* Reserved bytes, unknown arch and language, bytes behind the strings. */
	memset(t.h.reserved, 0xa5, sizeof(t.h.reserved));
	memset(t.h.debug_zero, 0xa5, sizeof(t.h.debug_zero));
	t.h.arch = 4711;
	t.functions[0].lang = 4712;
	bytes = tiny_bytes(&t);
	longer = calloc(1, t.size + 100);
	memcpy(longer, bytes, t.size);
	for (size_t more = 0; more <= 100; more++) {
		assert_int_equal(symcache_open(&cache, longer, t.size + more, NULL), 0);
		assert_int_equal(cache.base_size, t.size);
		assert_null(cache.image);
		assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
	}
	free(longer);
	free(bytes);

	t = (struct tiny){ .h = { .magic = SYMCACHE_MAGIC, .version = 7 } };
	bytes = tiny_bytes(&t);
	assert_int_equal(t.size, 80);
	assert_int_equal(symcache_open(&cache, bytes, 80, NULL), 0);
	assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
	assert_int_equal(symcache_load_base(&cache), 0);
	free(bytes);
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct tiny t = tiny_example_ext(version);
		uint8_t *bytes = tiny_bytes(&t);

		for (size_t size = 0; size <= t.size; size++) {
			struct symcache cache;

			LLVMFuzzerTestOneInput(bytes, size);
			/* Cut behind the strings it is a plain SymCache. */
			if (size >= t.at_strings + t.h.string_bytes && size < t.size) {
				assert_int_equal(symcache_open(&cache, bytes, size, NULL), 0);
				assert_null(cache.image);
			}
		}
		free(bytes);
	}
}

static void test_damaged_anywhere(void **state)
{
	static const uint8_t masks[] = { 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff };

	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct tiny t = tiny_example_ext(version);
		uint8_t *bytes = tiny_bytes(&t);

		for (size_t i = 0; i < t.size * sizeof(masks); i++) {
			uint8_t mask = masks[i % sizeof(masks)];
			struct symcache cache;

			bytes[i / sizeof(masks)] ^= mask;
			LLVMFuzzerTestOneInput(bytes, t.size);
			/* Whatever it hits, the hash or something before it knows; but
			 * damage to the footer's magic makes a plain SymCache of it. */
			if (!symcache_open(&cache, bytes, t.size, NULL) &&
			    (i / sizeof(masks) < t.at_footer + 24 ||
			     i / sizeof(masks) >= t.at_footer + 32))
				assert_true(symcache_verify(&cache, NULL, NULL) > 0);
			bytes[i / sizeof(masks)] ^= mask;
		}
		/* Every u32 replaced by extremes and by its neighbours. */
		for (size_t at = 0; at + 4 <= t.size; at += 4) {
			uint32_t old, values[6] = { 0, 0x7fffffff, 0x80000000, UINT32_MAX };

			memcpy(&old, bytes + at, 4);
			values[4] = old + 1;
			values[5] = old - 1;
			for (int i = 0; i < 6; i++) {
				memcpy(bytes + at, &values[i], 4);
				tiny_rehash(bytes, t.size);
				LLVMFuzzerTestOneInput(bytes, t.size);
			}
			memcpy(bytes + at, &old, 4);
		}
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_huge_counts),
		cmocka_unit_test(test_padding_missing),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_damaged_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
