/* Unit tests of local variables, on DWARF written here: which there are, where, how large; and
 * what refers to itself. What LLVM says of real files is compared by scripts/dropin_diff.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/synthetic_test.h"
#include "symcache/locals.h"

/* "f a -8 4, g b ?? ??": the locals of an address. */
static void expect_locals(struct dwarf *w, uint64_t vaddr, const char *want)
{
	const struct symcache_build_options options = { .no_debug_search = true };
	const struct symcache_local *list;
	struct symcache_locals *locals;
	struct bytes file = {0};
	struct sc_error err;
	char path[32], *text;
	size_t n, len;
	FILE *out = open_memstream(&text, &len);
	int fd;

	dwarf_file(w, &file);
	fd = testing_memfd(file.b.data, file.b.len, path);
	if (symcache_locals_open(path, &options, &locals, &err) ||
	    symcache_locals_at(locals, vaddr, &list, &n, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s%s %s", i ? ", " : "", list[i].function, list[i].name);
		fprintf(out, list[i].has_offset ? " %lld" : " ??", (long long)list[i].offset);
		fprintf(out, list[i].has_size ? " %llu" : " ??", (unsigned long long)list[i].size);
	}
	fclose(out);
	assert_string_equal(text, want);
	free(text);
	symcache_locals_close(locals);
	close(fd);
	bytes_deinit(&file);
}

static void variable(struct dwarf *w, unsigned tag, const char *name, size_t type,
		     const void *place, size_t len)
{
	entry(w, tag, false);
	attr_str(w, DW_AT_name, name);
	if (type)
		attr_ref(w, DW_AT_type, type);
	if (!len)
		return;
	attr(w, DW_AT_location, DW_FORM_exprloc, 0);
	put_uleb(&w->info, len);
	put_block(&w->info, place, len);
}

static size_t base_type(struct dwarf *w, uint64_t size)
{
	size_t at = entry(w, DW_TAG_base_type, false);

	attr(w, DW_AT_byte_size, DW_FORM_data1, size);
	return at;
}

static void test_locals(void **state)
{
	static const uint8_t fbreg[] = { DW_OP_fbreg, 0x78 }, deref[] = { DW_OP_fbreg, 0x70, DW_OP_deref },
		breg6[] = { DW_OP_breg6, 0x60 }, breg5[] = { DW_OP_breg5, 0x60 },
		value[] = { DW_OP_fbreg, 0x70, DW_OP_stack_value }, reg[] = { DW_OP_reg0 };
	struct dwarf w;
	size_t type, array, g;

	(void)state;
	begin(&w);
	open_unit(&w);
	type = base_type(&w, 4);
	array = entry(&w, DW_TAG_array_type, true);
	attr_ref(&w, DW_AT_type, type);
	entry(&w, DW_TAG_subrange_type, false);
	attr(&w, DW_AT_upper_bound, DW_FORM_data1, 9);
	entry(&w, DW_TAG_subrange_type, false);
	attr(&w, DW_AT_count, DW_FORM_data1, 3);
	children_end(&w);
	g = entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "g");
	children_end(&w);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_pcs(&w, 0x1100, 0x1200);
	attr(&w, DW_AT_frame_base, DW_FORM_exprloc, 0);
	put_uleb(&w.info, 1);
	put(&w.info, 1, DW_OP_reg6);
	variable(&w, DW_TAG_formal_parameter, "a", type, fbreg, sizeof(fbreg));
	variable(&w, DW_TAG_variable, "b", array, deref, sizeof(deref));
	entry(&w, DW_TAG_lexical_block, true);
	variable(&w, DW_TAG_variable, "c", 0, breg6, sizeof(breg6));
	variable(&w, DW_TAG_variable, "d", type, breg5, sizeof(breg5));
	variable(&w, DW_TAG_variable, "e", type, value, sizeof(value));
	variable(&w, DW_TAG_variable, "f", type, reg, sizeof(reg));
	entry(&w, DW_TAG_inlined_subroutine, true);
	attr_ref(&w, DW_AT_abstract_origin, g);
	attr_pcs(&w, 0x1140, 0x1150);
	variable(&w, DW_TAG_variable, "h", type, breg6, sizeof(breg6));
	children_end(&w);
	variable(&w, DW_TAG_variable, "i", type, NULL, 0);
	children_end(&w);
	children_end(&w);
	close_unit(&w);
	good_unit(&w, "behind", 0x20);
	expect_locals(&w, 0x1100,
		      "f a -8 4, f b -16 120, f c -32 ??, f d ?? 4, f e ?? 4, f f ?? 4, "
		      "g h ?? 4, f i ?? 4");
	expect_locals(&w, 0x1145, "g h ?? 4");
	expect_locals(&w, 0x1000, "");
	expect_locals(&w, 0x5000, "");
	dwarf_deinit(&w);
}

/* Types of themselves, arrays without an end, names that lead in a circle. */
static void test_cycles(void **state)
{
	struct dwarf w;
	size_t type, array, at;

	(void)state;
	begin(&w);
	open_unit(&w);
	type = entry(&w, DW_TAG_typedef, false);
	attr_ref(&w, DW_AT_type, type);
	array = entry(&w, DW_TAG_array_type, true);
	attr_ref(&w, DW_AT_type, array);
	entry(&w, DW_TAG_subrange_type, true); /* its children are not closed */
	at = entry(&w, DW_TAG_subprogram, true);
	attr_ref(&w, DW_AT_specification, at);
	attr_pcs(&w, 0x1100, 0x1200);
	variable(&w, DW_TAG_variable, "a", type, NULL, 0);
	variable(&w, DW_TAG_variable, "b", array, NULL, 0);
	at = entry(&w, DW_TAG_variable, false);
	attr_ref(&w, DW_AT_abstract_origin, at);
	close_unit(&w);
	expect_locals(&w, 0x1100, "(null) a ?? ??, (null) b ?? ??, (null) (null) ?? ??");
	dwarf_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locals),
		cmocka_unit_test(test_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
