/*
 * Units that are made at random, in each version, size and byte order of DWARF: the facts that are
 * read of them, and their local variables, are recorded. Entries refer to one another, to entries of
 * other units and to nothing. A change of any fact is seen in testdata/seeds/units.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/dwarf/locals.h"
#include "libsymcache/dwarf/made_test.h"
#include "libsymcache/dwarf/readers_test.h"

enum { FILES = 700, WHOLE = 16, LLVM_TAG_OFFSET = 0x3e03 };

/* ---- entries ------------------------------------------------------------------------------ */

static const unsigned tags[] = {
	DW_TAG_subprogram, DW_TAG_subprogram, DW_TAG_subprogram, DW_TAG_inlined_subroutine,
	DW_TAG_inlined_subroutine, DW_TAG_lexical_block, DW_TAG_namespace, DW_TAG_class_type,
	DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_variable, DW_TAG_variable,
	DW_TAG_formal_parameter, DW_TAG_member, DW_TAG_base_type, DW_TAG_array_type, DW_TAG_typedef,
	DW_TAG_const_type, DW_TAG_pointer_type, DW_TAG_enumeration_type, DW_TAG_ptr_to_member_type,
};

static bool is_code(unsigned tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static bool is_variable(unsigned tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter || tag == DW_TAG_member;
}

static bool is_type(unsigned tag)
{
	return !is_code(tag) && !is_variable(tag) && tag != DW_TAG_lexical_block &&
	       tag != DW_TAG_namespace;
}

static void put_call(struct made *m)
{
	put_number(m, DW_AT_call_file, below(m, 5));
	put_number(m, DW_AT_call_line, below(m, 100));
	if (below(m, 2))
		put_number(m, DW_AT_call_column, below(m, 100));
	if (!below(m, 3))
		put_number(m, DW_AT_GNU_discriminator, below(m, 9));
}

static void put_frame_base(struct made *m)
{
	attr(&m->w, DW_AT_frame_base, DW_FORM_block1, 0);
	put(&m->w.info, 1, 1);
	put(&m->w.info, 1, below(m, 2) ? DW_OP_reg0 + 6 : DW_OP_call_frame_cfa);
}

/* One in so many entries has the attribute. */
static void put_attributes(struct made *m, unsigned tag)
{
	const bool code = is_code(tag), variable = is_variable(tag);

	if (below(m, 4))
		put_string(m, DW_AT_name);
	if (!below(m, code || variable ? 5 : 40))
		put_string(m, m->w.shape.version < 4 ? DW_AT_MIPS_linkage_name :
						       DW_AT_linkage_name);
	if (!below(m, tag == DW_TAG_inlined_subroutine ? 2 : 6))
		put_reference(m, DW_AT_abstract_origin);
	if (!below(m, 8))
		put_reference(m, DW_AT_specification);
	if (below(m, 3))
		put_number(m, DW_AT_decl_file, below(m, 5));
	if (!below(m, 2))
		put_number(m, DW_AT_decl_line, below(m, 100));
	if (!below(m, 6))
		attr(&m->w, DW_AT_external, DW_FORM_flag, 1);
	if (code && below(m, 5))
		put_code(m);
	if (tag == DW_TAG_inlined_subroutine)
		put_call(m);
	if (tag == DW_TAG_subprogram && below(m, 2))
		put_frame_base(m);
	if (variable && below(m, 6))
		put_location(m);
	if (!code && below(m, 2))
		put_reference(m, DW_AT_type);
	if (tag == DW_TAG_base_type || tag == DW_TAG_structure_type || (is_type(tag) && !below(m, 5)))
		put_number(m, DW_AT_byte_size, below(m, 60));
	if (tag == DW_TAG_variable && !below(m, 5))
		put_number(m, LLVM_TAG_OFFSET, below(m, 16));
}

static void put_subrange(struct made *m)
{
	static const unsigned names[] = { DW_AT_count, DW_AT_upper_bound, DW_AT_lower_bound,
					  DW_AT_byte_stride };

	entry(&m->w, DW_TAG_subrange_type, false);
	for (unsigned i = 0; i < 4; i++)
		if (!below(m, i < 2 ? 2 : 5))
			put_number(m, names[i], below(m, 12));
}

static void put_entries(struct made *m, unsigned depth)
{
	for (unsigned n = 1 + below(m, depth ? 4 : 9); n && m->num_entries < ENTRIES_MOST; n--) {
		const unsigned tag = tags[below(m, sizeof(tags) / sizeof(*tags))];
		const bool children = depth < 5 && (tag == DW_TAG_array_type || below(m, 2));

		m->w.code += m->sparse && !below(m, 3);
		if (is_type(tag))
			m->types[m->num_types++] = m->w.info.b.len;
		m->entries[m->num_entries++] = entry(&m->w, tag, children);
		put_attributes(m, tag);
		if (!children)
			continue;
		if (tag == DW_TAG_array_type)
			for (unsigned k = below(m, 3); k; k--)
				put_subrange(m);
		else
			put_entries(m, depth + 1);
		children_end(&m->w);
	}
}

static void put_root(struct made *m)
{
	static const unsigned languages[] = { DW_LANG_C99, DW_LANG_C_plus_plus_14, DW_LANG_Rust, 0 };
	const bool wide = m->w.shape.offset_size == 8;
	const unsigned tag = below(m, 6) ? DW_TAG_compile_unit : DW_TAG_partial_unit;
	struct dwarf *w = &m->w;

	m->entries[m->num_entries++] = entry(w, tag, true);
	put_string(m, DW_AT_name);
	attr(w, DW_AT_language, DW_FORM_data2, languages[below(m, 4)]);
	if (below(m, 2))
		put_string(m, DW_AT_comp_dir);
	if (below(m, 3))
		attr_offset(w, DW_AT_stmt_list, m->line);
	if (is_v5(m)) {
		attr_offset(w, DW_AT_str_offsets_base, wide ? 16 : 8);
		if (below(m, 4))
			attr_offset(w, DW_AT_addr_base, wide ? 16 : 8);
		attr_offset(w, DW_AT_rnglists_base, wide ? 20 : 12);
		attr_offset(w, DW_AT_loclists_base, wide ? 20 : 12);
	}
	if (below(m, 3))
		put_code(m);
}

/* The header of a unit with a type; returns where the type's place in it stands. */
static size_t begin_type_unit(struct made *m)
{
	struct dwarf *w = &m->w;
	const size_t type = unit_begin(w) + (w->shape.offset_size == 8 ? 12 : 4) + 2;

	patch(&w->info, type, 1, below(m, 2) ? DW_UT_type : DW_UT_split_type);
	put(&w->info, 8, below(m, SIGNATURES));
	/* In the header, at what would be the code of an abbreviation; or anywhere. */
	return put(&w->info, w->shape.offset_size, below(m, 3) ? type - w->unit : below(m, 2000));
}

static void put_unit(struct made *m)
{
	struct dwarf *w = &m->w;
	const size_t types = m->num_types;
	size_t type = 0;

	if (is_v5(m) && !below(m, 3))
		type = begin_type_unit(m);
	else
		unit_begin(w);
	m->sparse = !below(m, 3);
	m->num_later = 0;
	put_root(m);
	put_entries(m, 0);
	for (size_t i = 0; i < m->num_later; i++) {
		const size_t back = below(m, 3) % m->num_entries;

		patch(&w->info, m->later[i], 4, m->entries[m->num_entries - 1 - back] - w->unit);
	}
	if (type && m->num_types > types && below(m, 2)) /* else it is anywhere */
		patch(&w->info, type, w->shape.offset_size, m->types[types] - w->unit);
	children_end(w);
	unit_end(w);
}

static void make(struct made *m, uint64_t number)
{
	struct dwarf_shape shape = { .version = 2 + number % 4 };

	*m = (struct made){ .random = number };
	below(m, 1);
	shape.offset_size = shape.version > 2 && !below(m, 3) ? 8 : 4;
	shape.address_size = below(m, 3) ? 8 : 4;
	shape.big_endian = !below(m, 3);
	dwarf_init(&m->w, &shape);
	m->str_offsets.big_endian = shape.big_endian;
	make_strings(m);
	make_addresses(m);
	if (is_v5(m))
		make_ranges_of_5(m);
	else
		make_ranges_of_4(m);
	make_locations(m);
	make_lines(m);
	for (unsigned i = 1 + below(m, UNITS); i; i--)
		put_unit(m);
}

/* ---- what is read ------------------------------------------------------------------------- */

static struct dw_section section(const struct bytes *b)
{
	return (struct dw_section){ b->b.data, b->b.len };
}

static const char *or_none(const char *s)
{
	return s ? s : "-";
}

static void put_local(FILE *to, const struct dw_local *l)
{
	fprintf(to, "  %s %s at %s|%s|%s:%" PRIu64, or_none(l->function), or_none(l->name),
		or_none(l->file.comp_dir), or_none(l->file.dir), or_none(l->file.name), l->line);
	if (l->has_offset)
		fprintf(to, ", offset %" PRId64, l->offset);
	if (l->has_size)
		fprintf(to, ", size %" PRIu64, l->size);
	if (l->has_tag)
		fprintf(to, ", tag %" PRIu64, l->tag);
	fputc('\n', to);
}

static void put_locals(FILE *to, const struct dw_locals *locals)
{
	for (size_t i = 0; i < locals->list.len; i++)
		put_local(to, &locals->list.data[i]);
}

static bool put_unit_locals(void *to, const struct dw_unit_locals *u)
{
	fprintf(to, "locals of a unit, %zu ranges covered\n", u->covered.len);
	for (size_t i = 0; i < u->ranges.len; i++) {
		const struct dw_local_range *r = &u->ranges.data[i];
		const struct dw_local_function *f = &u->functions.data[r->function];

		fprintf(to, "[%" PRIx64 " %" PRIx64 ") %" PRIx64 " has %" PRIu32 " to %" PRIu32 "\n",
			r->range.start, r->range.end, f->place, f->first, f->end);
	}
	put_locals(to, &u->locals);
	return true;
}

static void put_all_facts(FILE *to, const struct dw_debug *d)
{
	struct dw_scanner *scanner = dw_scanner_create(d);
	struct dw_facts facts = { 0 };
	struct sc_error err;

	fprintf(to, "%zu units, %" PRIu64 " faults: %s\n", d->units.len, d->faults,
		d->faults ? d->first_fault.msg : "");
	for (size_t i = 0; i < d->units.len; i++) {
		const int rc = dw_scan_unit(scanner, &d->units.data[i], &facts, &err);

		put_facts(to, &facts, rc ? err.msg : "");
		fprintf(to, "%" PRIu64 " entries\n", facts.entries);
	}
	dw_facts_deinit(&facts);
	dw_scanner_destroy(scanner);
}

static void put_read(FILE *to, const struct made *m)
{
	const struct dwarf *w = &m->w;
	struct dw_debug d = { .sections = {
		.info = section(&w->info), .abbrev = section(&w->abbrev),
		.line = section(&w->line), .str = section(&w->str),
		.line_str = section(&w->line_str), .addr = section(&w->addr),
		.ranges = section(&w->ranges), .rnglists = section(&w->rnglists),
		.str_offsets = section(&m->str_offsets), .file_size = 1 << 20,
		.swap = w->shape.big_endian,
	} };
	const struct dw_location_sections locations = { section(&w->loc), section(&w->loclists) };
	struct sc_error err;

	dw_section_end_with_nul(&d.sections.str);
	dw_section_end_with_nul(&d.sections.line_str);
	assert_int_equal(dw_debug_read(&d, &err), 0);
	put_all_facts(to, &d);
	assert_true(dw_read_all_locals(&d, &locations, put_unit_locals, to));
	for (uint64_t at = DWARF_TEXT; at < DWARF_TEXT + 0x200; at += 0x34) {
		struct dw_locals locals = { 0 };

		assert_true(dw_read_locals(&d, &locations, at, &locals));
		fprintf(to, "locals at %" PRIx64 "\n", at);
		put_locals(to, &locals);
		vec_deinit(&locals.list);
	}
	dw_debug_deinit(&d);
}

/* The first ones are kept as they are, the others as hashes. */
static void put_file_of(FILE *to, uint64_t number)
{
	struct made m;
	char *text;
	size_t size;
	FILE *all = open_memstream(&text, &size);

	make(&m, number);
	put_read(all, &m);
	fclose(all);
	fprintf(to, "== DWARF %u, %u, addresses of %u, %s-endian, %" PRIu64 "\n", m.w.shape.version,
		m.w.shape.offset_size, m.w.shape.address_size,
		m.w.shape.big_endian ? "big" : "little", number);
	if (number < WHOLE)
		fputs(text, to);
	else
		put_digest(to, text, size), fputc('\n', to);
	free(text);
	bytes_deinit(&m.str_offsets);
	dwarf_deinit(&m.w);
}

static void test_units(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (uint64_t i = 0; i < FILES; i++)
		put_file_of(to, i);
	fclose(to);
	expect_recorded("units", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
