/* Numbers, pointers and expressions in call frame information: see cfi_parts.h. */
#include "libsymcache/dwarf/cfi_parts.h"

struct dw_cursor dw_cfi_cursor(const struct dw_cfi_section *s, uint64_t from, uint64_t to)
{
	struct dw_cursor c = dw_cursor_at(&s->bytes, from, s->swap);

	if (to < s->bytes.size)
		c.end = s->bytes.data + to;
	if (c.p > c.end)
		c.p = c.end;
	return c;
}

uint64_t dw_cfi_number(const struct dw_cfi_section *s, struct dw_cursor *c, uint8_t format)
{
	switch (format) {
	case PE_ABSPTR: return s->is_64 ? dw_u64(c) : dw_u32(c);
	case PE_ULEB128: return dw_uleb(c);
	case PE_UDATA2: return dw_u16(c);
	case PE_UDATA4: return dw_u32(c);
	case PE_UDATA8: case PE_SDATA8: return dw_u64(c);
	case PE_SLEB128: return (uint64_t)dw_sleb(c);
	case PE_SDATA2: return (uint64_t)(int16_t)dw_u16(c);
	case PE_SDATA4: return (uint64_t)(int32_t)dw_u32(c);
	}
	c->bad = true;
	return 0;
}

uint64_t dw_cfi_pointer(const struct dw_cfi_section *s, struct dw_cursor *c, uint8_t encoding)
{
	uint64_t at = s->vaddr + (uint64_t)(c->p - s->bytes.data), base = 0,
		 word = s->is_64 ? 8 : 4;

	if (encoding == PE_OMIT || (encoding & PE_INDIRECT)) {
		c->bad = true;
		return 0;
	}
	switch (encoding & PE_RELATIVE) {
	case PE_ABSPTR: break;
	case PE_PCREL: base = at; break;
	case PE_TEXTREL: base = s->text; break;
	case PE_DATAREL: base = s->data; break;
	case PE_ALIGNED: dw_skip(c, -at & (word - 1)); break;
	default: c->bad = true;
	}
	base += dw_cfi_number(s, c, encoding & PE_FORMAT);
	return s->is_64 ? base : (uint32_t)base;
}

struct dw_section dw_cfi_expression(const struct dw_cfi_section *section, uint32_t offset)
{
	struct dw_cursor c = dw_cfi_cursor(section, offset, UINT64_MAX);
	uint64_t size = dw_uleb(&c);

	return c.bad || size > dw_left(&c) ? (struct dw_section){ 0 } :
					     (struct dw_section){ c.p, size };
}
