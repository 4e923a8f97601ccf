/*
 * Abbreviation tables, compiled: see abbrev.h. Cost: linear in the table, a few
 * instructions for each byte of what the pool has.
 */
#include "libsymcache/dwarf/abbrev.h"

#include <dwarf.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"

void dw_abbrev_pool_deinit(struct dw_abbrev_pool *p)
{
	for (size_t i = 0; i < p->list.len; i++)
		free(p->list.data[i]);
	vec_deinit(&p->list);
	sc_intern_deinit(&p->set);
	vec_deinit(&p->ops);
	vec_deinit(&p->table);
}

void dw_abbrevs_deinit(struct dw_abbrevs *a)
{
	free(a->by_code);
	free(a->steps);
	vec_deinit(&a->rest);
}

/* ---- one abbreviation ------------------------------------------------------------- */

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
	case DW_AT_GNU_discriminator: return DW_SLOT_DISCRIMINATOR;
	case DW_AT_GNU_dwo_name: return DW_SLOT_DWO_NAME;
	case DW_AT_GNU_dwo_id: return DW_SLOT_DWO_ID;
	default: return DW_SLOT_SKIP;
	}
}

/* Tags whose attributes are read; all others are stepped over whole. */
static const bool is_read[] = {
	[DW_TAG_subprogram] = true, [DW_TAG_inlined_subroutine] = true, [DW_TAG_variable] = true,
	[DW_TAG_member] = true, /* static ones: DW_AT_specification leads here */
	[DW_TAG_compile_unit] = true, [DW_TAG_partial_unit] = true, [DW_TAG_skeleton_unit] = true,
	[DW_TAG_type_unit] = true,
	/* types, for the size of variables */
	[DW_TAG_array_type] = true, [DW_TAG_subrange_type] = true, [DW_TAG_enumeration_type] = true,
	[DW_TAG_base_type] = true, [DW_TAG_pointer_type] = true, [DW_TAG_reference_type] = true,
	[DW_TAG_rvalue_reference_type] = true, [DW_TAG_ptr_to_member_type] = true,
	[DW_TAG_structure_type] = true, [DW_TAG_class_type] = true, [DW_TAG_union_type] = true,
	[DW_TAG_typedef] = true, [DW_TAG_const_type] = true, [DW_TAG_volatile_type] = true,
	[DW_TAG_restrict_type] = true, [DW_TAG_atomic_type] = true, [DW_TAG_immutable_type] = true,
	[DW_TAG_packed_type] = true, [DW_TAG_shared_type] = true, [DW_TAG_string_type] = true,
	[DW_TAG_interface_type] = true, [DW_TAG_generic_subrange] = true,
};

/* An entry of one byte may run as many steps as its abbreviation has; no
 * compiler writes a hundred. */
#define MAX_OPS 128

/* Steps over `size` bytes. */
static bool add_skip(struct dw_abbrev_pool *p, int size)
{
	struct dw_op *op = p->ops.len ? &p->ops.data[p->ops.len - 1] : NULL;

	if (!size)
		return true;
	if (!op || op->slot != DW_SLOT_SKIP_FIXED) {
		op = vec_push(&p->ops);
		if (!op)
			return false;
		op->slot = DW_SLOT_SKIP_FIXED;
	}
	op->value += size;
	return true;
}

static bool add_op(struct dw_abbrev_pool *p, enum dw_slot slot, const struct dw_attribute *at,
		   int size)
{
	struct dw_op *op = vec_push(&p->ops);

	if (!op)
		return false;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		size = 0;
	*op = (struct dw_op){ (uint8_t)slot, (uint8_t)size, (uint16_t)at->form, at->implicit };
	return true;
}

/* A location that is a list has no fixed address. */
static bool is_list(uint64_t form)
{
	return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 ||
	       form == DW_FORM_data8;
}

/* Inlined calls without code may have others in them that do: DWARF 2 has no lists of
 * ranges. */
static bool is_wanted(const struct dw_abbrev *a, bool has_code, bool has_location)
{
	switch (a->tag) {
	case DW_TAG_subprogram:
		return has_code;
	case DW_TAG_inlined_subroutine:
		return has_code || a->has_children;
	case DW_TAG_variable:
		return has_location;
	default:
		return false;
	}
}

