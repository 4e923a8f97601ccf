/*
 * Rows, merged and deduplicated: see rows.h.
 *
 * A list of rules is stored once, then a row is twelve bytes, of which each is stored
 * once: some hundred for a whole program. The bytes depend on the rows alone: the final
 * order is by use, then by first appearance. So rows that are taken from a finished table
 * give the same table.
 */
#include "libsymcache/unwind/rows.h"

#include "libsymcache/base/sort.h"
#include "libsymcache/read/rows.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What is looked for among what is stored. */
struct wanted {
	const struct sc_rows *u;
	const void *bytes;
	size_t size;
};

/* ---- expressions ------------------------------------------------------------------------ */

static bool equal_expression(const void *ctx, uint32_t at)
{
	const struct wanted *w = ctx;
	const uint8_t *stored = w->u->expressions.data + at;
	uint16_t size;

	memcpy(&size, stored, sizeof(size));
	return size == w->size && !memcmp(stored + sizeof(size), w->bytes, size);
}

int32_t sc_rows_expression(struct sc_rows_maker *m, const uint8_t *bytes, size_t size)
{
	struct sc_rows *u = m->out;
	struct wanted wanted = { u, bytes, size };
	uint16_t length = (uint16_t)size;
	uint32_t *slot = sc_intern_find(&m->expressions, XXH3_64bits(bytes, size), equal_expression,
					&wanted);

	if (!slot || !vec_reserve(&u->expressions, sizeof(length) + size) ||
	    u->expressions.len > INT32_MAX / 2) {
		m->failed = true;
		return -1;
	}
	if (*slot == SC_INTERN_NEW) {
		*slot = (uint32_t)u->expressions.len;
		memcpy(u->expressions.data + u->expressions.len, &length, sizeof(length));
		memcpy(u->expressions.data + u->expressions.len + sizeof(length), bytes, size);
		u->expressions.len += sizeof(length) + size;
	}
	return (int32_t)*slot;
}

/* ---- rows --------------------------------------------------------------------------- */

static bool equal_rules(const void *ctx, uint32_t first)
{
	const struct wanted *w = ctx;
	size_t n = w->size / sizeof(struct symcache_ext_rule);

	return n <= w->u->rules.len - first &&
	       !memcmp(&w->u->rules.data[first], w->bytes, w->size);
}

static bool equal_row(const void *ctx, uint32_t index)
{
	const struct wanted *w = ctx;

	return !memcmp(&w->u->rows.data[index], w->bytes, w->size);
}

/* The place of a list of rules. */
static bool add_rules(struct sc_rows_maker *m, const struct symcache_ext_rule *rules, size_t n,
		      uint32_t *ret)
{
	struct sc_rows *u = m->out;
	struct wanted wanted = { u, rules, n * sizeof(*rules) };
	uint32_t *slot;

	*ret = 0;
	if (!n)
		return true;
	slot = sc_intern_find(&m->rules, XXH3_64bits(wanted.bytes, wanted.size), equal_rules,
			      &wanted);
	if (!slot || !vec_reserve(&u->rules, n))
		return false;
	if (*slot == SC_INTERN_NEW) {
		*slot = (uint32_t)u->rules.len;
		memcpy(u->rules.data + u->rules.len, rules, wanted.size);
		u->rules.len += n;
	}
	*ret = *slot;
	return true;
}

static bool add_row(struct sc_rows_maker *m, const struct symcache_ext_row *row, uint32_t *ret)
{
	struct sc_rows *u = m->out;
	struct wanted wanted = { u, row, sizeof(*row) };
	uint32_t *slot, *uses;

	slot = sc_intern_find(&m->rows, XXH3_64bits(row, sizeof(*row)), equal_row, &wanted);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW) {
		struct symcache_ext_row *stored = vec_push(&u->rows);

		uses = vec_push(&m->uses);
		if (!stored || !uses)
			return false;
		*slot = (uint32_t)(u->rows.len - 1);
		*stored = *row;
	}
	m->uses.data[*slot]++;
	*ret = *slot;
	return true;
}

#define NO_ROW UINT32_MAX /* row 0 of the result */

static bool add_start(struct sc_rows_maker *m, uint64_t start, uint32_t row)
{
	struct sc_rows *u = m->out;
	struct symcache_ext_wide_start *s;

	if (start > UINT32_MAX) {
		u->too_far++;
		return true;
	}
	if (u->starts.len ? u->starts.data[u->starts.len - 1].row == row : row == NO_ROW)
		return true;
	s = vec_push(&u->starts);
	if (s)
		*s = (struct symcache_ext_wide_start){ (uint32_t)start, row };
	return s;
}

bool sc_rows_add(struct sc_rows_maker *m, uint64_t start, uint64_t end,
		 const struct symcache_ext_row *row, const struct symcache_ext_rule *rules)
{
	struct symcache_ext_row stored = *row;
	uint32_t number = NO_ROW;

	if (row->cfa != SYMCACHE_CFA_NONE && start <= UINT32_MAX)
		m->failed |= !add_rules(m, rules, row->num_rules, &stored.first_rule) ||
			     !add_row(m, &stored, &number);
	if (m->end < start)
		m->failed |= !add_start(m, m->end, NO_ROW);
	m->failed |= !add_start(m, start, number);
	m->end = end;
	return !m->failed;
}

