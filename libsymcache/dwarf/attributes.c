/* Attributes of single entries: see attributes.h. */
#include "libsymcache/dwarf/attributes.h"

bool dw_open_entry(uint64_t *steps, const struct dw_unit *u, uint64_t offset,
		       struct dw_entry *ret)
{
	struct dw_cursor c = dw_entry_cursor(u, offset);
	const uint64_t code = dw_uleb(&c);

	*ret = (struct dw_entry){ steps, u, code ? dw_abbrev(u->abbrevs, code) : NULL, dw_place_of(u, &c) };
	return ret->abbrev && !c.bad;
}

bool dw_find(const struct dw_entry *e, uint64_t attribute, struct dw_value *ret)
{
	struct dw_cursor a = { .p = e->abbrev->bytes, .end = e->abbrev->bytes + e->abbrev->num_bytes };
	struct dw_cursor c = dw_entry_cursor(e->u, e->at);
	struct dw_attribute at;

	dw_uleb(&a); /* tag */
	dw_u8(&a);   /* has children */
	while (!c.bad && *e->steps && dw_next_attribute(&a, &at)) {
		--*e->steps;
		ret->form = (uint16_t)dw_form_read(&c, at.form, &e->u->sizes, at.implicit,
						   &ret->number, &ret->bytes);
		if (at.name == attribute)
			return !c.bad;
	}
	return false;
}

bool dw_find_number(const struct dw_entry *e, uint64_t attribute, uint64_t *ret)
{
	struct dw_value v;

	return dw_find(e, attribute, &v) && dw_value_number(&v, ret);
}

bool dw_find_signed(const struct dw_entry *e, uint64_t attribute, int64_t *ret)
{
	struct dw_value v;
	uint64_t n;

	if (!dw_find(e, attribute, &v) || !dw_value_number(&v, &n))
		return false;
	*ret = v.form == DW_FORM_data1 ? (int8_t)n : v.form == DW_FORM_data2 ? (int16_t)n :
	       v.form == DW_FORM_data4 ? (int32_t)n : (int64_t)n;
	return true;
}

bool dw_follow(const struct dw_entry *e, uint64_t attribute, struct dw_entry *ret)
{
	const struct dw_unit *u;
	struct dw_value v;
	uint64_t offset;

	if (!dw_find(e, attribute, &v))
		return false;
	u = dw_value_reference(e->u, &v, &offset);
	return u && dw_open_entry(e->steps, u, offset, ret);
}