/* Types that have no functions in C. */
static bool is_type(const struct dw_abbrev *a)
{
	return a->tag == DW_TAG_structure_type || a->tag == DW_TAG_union_type ||
	       a->tag == DW_TAG_enumeration_type || a->tag == DW_TAG_subroutine_type ||
	       a->tag == DW_TAG_array_type;
}

/* Do these slots have a name that is all that is known of it? */
static bool is_bare(uint64_t seen)
{
	const uint64_t more = 1ull << DW_SLOT_LINKAGE_NAME | 1ull << DW_SLOT_MIPS_LINKAGE_NAME |
		1ull << DW_SLOT_ABSTRACT_ORIGIN | 1ull << DW_SLOT_SPECIFICATION;

	return seen >> DW_SLOT_NAME & 1 && !(seen & more);
}
_Static_assert(DW_NUM_OPS <= 64, "a bit for each");

static uint32_t step_of(const struct dw_abbrev *a)
{
	uint32_t step = a->fixed_size;

	if (a->wanted || a->fixed_size > DW_STEP_SIZE)
		return DW_STEP_LOOK;
	if (a->has_children)
		step |= DW_STEP_CHILDREN | (a->tag == DW_TAG_subprogram ? DW_STEP_FUNCTION : 0);
	if (a->has_children && is_type(a) && a->sibling <= 0xff)
		step |= DW_STEP_TYPE | a->sibling << 16;
	return a->local ? step | DW_STEP_LOCAL : step;
}

/* Compiles the attributes at *c into `abbrev` and the ops of the pool. */
static int compile(struct dw_cursor *c, struct dw_abbrev_pool *p, struct dw_abbrev *abbrev,
		   struct sc_error *err)
{
	uint64_t tag = dw_uleb(c), total = 0;
	struct dw_attribute at;
	bool fixed = true, has_code = false, has_location = false, external = false, read;
	uint64_t seen = 0; /* a bit for each slot */

	vec_clear(&p->ops);
	abbrev->tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	abbrev->has_children = dw_u8(c);
	abbrev->sibling = DW_VARIABLE_SIZE;
	read = abbrev->tag < sizeof(is_read) && is_read[abbrev->tag];
	while (dw_next_attribute(c, &at)) {
		const enum dw_slot slot = read ? slot_of(at.name) : DW_SLOT_SKIP;
		const int size = dw_form_size(at.form, &abbrev->sizes);

		if (size == DW_FORM_UNKNOWN)
			return sc_error_set(err, SC_EFORMAT, "unknown form 0x%llx",
					    (unsigned long long)at.form);
		if (at.name == DW_AT_sibling && at.form == DW_FORM_ref4 && fixed && total <= 0xff)
			abbrev->sibling = (uint32_t)total;
		if (size >= 0)
			total += (uint64_t)size;
		else
			fixed = false;
		if (p->ops.len == MAX_OPS)
			return sc_error_set(err, SC_EFORMAT, "too many attributes");
		seen |= 1ull << slot;
		external |= at.name == DW_AT_external;
		has_code |= slot == DW_SLOT_LOW_PC || slot == DW_SLOT_RANGES;
		has_location |= slot == DW_SLOT_LOCATION && !is_list(at.form);
		if (!(slot == DW_SLOT_SKIP && size >= 0 ?
		      add_skip(p, size) : add_op(p, slot, &at, size)))
			return sc_no_memory(err);
	}
	abbrev->wanted = is_wanted(abbrev, has_code, has_location);
	abbrev->local = abbrev->tag == DW_TAG_subprogram && !external && is_bare(seen);
	abbrev->fixed_size = fixed && total < DW_VARIABLE_SIZE ? (uint32_t)total : DW_VARIABLE_SIZE;
	abbrev->step = step_of(abbrev);
	return 0;
}

/* ---- the pool ----------------------------------------------------------------------- */

struct pool_key {
	const struct dw_abbrev_pool *p;
	const uint8_t *bytes;
	size_t num_bytes;
	const struct dw_form_sizes *sizes;
};

