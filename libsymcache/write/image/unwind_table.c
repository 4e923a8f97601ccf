/*
 * Rows, merged and deduplicated: see unwind.h.
 *
 * A list of rules is stored once, then a row is twelve bytes, of which each is stored
 * once: some hundred for a whole program. The bytes depend on the rows alone: the final
 * order is by use, then by first appearance.
 */
#include "libsymcache/write/image/unwind.h"

#include "libsymcache/base/sort.h"
#include "libsymcache/dwarf/expression.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(struct dw_cfi_rule) == sizeof(struct symcache_ext_rule) &&
	       (int)DW_CFI_AT_CFA == SYMCACHE_RULE_AT_CFA && (int)DW_CFI_SAME == SYMCACHE_RULE_SAME &&
	       (int)DW_CFI_EXPRESSION == SYMCACHE_RULE_EXPRESSION &&
	       (int)DW_CFI_VAL_EXPRESSION == SYMCACHE_RULE_VAL_EXPRESSION &&
	       (int)DW_CFI_UNDEFINED == SYMCACHE_RULE_UNDEFINED && DW_CFI_RETURN == SYMCACHE_UNWIND_RETURN,
	       "rules are written as they are read");
_Static_assert((int)DW_CFI_CFA_REGISTER == SYMCACHE_CFA_REGISTER &&
	       (int)DW_CFI_CFA_EXPRESSION == SYMCACHE_CFA_EXPRESSION &&
	       (int)DW_CFI_OUTERMOST == SYMCACHE_ROW_OUTERMOST &&
	       (int)DW_CFI_SIGNED == SYMCACHE_ROW_SIGNED, "so are rows");

