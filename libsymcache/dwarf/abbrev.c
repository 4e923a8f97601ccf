/* Abbreviation tables, compiled: see abbrev.h. Cost: linear in the table. */
#include "libsymcache/dwarf/abbrev.h"

#include <dwarf.h>

#include "libsymcache/dwarf/form.h"

void dw_abbrevs_deinit(struct dw_abbrevs *a)
{
	vec_deinit(&a->list);
	vec_deinit(&a->ops);
	free(a->steps);
}

/* What an attribute is for, plus 1; 0: it is stepped over. */
static const uint8_t slots[DW_AT_loclists_base + 1] = {
	[DW_AT_name] = 1 + DW_SLOT_NAME,
	[DW_AT_linkage_name] = 1 + DW_SLOT_LINKAGE_NAME,
	[DW_AT_abstract_origin] = 1 + DW_SLOT_ABSTRACT_ORIGIN,
	[DW_AT_specification] = 1 + DW_SLOT_SPECIFICATION,
	[DW_AT_low_pc] = 1 + DW_SLOT_LOW_PC,
	[DW_AT_high_pc] = 1 + DW_SLOT_HIGH_PC,
	[DW_AT_ranges] = 1 + DW_SLOT_RANGES,
	[DW_AT_decl_file] = 1 + DW_SLOT_DECL_FILE,
	[DW_AT_decl_line] = 1 + DW_SLOT_DECL_LINE,
	[DW_AT_call_file] = 1 + DW_SLOT_CALL_FILE,
	[DW_AT_call_line] = 1 + DW_SLOT_CALL_LINE,
	[DW_AT_call_column] = 1 + DW_SLOT_CALL_COLUMN,
	[DW_AT_location] = 1 + DW_SLOT_LOCATION,
	[DW_AT_type] = 1 + DW_SLOT_TYPE,
	[DW_AT_byte_size] = 1 + DW_SLOT_BYTE_SIZE,
	[DW_AT_count] = 1 + DW_SLOT_COUNT,
	[DW_AT_lower_bound] = 1 + DW_SLOT_LOWER_BOUND,
	[DW_AT_upper_bound] = 1 + DW_SLOT_UPPER_BOUND,
	[DW_AT_byte_stride] = 1 + DW_SLOT_BYTE_STRIDE,
	[DW_AT_stmt_list] = 1 + DW_SLOT_STMT_LIST,
	[DW_AT_comp_dir] = 1 + DW_SLOT_COMP_DIR,
	[DW_AT_language] = 1 + DW_SLOT_LANGUAGE,
	[DW_AT_str_offsets_base] = 1 + DW_SLOT_STR_OFFSETS_BASE,
	[DW_AT_rnglists_base] = 1 + DW_SLOT_RNGLISTS_BASE,
	[DW_AT_entry_pc] = 1 + DW_SLOT_ENTRY_PC,
	[DW_AT_addr_base] = 1 + DW_SLOT_ADDR_BASE,
	[DW_AT_dwo_name] = 1 + DW_SLOT_DWO_NAME,
};

static enum dw_slot slot_of(uint64_t attribute)
{
	if (attribute < sizeof(slots))
		return slots[attribute] ? slots[attribute] - 1 : DW_SLOT_SKIP;
	switch (attribute) {
	case DW_AT_MIPS_linkage_name: return DW_SLOT_MIPS_LINKAGE_NAME;
	case DW_AT_GNU_addr_base: return DW_SLOT_ADDR_BASE;
	case DW_AT_GNU_ranges_base: return DW_SLOT_GNU_RANGES_BASE;
	case DW_AT_GNU_dwo_name: return DW_SLOT_DWO_NAME;
	case DW_AT_GNU_dwo_id: return DW_SLOT_DWO_ID;
	default: return DW_SLOT_SKIP;
	}
}

/* dw_form_size() of the usual forms; there are many attributes to few forms. */
struct form_table {
	struct dw_form_sizes sizes;
	int8_t size[DW_FORM_addrx4 + 1];
};

static void form_table_init(struct form_table *t, const struct dw_form_sizes *sizes)
{
	t->sizes = *sizes;
	for (unsigned form = 0; form < sizeof(t->size); form++)
		t->size[form] = (int8_t)dw_form_size(form, sizes);
}

