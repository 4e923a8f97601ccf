/* The units of a .debug_info section: see unit.h. */
#include "libsymcache/dwarf/unit.h"

#include <dwarf.h>

void dw_debug_deinit(struct dw_debug *d)
{
	for (size_t i = 0; i < d->abbrevs.len; i++) {
		dw_abbrevs_deinit(d->abbrevs.data[i].abbrevs);
		free(d->abbrevs.data[i].abbrevs);
	}
	vec_deinit(&d->abbrevs);
	vec_deinit(&d->units);
	vec_deinit(&d->signatures);
	sc_intern_deinit(&d->abbrev_set);
	if (d->types) {
		dw_debug_deinit(d->types);
		free(d->types);
	}
}

static void note_fault(struct dw_debug *d, const struct sc_error *fault)
{
	if (!d->faults++)
		d->first_fault = *fault;
}

/* ---- abbreviations ------------------------------------------------------------ */

struct abbrev_key {
	const struct dw_debug *d;
	uint64_t offset;
	struct dw_form_sizes sizes;
};

static bool same_abbrevs(const void *ctx, uint32_t i)
{
	const struct abbrev_key *k = ctx;
	const struct dw_abbrev_cache *c = &k->d->abbrevs.data[i];

	return c->offset == k->offset && c->sizes.version == k->sizes.version &&
	       c->sizes.address_size == k->sizes.address_size &&
	       c->sizes.offset_size == k->sizes.offset_size;
}

static int find_abbrevs(struct dw_debug *d, struct dw_unit_header *u, uint64_t offset,
			struct sc_error *err)
{
	struct abbrev_key key = { d, offset, u->sizes };
	struct dw_abbrev_cache *added;
	uint32_t *slot = sc_intern_find(&d->abbrev_set, offset * 0x9e3779b97f4a7c15ull,
					same_abbrevs, &key);
	int rc;

	if (!slot)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	if (*slot == SC_INTERN_NEW) {
		added = vec_push(&d->abbrevs);
		if (!added)
			return sc_error_set(err, SC_ENOMEM, "out of memory");
		*slot = (uint32_t)d->abbrevs.len - 1;
		added->offset = offset;
		added->sizes = u->sizes;
		added->abbrevs = calloc(1, sizeof(*added->abbrevs));
		if (!added->abbrevs)
			return sc_error_set(err, SC_ENOMEM, "out of memory");
		rc = dw_abbrevs_read(&d->sections.abbrev, offset, u->sizes.version,
				     u->sizes.address_size, u->sizes.offset_size,
				     added->abbrevs, err);
		u->abbrevs = added->abbrevs;
		/* What was read of a broken table serves; entries that want
		 * what is missing are faults of their units. */
		return rc == SC_ENOMEM ? rc : 0;
	}
	u->abbrevs = d->abbrevs.data[*slot].abbrevs;
	return 0;
}

/* ---- entries -------------------------------------------------------------------- */

struct dw_cursor dw_entry_cursor(const struct dw_unit_header *u, uint64_t offset)
{
	struct dw_cursor c = dw_cursor_at(&u->debug->sections.info, offset,
					  u->debug->sections.swap);

	c.end = u->debug->sections.info.data + u->end;
	if (offset < u->first_entry || offset >= u->end) {
		c.p = c.end;
		c.bad = true;
	}
	return c;
}

void dw_read_attributes(struct dw_cursor *c, const struct dw_unit_header *u,
			const struct dw_abbrev *abbrev, struct dw_value *values)
{
	const struct dw_op *op = u->abbrevs->ops.data + abbrev->first_op;

	for (uint32_t i = 0; i < abbrev->num_ops; i++, op++) {
		if (op->slot == DW_SLOT_SKIP_FIXED) {
			dw_skip(c, (uint64_t)op->value);
		} else if (op->slot == DW_SLOT_SKIP) {
			dw_form_skip(c, op->form, &u->sizes);
		} else {
			struct dw_value *v = &values[op->slot];
			if (op->size) {
				v->form = op->form;
				v->number = dw_uint(c, op->size);
				v->bytes = NULL;
				continue;
			}
			v->form = (uint16_t)dw_form_read(c, op->form, &u->sizes, op->value,
							 &v->number, &v->bytes);
		}
	}
}

