/*
 * DWARF packages: see package.h.
 *
 *   header    version, columns, units used, slots (a power of two)
 *   ids       slots × u64
 *   rows      slots × u32, counted from 1; 0: the slot is free
 *   columns   what each is for
 *   offsets   units × columns × u32
 *   sizes     units × columns × u32
 *
 * Type units have an index of their own, which is not read: types only matter
 * for the sizes of variables that the symbol table lacks.
 */
#include "libsymcache/dwarf/package.h"

/* Columns that matter; 8 is something else in version 2. */
enum {
	COLUMN_INFO = 1,
	COLUMN_ABBREV = 3,
	COLUMN_STR_OFFSETS = 6,
	COLUMN_RNGLISTS_5 = 8,
};

struct index {
	uint16_t version;
	uint32_t columns, units, slots;
	uint64_t ids, rows, heads, offsets, sizes; /* where each part begins */
};

static bool read_index(const struct dw_package *p, struct index *ret)
{
	struct dw_cursor c = dw_cursor_at(&p->cu_index, 0, p->sections.swap);
	uint16_t high = dw_u16(&c), low = dw_u16(&c);
	uint32_t cells;
	uint64_t end;

	/* GNU's is a u32, that of DWARF 5 a u16 before padding. */
	ret->version = high ? high : low;
	ret->columns = dw_u32(&c);
	ret->units = dw_u32(&c);
	ret->slots = dw_u32(&c);
	if (c.bad || (ret->version != 2 && ret->version != 5) || !ret->slots ||
	    (ret->slots & (ret->slots - 1)) || ret->columns > 64 || ret->units > ret->slots)
		return false;
	cells = 4 * ret->columns;
	ret->ids = 16;
	ret->rows = ret->ids + 8 * (uint64_t)ret->slots;
	ret->heads = ret->rows + 4 * (uint64_t)ret->slots;
	ret->offsets = ret->heads + cells;
	ret->sizes = ret->offsets + (uint64_t)ret->units * cells;
	end = ret->sizes + (uint64_t)ret->units * cells;
	return end <= p->cu_index.size;
}

static uint32_t u32_at(const struct dw_package *p, uint64_t offset)
{
	struct dw_cursor c = dw_cursor_at(&p->cu_index, offset, p->sections.swap);

	return dw_u32(&c);
}

/* The row of a unit, counted from 0. */
static bool find_row(const struct dw_package *p, const struct index *x, uint64_t id,
		     uint32_t *ret)
{
	uint32_t mask = x->slots - 1, slot = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t probes = 0; probes < x->slots; probes++, slot = (slot + step) & mask) {
		struct dw_cursor c = dw_cursor_at(&p->cu_index, x->ids + 8 * (uint64_t)slot,
						  p->sections.swap);
		uint32_t row = u32_at(p, x->rows + 4 * (uint64_t)slot);

		if (!row || row > x->units)
			return false;
		if (dw_u64(&c) == id) {
			*ret = row - 1;
			return true;
		}
	}
	return false;
}

static bool cut(struct dw_section *s, uint32_t offset, uint32_t size)
{
	if (offset > s->size || size > s->size - offset)
		return false;
	s->data += offset;
	s->size = size;
	return true;
}

bool dw_package_find(const struct dw_package *p, uint64_t id, struct dw_sections *ret)
{
	struct index x;
	uint32_t row;
	bool ok = true;

	*ret = p->sections;
	/* Without a part of its own a unit has none of that section. */
	ret->rnglists.size = ret->types.size = 0;
	if (!read_index(p, &x) || !find_row(p, &x, id, &row))
		return false;
	for (uint32_t i = 0; i < x.columns && ok; i++) {
		uint64_t cell = 4 * ((uint64_t)row * x.columns + i);
		uint32_t offset = u32_at(p, x.offsets + cell), size = u32_at(p, x.sizes + cell);

		switch (u32_at(p, x.heads + 4 * (uint64_t)i)) {
		case COLUMN_INFO: ok = cut(&ret->info, offset, size); break;
		case COLUMN_ABBREV: ok = cut(&ret->abbrev, offset, size); break;
		case COLUMN_STR_OFFSETS: ok = cut(&ret->str_offsets, offset, size); break;
		case COLUMN_RNGLISTS_5:
			if (x.version < 5)
				break;
			ret->rnglists.size = p->sections.rnglists.size;
			ok = cut(&ret->rnglists, offset, size);
			break;
		}
	}
	return ok;
}
