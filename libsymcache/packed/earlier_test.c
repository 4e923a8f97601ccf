/*
 * Packed files that earlier programs wrote: they unpack only as long as each prediction, the order of
 * numbers and how they are written are what they were. Each cache is packed to the bytes that it always
 * was. At level 0, so that zstd has no say in them.
 *
 * Other bytes are another format: PACKED_MAGIC has its version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/packed/made_test.h"

static void check(const char *what, void *packed, size_t size, uint64_t want)
{
	const uint64_t hash = XXH3_64bits(packed, size);

	assert_int_not_equal(((uint8_t *)packed)[8], 0); /* by the model, not as it is */
	if (hash != want)
		fail_msg("%s: other bytes than before: their hash is %016llx", what, (unsigned long long)hash);
	free(packed);
}

static void test_same_bytes(void **state)
{
	static const struct { uint32_t version; uint64_t seed, hash; } cases[] = {
		{ 7, 1, 0xf2b6ccb1010976ba }, { 8, 1, 0xd2404bfb847c1232 }, { 9, 1, 0x881008f558dac0fc },
		{ 9, 2, 0x7fb09cf673c21433 }, { 7, MADE_RARE, 0x3770cab455eebe5d }, { 9, MADE_RARE + 1, 0x51999335113c1e11 }, { 9, MADE_RARE + 2, 0x06792cde0106bff4 },
	};
	char what[40];
	size_t size;
	void *packed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cache c = made_cache(cases[i].version, cases[i].seed);
		const struct packed_bytes cache = { c.bytes, c.size };

		assert_true(come_back(c.bytes, c.size, 0) < c.size / 2);
		assert_int_equal(packed_pack(&cache, 1, 0, &packed, &size, &err), 0);
		snprintf(what, sizeof(what), "version %u, seed %d", cases[i].version, (int)cases[i].seed);
		check(what, packed, size, cases[i].hash);
		free(c.bytes);
	}
}

/* Several in one file, those among them that the model does not know: what is no cache, and strings with a
 * NUL; a cache that is a header alone; and what changed since another one. */
static void test_same_bytes_of_several(void **state)
{
	const struct cache a = made_cache(9, 3), b = made_cache(8, 4), c = made_cache(9, 5);
	const struct symcache_header empty = { .magic = SYMCACHE_MAGIC, .version = 8 };
	const struct packed_bytes caches[] = {
		{ a.bytes, a.size }, { "no cache", 8 }, { b.bytes, b.size }, { c.bytes, c.size },
		{ &empty, sizeof(empty) },
	};
	uint8_t *name = memmem(c.bytes, c.size, "read_the_", 9);
	struct packed_caches back;
	size_t size;
	void *packed;

	(void)state;
	assert_non_null(name);
	name[3] = 0;
	assert_int_equal(packed_pack(caches, 5, 0, &packed, &size, &err), 0);
	assert_int_equal(packed_unpack(packed, size, &back, &err), 0);
	packed_caches_deinit(&back);
	check("five", packed, size, 0x3dabda2d6209daa0);
	assert_int_equal(packed_pack_delta(caches[2], caches[0], 0, &packed, &size, &err), 0);
	check("a delta", packed, size, 0x67445b57700d39cb);
	free(a.bytes);
	free(b.bytes);
	free(c.bytes);
}

/* Ranges of as many functions, all of them in turn, again and again. */
static struct cache in_turn(uint32_t num_functions)
{
	const uint32_t n = 4 * num_functions;
	const struct symcache_header header = { .magic = SYMCACHE_MAGIC, .version = 8, .num_ranges = n,
						.num_functions = num_functions, .num_source_locations = n };
	struct symcache_function f = { SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_LANG_C };
	struct symcache_source_location l = { SYMCACHE_NONE, 0, 0, SYMCACHE_NONE };
	struct cache c = { calloc(1, sizeof(header) + num_functions * sizeof(f) + n * (sizeof(l) + 4ul) + 8), 0 };

	memcpy(c.bytes, &header, c.size = sizeof(header));
	for (uint32_t i = 0; i < num_functions; i++, c.size += sizeof(f)) {
		f.entry_pc = 16 * i;
		memcpy(c.bytes + c.size, &f, sizeof(f));
	}
	for (uint32_t i = 0; i < n; i++, c.size += sizeof(l)) {
		l.line = i;
		l.function_idx = i % num_functions;
		memcpy(c.bytes + c.size, &l, sizeof(l));
	}
	for (uint32_t i = 0; i < 16 * n; i += 16, c.size += sizeof(i))
		memcpy(c.bytes + c.size, &i, sizeof(i));
	c.size = (c.size + 7) & ~7ul;
	return c;
}

/* As many scopes as are kept, one less, and one more; and so many ranges that what is remembered of them is bounded. */
static void test_scopes(void **state)
{
	static const struct { uint32_t functions; uint64_t hash; } cases[] = {
		{ 63, 0xc1922f2dc15a255e }, { 64, 0xabec1ba9cae9299c }, { 65, 0xf978278daed6ca72 },
		{ 33000, 0x6705fc7dc53a1235 },
	};
	char what[40];
	size_t size;
	void *packed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cache c = in_turn(cases[i].functions);
		const struct packed_bytes cache = { c.bytes, c.size };

		come_back(c.bytes, c.size, 0);
		assert_int_equal(packed_pack(&cache, 1, 0, &packed, &size, &err), 0);
		snprintf(what, sizeof(what), "%u functions", cases[i].functions);
		check(what, packed, size, cases[i].hash);
		free(c.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_same_bytes_of_several),
		cmocka_unit_test(test_scopes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
