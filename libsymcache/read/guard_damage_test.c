/* Guards: damage in the second of two numbers that a look-up reads, and in what a search in batches reads first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libsymcache/read/guard_test.h"

/* What the index says of an address is two numbers: the second one may be in the next block. */
static void index_across_blocks(void **state)
{
	struct symcache_guard guard;
	struct symcache_frames frames;
	struct symcache cache;
	size_t at, pairs = 0;

	(void)state;
	assert_int_equal(symcache_open(&cache, bytes, size, NULL), 0);
	for (uint32_t i = 0; i < cache.index_buckets; i++) {
		at = (size_t)((const uint8_t *)&cache.index[i + 1] - bytes);
		if (at % SYMCACHE_GUARD_BLOCK)
			continue;
		bytes[at] ^= 1;
		assert_true(symcache_guard_init(&guard, bytes, size, table));
		assert_int_equal(symcache_open_guarded(&cache, bytes, size, &guard, NULL), 0);
		assert_false(symcache_lookup(&cache, (uint64_t)i << cache.index_shift, &frames));
		assert_true(symcache_damaged(&cache));
		symcache_guard_deinit(&guard);
		bytes[at] ^= 1;
		pairs++;
	}
	assert_int_not_equal(pairs, 0);
}

/* Of symbols of which the first one that is looked at is damaged, none is found, not even the first. */
static void damaged_symbols(void **state)
{
	struct symcache_query q[SYMCACHE_BATCH + 1];
	uint32_t found[SYMCACHE_BATCH + 1];
	struct symcache_guard guard;
	struct symcache cache;
	uint8_t *middle;

	(void)state;
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	assert_int_equal(symcache_open_guarded(&cache, bytes, size, &guard, NULL), 0);
	for (size_t i = 0; i <= SYMCACHE_BATCH; i++) {
		q[i] = (struct symcache_query){ .cache = &cache, .rel_pc = cache.symbols[0].address };
		found[i] = SYMCACHE_NONE;
	}
	symcache_symbols_batch(q, SYMCACHE_BATCH + 1, found);
	for (size_t i = 0; i <= SYMCACHE_BATCH; i++)
		assert_int_equal(found[i], symcache_symbol_at(&cache, q[i].rel_pc));
	assert_int_not_equal(found[0], SYMCACHE_NONE);
	symcache_guard_deinit(&guard);
	middle = bytes + ((const uint8_t *)&cache.symbols[cache.num_symbols / 2] - bytes);
	*middle ^= 1;
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	assert_int_equal(symcache_open_guarded(&cache, bytes, size, &guard, NULL), 0);
	for (size_t i = 0; i <= SYMCACHE_BATCH; i++)
		found[i] = SYMCACHE_NONE;
	symcache_symbols_batch(q, SYMCACHE_BATCH + 1, found);
	for (size_t i = 0; i <= SYMCACHE_BATCH; i++)
		assert_int_equal(found[i], SYMCACHE_NONE);
	assert_true(symcache_damaged(&cache));
	symcache_guard_deinit(&guard);
	*middle ^= 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(index_across_blocks),
		cmocka_unit_test(damaged_symbols),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
