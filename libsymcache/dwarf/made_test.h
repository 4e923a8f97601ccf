/*
 * DWARF that is made at random, for tests: the sections that units refer to, and attributes in all
 * forms. The units themselves are made by made_units_test.c.
 */
#ifndef DW_MADE_TEST_H
#define DW_MADE_TEST_H

#include "libsymcache/base/testing.h"
#include "libsymcache/dwarf/dwarf_writer.h"
#include "libsymcache/dwarf/line_writer.h"

enum { LISTS = 6, ADDRESSES = 8, STRINGS = 10, UNITS = 4, ENTRIES_MOST = 200,
       SIGNATURES = 4 };

struct made {
	struct dwarf w;
	uint64_t random;
	size_t entries[ENTRIES_MOST + UNITS], num_entries;
	size_t types[ENTRIES_MOST], num_types;
	size_t lists[LISTS], locations[LISTS], line;
	size_t later[20], num_later; /* where references to what follows stand */
	bool sparse;                 /* codes of abbreviations have gaps */
	bool alone;                  /* units refer to no other unit */
};

static inline uint32_t below(struct made *m, uint32_t n)
{
	return testing_below(&m->random, n);
}

static inline bool is_v5(const struct made *m)
{
	return m->w.shape.version >= 5;
}

/* ---- sections that units refer to --------------------------------------------------------- */

static const char *const words[STRINGS] = { "",      "main", "a",    "std",  "operator()",
					    "_ZN1a1bEv", "point", "x", "_FUN", "a.c" };

static inline uint64_t any_address(struct made *m)
{
	return DWARF_TEXT + 8 * below(m, 64);
}

static inline void make_strings(struct made *m)
{
	struct bytes *o = &m->w.str_offsets;
	const unsigned size = m->w.shape.offset_size;
	const size_t length = begin_length(o, size);

	put(o, 2, 5);
	put(o, 2, 0);
	for (unsigned i = 0; i < STRINGS; i++) {
		put(o, size, put_str(&m->w.str, words[i]));
		put_str(&m->w.line_str, words[i]);
	}
	end_length(o, size, length);
}

static inline void make_addresses(struct made *m)
{
	struct bytes *o = &m->w.addr;
	const size_t length = begin_length(o, m->w.shape.offset_size);

	put(o, 2, 5);
	put(o, 1, m->w.shape.address_size);
	put(o, 1, 0);
	for (unsigned i = 0; i < ADDRESSES; i++)
		put(o, m->w.shape.address_size, DWARF_TEXT + 0x20 * i);
	end_length(o, m->w.shape.offset_size, length);
}

static inline void make_ranges_of_4(struct made *m)
{
	for (unsigned i = 0; i < LISTS; i++) {
		m->lists[i] = m->w.ranges.b.len;
		for (unsigned n = below(m, 4); n; n--) {
			const uint64_t start = 8 * below(m, 40);

			if (!below(m, 5))
				range_pair(&m->w, UINT64_MAX, DWARF_TEXT); /* a base */
			range_pair(&m->w, start, start + 4 * below(m, 10));
		}
		range_pair(&m->w, 0, 0);
	}
}

static inline void put_range(struct made *m, struct bytes *o)
{
	const unsigned size = m->w.shape.address_size;
	const uint64_t start = any_address(m), length = 4 * below(m, 10);
	const uint32_t first = below(m, ADDRESSES + 1), second = below(m, ADDRESSES + 1);
	const uint8_t kind = (uint8_t)(DW_RLE_base_addressx + below(m, 7));

	put(o, 1, kind);
	switch (kind) {
	case DW_RLE_base_addressx: put_uleb(o, first); break;
	case DW_RLE_startx_endx: put_uleb(o, first), put_uleb(o, second); break;
	case DW_RLE_startx_length: put_uleb(o, first), put_uleb(o, length); break;
	case DW_RLE_offset_pair:
		put_uleb(o, start - DWARF_TEXT), put_uleb(o, start - DWARF_TEXT + length);
		break;
	case DW_RLE_base_address: put(o, size, start); break;
	case DW_RLE_start_end: put(o, size, start), put(o, size, start + length); break;
	default: put(o, size, start), put_uleb(o, length);
	}
}

/* The header of lists by number, and a table of their offsets, from which these count. */
static inline size_t put_table(struct made *m, struct bytes *o)
{
	size_t table;

	begin_length(o, m->w.shape.offset_size);
	put(o, 2, 5);
	put(o, 1, m->w.shape.address_size);
	put(o, 1, 0);
	put(o, 4, LISTS);
	table = o->b.len;
	for (unsigned i = 0; i < LISTS; i++)
		put(o, m->w.shape.offset_size, 0);
	return table;
}