void dw_clear_attributes(const struct dw_unit_header *u, const struct dw_abbrev *abbrev,
			 struct dw_value *values)
{
	const struct dw_op *op = u->abbrevs->ops.data + abbrev->first_op;

	for (uint32_t i = 0; i < abbrev->num_ops; i++, op++)
		if (op->slot < DW_NUM_SLOTS)
			values[op->slot].form = 0;
}

void dw_skip_attributes(struct dw_cursor *c, const struct dw_unit_header *u,
			const struct dw_abbrev *abbrev)
{
	const struct dw_op *op = u->abbrevs->ops.data + abbrev->first_op;

	if (abbrev->fixed_size != DW_VARIABLE_SIZE) {
		dw_skip(c, abbrev->fixed_size);
		return;
	}
	for (uint32_t i = 0; i < abbrev->num_ops; i++, op++) {
		if (op->slot == DW_SLOT_SKIP_FIXED)
			dw_skip(c, (uint64_t)op->value);
		else
			dw_form_skip(c, op->form, &u->sizes);
	}
}

/* ---- values --------------------------------------------------------------------- */

static const char *indexed_string(const struct dw_unit_header *u, uint64_t index)
{
	const struct dw_sections *s = &u->debug->sections;
	unsigned size = u->sizes.offset_size;
	struct dw_cursor c;
	uint64_t offset;

	if (index > s->str_offsets.size / size)
		return NULL;
	c = dw_cursor_at(&s->str_offsets, u->str_offsets_base + index * size, s->swap);
	offset = dw_uint(&c, size);
	return c.bad ? NULL : dw_str_at(&s->str, offset);
}

const char *dw_value_string(const struct dw_unit_header *u, const struct dw_value *v)
{
	const struct dw_sections *s = &u->debug->sections;

	switch (v->form) {
	case DW_FORM_string:
		return (const char *)v->bytes;
	case DW_FORM_strp:
		return dw_str_at(&s->str, v->number);
	case DW_FORM_line_strp:
		return dw_str_at(&s->line_str, v->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return u->debug->alt ? dw_str_at(&u->debug->alt->sections.str, v->number) : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_string(u, v->number);
	default:
		return NULL;
	}
}

bool dw_value_number(const struct dw_value *v, uint64_t *ret)
{
	switch (v->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
	case DW_FORM_sec_offset:
	case DW_FORM_rnglistx:
		*ret = v->number;
		return true;
	default:
		return false;
	}
}

bool dw_indexed_address(const struct dw_unit_header *u, uint64_t index, uint64_t *ret)
{
	const struct dw_sections *s = &u->debug->sections;
	unsigned size = u->sizes.address_size;
	struct dw_cursor c;

	if (!size || index > s->addr.size / size)
		return false;
	c = dw_cursor_at(&s->addr, u->addr_base + index * size, s->swap);
	*ret = dw_uint(&c, size);
	return !c.bad;
}

bool dw_value_address(const struct dw_unit_header *u, const struct dw_value *v, uint64_t *ret)
{
	switch (v->form) {
	case DW_FORM_addr:
		*ret = v->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return dw_indexed_address(u, v->number, ret);
	default:
		return false;
	}
}

const struct dw_unit_header *dw_value_reference(const struct dw_unit_header *u,
						const struct dw_value *v, uint64_t *offset)
{
	*offset = v->number;
	switch (v->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		*offset += u->offset;
		return *offset >= u->first_entry && *offset < u->end ? u : NULL;
	case DW_FORM_ref_addr:
		if (*offset >= u->first_entry && *offset < u->end)
			return u;
		return dw_unit_at(u->debug, *offset);
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return u->debug->alt ? dw_unit_at(u->debug->alt, *offset) : NULL;
	case DW_FORM_ref_sig8:
		return dw_type_at(u->debug, v->number, offset);
	default:
		return NULL;
	}
}

const struct dw_unit_header *dw_type_at(const struct dw_debug *d, uint64_t signature,
					uint64_t *offset)
{
	const struct dw_unit_header *u;
	size_t lo = 0, hi = d->signatures.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (d->signatures.data[mid].signature < signature)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == d->signatures.len || d->signatures.data[lo].signature != signature)
		return d->types ? dw_type_at(d->types, signature, offset) : NULL;
	u = &d->units.data[d->signatures.data[lo].unit];
	*offset = u->offset + u->type_offset;
	return u;
}

