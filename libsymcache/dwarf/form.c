/* Forms: see form.h. */
#include "libsymcache/dwarf/form.h"

#include <dwarf.h>

/* Sizes plus 1, or what they depend on; 0: unknown. */
enum { OF_ADDRESS = 32, OF_OFFSET, OF_REFERENCE, VARIABLE };

static const uint8_t sizes[] = {
	[DW_FORM_flag_present] = 1, [DW_FORM_implicit_const] = 1,
	[DW_FORM_data1] = 2, [DW_FORM_flag] = 2, [DW_FORM_ref1] = 2, [DW_FORM_strx1] = 2,
	[DW_FORM_addrx1] = 2,
	[DW_FORM_data2] = 3, [DW_FORM_ref2] = 3, [DW_FORM_strx2] = 3, [DW_FORM_addrx2] = 3,
	[DW_FORM_strx3] = 4, [DW_FORM_addrx3] = 4,
	[DW_FORM_data4] = 5, [DW_FORM_ref4] = 5, [DW_FORM_strx4] = 5, [DW_FORM_addrx4] = 5,
	[DW_FORM_ref_sup4] = 5,
	[DW_FORM_data8] = 9, [DW_FORM_ref8] = 9, [DW_FORM_ref_sig8] = 9, [DW_FORM_ref_sup8] = 9,
	[DW_FORM_data16] = 17,
	[DW_FORM_addr] = OF_ADDRESS, [DW_FORM_ref_addr] = OF_REFERENCE,
	[DW_FORM_strp] = OF_OFFSET, [DW_FORM_line_strp] = OF_OFFSET, [DW_FORM_strp_sup] = OF_OFFSET,
	[DW_FORM_sec_offset] = OF_OFFSET,
	[DW_FORM_string] = VARIABLE, [DW_FORM_block] = VARIABLE, [DW_FORM_block1] = VARIABLE,
	[DW_FORM_block2] = VARIABLE, [DW_FORM_block4] = VARIABLE, [DW_FORM_exprloc] = VARIABLE,
	[DW_FORM_sdata] = VARIABLE, [DW_FORM_udata] = VARIABLE, [DW_FORM_ref_udata] = VARIABLE,
	[DW_FORM_strx] = VARIABLE, [DW_FORM_addrx] = VARIABLE, [DW_FORM_loclistx] = VARIABLE,
	[DW_FORM_rnglistx] = VARIABLE, [DW_FORM_indirect] = VARIABLE,
};

int dw_form_size(uint64_t form, const struct dw_form_sizes *s)
{
	const unsigned size = form < sizeof(sizes) ? sizes[form] :
		form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt ? OF_OFFSET :
		form == DW_FORM_GNU_str_index || form == DW_FORM_GNU_addr_index ? VARIABLE : 0;

	switch (size) {
	case 0: return DW_FORM_UNKNOWN;
	case OF_ADDRESS: return s->address_size;
	case OF_OFFSET: return s->offset_size;
	case OF_REFERENCE: /* an address in DWARF 2, an offset since */
		return s->version <= 2 ? s->address_size : s->offset_size;
	case VARIABLE: return DW_FORM_VARIABLE;
	default: return (int)size - 1;
	}
}

uint64_t dw_form_read(struct dw_cursor *c, uint64_t form, const struct dw_form_sizes *s,
		      int64_t implicit, uint64_t *number, const uint8_t **bytes)
{
	*number = 0;
	*bytes = NULL;
	if (form == DW_FORM_indirect) { /* once: it must not lead to itself */
		form = dw_uleb(c);
		implicit = form == DW_FORM_implicit_const ? dw_sleb(c) : 0;
	}
	switch (form) {
	case DW_FORM_flag_present: *number = 1; break;
	case DW_FORM_implicit_const: *number = (uint64_t)implicit; break;
	case DW_FORM_string: *bytes = (const uint8_t *)dw_str(c); break;
	case DW_FORM_sdata: *number = (uint64_t)dw_sleb(c); break;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index: *number = dw_uleb(c); break;
	case DW_FORM_block:
	case DW_FORM_exprloc: *number = dw_uleb(c); *bytes = c->p; dw_skip(c, *number); break;
	case DW_FORM_block1: *number = dw_u8(c); *bytes = c->p; dw_skip(c, *number); break;
	case DW_FORM_block2: *number = dw_u16(c); *bytes = c->p; dw_skip(c, *number); break;
	case DW_FORM_block4: *number = dw_u32(c); *bytes = c->p; dw_skip(c, *number); break;
	case DW_FORM_data16: *number = 16; *bytes = c->p; dw_skip(c, 16); break;
	case DW_FORM_strx3:
	case DW_FORM_addrx3: *number = dw_u24(c); break;
	default: {
		int size = dw_form_size(form, s);
		if (size <= 0)
			c->bad = true;
		else
			*number = dw_uint(c, (unsigned)size);
	}
	}
	return form;
}

void dw_form_skip(struct dw_cursor *c, uint64_t form, const struct dw_form_sizes *s)
{
	int size = dw_form_size(form, s);
	const uint8_t *bytes;
	uint64_t number;

	if (size >= 0)
		dw_skip(c, (uint64_t)size);
	else
		dw_form_read(c, form, s, 0, &number, &bytes);
}
