/*
 * Files with units that are made at random, for tests: entries of all kinds in one another, which
 * refer to one another, to entries of other units and to nothing.
 *
 *   struct made m;
 *   made_file(&m, number);
 *   … m.w …
 *   dwarf_deinit(&m.w);
 */
#ifndef DW_MADE_UNITS_TEST_H
#define DW_MADE_UNITS_TEST_H

#include "libsymcache/dwarf/made_test.h"

enum { GNU_DISCRIMINATOR = 0x2136, LLVM_TAG_OFFSET = 0x3e03 }; /* that elfutils lacks */

static const unsigned tags[] = {
	DW_TAG_subprogram, DW_TAG_subprogram, DW_TAG_subprogram, DW_TAG_inlined_subroutine,
	DW_TAG_inlined_subroutine, DW_TAG_lexical_block, DW_TAG_namespace, DW_TAG_class_type,
	DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_variable, DW_TAG_variable,
	DW_TAG_formal_parameter, DW_TAG_member, DW_TAG_base_type, DW_TAG_array_type, DW_TAG_typedef,
	DW_TAG_const_type, DW_TAG_pointer_type, DW_TAG_enumeration_type, DW_TAG_ptr_to_member_type,
};

static inline bool is_code(unsigned tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static inline bool is_variable(unsigned tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter || tag == DW_TAG_member;
}

static inline bool is_type(unsigned tag)
{
	return !is_code(tag) && !is_variable(tag) && tag != DW_TAG_lexical_block &&
	       tag != DW_TAG_namespace;
}

static inline void put_call(struct made *m)
{
	put_number(m, DW_AT_call_file, below(m, 5));
	put_number(m, DW_AT_call_line, below(m, 100));
	if (below(m, 2))
		put_number(m, DW_AT_call_column, below(m, 100));
	if (!below(m, 3))
		put_number(m, GNU_DISCRIMINATOR, below(m, 9));
}

static inline void put_frame_base(struct made *m)
{
	attr(&m->w, DW_AT_frame_base, DW_FORM_block1, 0);
	put(&m->w.info, 1, 1);
	put(&m->w.info, 1, below(m, 2) ? DW_OP_reg0 + 6 : DW_OP_call_frame_cfa);
}

/* One in so many entries has the attribute. */
static inline void put_attributes(struct made *m, unsigned tag)
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

static inline void put_subrange(struct made *m)
{
	static const unsigned names[] = { DW_AT_count, DW_AT_upper_bound, DW_AT_lower_bound,
					  DW_AT_byte_stride };

	entry(&m->w, DW_TAG_subrange_type, false);
	for (unsigned i = 0; i < 4; i++)
		if (!below(m, i < 2 ? 2 : 5))
			put_number(m, names[i], below(m, 12));
}

static inline void put_entries(struct made *m, unsigned depth)
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

static inline void put_root(struct made *m)
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
static inline size_t begin_type_unit(struct made *m)
{
	struct dwarf *w = &m->w;
	const size_t type = unit_begin(w) + (w->shape.offset_size == 8 ? 12 : 4) + 2;

	patch(&w->info, type, 1, below(m, 2) ? DW_UT_type : DW_UT_split_type);
	put(&w->info, 8, below(m, SIGNATURES));
	/* In the header, at what would be the code of an abbreviation; or anywhere. */
	return put(&w->info, w->shape.offset_size, below(m, 3) ? type - w->unit : below(m, 2000));
}

static inline void put_unit(struct made *m)
{
	struct dwarf *w = &m->w;
	const size_t types = m->num_types;
	size_t type = 0;

	if (is_v5(m) && !below(m, 3) && !m->alone)
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

static inline void made_file(struct made *m, uint64_t number)
{
	struct dwarf_shape shape = { .version = 2 + number % 4 };

	*m = (struct made){ .random = number };
	below(m, 1);
	shape.offset_size = shape.version > 2 && !below(m, 3) ? 8 : 4;
	shape.address_size = below(m, 3) ? 8 : 4;
	shape.big_endian = !below(m, 3);
	dwarf_init(&m->w, &shape);
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

/* A few bytes of a section are others, or its end is missing: mostly of the entries or their abbreviations. */
static inline void damage_sections(struct made *m)
{
	struct dwarf *w = &m->w;
	struct bytes *const all[] = { &w->info, &w->info, &w->info, &w->abbrev, &w->abbrev, &w->line, &w->str_offsets, &w->addr,
				      &w->ranges, &w->rnglists, &w->loc, &w->loclists, &w->str };
	static const uint8_t others[] = { 0, 1, 0x7f, 0x80, 0xff };

	for (unsigned n = 1 + below(m, 3); n; n--) {
		struct bytes *o = all[below(m, sizeof(all) / sizeof(*all))];
		const uint32_t at = o->b.len ? below(m, (uint32_t)o->b.len) : 0, kind = below(m, 9);

		if (!o->b.len)
			continue;
		if (kind == 0)
			o->b.len = at;
		else
			o->b.data[at] = kind < 4 ? others[below(m, 5)] : kind < 7 ? (uint8_t)(o->b.data[at] + 1) : (uint8_t)below(m, 256);
	}
}

#endif
