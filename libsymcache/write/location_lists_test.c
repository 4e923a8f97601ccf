/* Unit tests of where local variables are that have different places, on DWARF written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/locals_test.h"

/* A list of .debug_loc: a base address, a register, and the frame's slot. */
static void put_old_list(struct dwarf *w, bool ends)
{
	put(&w->loc, 8, UINT64_MAX);
	put(&w->loc, 8, 0x1000);
	for (unsigned i = 0; i < 2; i++) {
		put(&w->loc, 8, 0x100 + 0x10 * i);
		put(&w->loc, 8, 0x110 + 0x10 * i);
		if (i && !ends)
			return;
		put(&w->loc, 2, 1 + i);
		put(&w->loc, 1, i ? DW_OP_fbreg : DW_OP_reg0);
		if (i)
			put(&w->loc, 1, 0x78);
	}
	put(&w->loc, 16, 0);
}

/* A table of .debug_loclists with one list, of all kinds that have no place, a register, and an entry of
 * this kind with the frame's slot. */
static void put_new_list(struct dwarf *w, unsigned kind, bool ends)
{
	const size_t begun = begin_length(&w->loclists, 4);

	put(&w->loclists, 2, 5);
	put(&w->loclists, 2, 8);
	put(&w->loclists, 4, 1);
	put(&w->loclists, 4, 4); /* the list, from behind the header */
	put(&w->loclists, 1, DW_LLE_base_address);
	put(&w->loclists, 8, 0x1000);
	put(&w->loclists, 1, DW_LLE_base_addressx);
	put_uleb(&w->loclists, 300);
	put(&w->loclists, 1, DW_LLE_offset_pair);
	put_uleb(&w->loclists, 0x100);
	put_uleb(&w->loclists, 0x110);
	put(&w->loclists, 2, DW_OP_reg0 << 8 | 1);
	put(&w->loclists, 1, kind);
	switch (kind) {
	case DW_LLE_startx_endx: case DW_LLE_startx_length: case DW_LLE_offset_pair:
		put_uleb(&w->loclists, 0x200);
		put_uleb(&w->loclists, 0x10);
		break;
	case DW_LLE_start_end:
		put(&w->loclists, 8, 0x1110);
		put(&w->loclists, 8, 0x1120);
		break;
	case DW_LLE_start_length:
		put(&w->loclists, 8, 0x1110);
		put_uleb(&w->loclists, 0x200);
		break;
	}
	if (ends) {
		put_uleb(&w->loclists, 2);
		put(&w->loclists, 2, 0x78 << 8 | DW_OP_fbreg);
		put(&w->loclists, 1, DW_LLE_end_of_list);
	}
	end_length(&w->loclists, 4, begun);
}

/* Where a variable has different places, the first on the frame counts: of compilers before DWARF 5 and
 * since, by offset and by index; lists that do not end say nothing. */
static void test_location_lists(void **state)
{
	static const struct { unsigned version, form, kind; } cases[] = {
		{ 3, DW_FORM_data4, 0 }, { 4, DW_FORM_sec_offset, 0 },
		{ 5, DW_FORM_sec_offset, DW_LLE_startx_endx }, { 5, DW_FORM_sec_offset, DW_LLE_startx_length },
		{ 5, DW_FORM_loclistx, DW_LLE_offset_pair }, { 5, DW_FORM_loclistx, DW_LLE_default_location },
		{ 5, DW_FORM_loclistx, DW_LLE_start_end }, { 5, DW_FORM_loclistx, DW_LLE_start_length },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const unsigned version = cases[i / 2].version, form = cases[i / 2].form;
		const bool ends = i % 2;
		struct dwarf w;
		size_t type;

		dwarf_init(&w, &(struct dwarf_shape){ .version = version });
		if (version < 5)
			put_old_list(&w, ends);
		else
			put_new_list(&w, cases[i / 2].kind, ends);
		open_unit(&w);
		if (form == DW_FORM_loclistx)
			attr_offset(&w, DW_AT_loclists_base, 12);
		type = base_type(&w, 4);
		entry(&w, DW_TAG_subprogram, true);
		attr_str(&w, DW_AT_name, "f");
		attr_pcs(&w, 0x1100, 0x1200);
		entry(&w, DW_TAG_variable, false);
		attr_str(&w, DW_AT_name, "a");
		attr_ref(&w, DW_AT_type, type);
		attr(&w, DW_AT_location, form, form == DW_FORM_sec_offset && version == 5 ? 16 : 0);
		if (form == DW_FORM_loclistx)
			put_uleb(&w.info, 0);
		children_end(&w);
		close_unit(&w);
		expect_locals(&w, 0x1100, ends ? "f a -8 4" : "f a ?? 4");
		dwarf_deinit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_location_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