static bool same_abbrev(const void *ctx, uint32_t i)
{
	const struct pool_key *k = ctx;
	const struct dw_abbrev *a = k->p->list.data[i];

	return a->num_bytes == k->num_bytes && dw_same_sizes(&a->sizes, k->sizes) &&
	       !memcmp(a->bytes, k->bytes, k->num_bytes);
}

/* Adds the abbreviation of `bytes`, which have all of it. */
static int add_abbrev(struct dw_abbrev_pool *p, const uint8_t *bytes, size_t num_bytes,
		      const struct dw_form_sizes *sizes, uint32_t *ret, struct sc_error *err)
{
	struct dw_cursor c = { .p = bytes, .end = bytes + num_bytes };
	struct dw_abbrev abbrev = { .bytes = bytes, .num_bytes = num_bytes, .sizes = *sizes };
	struct dw_abbrev **slot, *whole;
	int rc = compile(&c, p, &abbrev, err);

	if (rc)
		return rc;
	abbrev.num_ops = (uint32_t)p->ops.len;
	whole = malloc(sizeof(*whole) + p->ops.len * sizeof(*whole->ops));
	slot = whole ? vec_push(&p->list) : NULL;
	if (!slot) {
		free(whole);
		return sc_no_memory(err);
	}
	*whole = abbrev;
	if (p->ops.len)
		memcpy(whole->ops, p->ops.data, p->ops.len * sizeof(*whole->ops));
	*slot = whole;
	*ret = (uint32_t)p->list.len - 1;
	return 0;
}

/* The abbreviation at *c, behind its code. */
static int pooled(struct dw_cursor *c, const struct dw_form_sizes *sizes,
		  struct dw_abbrev_pool *p, const struct dw_abbrev **ret, struct sc_error *err)
{
	struct pool_key key = { p, c->p, 0, sizes };
	struct dw_attribute at;
	uint32_t *slot;
	int rc = 0;

	dw_uleb(c); /* tag */
	dw_u8(c);   /* has children */
	while (dw_next_attribute(c, &at))
		;
	if (c->bad)
		return sc_error_set(err, SC_EFORMAT, "cut off");
	key.num_bytes = (size_t)(c->p - key.bytes);
	slot = sc_intern_find(&p->set, XXH3_64bits(key.bytes, key.num_bytes), same_abbrev, &key);
	if (!slot)
		return sc_no_memory(err);
	if (*slot == SC_INTERN_NEW)
		rc = add_abbrev(p, key.bytes, key.num_bytes, sizes, slot, err);
	if (!rc)
		*ret = p->list.data[*slot];
	return rc;
}

/* ---- tables ------------------------------------------------------------------------- */

static inline bool code_before(const struct dw_coded_abbrev *a, const struct dw_coded_abbrev *b)
{
	return a->code < b->code;
}

SC_SORT(sort_by_code, struct dw_coded_abbrev, code_before)

/* Of abbreviations with the same code the first one counts. */
static bool make_table(struct dw_coded_abbrev *list, size_t n, struct dw_abbrevs *ret)
{
	size_t dense = 0;

	if (!sort_by_code(list, n))
		return false;
	while (dense < n && list[dense].code == dense + 1)
		dense++;
	ret->by_code = malloc((dense + 1) * sizeof(*ret->by_code));
	ret->steps = malloc((dense + 1) * sizeof(*ret->steps));
	if (!ret->by_code || !ret->steps || (dense < n && !vec_reserve(&ret->rest, n - dense)))
		return false;
	for (size_t i = 0; i < n; i++)
		ret->records += 1 + list[i].abbrev->num_ops;
	for (; ret->dense < dense; ret->dense++) {
		ret->by_code[ret->dense] = list[ret->dense].abbrev;
		ret->steps[ret->dense] = list[ret->dense].abbrev->step;
	}
	for (; dense < n; dense++)
		ret->rest.data[ret->rest.len++] = list[dense];
	return true;
}

/* How much of a table is read. */
struct until {
	uint64_t records, abbrevs;
};

