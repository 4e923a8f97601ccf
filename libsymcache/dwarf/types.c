/*
 * Types: how large a variable is. Only variables that the symbol table lacks
 * need this, so nothing is remembered. Chains are followed 32 steps at most:
 * they may be cycles.
 */
#include "libsymcache/dwarf/types.h"

#include <dwarf.h>

#define MAX_DEPTH 32

/* On whose behalf types are read. */
struct reading {
	uint32_t lang; /* of units that have none: partial units of dwz */
	uint64_t *bytes_left;
};

struct entry {
	const struct reading *r;
	const struct dw_unit *u;
	const struct dw_abbrev *abbrev;
	struct dw_cursor rest; /* behind the attributes */
	struct dw_value v[DW_NUM_SLOTS];
};

static bool read_entry(const struct dw_unit *u, uint64_t offset, const struct reading *r,
		       struct entry *e)
{
	struct dw_cursor c = dw_entry_cursor(u, offset);
	const uint8_t *entry = c.p;

	memset(e->v, 0, sizeof(e->v));
	e->u = u;
	e->r = r;
	e->abbrev = dw_abbrev(u->abbrevs, dw_uleb(&c));
	if (c.bad || !e->abbrev || !*r->bytes_left)
		return false;
	dw_read_attributes(&c, u, e->abbrev, e->v);
	dw_spend(r->bytes_left, entry, &c);
	e->rest = c;
	return !c.bad;
}

static bool is_transparent(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
		return true;
	default:
		return false;
	}
}

/* DW_AT_lower_bound where it is missing (DWARF 5, 5.13): 0 in other languages. */
static const uint8_t default_lower_bound[] = {
	[DW_LANG_Ada83] = 1, [DW_LANG_Ada95] = 1, [DW_LANG_Cobol74] = 1, [DW_LANG_Cobol85] = 1,
	[DW_LANG_Fortran77] = 1, [DW_LANG_Fortran90] = 1, [DW_LANG_Fortran95] = 1,
	[DW_LANG_Fortran03] = 1, [DW_LANG_Fortran08] = 1, [DW_LANG_Modula2] = 1,
	[DW_LANG_Modula3] = 1, [DW_LANG_Pascal83] = 1, [DW_LANG_PLI] = 1, [DW_LANG_Julia] = 1,
};

/* Elements of one dimension. False: it has no fixed number. */
static bool dimension(const struct entry *e, uint64_t *count)
{
	const uint32_t lang = e->u->lang ? e->u->lang : e->r->lang;
	uint64_t lower, upper;

	if (e->v[DW_SLOT_COUNT].form)
		return dw_value_number(&e->v[DW_SLOT_COUNT], count);
	if (!dw_value_number(&e->v[DW_SLOT_UPPER_BOUND], &upper))
		return false;
	if (!dw_value_number(&e->v[DW_SLOT_LOWER_BOUND], &lower))
		lower = lang < sizeof(default_lower_bound) ? default_lower_bound[lang] : 0;
	if ((int64_t)lower > (int64_t)upper)
		return false;
	*count = upper - lower + 1;
	return true;
}

static uint64_t size_of(const struct dw_unit *u, uint64_t offset, unsigned depth,
			const struct reading *r);

static uint64_t referred_size(const struct entry *e, unsigned depth)
{
	uint64_t offset;
	const struct dw_unit *u = dw_value_reference(e->u, &e->v[DW_SLOT_TYPE], &offset);

	return u ? size_of(u, offset, depth, e->r) : 0;
}

static uint64_t array_size(const struct entry *array, unsigned depth)
{
	uint64_t element = referred_size(array, depth), total = 1, count;
	struct dw_cursor c = array->rest;
	struct entry child;
	bool any = false;

	if (!element || !array->abbrev->has_children)
		return 0;
	/* The children are dimensions, and those have no children. */
	for (unsigned i = 0; i < MAX_DEPTH && dw_left(&c) && *c.p; i++) {
		uint64_t at = (uint64_t)(c.p - array->u->debug->sections.info.data);
		if (!read_entry(array->u, at, array->r, &child) || child.abbrev->has_children)
			return 0;
		c = child.rest;
		if (child.abbrev->tag == DW_TAG_subrange_type && dimension(&child, &count)) {
			total *= count;
			any = true;
		}
	}
	dw_value_number(&array->v[DW_SLOT_BYTE_STRIDE], &element);
	return any ? total * element : 0;
}

/* A pointer to a member function also says by how much to change `this`. */
static uint64_t member_pointer_size(const struct entry *pointer)
{
	const uint64_t size = pointer->u->sizes.address_size;
	struct entry member;
	uint64_t offset;
	const struct dw_unit *u = dw_value_reference(pointer->u, &pointer->v[DW_SLOT_TYPE], &offset);

	return u && read_entry(u, offset, pointer->r, &member) &&
	       member.abbrev->tag == DW_TAG_subroutine_type ? 2 * size : size;
}

static uint64_t size_of(const struct dw_unit *u, uint64_t offset, unsigned depth,
			const struct reading *r)
{
	struct entry e;
	uint64_t size;

	if (depth == MAX_DEPTH || !read_entry(u, offset, r, &e))
		return 0;
	if (is_transparent(e.abbrev->tag))
		return referred_size(&e, depth + 1);
	if (dw_value_number(&e.v[DW_SLOT_BYTE_SIZE], &size))
		return size;
	switch (e.abbrev->tag) {
	case DW_TAG_array_type:
		return array_size(&e, depth + 1);
	case DW_TAG_subrange_type:
		return referred_size(&e, depth + 1);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return u->sizes.address_size;
	case DW_TAG_ptr_to_member_type:
		return member_pointer_size(&e);
	default:
		return 0;
	}
}

uint64_t dw_type_size(const struct dw_unit *u, uint64_t offset, uint32_t lang,
		      uint64_t *bytes_left)
{
	const struct reading r = { lang, bytes_left };

	return size_of(u, offset, 0, &r);
}