/* What is looked for among what is stored. */
struct wanted {
	const struct sc_unwind *u;
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

/* Makes addresses relative. False: it has operations that we do not know. */
static bool relocate(const struct sc_unwind_maker *m, uint8_t *bytes, size_t size)
{
	const struct dw_section section = { bytes, size };
	struct dw_cursor c = dw_cursor_at(&section, 0, m->swap);
	const unsigned word = m->is_64 ? 8 : 4;
	struct dw_operation op;

	while (dw_next_operation(&c, word, &op)) {
		uint64_t relative = op.number - m->load_base;

		for (unsigned i = 0; op.code == EXPR_ADDR && i < word; i++) {
			bool little = m->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
			uint8_t *at = bytes + (c.p - bytes) - word;
			at[little ? i : word - 1 - i] = (uint8_t)(relative >> 8 * i);
		}
	}
	return !c.bad;
}

/* The place of an expression among those stored; −1: it is not of use, or m->failed. */
static int64_t add_expression(struct sc_unwind_maker *m, int32_t offset)
{
	struct dw_section from = dw_cfi_expression(m->section, (uint32_t)offset);
	struct sc_unwind *u = m->out;
	uint8_t bytes[1024];
	struct wanted wanted = { u, bytes, from.size };
	uint16_t size = (uint16_t)from.size;
	uint32_t *slot;

	if (!from.size || from.size > sizeof(bytes))
		return -1;
	memcpy(bytes, from.data, from.size);
	if (!relocate(m, bytes, from.size))
		return -1;
	slot = sc_intern_find(&m->expressions, XXH3_64bits(bytes, from.size), equal_expression,
			      &wanted);
	if (!slot || !vec_reserve(&u->expressions, sizeof(size) + size) ||
	    u->expressions.len > INT32_MAX / 2) {
		m->failed = true;
		return -1;
	}
	if (*slot == SC_INTERN_NEW) {
		*slot = (uint32_t)u->expressions.len;
		memcpy(u->expressions.data + u->expressions.len, &size, sizeof(size));
		memcpy(u->expressions.data + u->expressions.len + sizeof(size), bytes, size);
		u->expressions.len += sizeof(size) + size;
	}
	return *slot;
}

/* The row with its expressions stored. What cannot be is undefined, as it stands there. */
static void store_expressions(struct sc_unwind_maker *m, struct dw_cfi_row *row)
{
	int64_t at;

	if (row->cfa == DW_CFI_CFA_EXPRESSION) {
		at = add_expression(m, row->cfa_n);
		row->cfa_n = (int32_t)at;
		if (at < 0)
			row->cfa = DW_CFI_CFA_NONE;
	}
	for (size_t i = 0; i < row->num_rules; i++) {
		struct dw_cfi_rule *r = &row->rules[i];

		if (r->kind != DW_CFI_EXPRESSION && r->kind != DW_CFI_VAL_EXPRESSION)
			continue;
		at = add_expression(m, r->n);
		if (at < 0)
			r->kind = DW_CFI_UNDEFINED;
		r->n = at < 0 ? 0 : (int32_t)at;
	}
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
static bool add_rules(struct sc_unwind_maker *m, const struct dw_cfi_row *row, uint32_t *ret)
{
	struct sc_unwind *u = m->out;
	struct wanted wanted = { u, row->rules, row->num_rules * sizeof(*row->rules) };
	uint32_t *slot;

	*ret = 0;
	if (!row->num_rules)
		return true;
	slot = sc_intern_find(&m->rules, XXH3_64bits(wanted.bytes, wanted.size), equal_rules,
			      &wanted);
	if (!slot || !vec_reserve(&u->rules, row->num_rules))
		return false;
	if (*slot == SC_INTERN_NEW) {
		*slot = (uint32_t)u->rules.len;
		memcpy(u->rules.data + u->rules.len, wanted.bytes, wanted.size);
		u->rules.len += row->num_rules;
	}
	*ret = *slot;
	return true;
}

static bool add_row(struct sc_unwind_maker *m, const struct symcache_ext_row *row, uint32_t *ret)
{
	struct sc_unwind *u = m->out;
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

/* Row 0 of the result; the others stand one behind their index until they are sorted. */
#define NO_ROW UINT32_MAX

static bool add_start(struct sc_unwind_maker *m, uint64_t vaddr, uint32_t row)
{
	struct sc_unwind *u = m->out;
	uint64_t relative = vaddr - m->load_base;
	struct symcache_ext_wide_start *s;

	if (vaddr < m->load_base || relative > UINT32_MAX) {
		u->too_far++;
		return true;
	}
	if (u->starts.len && u->starts.data[u->starts.len - 1].row == row)
		return true;
	s = vec_push(&u->starts);
	if (s)
		*s = (struct symcache_ext_wide_start){ (uint32_t)relative, row };
	return s;
}

bool sc_unwind_add(void *maker, uint64_t start, uint64_t end, const struct dw_cfi_row *row)
{
	struct sc_unwind_maker *m = maker;
	struct dw_cfi_row changed;
	struct symcache_ext_row stored;
	uint32_t number = NO_ROW;

	if (row->has_expressions && row->num_rules <= DW_CFI_MAX_RULES) {
		changed = *row;
		store_expressions(m, &changed);
		row = &changed;
	}
	if (row->cfa != DW_CFI_CFA_NONE) {
		stored = (struct symcache_ext_row){ row->cfa, row->cfa_reg, row->flags,
						    row->num_rules, row->cfa_n, 0 };
		m->failed |= !add_rules(m, row, &stored.first_rule) ||
			     !add_row(m, &stored, &number);
	}
	if (m->end < start && m->out->starts.len)
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
static bool move_row(struct sc_unwind *to, const struct sc_unwind *from, uint32_t row,
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
static bool sort_rows(struct sc_unwind_maker *m, struct use *order, uint32_t *to, uint32_t *placed)
{
	struct sc_unwind *u = m->out, sorted = { 0 };
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

bool sc_unwind_finish(struct sc_unwind_maker *m)
{
	struct sc_unwind *u = m->out;
	struct use *order;
	uint32_t *to, *placed;
	bool ok;

	if (m->failed || (u->starts.len && !add_start(m, m->end, NO_ROW)))
		return false;
	if (!u->rows.len)
		vec_clear(&u->starts);
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
	return ok;
}

void sc_unwind_maker_deinit(struct sc_unwind_maker *m)
{
	vec_deinit(&m->uses);
	sc_intern_deinit(&m->rows);
	sc_intern_deinit(&m->rules);
	sc_intern_deinit(&m->expressions);
}

void sc_unwind_deinit(struct sc_unwind *u)
{
	vec_deinit(&u->starts);
	vec_deinit(&u->rows);
	vec_deinit(&u->rules);
	vec_deinit(&u->expressions);
}
