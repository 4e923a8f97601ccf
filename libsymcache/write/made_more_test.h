/* Symbols and call frame information at random, for files of made_units_test.h: what they have besides
 * their units. For tests. */
#ifndef SC_WRITE_MADE_MORE_TEST_H
#define SC_WRITE_MADE_MORE_TEST_H

#include "libsymcache/dwarf/made_units_test.h"

static inline void make_symbol(struct made *m)
{
	static const char *const names[] = { "main", "_start", "f",   "g",	 "f.cold",
					    "data", "__GI_f", "a.c", "_ZN1a1bEv" };
	static const uint8_t types[] = { STT_NOTYPE, STT_FUNC, STT_FUNC,	    STT_FUNC,
					STT_OBJECT, STT_FILE, STT_GNU_IFUNC };
	static const uint16_t sizes[] = { 0, 4, 16, 16, 64, 400 };
	struct bytes *o = &m->w.symtab;
	const unsigned name = below(m, 9), type = types[below(m, 7)], binding = below(m, 3);
	const unsigned section = type == STT_OBJECT ? 2 : 1;
	const uint64_t code = any_address(m), data = DWARF_DATA + 8 * below(m, 30),
		       size = sizes[below(m, 6)];
	const uint64_t value = section == 1 ? code : data;

	put(o, 4, put_str(&m->w.strtab, names[name]));
	if (m->w.shape.address_size == 4)
		put(o, 4, value), put(o, 4, size);
	put(o, 1, binding << 4 | type);
	put(o, 1, 0);
	put(o, 2, section);
	if (m->w.shape.address_size == 8)
		put(o, 8, value), put(o, 8, size);
}

static inline void make_symbols(struct made *m)
{
	const unsigned n = below(m, 14);

	if (!n)
		return;
	put_str(&m->w.strtab, "");
	put(&m->w.symtab, 8, 0), put(&m->w.symtab, m->w.shape.address_size == 8 ? 16 : 8, 0);
	for (unsigned i = 0; i < n; i++)
		make_symbol(m);
}

/* An instruction of call frame information. */
static inline void put_instruction(struct made *m, struct bytes *o)
{
	const unsigned reg = below(m, 17), n = below(m, 12);

	switch (below(m, 11)) {
	case 0:
	case 1:
	case 2: put(o, 1, DW_CFA_advance_loc | n); break;
	case 3:
	case 4: put(o, 1, DW_CFA_def_cfa_offset), put_uleb(o, 8 * n); break;
	case 5: put(o, 1, DW_CFA_offset | reg), put_uleb(o, n); break;
	case 6: put(o, 1, DW_CFA_def_cfa), put_uleb(o, reg), put_uleb(o, 8 * n); break;
	case 7: put(o, 1, n % 2 ? DW_CFA_same_value : DW_CFA_undefined), put_uleb(o, reg); break;
	case 8: put(o, 1, n % 2 ? DW_CFA_remember_state : DW_CFA_restore_state); break;
	case 9:
		put(o, 1, n % 3 ? DW_CFA_expression : DW_CFA_val_expression);
		put_uleb(o, reg), put_uleb(o, 2), put(o, 1, DW_OP_breg0 + 7),
			put_sleb(o, 8 * (int)n);
		break;
	default:
		put(o, 1, DW_CFA_def_cfa_expression);
		put_uleb(o, 9), put(o, 1, DW_OP_addr), put(o, 8, DWARF_TEXT + n);
	}
}

/* A common entry, and some of functions. */
static inline void make_frames(struct made *m, struct bytes *o, bool eh)
{
	size_t at = put(o, 4, 0);

	put(o, 4, eh ? 0 : UINT32_MAX);
	put(o, 1, 1);
	put_str(o, eh ? "zR" : "");
	put_uleb(o, 1), put_sleb(o, -8), put(o, 1, 16);
	if (eh)
		put_uleb(o, 1), put(o, 1, 0);
	put(o, 1, DW_CFA_def_cfa), put_uleb(o, 7), put_uleb(o, 8);
	put(o, 1, DW_CFA_offset | 16), put_uleb(o, 1);
	put(o, (unsigned)(-(o->b.len - at + 4) & 7), 0);
	patch(o, at, 4, o->b.len - at - 4);
	for (unsigned n = below(m, 6); n; n--) {
		at = put(o, 4, 0);
		put(o, 4, eh ? at + 4 : 0);
		put(o, 8, any_address(m));
		put(o, 8, 1 + below(m, 80));
		if (eh)
			put_uleb(o, 0);
		for (unsigned k = below(m, 9); k; k--)
			put_instruction(m, o);
		put(o, (unsigned)(-(o->b.len - at + 4) & 7), 0);
		patch(o, at, 4, o->b.len - at - 4);
	}
}

static inline void make_more(struct made *m)
{
	make_symbols(m);
	if (m->w.shape.address_size != 8 || m->w.shape.big_endian)
		return;
	if (below(m, 3))
		make_frames(m, &m->w.eh_frame, true);
	if (below(m, 2))
		make_frames(m, &m->w.debug_frame, false);
}

#endif
