/* Unit tests of the whole indexer on DWARF written here: where variables are, and where inlined
 * functions begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/dwarf/abbrev.h"
#include "libsymcache/read/read.h"
#include "libsymcache/write/synthetic_test.h"

/* A variable is where its location says, if that is a fixed address, plus a constant or not. */
static void test_variables(void **state)
{
	static const struct { uint8_t code[3]; unsigned len; uint32_t at; } rest[] = {
		{ { 0 }, 0, 0x20000 },
		{ { DW_OP_plus_uconst, 0x84, 0x01 }, 3, 0x20084 },
		{ { DW_OP_plus_uconst, 8, DW_OP_stack_value }, 3, 0 },
		{ { DW_OP_plus_uconst }, 1, 0 }, /* cut off */
		{ { DW_OP_deref }, 1, 0 },
		{ { DW_OP_lit1, DW_OP_plus }, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		for (int indexed = 0; indexed < 2; indexed++) {
			struct dwarf w;
			struct indexed r;

			dwarf_init(&w, &(struct dwarf_shape){ .version = 5 });
			put(&w.addr, 4, 12);
			put(&w.addr, 2, 5);
			put(&w.addr, 1, 8);
			put(&w.addr, 1, 0);
			put(&w.addr, 8, DWARF_DATA);
			open_unit(&w);
			attr_offset(&w, DW_AT_addr_base, 8);
			function(&w, "f", DWARF_TEXT, DWARF_TEXT + 0x10);
			entry(&w, DW_TAG_variable, false);
			attr_str(&w, DW_AT_name, "v");
			attr(&w, DW_AT_location, DW_FORM_exprloc, 0);
			put_uleb(&w.info, (indexed ? 2 : 9) + rest[i].len);
			put(&w.info, 1, indexed ? DW_OP_addrx : DW_OP_addr);
			put(&w.info, indexed ? 1 : 8, indexed ? 0 : DWARF_DATA);
			put_block(&w.info, rest[i].code, rest[i].len);
			close_unit(&w);
			index_dwarf(&w, &r);
			assert_int_equal(r.cache.num_data, rest[i].at != 0);
			if (rest[i].at)
				assert_int_equal(plain_u32(&r.cache, r.cache.at_data), rest[i].at);
			indexed_deinit(&r);
		}
}

/* Copies of one call, as of an unrolled loop: each begins where it says, or one that has several
 * ranges, nowhere; and calls that differ in their discriminators alone. */
static void test_inlined_starts(void **state)
{
	static const struct { uint32_t at, start, discriminator; } want[] = {
		{ 0x1110, 0x1110, 0 }, { 0x111f, 0x1110, 0 }, { 0x1120, SYMCACHE_NONE, 0 },
		{ 0x1130, 0x1130, 0 }, { 0x1148, SYMCACHE_NONE, 0 }, { 0x1150, 0x1150, 0 },
		{ 0x1160, 0x1160, 3 }, { 0x1170, 0x1170, 300 },
	};
	struct dwarf w;
	struct indexed r;
	struct symcache cache;
	struct sc_error err;
	size_t g;

	(void)state;
	begin(&w);
	open_unit(&w);
	attr_addr(&w, DW_AT_low_pc, 0);
	g = entry(&w, DW_TAG_subprogram, false);
	attr_str(&w, DW_AT_name, "g");
	attr(&w, DW_AT_inline, DW_FORM_data1, DW_INL_inlined);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_pcs(&w, 0x1100, 0x1200);
	for (unsigned i = 0; i < 6; i++) {
		static const uint32_t low[] = { 0x1110, 0, 0x1130, 0x1150, 0x1160, 0x1170 };

		entry(&w, DW_TAG_inlined_subroutine, false);
		attr_ref(&w, DW_AT_abstract_origin, g);
		attr(&w, DW_AT_call_line, DW_FORM_udata, 9);
		if (i > 3)
			attr(&w, DW_AT_GNU_discriminator, DW_FORM_udata, i == 4 ? 3 : 300);
		if (low[i]) {
			attr_pcs(&w, low[i], low[i] + 0x10);
		} else {
			attr_offset(&w, DW_AT_ranges, 0);
			range_pair(&w, 0x1120, 0x1130);
			range_pair(&w, 0x1140, 0x1150);
			range_pair(&w, 0, 0);
		}
	}
	children_end(&w);
	close_unit(&w);
	finish(&w, &r);
	assert_int_equal(symcache_open(&cache, r.bytes, r.size, &err), 0);
	assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct symcache_frames frames;
		uint32_t inner, outer;

		expect(&r, want[i].at, "g -:0 < f -:9");
		assert_true(symcache_lookup(&cache, want[i].at, &frames));
		inner = symcache_next_location(&frames);
		outer = symcache_next_location(&frames);
		assert_int_equal(symcache_inlined_start(&cache, inner, want[i].at), want[i].start);
		assert_int_equal(plain_start(&r.cache, outer, want[i].at), want[i].start);
		assert_int_equal(symcache_inlined_start(&cache, outer, want[i].at), SYMCACHE_NONE);
		assert_int_equal(symcache_discriminator(&cache, outer, want[i].at),
				 want[i].discriminator);
	}
	indexed_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_inlined_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