const struct dw_unit_header *dw_unit_at(const struct dw_debug *d, uint64_t offset)
{
	size_t lo = 0, hi = d->units.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (d->units.data[mid].end <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == d->units.len || d->units.data[lo].broken ||
	    offset < d->units.data[lo].first_entry)
		return NULL;
	return &d->units.data[lo];
}

/* ---- headers -------------------------------------------------------------------- */

/* Offsets that DWARF 5 has behind a header where the attribute is missing. */
static void default_bases(struct dw_unit_header *u)
{
	bool v5 = u->sizes.version >= 5, wide = u->sizes.offset_size == 8;

	u->str_offsets_base = v5 ? (wide ? 16 : 8) : 0;
	u->addr_base = v5 ? (wide ? 16 : 8) : 0;
	u->rnglists_base = wide ? 20 : 12;
}

static int read_root(struct dw_unit_header *u, struct sc_error *err)
{
	struct dw_value v[DW_NUM_SLOTS] = {0};
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry);
	const struct dw_abbrev *abbrev = dw_abbrev(u->abbrevs, dw_uleb(&c));
	uint64_t n;

	if (c.bad || !abbrev)
		return sc_error_set(err, SC_EFORMAT, "no root entry");
	dw_read_attributes(&c, u, abbrev, v);
	if (c.bad)
		return sc_error_set(err, SC_EFORMAT, "root entry is cut off");
	u->tag = abbrev->tag;
	default_bases(u);
	dw_value_number(&v[DW_SLOT_STR_OFFSETS_BASE], &u->str_offsets_base);
	dw_value_number(&v[DW_SLOT_ADDR_BASE], &u->addr_base);
	dw_value_number(&v[DW_SLOT_RNGLISTS_BASE], &u->rnglists_base);
	dw_value_number(&v[DW_SLOT_GNU_RANGES_BASE], &u->ranges_base);
	if (u->sizes.version < 5) /* in DWARF 5 it stands in the header */
		dw_value_number(&v[DW_SLOT_DWO_ID], &u->id);
	u->split_name = dw_value_string(u, &v[DW_SLOT_DWO_NAME]);
	u->has_stmt_list = dw_value_number(&v[DW_SLOT_STMT_LIST], &u->stmt_list);
	if (dw_value_number(&v[DW_SLOT_LANGUAGE], &n) && n <= UINT16_MAX)
		u->lang = (uint32_t)n;
	u->comp_dir = dw_value_string(u, &v[DW_SLOT_COMP_DIR]);
	if (!dw_value_address(u, &v[DW_SLOT_LOW_PC], &u->base_vaddr))
		dw_value_address(u, &v[DW_SLOT_ENTRY_PC], &u->base_vaddr);
	return 0;
}