static inline void make_ranges_of_5(struct made *m)
{
	struct bytes *o = &m->w.rnglists;
	const unsigned size = m->w.shape.offset_size;
	const size_t table = put_table(m, o);

	for (unsigned i = 0; i < LISTS; i++) {
		m->lists[i] = o->b.len;
		patch(o, table + i * size, size, o->b.len - table);
		for (unsigned n = below(m, 4); n; n--)
			put_range(m, o);
		put(o, 1, DW_RLE_end_of_list);
	}
}

static inline void put_frame_offset(struct made *m, struct bytes *o)
{
	put(o, 1, below(m, 3) ? DW_OP_fbreg : DW_OP_breg0 + 6);
	put_sleb(o, (int64_t)below(m, 200) - 100);
	if (!below(m, 4))
		put(o, 1, below(m, 2) ? DW_OP_deref : DW_OP_stack_value);
}

/* One range with an expression, perhaps behind a base. */
static inline void put_location_list(struct made *m, struct bytes *o, const struct bytes *expression)
{
	const unsigned size = m->w.shape.address_size;
	const bool base = below(m, 2), pair = below(m, 2);

	if (is_v5(m)) {
		if (base)
			put(o, 1, DW_LLE_base_address), put(o, size, DWARF_TEXT);
		put(o, 1, pair ? DW_LLE_offset_pair : DW_LLE_startx_length);
		put_uleb(o, 1), put_uleb(o, 9);
		put_uleb(o, expression->b.len);
	} else {
		if (base)
			put(o, size, UINT64_MAX), put(o, size, DWARF_TEXT);
		put(o, size, 1), put(o, size, 9);
		put(o, 2, expression->b.len);
	}
	put_block(o, expression->b.data, expression->b.len);
	put(o, is_v5(m) ? 1 : 2 * size, 0);
}

static inline void make_locations(struct made *m)
{
	const unsigned size = m->w.shape.offset_size;
	struct bytes *o = is_v5(m) ? &m->w.loclists : &m->w.loc;
	const size_t table = is_v5(m) ? put_table(m, o) : 0;

	for (unsigned i = 0; i < LISTS; i++) {
		struct bytes expression = { .big_endian = o->big_endian };

		put_frame_offset(m, &expression);
		m->locations[i] = o->b.len;
		if (is_v5(m))
			patch(o, table + i * size, size, o->b.len - table);
		put_location_list(m, o, &expression);
		bytes_deinit(&expression);
	}
}

/* Its strings go into those of the units. */
static inline void make_lines(struct made *m)
{
	const struct dwarf_shape *of = &m->w.shape;
	const struct line_shape shape = {
		(uint16_t)of->version, of->offset_size, of->big_endian, 1, 1, 14, 13 };
	struct line_table t;

	m->line = m->w.line.b.len;
	line_begin(&t, &shape);
	t.str = m->w.str;
	t.line_str = m->w.line_str;
	line_standard_files(&t);
	op_set_address(&t, of->address_size, any_address(m));
	for (unsigned n = below(m, 6); n; n--) {
		op_line(&t, (int64_t)below(m, 30));
		op_uleb(&t, DW_LNS_advance_pc, below(m, 12));
		op_uleb(&t, DW_LNS_set_file, below(m, 5));
		op(&t, DW_LNS_copy);
	}
	op_uleb(&t, DW_LNS_advance_pc, 4);
	op_end_sequence(&t);
	line_end(&t);
	put_block(&m->w.line, t.line.b.data, t.line.b.len);
	bytes_deinit(&t.line);
	m->w.str = t.str;
	m->w.line_str = t.line_str;
}

/* ---- attributes --------------------------------------------------------------------------- */

static inline size_t attr_uleb(struct made *m, unsigned name, unsigned form, uint64_t value)
{
	const size_t at = attr(&m->w, name, form, 0);

	put_uleb(&m->w.info, value);
	return at;
}

static inline void put_string(struct made *m, unsigned name)
{
	struct dwarf *w = &m->w;
	const unsigned n = below(m, STRINGS), kind = below(m, is_v5(m) ? 6 : 3);

	switch (kind) {
	case 0: attr(w, name, DW_FORM_strp, put_str(&w->str, words[n])); break;
	case 1: case 2: attr_str(w, name, words[n]); break;
	case 3: attr_uleb(m, name, DW_FORM_strx, n); break;
	case 4: attr(w, name, DW_FORM_strx1, 0), put(&w->info, 1, n); break;
	default:
		attr(w, name, DW_FORM_line_strp, 0);
		put(&w->info, w->shape.offset_size, put_str(&w->line_str, words[n]));
	}
}

