/*
 * Unwind information: see rows.h.
 *
 *   rel_pc ─ UNWP[page], UNWP[page + 1] ─ binary search in UNWD ─ UNWR[row] ─ UNWS, UNWX
 *
 * The numbers in the tables are tested where they are used. Cost: eleven steps for a
 * page with 1,300 ranges, each in one of two cache lines for the last six.
 */
#include "libsymcache/read/parts.h"
#include "libsymcache/read/rows.h"

/* The record of range `index`, which exists. Narrow starts are those in their page. */
static bool read_start(const struct symcache *c, uint32_t index, uint32_t *start, uint32_t *row)
{
	const struct symcache_unwind *u = &c->unwind;
	const struct symcache_ext_start *narrow = (const void *)u->starts;
	const struct symcache_ext_wide_start *wide = (const void *)u->starts;

	if (u->wide ? !symcache_valid(c, &wide[index], sizeof(*wide)) :
		      !symcache_valid(c, &narrow[index], sizeof(*narrow)))
		return false;
	*start = u->wide ? wide[index].start : narrow[index].start;
	*row = u->wide ? wide[index].row : narrow[index].row;
	return true;
}

/* The ranges that start in a page: [*from, *to). */
static bool page_ranges(const struct symcache *c, size_t page, uint32_t *from, uint32_t *to)
{
	const uint32_t *p = &c->unwind.pages[page];

	if (!symcache_valid(c, p, 2 * sizeof(*p)))
		return false;
	*from = p[0];
	*to = p[1];
	return *from <= *to && *to <= c->unwind.num_starts;
}

bool symcache_get_row(const struct symcache *c, uint32_t number, struct symcache_row *ret)
{
	const struct symcache_ext_row *row = &c->unwind.rows[number];

	if (!number || number >= c->unwind.num_rows || !symcache_valid(c, row, sizeof(*row)) ||
	    row->cfa == SYMCACHE_CFA_NONE || row->cfa > SYMCACHE_CFA_EXPRESSION ||
	    row->first_rule > c->unwind.num_rules ||
	    row->num_rules > c->unwind.num_rules - row->first_rule)
		return false;
	*ret = (struct symcache_row){
		.cfa = row->cfa, .cfa_reg = row->cfa_reg, .flags = row->flags,
		.num_rules = row->num_rules, .n = row->n,
		.rules = &c->unwind.rules[row->first_rule], .number = number,
	};
	return symcache_valid(c, ret->rules, ret->num_rules * sizeof(*ret->rules));
}

/* The range that holds `rel_pc`. */
static bool find_range(const struct symcache *c, uint64_t rel_pc, uint32_t *index, uint32_t *row)
{
	const struct symcache_unwind *u = &c->unwind;
	uint64_t page = rel_pc >> SYMCACHE_UNWIND_PAGE_SHIFT;
	uint32_t low, high, start, wanted = u->wide ? (uint32_t)rel_pc : (uint16_t)rel_pc;

	if (!u->facts || rel_pc > UINT32_MAX)
		return false;
	if (page >= u->num_pages - 1) {
		low = high = u->num_starts; /* behind the last start */
	} else if (!page_ranges(c, (size_t)page, &low, &high)) {
		return false;
	}
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (!read_start(c, mid, &start, row))
			return false;
		if (start <= wanted)
			low = mid + 1;
		else
			high = mid;
	}
	*index = low - 1;
	return low && read_start(c, low - 1, &start, row);
}

bool symcache_find_row(const struct symcache *c, uint64_t rel_pc, struct symcache_row *ret)
{
	uint32_t index, row;

	if (!find_range(c, rel_pc, &index, &row) || !symcache_get_row(c, row, ret))
		return false;
	ret->range = index;
	return true;
}

bool symcache_row_range(const struct symcache *c, uint32_t index, uint64_t *start, uint32_t *row)
{
	const struct symcache_unwind *u = &c->unwind;
	size_t low = 0, high = u->facts ? u->num_pages : 0;
	uint32_t in_page;

	if (!high || index >= u->num_starts || !read_start(c, index, &in_page, row))
		return false;
	*start = in_page;
	while (!u->wide && low < high) { /* the last page that begins at or below it */
		size_t mid = low + (high - low) / 2;

		if (!symcache_valid(c, &u->pages[mid], sizeof(*u->pages)))
			return false;
		if (u->pages[mid] <= index)
			low = mid + 1;
		else
			high = mid;
	}
	if (!u->wide && low)
		*start |= (uint64_t)(low - 1) << SYMCACHE_UNWIND_PAGE_SHIFT;
	return u->wide || low;
}

size_t symcache_expression(const struct symcache *c, int32_t n, const uint8_t **ret)
{
	const uint8_t *at = c->unwind.expressions + n;
	size_t left = c->unwind.expression_bytes;
	uint16_t size;

	if (n < 0 || left < sizeof(size) || (size_t)n > left - sizeof(size) ||
	    !symcache_valid(c, at, sizeof(size)))
		return 0;
	memcpy(&size, at, sizeof(size));
	*ret = at + sizeof(size);
	return size <= left - sizeof(size) - (size_t)n && symcache_valid(c, *ret, size) ? size : 0;
}
