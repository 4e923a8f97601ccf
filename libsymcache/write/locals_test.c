/* Unit tests of local variables, on DWARF written here: which there are, where, how large; and
 * what refers to itself. What LLVM says of real files is compared by scripts/dropin_diff.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/read/read.h"
#include "libsymcache/write/locals.h"
#include "libsymcache/write/synthetic_test.h"

static void print_local(FILE *out, size_t i, const struct symcache_local *l)
{
	fprintf(out, "%s%.*s %.*s", i ? ", " : "", l->function.ptr ? (int)l->function.len : 6,
		l->function.ptr ? l->function.ptr : "(null)", l->name.ptr ? (int)l->name.len : 6,
		l->name.ptr ? l->name.ptr : "(null)");
	fprintf(out, l->has_offset ? " %lld" : " ??", (long long)l->offset);
	fprintf(out, l->has_size ? " %llu" : " ??", (unsigned long long)l->size);
	if (l->line || l->file.name.ptr)
		fprintf(out, " at %.*s:%lld", (int)l->file.name.len, l->file.name.ptr, (long long)l->line);
	if (l->has_tag)
		fprintf(out, " tag %lld", (long long)l->tag);
}

/* The locals of an address, of the debug information. */
static char *of_file(struct symcache_locals *locals, uint64_t vaddr)
{
	const struct symcache_local *list;
	struct sc_error err;
	size_t n, len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(symcache_locals_at(locals, vaddr, &list, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		print_local(out, i, &list[i]);
	fclose(out);
	return text;
}

/* The same of the cache. */
static char *of_cache(const struct symcache *cache, uint64_t vaddr)
{
	uint32_t first = 0;
	const uint32_t n = symcache_locals_of(cache, vaddr - symcache_load_base(cache), &first);
	struct symcache_local local;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < n; i++) {
		assert_true(symcache_local(cache, first + i, &local));
		print_local(out, i, &local);
	}
	fclose(out);
	return text;
}

/* Both of an address must be the same; and `want`, unless that is NULL. */
static void expect_same(struct symcache_locals *file, const struct symcache *cache, uint64_t vaddr,
			const char *want)
{
	char *file_says = of_file(file, vaddr), *cache_says = of_cache(cache, vaddr);

	assert_string_equal(file_says, cache_says);
	if (want)
		assert_string_equal(file_says, want);
	free(file_says);
	free(cache_says);
}

/* Indexes a file with its locals; opens both. */
static void open_both(const char *path, struct indexed *r, struct symcache *cache,
		      struct symcache_locals **file)
{
	const struct symcache_build_options options = { .no_debug_search = true, .locals = true };

	index_file(path, &options, r);
	assert_int_equal(r->rc, 0);
	assert_true(r->info.sources & SYMCACHE_FROM_LOCALS);
	assert_int_equal(symcache_open(cache, r->bytes, r->size, &r->err), 0);
	assert_int_equal(symcache_verify(cache, NULL, NULL), 0);
	assert_int_equal(symcache_locals_open(path, &options, file, &r->err), 0);
}

/* As expect_locals(), of a file that is loaded from `base` on. */
static void expect_locals_from(struct dwarf *w, uint64_t base, uint64_t vaddr, const char *want)
{
	struct symcache_locals *locals;
	struct bytes file = {0};
	struct symcache cache;
	struct indexed r;
	char path[32];
	int fd;

	dwarf_file(w, &file);
	patch(&file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_vaddr), 8, base);
	fd = testing_memfd(file.b.data, file.b.len, path);
	open_both(path, &r, &cache, &locals);
	for (uint64_t at = base ? base : 0xff0; at <= 0x1210; at += 0x10)
		expect_same(locals, &cache, at, at == vaddr ? want : NULL);
	symcache_locals_close(locals);
	indexed_deinit(&r);
	close(fd);
	bytes_deinit(&file);
}

/* "f a -8 4, g b ?? ??": the locals of an address, of the file and of its cache; those of all
 * other addresses are the same of both. */
static void expect_locals(struct dwarf *w, uint64_t vaddr, const char *want)
{
	expect_locals_from(w, 0, vaddr, want);
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
	expect_locals(&w, 0x1140, "g h ?? 4");
	expect_locals(&w, 0x1000, "");
	dwarf_deinit(&w);
}

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

/* A function within another has its own; what the unit does not cover is no code of it; of two
 * units with the same code the first one counts. */