static inline int form_size(const struct form_table *t, uint64_t form)
{
	return form < sizeof(t->size) ? t->size[form] : dw_form_size(form, &t->sizes);
}

/* Tags whose attributes are read; all others are stepped over whole. */
static bool is_read(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_variable:
	case DW_TAG_member: /* static members: DW_AT_specification leads here */
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_type_unit:
	/* types, for the size of variables */
	case DW_TAG_array_type:
	case DW_TAG_subrange_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_base_type:
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_ptr_to_member_type:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_string_type:
	case DW_TAG_interface_type:
	case DW_TAG_generic_subrange:
		return true;
	default:
		return false;
	}
}

/* An entry of one byte may run as many steps as its abbreviation has; no
 * compiler writes a hundred. */
#define MAX_OPS 1024

/* Steps over `size` bytes. */
static inline bool add_skip(struct dw_abbrevs *a, struct dw_abbrev *abbrev, int size)
{
	struct dw_op *op = abbrev->num_ops ? &a->ops.data[a->ops.len - 1] : NULL;

	if (!size)
		return true;
	if (!op || op->slot != DW_SLOT_SKIP_FIXED) {
		op = vec_push(&a->ops);
		if (!op)
			return false;
		op->slot = DW_SLOT_SKIP_FIXED;
		abbrev->num_ops++;
	}
	op->value += size;
	return true;
}

static inline bool add_op(struct dw_abbrevs *a, struct dw_abbrev *abbrev, enum dw_slot slot,
			  uint16_t form, int size, int64_t value)
{
	struct dw_op *op = vec_push(&a->ops);

	if (!op)
		return false;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		size = 0;
	*op = (struct dw_op){ (uint8_t)slot, (uint8_t)size, form, value };
	abbrev->num_ops++;
	return true;
}

/* A location that is a list has no fixed address. */
static bool is_list(uint64_t form)
{
	return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 ||
	       form == DW_FORM_data8;
}

static bool is_wanted(uint16_t tag, bool has_code, bool has_location)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		return has_code;
	case DW_TAG_variable:
		return has_location;
	default:
		return false;
	}
}

static int read_one(struct dw_cursor *c, const struct form_table *forms, struct dw_abbrevs *a,
		    struct dw_abbrev *abbrev, struct sc_error *err)
{
	uint64_t tag = dw_uleb(c), total = 0;
	bool fixed = true, has_code = false, has_location = false, read;

	abbrev->tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	abbrev->has_children = dw_u8(c);
	abbrev->first_op = (uint32_t)a->ops.len;
	read = is_read(abbrev->tag);
	for (;;) {
		uint64_t attribute = dw_uleb(c), form = dw_uleb(c);
		int64_t implicit = form == DW_FORM_implicit_const ? dw_sleb(c) : 0;
		enum dw_slot slot = read ? slot_of(attribute) : DW_SLOT_SKIP;
		int size;

		if (c->bad)
			return sc_error_set(err, SC_EFORMAT, "abbreviation table is cut off");
		if (!attribute && !form)
			break;
		size = form_size(forms, form);
		if (size == DW_FORM_UNKNOWN)
			return sc_error_set(err, SC_EFORMAT, "abbreviation %llu: unknown form 0x%llx",
				(unsigned long long)abbrev->code, (unsigned long long)form);
		if (size >= 0)
			total += (uint64_t)size;
		else
			fixed = false;
		if (abbrev->num_ops == MAX_OPS)
			return sc_error_set(err, SC_EFORMAT, "abbreviation %llu: too many attributes",
					    (unsigned long long)abbrev->code);
		has_code |= slot == DW_SLOT_LOW_PC || slot == DW_SLOT_RANGES;
		has_location |= slot == DW_SLOT_LOCATION && !is_list(form);
		if (!(slot == DW_SLOT_SKIP && size >= 0 ?
		      add_skip(a, abbrev, size) :
		      add_op(a, abbrev, slot, (uint16_t)form, size, implicit)))
			return sc_error_set(err, SC_ENOMEM, "out of memory");
	}
	abbrev->wanted = is_wanted(abbrev->tag, has_code, has_location);
	abbrev->fixed_size = fixed && total < DW_VARIABLE_SIZE ? (uint32_t)total : DW_VARIABLE_SIZE;
	return 0;
}