/* ---- the final order ------------------------------------------------------------------- */

struct use {
	uint32_t count, row;
};

static bool used_more(const struct use *a, const struct use *b)
{
	return a->count > b->count;
}

SC_SORT(sort_uses, struct use, used_more)

/* Row `from` of the old ones becomes the next one, with its rules behind those that are
 * there; `placed` says where a list went. */
static bool move_row(struct sc_rows *to, const struct sc_rows *from, uint32_t row,
		     uint32_t *placed)
{
	const struct symcache_ext_row *old = &from->rows.data[row];
	struct symcache_ext_row *moved = vec_push(&to->rows);

	if (!moved || !vec_reserve(&to->rules, old->num_rules))
		return false;
	*moved = *old;
	if (!old->num_rules)
		return true;
	if (placed[old->first_rule] == NO_ROW) {
		placed[old->first_rule] = (uint32_t)to->rules.len;
		memcpy(to->rules.data + to->rules.len, &from->rules.data[old->first_rule],
		       old->num_rules * sizeof(*to->rules.data));
		to->rules.len += old->num_rules;
	}
	moved->first_rule = placed[old->first_rule];
	return true;
}

/* Sorts the rows by use, behind row 0; *to says where each went. */
static bool sort_rows(struct sc_rows_maker *m, struct use *order, uint32_t *to, uint32_t *placed)
{
	struct sc_rows *u = m->out, sorted = { 0 };
	bool ok = vec_push(&sorted.rows);
	const size_t n = u->rows.len;

	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct use){ m->uses.data[i], i };
	memset(placed, 0xff, (u->rules.len + 1) * sizeof(*placed));
	ok = ok && sort_uses(order, n);
	for (uint32_t i = 0; i < n && ok; i++) {
		to[order[i].row] = (uint32_t)sorted.rows.len;
		ok = move_row(&sorted, u, order[i].row, placed);
	}
	vec_deinit(&u->rows);
	vec_deinit(&u->rules);
	u->rows = sorted.rows;
	u->rules = sorted.rules;
	return ok;
}

/* Rows have to be distinguished by more than 16 bits. */
static bool is_wide(const struct sc_rows *u)
{
	return u->rows.len > UINT16_MAX + 1u;
}

/* The index by page, and the starts in their final form. */
static bool make_pages(struct sc_rows *u)
{
	const struct symcache_ext_wide_start *s = u->starts.data;
	const size_t n = u->starts.len;

	if (!vec_reserve(&u->pages, (s[n - 1].start >> SYMCACHE_UNWIND_PAGE_SHIFT) + 2u) ||
	    !vec_reserve(&u->narrow, is_wide(u) ? 0 : n))
		return false;
	for (size_t i = 0; i < n; i++) {
		while (u->pages.len <= s[i].start >> SYMCACHE_UNWIND_PAGE_SHIFT)
			u->pages.data[u->pages.len++] = (uint32_t)i;
		if (!is_wide(u))
			u->narrow.data[u->narrow.len++] = (struct symcache_ext_start){
				(uint16_t)s[i].start, (uint16_t)s[i].row
			};
	}
	u->pages.data[u->pages.len++] = (uint32_t)n;
	return true;
}

bool sc_rows_finish(struct sc_rows_maker *m)
{
	struct sc_rows *u = m->out;
	struct use *order;
	uint32_t *to, *placed;
	bool ok;

	if (m->failed || !add_start(m, m->end, NO_ROW))
		return false;
	if (!u->starts.len)
		return true;
	order = malloc(u->rows.len * sizeof(*order));
	to = malloc(u->rows.len * sizeof(*to));
	placed = malloc((u->rules.len + 1) * sizeof(*placed));
	ok = order && to && placed && sort_rows(m, order, to, placed);
	for (size_t i = 0; i < u->starts.len && ok; i++) {
		uint32_t *row = &u->starts.data[i].row;
		*row = *row == NO_ROW ? 0 : to[*row];
	}
	free(order);
	free(to);
	free(placed);
	return ok && make_pages(u);
}

void sc_rows_maker_deinit(struct sc_rows_maker *m)
{
	vec_deinit(&m->uses);
	sc_intern_deinit(&m->rows);
	sc_intern_deinit(&m->rules);
	sc_intern_deinit(&m->expressions);
}

void sc_rows_deinit(struct sc_rows *u)
{
	vec_deinit(&u->starts);
	vec_deinit(&u->rows);
	vec_deinit(&u->rules);
	vec_deinit(&u->expressions);
	vec_deinit(&u->pages);
	vec_deinit(&u->narrow);
}

/* ---- finished rows ----------------------------------------------------------------------- */

