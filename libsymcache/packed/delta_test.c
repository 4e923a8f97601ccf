/* What changed since another cache: it comes back with that, and with no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <xxhash.h>

#include "libsymcache/packed/testing.h"

/* For the fuzz target: the old cache behind its size, then the file. */
static void seed_delta(struct packed_bytes old, const void *file, size_t size)
{
	uint8_t *both = malloc(2 + old.size + size);

	if (old.size <= UINT16_MAX) {
		memcpy(both, (uint8_t[]){ (uint8_t)old.size, (uint8_t)(old.size >> 8) }, 2);
		memcpy(both + 2, old.data, old.size);
		memcpy(both + 2 + old.size, file, size);
		testing_seed(both, 2 + old.size + size);
	}
	free(both);
}

/* Packs a cache against another one and unpacks it; how large it was meanwhile. */
static size_t come_back_from(struct packed_bytes cache, struct packed_bytes old, int level)
{
	struct packed_bytes other = { "another one", 11 };
	struct packed_caches back;
	struct packed_old wanted;
	size_t size;
	void *packed;

	assert_int_equal(packed_pack_delta(cache, old, level, &packed, &size, &err), 0);
	seed_delta(old, packed, size);
	assert_true(packed_is_delta(packed, size, &wanted));
	assert_int_equal(wanted.size, old.size);
	assert_int_equal(wanted.hash, XXH3_64bits(old.data, old.size));
	assert_int_equal(packed_total(packed, size), (cache.size + 7) & ~7ul);
	assert_int_equal(packed_unpack_delta(packed, size, old, &back, &err), 0);
	assert_int_equal(back.num, 1);
	assert_int_equal(back.caches[0].size, cache.size);
	assert_memory_equal(back.caches[0].data, cache.data, cache.size);
	packed_caches_deinit(&back);
	assert_int_equal(packed_unpack(packed, size, &back, &err), SC_EINVAL);
	assert_int_equal(packed_unpack_delta(packed, size, other, &back, &err), SC_EINVAL);
	assert_string_equal(err.msg, "a delta against a different cache");
	free(packed);
	return size;
}

static void test_delta(void **state)
{
	struct cache a = build_cache("build/testprogs/layouts.gcc4", 0, false);
	struct cache b = build_cache("build/testprogs/layouts.gcc5", 0, true);
	const struct packed_bytes old = { a.bytes, a.size }, new = { b.bytes, b.size };
	const struct packed_bytes unknown = { "no cache", 8 }, nothing = { "", 0 };
	struct packed_bytes changed = { memcpy(malloc(a.size), a.bytes, a.size), a.size };
	size_t size;

	(void)state;
	((uint8_t *)changed.data)[9] ^= 1; /* the debug ID */
	for (int level = 0; level < 2; level++)
		assert_true(come_back_from(old, old, level) < 150);
	size = come_back_from(changed, old, 19);
	assert_true(size < 400);
	assert_true(come_back_from(new, old, 19) < come_back(b.bytes, b.size, 19));
	come_back_from(old, unknown, 3);
	assert_true(come_back_from(unknown, unknown, 3) < 150);
	come_back_from(unknown, old, 3);
	come_back_from(old, nothing, 3);
	come_back_from(nothing, old, 3);
	free((void *)changed.data);
	free(a.bytes);
	free(b.bytes);
}

/* Of another version, or no packed file at all, it is none; nor is one that has no room for what it is against. */
static void test_is_delta(void **state)
{
	static const size_t begin[] = { 0, 7, 8 }; /* the magic, its version, the kind */
	const struct packed_bytes cache = { "12345678", 8 };
	struct packed_old old;
	size_t size;
	uint8_t *packed;
	void *made;

	(void)state;
	assert_int_equal(packed_pack_delta(cache, cache, 3, &made, &size, &err), 0);
	packed = made;
	assert_true(packed_is_delta(packed, size, &old));
	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++) {
		packed[begin[i]]++;
		assert_false(packed_is_delta(packed, size, &old));
		packed[begin[i]]--;
	}
	assert_true(packed_is_delta(packed, 12 + 2 * 16, &old));
	for (size_t len = 0; len < 12 + 2 * 16; len++)
		assert_false(packed_is_delta(packed, len, &old));
	free(packed);
}