static int read_table(struct dw_cursor c, const struct dw_form_sizes *sizes,
		      const struct until *until, struct dw_abbrev_pool *pool,
		      struct dw_abbrevs *ret, struct sc_error *err)
{
	uint64_t code, records = 0;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	vec_clear(&pool->table);
	/* A table may end with the section, without the 0 that closes it. */
	while (!rc && dw_left(&c) && pool->table.len < until->abbrevs && (code = dw_uleb(&c))) {
		const struct dw_abbrev *abbrev = NULL;

		rc = pooled(&c, sizes, pool, &abbrev, err);
		if (!rc && (records += 1 + abbrev->num_ops) > until->records)
			rc = sc_error_set(err, SC_EFORMAT, "more than such a file has");
		if (rc)
			sc_error_prefix(err, "abbreviation %llu: ", (unsigned long long)code);
		else if (vec_reserve(&pool->table, 1))
			pool->table.data[pool->table.len++] =
				(struct dw_coded_abbrev){ code, abbrev };
		else
			rc = SC_ENOMEM;
	}
	if (!rc && c.bad)
		rc = sc_error_set(err, SC_EFORMAT, "cut off");
	if (rc == SC_ENOMEM || !make_table(pool->table.data, pool->table.len, ret))
		return sc_no_memory(err);
	return rc;
}

int dw_abbrevs_read(struct dw_cursor c, const struct dw_form_sizes *sizes, uint64_t most,
		    struct dw_abbrev_pool *pool, struct dw_abbrevs *ret, struct sc_error *err)
{
	return read_table(c, sizes, &(struct until){ most, UINT64_MAX }, pool, ret, err);
}

int dw_abbrevs_read_one(struct dw_cursor c, const struct dw_form_sizes *sizes,
			struct dw_abbrev_pool *pool, struct dw_abbrevs *ret, struct sc_error *err)
{
	return read_table(c, sizes, &(struct until){ UINT64_MAX, 1 }, pool, ret, err);
}

const struct dw_abbrev *dw_abbrev_search(const struct dw_abbrevs *a, uint64_t code)
{
	const size_t at = SC_SEARCH(i, a->rest.len, a->rest.data[i].code < code);

	return at < a->rest.len && a->rest.data[at].code == code ? a->rest.data[at].abbrev : NULL;
}

static bool stays_in_unit(uint64_t form)
{
	static const struct dw_form_sizes any = { 5, 8, 4 };

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
	default:
		return dw_form_size(form, &any) != DW_FORM_UNKNOWN;
	}
}

/* Notes the abbreviation at `offset`, behind that with the code `last`; 0: a table begins. False: out
 * of memory. */
static bool note_start(struct dw_abbrev_starts *s, uint64_t offset, uint64_t last, uint64_t code,
		       uint64_t tag)
{
	struct dw_abbrev_start *table = last ? &s->list.data[s->list.len - 1] : vec_push(&s->list);

	if (!table)
		return false;
	if (!last)
		table->offset = offset;
	else if (code <= last)
		table->root = UINT64_MAX;
	if (!table->root && (tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit))
		table->root = offset + 1;
	return true;
}

bool dw_abbrevs_self_contained(const struct dw_section *abbrev, struct dw_abbrev_starts *starts)
{
	struct dw_cursor c = dw_cursor_at(abbrev, 0, false);
	struct dw_attribute at;
	bool stays[DW_FORM_addrx4 + 1]; /* there are many attributes to few forms */
	uint64_t last = 0, code;

	for (unsigned form = 0; form < sizeof(stays); form++)
		stays[form] = stays_in_unit(form);
	for (; dw_left(&c); last = code) {
		const uint64_t offset = (uint64_t)(c.p - abbrev->data);
		uint64_t tag;

		code = dw_uleb(&c);
		if (!code) /* the end of a table, or padding behind it */
			continue;
		tag = dw_uleb(&c);
		if (starts && !note_start(starts, offset, last, code, tag))
			return false;
		dw_u8(&c); /* has children */
		while (dw_next_attribute(&c, &at))
			if (at.name == DW_AT_dwo_name || at.name == DW_AT_GNU_dwo_name ||
			    !(at.form < sizeof(stays) ? stays[at.form] : stays_in_unit(at.form)))
				return false;
	}
	return abbrev->size && !c.bad;
}