static inline void put_number(struct made *m, unsigned name, uint64_t value)
{
	static const unsigned forms[] = { DW_FORM_data1, DW_FORM_data2, DW_FORM_data4,
					  DW_FORM_data8, DW_FORM_udata, DW_FORM_sdata };
	const unsigned n = below(m, is_v5(m) ? 7 : 6);

	attr(&m->w, name, n < 6 ? forms[n] : DW_FORM_implicit_const, value);
	if (n == 6)
		put_sleb(&m->w.abbrev, (int64_t)value);
}

/* An offset in DWARF 2 is as large as an address. */
static inline void attr_ref_addr(struct dwarf *w, unsigned name, uint64_t to)
{
	put_uleb(&w->abbrev, name);
	put_uleb(&w->abbrev, DW_FORM_ref_addr);
	put(&w->info, w->shape.version == 2 ? w->shape.address_size : w->shape.offset_size, to);
}

/* To an entry that was made, to one that follows, or to anything. */
static inline void put_reference(struct made *m, unsigned name)
{
	static const unsigned forms[] = { DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8,
					  DW_FORM_ref_udata };
	struct dwarf *w = &m->w;
	const bool type = name == DW_AT_type && m->num_types && below(m, 8);
	const size_t to = type ? m->types[below(m, (uint32_t)m->num_types)] :
				 m->entries[below(m, (uint32_t)m->num_entries)];
	const unsigned form = forms[below(m, 4)], kind = below(m, 12);

	if (kind == 0 && m->num_later < sizeof(m->later) / sizeof(*m->later))
		m->later[m->num_later++] = attr(w, name, DW_FORM_ref4, 0);
	else if (kind == 1)
		attr(w, name, DW_FORM_ref4, below(m, (uint32_t)w->info.b.len + 40));
	else if (kind < 4 && is_v5(m) && !m->alone)
		attr(w, name, DW_FORM_ref_sig8, below(m, SIGNATURES));
	else if ((kind == 2 && !m->alone) || to < w->unit)
		attr_ref_addr(w, name, to);
	else
		attr(w, name, form, to - w->unit);
}

/* DW_AT_low_pc with DW_AT_high_pc, or a list, or one of them alone. */
static inline void put_code(struct made *m)
{
	struct dwarf *w = &m->w;
	const uint64_t low = any_address(m), n = 4 + below(m, 200), number = below(m, ADDRESSES + 1);
	const unsigned list = below(m, LISTS + 1), kind = below(m, 8);

	if (kind < 2) {
		if (is_v5(m) && below(m, 2))
			attr_uleb(m, DW_AT_ranges, DW_FORM_rnglistx, list);
		else
			attr_offset(w, DW_AT_ranges, list < LISTS ? m->lists[list] : 100000);
	}
	if (kind == 0 || kind > 2) {
		if (is_v5(m) && below(m, 2))
			attr_uleb(m, DW_AT_low_pc, DW_FORM_addrx, number);
		else
			attr_addr(w, DW_AT_low_pc, low);
	}
	if (kind > 3) {
		if (w->shape.version >= 4 && below(m, 2))
			put_number(m, DW_AT_high_pc, n);
		else
			attr_addr(w, DW_AT_high_pc, low + n);
	}
}

static inline void put_location(struct made *m)
{
	struct bytes e = { .big_endian = m->w.info.big_endian };
	const unsigned kind = below(m, 8), list = below(m, LISTS);

	if (kind == 0) {
		attr_offset(&m->w, DW_AT_location, m->locations[list]);
		return;
	}
	if (kind == 1 && is_v5(m)) {
		attr_uleb(m, DW_AT_location, DW_FORM_loclistx, list);
		return;
	}
	if (kind < 4) {
		put_frame_offset(m, &e);
	} else if (kind < 6 && is_v5(m)) {
		put(&e, 1, DW_OP_addrx);
		put_uleb(&e, below(m, ADDRESSES + 1));
	} else {
		put(&e, 1, DW_OP_addr);
		put(&e, m->w.shape.address_size, DWARF_DATA + 8 * below(m, 30));
	}
	if (kind == 7) {
		put(&e, 1, DW_OP_plus_uconst);
		put_uleb(&e, below(m, 40));
	}
	attr_uleb(m, DW_AT_location,
		  m->w.shape.version >= 4 ? DW_FORM_exprloc : DW_FORM_block1, e.b.len);
	put_block(&m->w.info, e.b.data, e.b.len);
	bytes_deinit(&e);
}

#endif
