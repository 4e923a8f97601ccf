/* Every form of attribute values: its size, what is read, where the next value begins. One wrong size
 * shifts all entries behind it. */
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/dwarf/form.h"

#define V(version, address, offset) { version, address, offset }
#define USUAL V(5, 8, 4)
#define VAR DW_FORM_VARIABLE

enum { IMPLICIT = 77 };

static const struct {
	uint64_t form;
	struct dw_form_sizes sizes;
	int size;
	uint8_t len, at; /* bytes it takes; where the string or block begins, counted from 1; 0: there is none */
	uint8_t bytes[20];
	uint64_t number;
	uint64_t found;  /* the form, of DW_FORM_indirect */
} cases[] = {
	{ DW_FORM_addr, USUAL, 8, 8, 0, { 1, 2, 3, 4, 5, 6, 7, 8 }, 0x0807060504030201, 0 },
	{ DW_FORM_addr, V(4, 4, 4), 4, 4, 0, { 1, 2, 3, 4 }, 0x04030201, 0 },
	{ DW_FORM_addr, V(4, 2, 4), 2, 2, 0, { 1, 2 }, 0x0201, 0 },
	{ DW_FORM_data1, USUAL, 1, 1, 0, { 0xfe }, 0xfe, 0 },
	{ DW_FORM_data2, USUAL, 2, 2, 0, { 1, 0xff }, 0xff01, 0 },
	{ DW_FORM_data4, USUAL, 4, 4, 0, { 1, 2, 3, 4 }, 0x04030201, 0 },
	{ DW_FORM_data8, USUAL, 8, 8, 0, { 1, 2, 3, 4, 5, 6, 7, 8 }, 0x0807060504030201, 0 },
	{ DW_FORM_data16, USUAL, 16, 16, 1, { 1, 2, 3, 4, 5, 6, 7, 8 }, 16, 0 },
	{ DW_FORM_flag, USUAL, 1, 1, 0, { 1 }, 1, 0 },
	{ DW_FORM_flag_present, USUAL, 0, 0, 0, { 0 }, 1, 0 },
	{ DW_FORM_implicit_const, USUAL, 0, 0, 0, { 0 }, IMPLICIT, 0 },
	{ DW_FORM_ref1, USUAL, 1, 1, 0, { 9 }, 9, 0 },
	{ DW_FORM_ref2, USUAL, 2, 2, 0, { 9, 1 }, 0x109, 0 },
	{ DW_FORM_ref4, V(5, 8, 8), 4, 4, 0, { 9, 1 }, 0x109, 0 },
	{ DW_FORM_ref8, USUAL, 8, 8, 0, { 9, 1 }, 0x109, 0 },
	{ DW_FORM_ref_sig8, USUAL, 8, 8, 0, { 9, 1 }, 0x109, 0 },
	{ DW_FORM_ref_sup4, USUAL, 4, 4, 0, { 9, 1 }, 0x109, 0 },
	{ DW_FORM_ref_sup8, USUAL, 8, 8, 0, { 9, 1 }, 0x109, 0 },
	/* An address in DWARF 2, an offset since. */
	{ DW_FORM_ref_addr, V(2, 8, 4), 8, 8, 0, { 1 }, 1, 0 },
	{ DW_FORM_ref_addr, V(3, 8, 4), 4, 4, 0, { 1 }, 1, 0 },
	{ DW_FORM_ref_addr, V(3, 4, 8), 8, 8, 0, { 1 }, 1, 0 },
	{ DW_FORM_strp, USUAL, 4, 4, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_strp, V(5, 4, 8), 8, 8, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_line_strp, USUAL, 4, 4, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_strp_sup, V(5, 4, 8), 8, 8, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_sec_offset, USUAL, 4, 4, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_GNU_ref_alt, USUAL, 4, 4, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_GNU_strp_alt, V(4, 8, 8), 8, 8, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_string, USUAL, VAR, 3, 1, "ab", 0, 0 },
	{ DW_FORM_string, USUAL, VAR, 1, 1, "", 0, 0 },
	{ DW_FORM_block1, USUAL, VAR, 3, 2, { 2, 8, 9 }, 2, 0 },
	{ DW_FORM_block2, USUAL, VAR, 4, 3, { 2, 0, 8, 9 }, 2, 0 },
	{ DW_FORM_block4, USUAL, VAR, 6, 5, { 2, 0, 0, 0, 8, 9 }, 2, 0 },
	{ DW_FORM_block, USUAL, VAR, 4, 3, { 0x82, 0, 8, 9 }, 2, 0 },
	{ DW_FORM_exprloc, USUAL, VAR, 3, 2, { 2, 8, 9 }, 2, 0 },
	{ DW_FORM_sdata, USUAL, VAR, 2, 0, { 0xff, 0x7e }, (uint64_t)-129, 0 },
	{ DW_FORM_udata, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_ref_udata, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_loclistx, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_rnglistx, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_strx, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_strx1, USUAL, 1, 1, 0, { 1 }, 1, 0 },
	{ DW_FORM_strx2, USUAL, 2, 2, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_strx3, USUAL, 3, 3, 0, { 1, 2, 3 }, 0x30201, 0 },
	{ DW_FORM_strx4, USUAL, 4, 4, 0, { 1, 2, 3, 4 }, 0x4030201, 0 },
	{ DW_FORM_addrx, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_addrx1, USUAL, 1, 1, 0, { 1 }, 1, 0 },
	{ DW_FORM_addrx2, USUAL, 2, 2, 0, { 1, 2 }, 0x201, 0 },
	{ DW_FORM_addrx3, USUAL, 3, 3, 0, { 1, 2, 3 }, 0x30201, 0 },
	{ DW_FORM_addrx4, USUAL, 4, 4, 0, { 1, 2, 3, 4 }, 0x4030201, 0 },
	{ DW_FORM_GNU_str_index, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_GNU_addr_index, USUAL, VAR, 2, 0, { 0x81, 2 }, 0x101, 0 },
	{ DW_FORM_indirect, USUAL, VAR, 3, 0, { DW_FORM_data2, 1, 2 }, 0x201, DW_FORM_data2 },
	{ DW_FORM_indirect, USUAL, VAR, 2, 0, { DW_FORM_implicit_const, 0x7f }, (uint64_t)-1, DW_FORM_implicit_const },
};

