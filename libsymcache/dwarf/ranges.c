/*
 * Ranges of entries: see ranges.h.
 *
 * Cost: linear in the list. A list ends with its section at the latest, so that
 * hostile input cannot make it long; but many entries may name one list.
 */
#include "libsymcache/dwarf/ranges.h"

#include <dwarf.h>

#include "libsymcache/base/limits.h"

struct list {
	struct dw_facts *ret;
	uint64_t *steps;
};

/* Before each step in a list, whether it makes a range or not. */
static int step(struct list *l)
{
	if (!*l->steps)
		return SC_ELIMIT;
	--*l->steps;
	return 0;
}

static int add(struct list *l, uint64_t start, uint64_t end)
{
	if (start >= end)
		return 0;
	if (!vec_reserve(&l->ret->ranges, 1))
		return SC_ENOMEM;
	l->ret->ranges.data[l->ret->ranges.len++] = (struct dw_range){ start, end };
	return 0;
}

/* .debug_ranges, DWARF 2 to 4. */
static int read_v4(const struct dw_unit *u, uint64_t offset, struct list *ret)
{
	const struct dw_sections *s = &u->debug->sections;
	struct dw_cursor c = dw_cursor_at(&s->ranges, offset, s->swap);
	unsigned size = u->sizes.address_size;
	uint64_t max = size == 8 ? UINT64_MAX : UINT32_MAX, base = u->base_vaddr;
	int rc;

	while (!(rc = step(ret))) {
		uint64_t start = dw_uint(&c, size), end = dw_uint(&c, size);

		if (c.bad || (!start && !end))
			return 0;
		if (start == max)
			base = end;
		else
			rc = add(ret, (base + start) & max, (base + end) & max);
		if (rc)
			break;
	}
	return rc;
}

/* .debug_rnglists, DWARF 5 (7.25). */
static int read_v5(const struct dw_unit *u, uint64_t offset, struct list *ret)
{
	const struct dw_sections *s = &u->debug->sections;
	struct dw_cursor c = dw_cursor_at(&s->rnglists, offset, s->swap);
	unsigned size = u->sizes.address_size;
	uint64_t base = u->base_vaddr, start = 0, end = 0;
	bool known = true;
	int rc = 0;

	while (known && !c.bad && !rc && !(rc = step(ret))) {
		bool is_range = true;

		switch (dw_u8(&c)) {
		case DW_RLE_end_of_list:
			return 0;
		case DW_RLE_base_addressx:
			known = dw_indexed_address(u, dw_uleb(&c), &base);
			is_range = false;
			break;
		case DW_RLE_base_address:
			base = dw_uint(&c, size);
			is_range = false;
			break;
		case DW_RLE_startx_endx:
			known = dw_indexed_address(u, dw_uleb(&c), &start);
			if (!dw_indexed_address(u, dw_uleb(&c), &end))
				known = false;
			break;
		case DW_RLE_startx_length:
			known = dw_indexed_address(u, dw_uleb(&c), &start);
			end = start + dw_uleb(&c);
			break;
		case DW_RLE_offset_pair:
			start = base + dw_uleb(&c);
			end = base + dw_uleb(&c);
			break;
		case DW_RLE_start_end:
			start = dw_uint(&c, size);
			end = dw_uint(&c, size);
			break;
		case DW_RLE_start_length:
			start = dw_uint(&c, size);
			end = start + dw_uleb(&c);
			break;
		default:
			return 0;
		}
		if (known && !c.bad && is_range)
			rc = add(ret, start, end);
	}
	return rc;
}

static int read_list(const struct dw_unit *u, const struct dw_value *v, struct list *ret)
{
	const struct dw_sections *s = &u->debug->sections;
	unsigned size = u->sizes.offset_size;
	uint64_t offset;
	struct dw_cursor c;

	if (!dw_value_number(v, &offset))
		return 0;
	if (u->sizes.version < 5) /* the base is for split units alone */
		return read_v4(u, offset + (u->skeleton ? u->ranges_base : 0), ret);
	if (v->form == DW_FORM_rnglistx) {
		if (offset > s->rnglists.size / size)
			return 0;
		c = dw_cursor_at(&s->rnglists, u->rnglists_base + offset * size, s->swap);
		offset = u->rnglists_base + dw_uint(&c, size);
		if (c.bad)
			return 0;
	}
	return read_v5(u, offset, ret);
}

static int read_any(const struct dw_unit *u, const struct dw_value *values,
		    struct list *ret)
{
	const struct dw_value *high = &values[DW_SLOT_HIGH_PC];
	uint64_t start, end, length;

	if (high->form && dw_value_address(u, &values[DW_SLOT_LOW_PC], &start)) {
		/* DW_AT_high_pc is an address, or (DWARF 4) a constant length. */
		if (dw_value_address(u, high, &end))
			return add(ret, start, end);
		if (dw_value_number(high, &length))
			return add(ret, start, start + length);
	}
	return read_list(u, &values[DW_SLOT_RANGES], ret);
}

int dw_read_ranges(const struct dw_unit *u, const struct dw_value *values,
		   uint64_t *steps, struct dw_facts *ret)
{
	struct list list = { ret, steps };
	size_t before = ret->ranges.len;
	int rc = read_any(u, values, &list);

	if (rc)
		ret->ranges.len = before;
	return rc;
}

/* Lists of ranges may be shared; but an entry takes bytes, and few entries have more ranges
 * than that. */
uint64_t dw_most_facts(const struct dw_unit *u)
{
	uint64_t by_bytes = 256 + 16 * (u->end - u->offset);
	uint64_t by_file = sc_limit_facts(u->debug->sections.file_size) / 2;

	return by_bytes < by_file ? by_bytes : by_file;
}

int dw_read_covers(const struct dw_unit *u, struct dw_value values[DW_NUM_OPS], uint64_t *steps,
		   struct dw_facts *ret)
{
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry);
	const struct dw_abbrev *a = dw_abbrev(u->abbrevs, dw_uleb(&c));
	int rc;

	if (!a)
		return 0;
	dw_read_attributes(&c, u, a, values);
	rc = dw_read_ranges(u, values, steps, ret);
	/* DWARF 2 has no ranges to say that it has code in several sections. */
	if (u->sizes.version == 2 && !values[DW_SLOT_RANGES].form)
		vec_clear(&ret->ranges);
	dw_clear_attributes(a, values);
	ret->num_covers = (uint32_t)ret->ranges.len;
	return rc;
}
