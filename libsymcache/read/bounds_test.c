/* What lies at the edge: the last symbol, the last address, the first byte behind a segment, one more than
 * there are. */
#include "libsymcache/read/tiny_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_symbols(void **state)
{
	static const struct { uint64_t address; uint32_t symbol; } cases[] = {
		{ 0, SYMCACHE_NONE }, { 0xfff, SYMCACHE_NONE }, { 0x1000, 0 }, { 0x100f, 0 }, { 0x1010, SYMCACHE_NONE },
		{ 0x1fff, SYMCACHE_NONE }, { 0x2000, 1 }, { 0x2fff, 1 }, { 0x3000, 2 }, { 0xffffffff, 2 },
		{ 0x100000000, SYMCACHE_NONE }, { 0x100001000, SYMCACHE_NONE }, { UINT64_MAX, SYMCACHE_NONE },
	};
	enum { CASES = sizeof(cases) / sizeof(*cases) };
	struct tiny t = tiny_example_ext(9);
	const struct symcache_ext_symbol symbols[] = {
		{ .address = 0x1000, .size = 16, .name = t.data[0].name, .file = SYMCACHE_NONE },
		{ .address = 0x2000, .name = t.data[1].name, .file = SYMCACHE_NONE }, /* of unknown size */
		{ .address = 0x3000, .name = t.data[0].name, .file = SYMCACHE_NONE },
	};
	struct symcache_symbol symbol;
	struct symcache c;
	uint8_t *bytes;

	(void)state;
	memcpy(t.symbols, symbols, sizeof(symbols));
	t.num_symbols = 3;
	bytes = tiny_open(&t, &c);
	for (size_t i = 0; i < CASES; i++) {
		if (symcache_symbol_at(&c, cases[i].address) != cases[i].symbol)
			fail_msg("0x%llx: %u", (unsigned long long)cases[i].address,
				 symcache_symbol_at(&c, cases[i].address));
		assert_int_equal(symcache_lookup_symbol(&c, cases[i].address, &symbol),
				 cases[i].symbol != SYMCACHE_NONE);
		if (cases[i].symbol != SYMCACHE_NONE)
			assert_int_equal(symbol.rel_address, symbols[cases[i].symbol].address);
	}
	/* Many at once, whatever was found for the address before. */
	for (uint32_t hint = 0; hint < 5; hint++) {
		struct symcache_query q[CASES] = { 0 };
		uint32_t found[CASES];

		for (size_t i = 0; i < CASES; i++) {
			q[i] = (struct symcache_query){ .cache = &c, .rel_pc = cases[i].address };
			found[i] = hint < 4 ? hint : SYMCACHE_NONE;
		}
		symcache_symbols_batch(q, CASES, found);
		for (size_t i = 0; i < CASES; i++)
			assert_int_equal(found[i], cases[i].symbol);
	}
	assert_false(symcache_symbol(&c, 3, &symbol) || symcache_symbol(&c, SYMCACHE_NONE, &symbol));
	free(bytes);
}

/* Of one address 4,096 aliases are shown, and none that is behind the table. */
static void test_aliases(void **state)
{
	enum { MOST = 4096 };
	struct tiny t = tiny_example_ext(9);
	struct symcache_ext_alias *a = calloc(MOST + 2, sizeof(*a));
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);
	size_t first;

	(void)state;
	for (size_t i = 0; i < MOST + 2; i++)
		a[i].address = 0x10;
	c.aliases = a;
	for (size_t n = MOST - 1; n <= MOST + 1; n++) {
		c.num_aliases = n;
		assert_int_equal(symcache_aliases_of(&c, 0x10, &first), n < MOST ? n : MOST);
		assert_int_equal(first, 0);
		assert_int_equal(symcache_aliases_of(&c, 0x11, &first), 0);
		assert_int_equal(symcache_aliases_of(&c, 0xf, &first), 0);
	}
	free(a);
	free(bytes);
}