static struct dw_cursor cursor_of(const uint8_t *bytes, size_t len)
{
	return dw_cursor_at(&(struct dw_section){ bytes, len }, 0, false);
}

static void test_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t form = cases[i].form;
		uint8_t *copy = malloc(cases[i].len + 1u);
		struct dw_cursor read, skipped;
		const uint8_t *bytes;
		uint64_t number, found;

		if (dw_form_size(form, &cases[i].sizes) != cases[i].size)
			fail_msg("form 0x%llx, case %zu", (unsigned long long)form, i);
		memcpy(copy, cases[i].bytes, cases[i].len);
		copy[cases[i].len] = 0x55;
		for (size_t len = cases[i].len + 1u; len--;) {
			read = skipped = cursor_of(copy, len);
			dw_form_skip(&skipped, form, &cases[i].sizes);
			found = dw_form_read(&read, form, &cases[i].sizes, IMPLICIT, &number, &bytes);
			if (read.bad != (len < cases[i].len) || skipped.bad != read.bad)
				fail_msg("form 0x%llx, case %zu: %zu of %u bytes", (unsigned long long)form, i, len,
					 cases[i].len);
			if (len < cases[i].len)
				continue;
			assert_int_equal(found, cases[i].found ? cases[i].found : form);
			assert_int_equal(read.p - copy, cases[i].len);
			assert_int_equal(skipped.p - copy, cases[i].len);
			assert_int_equal(number, cases[i].number);
			assert_ptr_equal(bytes, cases[i].at ? copy + cases[i].at - 1 : NULL);
		}
		free(copy);
	}
}

/* Forms of later versions, and an indirect one that leads to itself: nothing behind them can be read. */
static void test_unknown(void **state)
{
	static const uint64_t unknown[] = { 0, 2, 0x2d, 0x3f, 0x1f00, 0x1f03, 0x1f22, UINT64_MAX };
	static const struct dw_form_sizes sizes = USUAL;
	static const uint8_t indirect[] = { DW_FORM_indirect, DW_FORM_data1, 1 };
	const uint8_t *bytes;
	struct dw_cursor c;
	uint64_t number;

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		assert_int_equal(dw_form_size(unknown[i], &sizes), DW_FORM_UNKNOWN);
		c = cursor_of(indirect, 3);
		dw_form_skip(&c, unknown[i], &sizes);
		assert_true(c.bad);
		c = cursor_of(indirect, 3);
		dw_form_read(&c, unknown[i], &sizes, 0, &number, &bytes);
		assert_true(c.bad);
	}
	c = cursor_of(indirect, 3);
	dw_form_read(&c, DW_FORM_indirect, &sizes, 0, &number, &bytes);
	assert_true(c.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
