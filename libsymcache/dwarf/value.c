/*
 * Entries and the values of their attributes: see unit.h.
 *
 * Reading keeps what the form has; resolving looks into the other sections. Every
 * offset and index is checked there, so a value may be anything.
 */
#include "libsymcache/base/search.h"
#include "libsymcache/dwarf/unit.h"

/* ---- entries -------------------------------------------------------------------- */

struct dw_cursor dw_entry_cursor(const struct dw_unit *u, uint64_t offset)
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

/* A number of 1, 2, 4 or 8 bytes, mostly without a branch. */
static inline uint64_t number_of_size(struct dw_cursor *c, unsigned size)
{
	uint64_t n;

	if (dw_left(c) < sizeof(n) || c->swap || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return dw_uint(c, size);
	memcpy(&n, c->p, sizeof(n));
	c->p += size;
	return n & UINT64_MAX >> (64 - 8 * size);
}

void dw_read_attributes(struct dw_cursor *at, const struct dw_unit *u,
			const struct dw_abbrev *abbrev, struct dw_value *values)
{
	const struct dw_op *op = abbrev->ops, *end = op + abbrev->num_ops;
	struct dw_cursor c = *at; /* so that it can stay in registers */

	for (; op < end; op++) {
		struct dw_value *v = &values[op->slot];

		if (op->size) {
			*v = (struct dw_value){ number_of_size(&c, op->size), NULL, op->form };
		} else if (op->slot == DW_SLOT_SKIP_FIXED) {
			dw_skip(&c, (uint64_t)op->value);
		} else {
			*at = c;
			if (op->slot == DW_SLOT_SKIP)
				dw_form_skip(at, op->form, &u->sizes);
			else
				v->form = (uint16_t)dw_form_read(at, op->form, &u->sizes, op->value,
								 &v->number, &v->bytes);
			c = *at;
		}
	}
	*at = c;
}

void dw_clear_attributes(const struct dw_abbrev *abbrev, struct dw_value *values)
{
	const struct dw_op *op = abbrev->ops, *end = op + abbrev->num_ops;

	for (; op < end; op++)
		values[op->slot].form = 0;
}

void dw_skip_attributes(struct dw_cursor *at, const struct dw_unit *u,
			const struct dw_abbrev *abbrev)
{
	const struct dw_op *op = abbrev->ops, *end = op + abbrev->num_ops;
	struct dw_cursor c = *at;

	if (abbrev->fixed_size != DW_VARIABLE_SIZE) {
		dw_skip(at, abbrev->fixed_size);
		return;
	}
	for (; op < end; op++) {
		if (op->slot == DW_SLOT_SKIP_FIXED) {
			dw_skip(&c, (uint64_t)op->value);
		} else if (op->form == DW_FORM_exprloc) { /* most of them */
			dw_skip(&c, dw_uleb(&c));
		} else if (op->size) {
			dw_skip(&c, op->size);
		} else {
			*at = c;
			dw_form_skip(at, op->form, &u->sizes);
			c = *at;
		}
	}
	*at = c;
}

/* ---- values --------------------------------------------------------------------- */

const char *dw_str_in_pages(const struct dw_sections *s, uint64_t offset)
{
	const struct dw_str_pages *p = &s->str_pages;
	const char *str = dw_str_at(&s->str, offset);
	uint8_t *page;

	if (!str)
		return NULL;
	page = &p->pages[offset / DW_STR_PAGE];
	if (__atomic_load_n(page, __ATOMIC_RELAXED) != DW_STR_WANTED) {
		__atomic_store_n(page, p->there ? DW_STR_MISSED : DW_STR_WANTED, __ATOMIC_RELAXED);
		return p->there || p->stand_in ? "?" : str;
	}
	return p->stand_in ? "?" : str;
}

static const char *indexed_string(const struct dw_unit *u, uint64_t index)
{
	const struct dw_sections *s = &u->debug->sections;
	unsigned size = u->sizes.offset_size;
	struct dw_cursor c;
	uint64_t offset;

	if (index > s->str_offsets.size / size)
		return NULL;
	c = dw_cursor_at(&s->str_offsets, u->str_offsets_base + index * size, s->swap);
	offset = dw_uint(&c, size);
	return c.bad ? NULL : dw_debug_str(s, offset);
}

const char *dw_value_string(const struct dw_unit *u, const struct dw_value *v)
{
	const struct dw_sections *s = &u->debug->sections;

	switch (v->form) {
	case DW_FORM_string:
		return (const char *)v->bytes;
	case DW_FORM_strp:
		return dw_debug_str(s, v->number);
	case DW_FORM_line_strp:
		return dw_str_at(&s->line_str, v->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return u->debug->alt ? dw_debug_str(&u->debug->alt->sections, v->number) : NULL;
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

bool dw_indexed_address(const struct dw_unit *u, uint64_t index, uint64_t *ret)
{
	const struct dw_sections *s = &u->debug->sections;
	unsigned size = u->sizes.address_size;
	struct dw_cursor c;

	if (!size || u->addr_base > s->addr.size || index > s->addr.size / size)
		return false;
	c = dw_cursor_at(&s->addr, u->addr_base + index * size, s->swap);
	*ret = dw_uint(&c, size);
	return !c.bad;
}

bool dw_value_address(const struct dw_unit *u, const struct dw_value *v, uint64_t *ret)
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

/* The type that has this signature: its unit and *offset there, or NULL. */
static const struct dw_unit *type_at(const struct dw_debug *d, uint64_t signature, uint64_t *offset)
{
	const struct dw_unit *u;
	const size_t at = SC_SEARCH(i, d->signatures.len,
				    d->signatures.data[i].signature < signature);

	if (at == d->signatures.len || d->signatures.data[at].signature != signature)
		return d->types ? type_at(d->types, signature, offset) : NULL;
	u = &d->units.data[d->signatures.data[at].unit];
	*offset = u->offset + u->type_offset;
	return u;
}

/* The unit that holds `offset`, or NULL. */
static const struct dw_unit *unit_at(const struct dw_debug *d, uint64_t offset)
{
	const size_t at = SC_SEARCH(i, d->units.len, d->units.data[i].end <= offset);

	if (at == d->units.len || d->units.data[at].broken ||
	    offset < d->units.data[at].first_entry)
		return NULL;
	return &d->units.data[at];
}

const struct dw_unit *dw_value_reference(const struct dw_unit *u,
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
		return unit_at(u->debug, *offset);
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return u->debug->alt ? unit_at(u->debug->alt, *offset) : NULL;
	case DW_FORM_ref_sig8:
		return type_at(u->debug, v->number, offset);
	default:
		return NULL;
	}
}