/* Where an offset in the file is code, by the one segment that is known, and which addresses may be. */
static void test_code(void **state)
{
	static const struct { uint64_t offset, vaddr; } offsets[] = { /* vaddr 0: none */
		{ 0x22f, 0 }, { 0x230, 0x401230 }, { 0x32f, 0x40132f }, { 0x330, 0 }, { 0, 0 },
	};
	static const struct { uint64_t vaddr; bool with_segment, without; } places[] = {
		{ 0x3fffff, false, false }, { 0x400000, false, true }, { 0x40122f, false, true }, { 0x401230, true, true },
		{ 0x40132f, true, true }, { 0x401330, false, true }, { 0x402fff, false, true }, { 0x403000, false, false },
	};
	struct tiny t = tiny_example_ext(9);

	(void)state;
	t.image.image_size = 0x3000;
	t.segments[0] = (struct symcache_ext_segment){ 0, 0x401230, 0x100, 0, 0 };
	for (t.num_segments = 0; t.num_segments < 2; t.num_segments++) {
		struct symcache c;
		uint8_t *bytes = tiny_open(&t, &c);

		for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
			uint64_t vaddr = 0;
			const bool is = symcache_vaddr_of_code(&c, offsets[i].offset, &vaddr);

			if (is != (t.num_segments && offsets[i].vaddr) || (is && vaddr != offsets[i].vaddr))
				fail_msg("offset 0x%llx: %d 0x%llx", (unsigned long long)offsets[i].offset, is,
					 (unsigned long long)vaddr);
		}
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
			if (symcache_may_be_code(&c, places[i].vaddr) !=
			    (t.num_segments ? places[i].with_segment : places[i].without))
				fail_msg("0x%llx with %u segments", (unsigned long long)places[i].vaddr, t.num_segments);
		free(bytes);
	}
}

/* As many frames as there is room for; what stood in a query before does not count. */
static void test_batches(void **state)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);
	enum { PCS = 0x60, MOST = 3 };

	(void)state;
	for (uint32_t most = 1; most <= MOST; most++) {
		struct symcache_query q[PCS], ids[PCS];
		struct symcache_raw_frame frames[PCS * MOST];
		struct symcache_frame_ids numbers[PCS * MOST];

		for (uint32_t pc = 0; pc < PCS; pc++)
			q[pc] = ids[pc] = (struct symcache_query){ .cache = &c, .rel_pc = pc, .num_frames = 77 };
		symcache_lookup_batch(q, PCS);
		symcache_lookup_batch(ids, PCS);
		symcache_frames_batch(q, PCS, frames, most);
		symcache_ids_batch(ids, PCS, numbers, most);
		for (uint32_t pc = 0; pc < PCS; pc++) {
			struct symcache_frames alone = { .location = SYMCACHE_NONE };
			struct symcache_raw_frame f;
			uint32_t n = 0;

			symcache_lookup(&c, pc, &alone);
			for (; n < most && symcache_next_frame(&alone, &f); n++)
				assert_true(frames[pc * most + n].line == f.line &&
					    frames[pc * most + n].function.ptr == f.function.ptr);
			assert_int_equal(q[pc].num_frames, n);
			assert_int_equal(ids[pc].num_frames, n);
		}
	}
	free(bytes);
}

/* Of a longer chain, too: what is behind the room of a query is the next one's. */
static void test_deep(void **state)
{
	enum { DEEP = 15, PCS = 2 };
	struct tiny t = tiny_example(9);
	struct symcache c;
	uint8_t *bytes;

	(void)state;
	for (uint32_t i = 0; i < DEEP; i++)
		t.locations[i] = (struct symcache_source_location){ 0, 100 + i, 0, i ? i - 1 : SYMCACHE_NONE };
	t.h.num_source_locations = DEEP;
	t.h.num_ranges = 1;
	bytes = tiny_open(&t, &c);
	for (uint32_t most = 1; most <= DEEP + 1; most++) {
		const uint32_t want = most < DEEP ? most : DEEP;
		struct symcache_query q[PCS], ids[PCS];
		struct symcache_raw_frame frames[PCS * (DEEP + 1)];
		struct symcache_frame_ids numbers[PCS * (DEEP + 1)];

		for (uint32_t k = 0; k < PCS; k++)
			q[k] = ids[k] = (struct symcache_query){ .cache = &c, .rel_pc = 0x10 };
		symcache_lookup_batch(q, PCS);
		symcache_lookup_batch(ids, PCS);
		symcache_frames_batch(q, PCS, frames, most);
		symcache_ids_batch(ids, PCS, numbers, most);
		for (uint32_t k = 0; k < PCS; k++) {
			assert_int_equal(q[k].num_frames, want);
			assert_int_equal(ids[k].num_frames, want);
			for (uint32_t n = 0; n < want; n++) {
				assert_int_equal(frames[k * most + n].line, 100 + DEEP - 1 - n);
				assert_int_equal(numbers[k * most + n].line, 100 + DEEP - 1 - n);
			}
		}
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols), cmocka_unit_test(test_aliases), cmocka_unit_test(test_code),
		cmocka_unit_test(test_batches), cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