static uint32_t step_of(const struct dw_abbrev *a)
{
	uint32_t step = a->fixed_size;

	if (a->wanted || a->fixed_size > DW_STEP_SIZE)
		return DW_STEP_LOOK;
	if (a->has_children)
		step |= DW_STEP_CHILDREN | (a->tag == DW_TAG_subprogram ? DW_STEP_FUNCTION : 0);
	return step;
}

static bool fill_steps(struct dw_abbrevs *a)
{
	size_t n = 0;

	while (n < a->list.len && a->list.data[n].code == n + 1)
		n++;
	a->steps = malloc((n + 1) * sizeof(*a->steps));
	if (!a->steps)
		return false;
	for (a->dense = 0; a->dense < n; a->dense++)
		a->steps[a->dense] = step_of(&a->list.data[a->dense]);
	return true;
}

static int by_code(const void *x, const void *y)
{
	const struct dw_abbrev *a = x, *b = y;

	return a->code < b->code ? -1 : a->code > b->code;
}

int dw_abbrevs_read(const struct dw_section *section, uint64_t offset, uint16_t version,
		    uint8_t address_size, uint8_t offset_size, struct dw_abbrevs *ret,
		    struct sc_error *err)
{
	const struct dw_form_sizes sizes = { version, address_size, offset_size };
	struct form_table forms;
	struct dw_cursor c = dw_cursor_at(section, offset, false);
	bool ascending = true;
	uint64_t code, last = 0;
	int rc;

	memset(ret, 0, sizeof(*ret));
	form_table_init(&forms, &sizes);
	/* A table may end with the section, without the 0 that closes it. */
	while (dw_left(&c) && (code = dw_uleb(&c))) {
		struct dw_abbrev *abbrev = vec_push(&ret->list);

		if (!abbrev)
			return sc_error_set(err, SC_ENOMEM, "out of memory");
		abbrev->code = code;
		rc = read_one(&c, &forms, ret, abbrev, err);
		if (rc) {
			ret->list.len--;
			return sc_error_prefix(err, ".debug_abbrev at 0x%llx: ",
					       (unsigned long long)offset);
		}
		ascending &= code > last;
		last = code;
	}
	if (!ascending)
		qsort(ret->list.data, ret->list.len, sizeof(*ret->list.data), by_code);
	if (!fill_steps(ret))
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	return c.bad ? sc_error_set(err, SC_EFORMAT, "abbreviation table is cut off") : 0;
}

const struct dw_abbrev *dw_abbrev_search(const struct dw_abbrevs *a, uint64_t code)
{
	size_t lo = 0, hi = a->list.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (a->list.data[mid].code < code)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < a->list.len && a->list.data[lo].code == code ? &a->list.data[lo] : NULL;
}

static bool stays_in_unit(uint64_t attribute, uint64_t form)
{
	switch (form) {
	case DW_FORM_ref_addr:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_indirect:
		return false;
	}
	return attribute != DW_AT_dwo_name && attribute != DW_AT_GNU_dwo_name;
}

bool dw_abbrevs_self_contained(const struct dw_section *abbrev)
{
	static const struct dw_form_sizes any = { 5, 8, 4 };
	struct dw_cursor c = dw_cursor_at(abbrev, 0, false);
	struct form_table forms;

	form_table_init(&forms, &any);
	while (dw_left(&c)) {
		if (!dw_uleb(&c)) /* the end of a table, or padding behind it */
			continue;
		dw_uleb(&c); /* tag */
		dw_u8(&c);   /* has children */
		for (;;) {
			uint64_t attribute = dw_uleb(&c), form = dw_uleb(&c);

			if (form == DW_FORM_implicit_const)
				dw_sleb(&c);
			if (c.bad)
				return false;
			if (!attribute && !form)
				break;
			if (form_size(&forms, form) == DW_FORM_UNKNOWN ||
			    !stays_in_unit(attribute, form))
				return false;
		}
	}
	return abbrev->size && !c.bad;
}