/* Reads one header at *c. SC_EFORMAT: the next header cannot be found. */
static int read_header(struct dw_debug *d, struct dw_cursor *c, struct sc_error *err)
{
	const uint8_t *start = d->sections.info.data;
	struct dw_unit_header *u;
	uint64_t length, abbrev_offset;
	unsigned offset_size;
	struct sc_error fault;
	int rc;

	u = vec_push(&d->units);
	if (!u)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	u->debug = d;
	u->offset = (uint64_t)(c->p - start);
	length = dw_initial_length(c, &offset_size);
	if (c->bad || length > dw_left(c)) {
		d->units.len--;
		return sc_error_set(err, SC_EFORMAT, "unit at 0x%llx is longer than .debug_info",
				    (unsigned long long)u->offset);
	}
	u->end = (uint64_t)(c->p - start) + length;
	u->sizes.offset_size = (uint8_t)offset_size;
	u->sizes.version = dw_u16(c);
	u->type = DW_UT_compile;
	if (u->sizes.version >= 5) {
		u->type = dw_u8(c);
		u->sizes.address_size = dw_u8(c);
		abbrev_offset = dw_uint(c, offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->id = dw_u64(c);
	} else {
		abbrev_offset = dw_uint(c, offset_size);
		u->sizes.address_size = dw_u8(c);
		if (d->is_types)
			u->type = DW_UT_type;
	}
	if (u->type == DW_UT_type || u->type == DW_UT_split_type) {
		u->id = dw_u64(c);
		u->type_offset = dw_uint(c, offset_size);
	}
	u->first_entry = (uint64_t)(c->p - start);
	if (c->bad || u->first_entry > u->end)
		rc = sc_error_set(&fault, SC_EFORMAT, "header is cut off");
	else if (u->sizes.version < 2 || u->sizes.version > 5)
		rc = sc_error_set(&fault, SC_EFORMAT, "unknown DWARF version %u",
				  u->sizes.version);
	else if (u->sizes.address_size != 2 && u->sizes.address_size != 4 &&
		 u->sizes.address_size != 8)
		rc = sc_error_set(&fault, SC_EFORMAT, "addresses of %u bytes",
				  u->sizes.address_size);
	else
		rc = find_abbrevs(d, u, abbrev_offset, &fault);
	if (!rc && u->first_entry < u->end) /* without entries it is empty, not broken */
		rc = read_root(u, &fault);
	if (rc == SC_ENOMEM)
		return sc_error_set(err, rc, "out of memory");
	if (rc) {
		sc_error_prefix(&fault, "unit at 0x%llx: ", (unsigned long long)u->offset);
		note_fault(d, &fault);
		u->broken = true;
	}
	c->p = start + u->end;
	c->bad = false;
	return 0;
}

static int read_headers(struct dw_debug *d, struct sc_error *err)
{
	struct dw_cursor c = dw_cursor_at(&d->sections.info, 0, d->sections.swap);
	struct sc_error fault;

	while (dw_left(&c)) {
		int rc = read_header(d, &c, &fault);
		if (rc == SC_ENOMEM)
			return sc_error_set(err, rc, "out of memory");
		if (rc) {
			note_fault(d, &fault);
			break;
		}
	}
	return 0;
}

static int by_signature(const void *a, const void *b)
{
	const struct dw_signature *x = a, *y = b;

	if (x->signature != y->signature)
		return x->signature < y->signature ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static bool list_signatures(struct dw_debug *d)
{
	for (size_t i = 0; i < d->units.len; i++) {
		const struct dw_unit_header *u = &d->units.data[i];
		struct dw_signature *s;

		if (u->broken || (u->type != DW_UT_type && u->type != DW_UT_split_type))
			continue;
		s = vec_push(&d->signatures);
		if (!s)
			return false;
		*s = (struct dw_signature){ u->id, i };
	}
	if (d->signatures.len)
		qsort(d->signatures.data, d->signatures.len, sizeof(*d->signatures.data),
		      by_signature);
	return true;
}

int dw_debug_read(struct dw_debug *d, struct sc_error *err)
{
	int rc = read_headers(d, err);

	if (!rc && !list_signatures(d))
		rc = sc_error_set(err, SC_ENOMEM, "out of memory");
	if (rc || !d->sections.types.size)
		return rc;
	d->types = calloc(1, sizeof(*d->types));
	if (!d->types)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	d->types->sections = d->sections;
	d->types->sections.info = d->sections.types;
	d->types->sections.types = (struct dw_section){0};
	d->types->is_types = true;
	d->types->alt = d->alt;
	rc = dw_debug_read(d->types, err);
	if (d->types->faults && !d->faults)
		d->first_fault = d->types->first_fault;
	d->faults += d->types->faults;
	return rc;
}
