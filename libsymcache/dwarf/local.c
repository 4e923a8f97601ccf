/*
 * One local variable: its names, its type's size, its place. See locals_parts.h.
 */
#include "libsymcache/dwarf/locals_parts.h"

#include <dwarf.h>

#include "libsymcache/dwarf/line.h"

#define DW_AT_LLVM_tag_offset 0x3e03 /* elfutils' dwarf.h lacks it */
#define MAX_CHAIN 16                 /* of references: they may be cycles */

/* ---- names ---------------------------------------------------------------------------- */

/* The name of a function, wherever it is declared. */
static const char *function_name(const struct dw_entry *e)
{
	struct dw_entry at = *e, next;
	struct dw_value v;

	if (e->abbrev->tag != DW_TAG_subprogram && e->abbrev->tag != DW_TAG_inlined_subroutine)
		return NULL;
	for (int i = 0; i < MAX_CHAIN; i++) {
		if (dw_find(&at, DW_AT_name, &v))
			return dw_value_string(at.u, &v);
		if (!dw_follow(&at, DW_AT_abstract_origin, &next) &&
		    !dw_follow(&at, DW_AT_specification, &next))
			return NULL;
		at = next;
	}
	return NULL;
}

/* ---- types ---------------------------------------------------------------------------- */

static bool type_size(const struct dw_entry *e, unsigned depth, uint64_t *ret);

static bool referred_size(const struct dw_entry *e, unsigned depth, uint64_t *ret)
{
	struct dw_entry type;

	return dw_follow(e, DW_AT_type, &type) && type_size(&type, depth + 1, ret);
}

static bool array_size(const struct dw_entry *e, unsigned depth, uint64_t *ret)
{
	struct dw_cursor c = dw_entry_cursor(e->u, e->at);
	struct dw_entry child;
	uint64_t count;
	int64_t lower, upper;

	if (!referred_size(e, depth, ret))
		return false;
	dw_skip_attributes(&c, e->u, e->abbrev);
	while (e->abbrev->has_children && dw_left(&c) && *c.p &&
	       dw_open_entry(e->steps, e->u, dw_place_of(e->u, &c), &child) &&
	       !child.abbrev->has_children) {
		if (child.abbrev->tag == DW_TAG_subrange_type) {
			if (dw_find_number(&child, DW_AT_count, &count))
				*ret *= count;
			if (!dw_find_signed(&child, DW_AT_lower_bound, &lower))
				lower = 0;
			if (dw_find_signed(&child, DW_AT_upper_bound, &upper))
				*ret *= (uint64_t)upper - (uint64_t)lower + 1;
		}
		c = dw_entry_cursor(e->u, child.at);
		dw_skip_attributes(&c, e->u, child.abbrev);
	}
	return true;
}

/* The size of a type in bytes, as LLVM computes it. */
static bool type_size(const struct dw_entry *e, unsigned depth, uint64_t *ret)
{
	struct dw_entry type;

	if (depth == MAX_CHAIN)
		return false;
	if (dw_find_number(e, DW_AT_byte_size, ret))
		return true;
	*ret = e->u->sizes.address_size;
	switch (e->abbrev->tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return true;
	case DW_TAG_ptr_to_member_type:
		if (dw_follow(e, DW_AT_type, &type) && type.abbrev->tag == DW_TAG_subroutine_type)
			*ret *= 2;
		return true;
	case DW_TAG_array_type:
		return array_size(e, depth, ret);
	default:
		return referred_size(e, depth, ret);
	}
}

/* ---- places --------------------------------------------------------------------------- */

/* The register that is the frame base, or −1. */
static int frame_register(const struct dw_entry *function)
{
	struct dw_value v;

	return dw_find(function, DW_AT_frame_base, &v) && v.bytes && v.number &&
	       v.bytes[0] >= DW_OP_reg0 && v.bytes[0] <= DW_OP_reg31 ? v.bytes[0] - DW_OP_reg0 : -1;
}

/* The offset from the frame base that an expression says: that alone, or what is stored there. */
static bool offset_of(const uint8_t *bytes, uint64_t len, int base, int64_t *ret)
{
	struct dw_cursor c = { .p = bytes, .end = bytes + len };
	const uint8_t code = len ? dw_u8(&c) : 0;

	if (code != DW_OP_fbreg && (base < 0 || code != DW_OP_breg0 + base))
		return false;
	*ret = dw_sleb(&c);
	return !c.bad && (!dw_left(&c) || (dw_left(&c) == 1 && *c.p == DW_OP_deref));
}

/* Steps to the expression of the next entry of a list of DWARF 5. False: the end. */
static bool next_in_loclists(struct dw_cursor *c, const struct dw_unit *u, bool *has_expression)
{
	const uint8_t kind = dw_u8(c);

	*has_expression = true;
	switch (kind) {
	case DW_LLE_base_addressx: dw_uleb(c); *has_expression = false; break;
	case DW_LLE_base_address: dw_uint(c, u->sizes.address_size); *has_expression = false; break;
	case DW_LLE_startx_endx:
	case DW_LLE_startx_length:
	case DW_LLE_offset_pair: dw_uleb(c); dw_uleb(c); break;
	case DW_LLE_default_location: break;
	case DW_LLE_start_end: dw_skip(c, 2u * u->sizes.address_size); break;
	case DW_LLE_start_length: dw_skip(c, u->sizes.address_size); dw_uleb(c); break;
	default: return false;
	}
	return !c->bad;
}

