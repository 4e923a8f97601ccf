/* search_test.c: the range of an address, with and without the section INDX, at
 * every number of ranges up to some hundreds and in several shapes. */
#include "libsymcache/read/tiny_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { MANY = 3000 };

/* A file of `n` ranges, location i for range i, line i + 1, with or without INDX. */
static uint8_t *many_ranges(const uint32_t *starts, uint32_t n, bool indexed, size_t *size)
{
	struct symcache_header h = { .magic = SYMCACHE_MAGIC, .version = 9,
				     .num_source_locations = n, .num_ranges = n };
	size_t ranges = sizeof(h) + n * sizeof(struct symcache_source_location);
	uint32_t shift = symcache_index_shift(n, starts[n - 1]);
	uint32_t buckets = symcache_index_buckets(shift, starts[n - 1]);
	struct symcache_ext_section s = { SYMCACHE_EXT_TAG_INDEX, 4, (ranges + n * 4 + 7) & ~7ull,
					  (buckets + 2) * 4 };
	struct symcache_ext_footer f = { .num_sections = 1, .version = 1, .magic = "SYMCEXT" };
	uint8_t *bytes;
	uint32_t *index;

	f.table_offset = (s.offset + s.size + 7) & ~7ull;
	f.file_size = f.table_offset + sizeof(s) + sizeof(f);
	bytes = calloc(1, f.file_size);
	assert_non_null(bytes);
	memcpy(bytes, &h, sizeof(h));
	for (uint32_t i = 0; i < n; i++) {
		struct symcache_source_location l = { SYMCACHE_NONE, i + 1, SYMCACHE_NONE,
						      SYMCACHE_NONE };
		memcpy(bytes + sizeof(h) + i * sizeof(l), &l, sizeof(l));
	}
	memcpy(bytes + ranges, starts, n * 4);
	index = (uint32_t *)(bytes + s.offset);
	index[0] = shift;
	symcache_index_fill(index + 1, shift, starts, n);
	memcpy(bytes + f.table_offset, &s, sizeof(s));
	memcpy(bytes + f.table_offset + sizeof(s), &f, sizeof(f));
	tiny_rehash(bytes, f.file_size);
	*size = indexed ? f.file_size : s.offset;
	return bytes;
}

static uint32_t line_of(const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_frames frames;
	struct symcache_raw_frame f;
	struct symcache_query q = { .cache = c, .rel_pc = rel_pc };
	bool found = symcache_lookup(c, rel_pc, &frames);

	symcache_lookup_batch(&q, 1);
	assert_int_equal(q.frames.location, frames.location);
	return found && symcache_next_frame(&frames, &f) ? f.line : 0;
}

/* Every start and the address before and after it, by a search from the left. */
static void check_search(const uint32_t *starts, uint32_t n, bool indexed)
{
	struct symcache c;
	size_t size;
	uint8_t *bytes = many_ranges(starts, n, indexed, &size);
	uint32_t last = 0;

	assert_int_equal(symcache_open(&c, bytes, size, NULL), 0);
	assert_int_equal(c.index != NULL, indexed);
	assert_int_equal(symcache_verify(&c, NULL, NULL), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (starts[i])
			assert_int_equal(line_of(&c, starts[i] - 1), last);
		assert_int_equal(line_of(&c, starts[i]), i + 1);
		last = i + 1;
		if (i + 1 == n || starts[i + 1] > starts[i] + 1)
			assert_int_equal(line_of(&c, (uint64_t)starts[i] + 1),
					 starts[i] == UINT32_MAX ? 0 : last);
	}
	assert_int_equal(line_of(&c, UINT32_MAX), n);
	free(bytes);
}

static void test_search(void **state)
{
	static uint32_t starts[MANY];
	uint32_t random = 12345;

	(void)state;
	for (uint32_t n = 1; n <= MANY; n += n < 300 ? 1 : 777) {
		for (int shape = 0; shape < 4; shape++) {
			uint32_t pc = shape == 0 ? 0 : 0x1000;

			for (uint32_t i = 0; i < n; i++) {
				starts[i] = pc;
				random = random * 1664525 + 1013904223;
				/* Even; odd; in clusters; up to the end of the space. */
				pc += shape == 0 ? 1 : shape == 1 ? 1 + random % 61 :
				      shape == 2 ? (random % 50 ? 3 : 0x4000) : 0xfffffu;
			}
			if (shape == 3)
				starts[n - 1] = UINT32_MAX;
			check_search(starts, n, false);
			check_search(starts, n, true);
		}
	}
}

/* More queries than are asked at once, of two caches, some beyond any range. */
static void test_batch(void **state)
{
	uint32_t starts[2][100];
	struct symcache caches[2];
	struct symcache_query queries[3 * SYMCACHE_BATCH + 5];
	const size_t n = sizeof(queries) / sizeof(*queries);
	uint8_t *bytes[2];
	size_t size;

	(void)state;
	for (int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < 100; i++)
			starts[k][i] = 50 + i * (7 + (uint32_t)k);
		bytes[k] = many_ranges(starts[k], 100, k, &size);
		assert_int_equal(symcache_open(&caches[k], bytes[k], size, NULL), 0);
	}
	for (size_t i = 0; i < n; i++)
		queries[i] = (struct symcache_query){
			.cache = &caches[i % 2],
			.rel_pc = i % 11 == 10 ? UINT64_MAX - i : 37 + i * 17,
		};
	symcache_lookup_batch(queries, n);
	for (size_t i = 0; i < n; i++) {
		struct symcache_frames frames;

		symcache_lookup(queries[i].cache, queries[i].rel_pc, &frames);
		assert_int_equal(queries[i].frames.location, frames.location);
		assert_ptr_equal(queries[i].frames.cache, frames.cache);
	}
	free(bytes[0]);
	free(bytes[1]);
}

/* An index that lies gives wrong answers or falls back, and stays in bounds. */
static void test_bad_index(void **state)
{
	static const uint32_t values[] = { 0, 1, 99, 100, 101, UINT32_MAX };
	uint32_t starts[100];
	struct symcache c;
	uint8_t *bytes;
	size_t size;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		starts[i] = i * 10;
	bytes = many_ranges(starts, 100, true, &size);
	assert_int_equal(symcache_open(&c, bytes, size, NULL), 0);
	for (uint32_t k = 0; k <= c.index_buckets; k++) {
		for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
			uint32_t *entry = (uint32_t *)&c.index[k], old = *entry;

			*entry = values[v];
			for (uint32_t pc = 0; pc < 1100; pc++) {
				uint32_t line = line_of(&c, pc);

				assert_true(line <= 100);
				if (values[v] >= 100)
					assert_int_equal(line, pc / 10 < 100 ? pc / 10 + 1 : 100);
			}
			assert_int_equal(symcache_verify(&c, NULL, NULL) > 0, values[v] != old);
			*entry = old;
		}
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_bad_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