struct symcache_unwind sc_rows_view(const struct sc_rows *r)
{
	if (!r->starts.len)
		return (struct symcache_unwind){ 0 };
	return (struct symcache_unwind){
		.facts = &r->facts, .pages = r->pages.data, .num_pages = r->pages.len,
		.starts = is_wide(r) ? (const void *)r->starts.data : r->narrow.data,
		.num_starts = (uint32_t)r->starts.len, .wide = is_wide(r),
		.rows = r->rows.data, .num_rows = (uint32_t)r->rows.len,
		.rules = r->rules.data, .num_rules = (uint32_t)r->rules.len,
		.expressions = r->expressions.data, .expression_bytes = r->expressions.len,
	};
}

void sc_rows_sections(const struct symcache_unwind *u, struct sc_rows_section ret[SC_ROWS_SECTIONS])
{
	const struct { const void *data; size_t n; } parts[SC_ROWS_SECTIONS] = {
		{ u->pages, u->num_pages }, { u->starts, u->num_starts }, { u->rows, u->num_rows },
		{ u->rules, u->num_rules }, { u->expressions, u->expression_bytes }, { u->facts, 1 },
	};

	for (int i = 0; i < SC_ROWS_SECTIONS; i++) {
		const int number = SYMCACHE_SECTION_UNWIND_PAGES + i;
		const struct symcache_section_kind *k = &symcache_section_kinds[number];
		const uint32_t size = number == SYMCACHE_SECTION_UNWIND_STARTS && u->wide ?
			sizeof(struct symcache_ext_wide_start) : k->entry_size;

		ret[i] = (struct sc_rows_section){ k->tag, size, parts[i].data, parts[i].n * size };
	}
}

/* One of two tables that are united, and the range that comes next. */
struct side {
	struct symcache cache;  /* with the table alone */
	uint32_t index;
	uint64_t start, end;
	struct symcache_row row;
	bool has_row;
};

/* The next range; behind the last one it begins beyond all addresses. In a table that is not in
 * order, which a hostile store may have, it begins and ends no earlier than the one before. */
static void next_range(struct side *s)
{
	const uint64_t before = s->end;
	uint32_t number = 0, ignored;

	s->has_row = false;
	s->start = before;
	if (s->index >= s->cache.unwind.num_starts ||
	    !symcache_row_range(&s->cache, s->index, &s->start, &number))
		s->start = 1ull << 33;
	if (!symcache_row_range(&s->cache, ++s->index, &s->end, &ignored))
		s->end = 1ull << 33;
	s->start = s->start < before ? before : s->start;
	s->end = s->end < s->start ? s->start : s->end;
	s->has_row = symcache_get_row(&s->cache, number, &s->row);
}

static int32_t take_expression(struct sc_rows_maker *m, const struct side *s, int32_t n)
{
	const uint8_t *bytes;
	size_t size = symcache_expression(&s->cache, n, &bytes);

	return sc_rows_expression(m, bytes, size);
}

/* Adds a part of the range that `s` stands at. */
static bool take(struct sc_rows_maker *m, const struct side *s, uint64_t from, uint64_t to)
{
	struct symcache_ext_rule rules[UINT8_MAX];
	struct symcache_ext_row row = { s->row.cfa, s->row.cfa_reg, s->row.flags, s->row.num_rules,
					s->row.n, 0 };

	if (row.cfa == SYMCACHE_CFA_EXPRESSION)
		row.n = take_expression(m, s, row.n);
	for (unsigned i = 0; i < row.num_rules; i++) {
		rules[i] = s->row.rules[i];
		if (rules[i].kind == SYMCACHE_RULE_EXPRESSION ||
		    rules[i].kind == SYMCACHE_RULE_VAL_EXPRESSION)
			rules[i].n = take_expression(m, s, rules[i].n);
	}
	return sc_rows_add(m, from, to, &row, rules);
}

bool sc_rows_unite(const struct symcache_unwind *first, const struct symcache_unwind *second,
		   struct sc_rows *out)
{
	struct side a = { .cache.unwind = *first }, b = { .cache.unwind = *second };
	struct sc_rows_maker m = { .out = out };
	uint64_t at = 0, to;
	bool ok = true;

	out->facts = *first->facts;
	out->facts.sources |= second->facts->sources;
	out->facts.broken += second->facts->broken;
	next_range(&a);
	next_range(&b);
	for (; ok && at <= UINT32_MAX; at = to) {
		while (at >= a.end)
			next_range(&a);
		while (at >= b.end)
			next_range(&b);
		/* Up to where either changes. */
		to = at < a.start ? a.start : a.end;
		if ((at < b.start ? b.start : b.end) < to)
			to = at < b.start ? b.start : b.end;
		if (at >= a.start && a.has_row)
			ok = take(&m, &a, at, to);
		else if (at >= b.start && b.has_row)
			ok = take(&m, &b, at, to);
	}
	ok = ok && sc_rows_finish(&m);
	sc_rows_maker_deinit(&m);
	return ok;
}