/* The same up to DWARF 4. */
static bool next_in_loc(struct dw_cursor *c, const struct dw_unit *u, bool *has_expression)
{
	const unsigned size = u->sizes.address_size;
	const uint64_t start = dw_uint(c, size), end = dw_uint(c, size);

	*has_expression = start != (size < 8 ? (1ull << 8 * size) - 1 : UINT64_MAX);
	return !c->bad && (start || end);
}

/* The first offset in a list of locations. */
static bool offset_in_list(struct dw_locals_reading *r, const struct dw_unit *u, uint64_t at, int base,
			   int64_t *ret)
{
	const bool new = u->sizes.version >= 5;
	struct dw_cursor c = dw_cursor_at(new ? &r->locations->loclists : &r->locations->loc, at,
					  u->debug->sections.swap);
	bool has_expression;

	while (r->steps && (new ? next_in_loclists : next_in_loc)(&c, u, &has_expression)) {
		const uint64_t len = !has_expression ? 0 : new ? dw_uleb(&c) : dw_u16(&c);
		const uint8_t *bytes = c.p;

		r->steps--;
		dw_skip(&c, len);
		if (!c.bad && offset_of(bytes, len, base, ret))
			return true;
	}
	return false;
}

/* Where list `index` begins, by the table at DW_AT_loclists_base. */
static bool list_at(struct dw_locals_reading *r, const struct dw_unit *u, uint64_t index, uint64_t *ret)
{
	const unsigned size = u->sizes.offset_size;
	struct dw_cursor c;
	struct dw_entry root;
	uint64_t base;

	if (!dw_open_entry(&r->steps, u, u->first_entry, &root) ||
	    !dw_find_number(&root, DW_AT_loclists_base, &base) ||
	    index > r->locations->loclists.size)
		return false;
	c = dw_cursor_at(&r->locations->loclists, base + index * size, u->debug->sections.swap);
	*ret = base + dw_uint(&c, size);
	return !c.bad;
}

static bool find_offset(struct dw_locals_reading *r, const struct dw_entry *e, int base, int64_t *ret)
{
	struct dw_value v;
	uint64_t at;

	if (!dw_find(e, DW_AT_location, &v))
		return false;
	if (v.bytes)
		return offset_of(v.bytes, v.number, base, ret);
	at = v.number;
	return (v.form == DW_FORM_sec_offset || v.form == DW_FORM_data4 ||
		v.form == DW_FORM_data8 ||
		(v.form == DW_FORM_loclistx && list_at(r, e->u, v.number, &at))) &&
	       offset_in_list(r, e->u, at, base, ret);
}

/* ---- one variable --------------------------------------------------------------------- */

/* File `number` of a unit's line table. False: out of memory. */
static bool find_file(struct dw_locals_reading *r, const struct dw_unit *u, uint64_t number,
		      struct dw_file *ret)
{
	const struct dw_unit *rows = u->skeleton ? u->skeleton : u;

	if (r->files_of != rows && r->steps < r->files.files.len)
		return true;
	if (r->files_of != rows) {
		r->steps -= r->files.files.len;
		dw_facts_clear(&r->files);
		if (rows->has_stmt_list &&
		    dw_read_line_files(&rows->debug->sections, rows->stmt_list, rows->comp_dir,
				       &r->files, NULL) == SC_ENOMEM)
			return false;
		r->files_of = rows;
	}
	if (number < r->files.files.len)
		*ret = r->files.files.data[number];
	return true;
}

bool dw_add_local(struct dw_locals_reading *r, const struct dw_entry *function,
		  const struct dw_entry *e)
{
	struct dw_local *l = vec_push(&r->out->list);
	struct dw_entry named = *e, type;
	struct dw_value v;
	uint64_t file;

	if (!l)
		return false;
	l->function = function_name(function);
	l->has_offset = find_offset(r, e, frame_register(function), &l->offset);
	l->has_tag = dw_find_number(e, DW_AT_LLVM_tag_offset, &l->tag);
	dw_follow(e, DW_AT_abstract_origin, &named);
	if (!named.abbrev)
		named = *e;
	if (dw_find(&named, DW_AT_name, &v))
		l->name = dw_value_string(named.u, &v);
	l->has_size = dw_follow(&named, DW_AT_type, &type) && type_size(&type, 0, &l->size);
	if (!dw_find_number(&named, DW_AT_decl_line, &l->line))
		l->line = 0;
	return !dw_find_number(&named, DW_AT_decl_file, &file) ||
	       find_file(r, named.u, file, &l->file);
}