/* Compressed so well, it would not be believed: it is packed by itself. */
static void test_too_small(void **state)
{
	const struct packed_bytes cache = { calloc(1, 1 << 20), 1 << 20 }, old = { "12345678", 8 };
	struct packed_caches back;
	void *packed;
	size_t size;

	(void)state;
	assert_int_equal(packed_pack_delta(cache, old, 3, &packed, &size, &err), 0);
	assert_int_equal(packed_unpack(packed, size, &back, &err), 0);
	assert_int_equal(back.caches[0].size, cache.size);
	assert_memory_equal(back.caches[0].data, cache.data, cache.size);
	packed_caches_deinit(&back);
	free(packed);
	free((void *)cache.data);
}

/* Any byte of it, or of the other cache, may be another one; and it may end anywhere. */
static void test_damaged_delta(void **state)
{
	struct cache a = build_cache("build/testprogs/layouts.gcc4", 0, false);
	struct cache b = build_cache("build/testprogs/inlines", 0, false);
	const struct packed_bytes old = { a.bytes, a.size };
	struct packed_caches back;
	uint64_t seed = 4;
	uint8_t *packed;
	size_t size;

	(void)state;
	assert_int_equal(packed_pack_delta((struct packed_bytes){ b.bytes, b.size }, old, 3, (void **)&packed,
					   &size, &err), 0);
	for (size_t i = 0; i < size; i++) {
		const uint8_t was = packed[i];

		packed[i] ^= (uint8_t)(1 + testing_below(&seed, 255));
		if (packed_unpack_delta(packed, size, old, &back, &err))
			assert_true(err.code && *err.msg);
		else
			assert_memory_equal(back.caches[0].data, b.bytes, b.size);
		packed_caches_deinit(&back);
		packed[i] = was;
	}
	for (size_t cut = 0; cut < size; cut++)
		assert_int_not_equal(packed_unpack_delta(packed, cut, old, &back, &err), 0);
	a.bytes[a.size - 1] ^= 1;
	assert_int_equal(packed_unpack_delta(packed, size, old, &back, &err), SC_EINVAL);
	free(packed);
	free(a.bytes);
	free(b.bytes);
}

/* A stream that is neither; more than file and old cache can give; more caches than one. */
static void test_hostile_delta(void **state)
{
	const struct packed_bytes old = { "12345678", 8 };
	const uint64_t said[2] = { 8, XXH3_64bits("12345678", 8) };
	static uint8_t file[200];
	struct packed_caches back;
	size_t n;

	(void)state;
	n = file_of(file, 2, 80, (const char *)said, sizeof(said));
	assert_int_equal(packed_unpack_delta(file, n, old, &back, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "stream HEAD, at 44: neither that of the other cache nor one of its own");
	file[n] = 2;
	assert_int_equal(packed_unpack_delta(file, n + 1, old, &back, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "stream HEAD, at 44: neither that of the other cache nor one of its own");
	file[n] = 1;
	assert_int_equal(packed_unpack_delta(file, n + 1, old, &back, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "stream HEAD, at 44: it is longer than the file");
	file[9] = 2;
	assert_int_equal(packed_unpack_delta(file, n, old, &back, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "header: the number of caches is 2");
	n = file_of(file, 2, 100 << 20, (const char *)said, sizeof(said));
	assert_int_equal(packed_unpack_delta(file, n, old, &back, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "header: a file of 44 bytes cannot have such large caches");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delta), cmocka_unit_test(test_damaged_delta),
		cmocka_unit_test(test_hostile_delta), cmocka_unit_test(test_too_small),
		cmocka_unit_test(test_is_delta),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