static void test_who_has_the_code(void **state)
{
	struct dwarf w;

	(void)state;
	begin(&w);
	unit_begin(&w);
	entry(&w, DW_TAG_compile_unit, true);
	attr_pcs(&w, 0x1110, 0x1200);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "f");
	attr_pcs(&w, 0x1100, 0x1180);
	variable(&w, DW_TAG_variable, "a", 0, NULL, 0);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "g");
	attr_pcs(&w, 0x1140, 0x1160);
	variable(&w, DW_TAG_variable, "b", 0, NULL, 0);
	children_end(&w);
	entry(&w, DW_TAG_subprogram, false); /* without locals, it hides those of f */
	attr_pcs(&w, 0x1170, 0x1180);
	variable(&w, DW_TAG_variable, "c", 0, NULL, 0);
	children_end(&w);
	close_unit(&w);
	open_unit(&w);
	entry(&w, DW_TAG_subprogram, true);
	attr_str(&w, DW_AT_name, "h");
	attr_pcs(&w, 0x1100, 0x1190);
	variable(&w, DW_TAG_variable, "d", 0, NULL, 0);
	children_end(&w);
	close_unit(&w);
	expect_locals(&w, 0x1100, "h d ?? ??");
	expect_locals(&w, 0x1110, "f a ?? ??, f b ?? ??, f c ?? ??");
	expect_locals(&w, 0x1140, "g b ?? ??");
	expect_locals(&w, 0x1160, "f a ?? ??, f b ?? ??, f c ?? ??");
	expect_locals(&w, 0x1170, "");
	expect_locals(&w, 0x1180, "h d ?? ??");
	dwarf_deinit(&w);
}

/* The same bytes with one thread and with three; and without the option, none of it. */
static void test_threads(void **state)
{
	struct symcache_build_options o = { .no_debug_search = true, .locals = true, .threads = 1 };
	struct indexed one, three, without;

	(void)state;
	index_file(PROGRAMS "inlines", &o, &one);
	o.threads = 3;
	index_file(PROGRAMS "inlines", &o, &three);
	same_bytes(&one, &three);
	must_index(PROGRAMS "inlines", &without);
	assert_false(without.info.sources & SYMCACHE_FROM_LOCALS);
	assert_true(without.size < one.size);
	indexed_deinit(&one);
	indexed_deinit(&three);
	indexed_deinit(&without);
}

/* 2,000 addresses of libc. */
static void test_libc(void **state)
{
	struct symcache_locals *locals;
	struct symcache cache;
	struct indexed r;
	char path[256];

	(void)state;
	debug_file_of("/lib/x86_64-linux-gnu/libc.so.6", path);
	if (access(path, R_OK)) {
		printf("skipped: no debug file of libc\n");
		skip();
	}
	open_both(path, &r, &cache, &locals);
	assert_true(cache.locals.num_ranges > 1000);
	for (uint64_t i = 0; i < 2000; i++)
		expect_same(locals, &cache, symcache_load_base(&cache) + i % 5 +
			    cache.locals.ranges[i * 7919 % cache.locals.num_ranges].start, NULL);
	symcache_locals_close(locals);
	indexed_deinit(&r);
}

/* Functions in front of the code that is loaded, up to it, and across its beginning; the largest numbers. */
static void test_base(void **state)
{
	static const uint64_t pcs[][2] = { { 0x1000, 0x1010 }, { 0x1080, 0x1100 }, { 0x1100, 0x1140 }, { 0x1180, 0x1190 } };
	static const uint64_t bases[] = { 0x1100, 0x1120, 0x1140, 0x1180 };
	struct dwarf w;

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		begin(&w);
		open_unit(&w);
		for (size_t i = 0; i < 4; i++) {
			entry(&w, DW_TAG_subprogram, true);
			attr_str(&w, DW_AT_name, "f");
			attr_pcs(&w, pcs[i][0], pcs[i][1]);
			entry(&w, DW_TAG_variable, false);
			attr_str(&w, DW_AT_name, "v");
			attr(&w, DW_AT_decl_line, DW_FORM_data4, UINT32_MAX - 3 + i);
			attr(&w, 0x3e03, DW_FORM_data4, UINT32_MAX); /* DW_AT_LLVM_tag_offset */
			children_end(&w);
		}
		close_unit(&w);
		good_unit(&w, "behind", 0x200);
		expect_locals_from(&w, bases[k], k < 2 ? 0x1130 : 0x1180, k < 2 ?
				   "f v ?? ?? at :4294967294 tag 4294967295" : "f v ?? ?? at :4294967295 tag 4294967295");
		dwarf_deinit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locals), cmocka_unit_test(test_location_lists),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_who_has_the_code),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
