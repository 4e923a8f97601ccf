/* How many local variables a file may have: in proportion to its size, however often they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/limits.h"
#include "libsymcache/dwarf/dwarf_writer.h"
#include "libsymcache/dwarf/locals.h"

enum { DEPTH = 100, EACH = 20, ALL = EACH * DEPTH * (DEPTH + 1) / 2 };

/* Each function is in another one, and has its own variables and those of all that are in it. */
static void put_nested(struct dwarf *w)
{
	dwarf_init(w, &(struct dwarf_shape){ .version = 4 });
	unit_begin(w);
	compile_unit(w, "a.c");
	for (unsigned i = 0; i < DEPTH; i++) {
		entry(w, DW_TAG_subprogram, true);
		attr_pcs(w, DWARF_TEXT + i, DWARF_TEXT + i + 1);
		for (unsigned k = 0; k < EACH; k++) {
			entry(w, DW_TAG_variable, false);
			attr_str(w, DW_AT_name, "v");
		}
	}
	for (unsigned i = 0; i <= DEPTH; i++)
		children_end(w);
	unit_end(w);
}

static bool count(void *ctx, const struct dw_unit_locals *u)
{
	uint64_t *locals = ctx;

	locals[0] += u->locals.list.len;
	locals[1] += u->functions.len + u->ranges.len;
	return true;
}

static void test_limit(void **state)
{
	static const uint64_t sizes[] = { 1, 1000, 1 << 20 };
	struct dwarf w;

	(void)state;
	put_nested(&w);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct dw_debug d = { .sections = {
			.info = { w.info.b.data, w.info.b.len }, .abbrev = { w.abbrev.b.data, w.abbrev.b.len },
			.file_size = 1 << 20, /* for its abbreviations, one of each entry */
		} };
		const struct dw_location_sections nowhere = {0};
		const uint64_t limit = sc_limit_facts(sizes[i]);
		uint64_t found[2] = {0};
		struct sc_error err;

		assert_int_equal(dw_debug_read(&d, &err), 0);
		assert_int_equal(d.faults, 0);
		d.sections.file_size = sizes[i];
		assert_true(dw_read_all_locals(&d, &nowhere, count, found));
		if (limit > ALL + 2 * DEPTH)
			assert_int_equal(found[0], ALL);
		else
			assert_in_range(found[0] + found[1], limit - 2, limit);
		dw_debug_deinit(&d);
	}
	dwarf_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
