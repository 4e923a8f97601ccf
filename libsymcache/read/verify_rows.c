/*
 * Verifies unwind information: see verify.h and format/symcache.md. Each record is read
 * once, each expression from its start; expressions that a hundred rows name are read a
 * hundred times, which a bit for each byte prevents.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "libsymcache/dwarf/expression.h"
#include "libsymcache/read/rows.h"
#include "libsymcache/read/verify.h"

static void verify_starts(struct verifier *v)
{
	const struct symcache_unwind *u = &v->cache->unwind;
	uint64_t start, before = 0;
	uint32_t row, page = 0;

	for (uint32_t i = 0; i < u->num_starts && !v->stopped; i++) {
		if (!symcache_row_range(v->cache, i, &start, &row)) {
			sc_fault(v, "unwind range %u: no page has it", i);
			continue;
		}
		if (i && start <= before)
			sc_fault(v,
				 "unwind range %u: starts at 0x%" PRIx64 ", not after 0x%" PRIx64,
				 i, start, before);
		if (row >= u->num_rows)
			sc_fault(v, "unwind range %u: no row %u", i, row);
		for (; page < u->num_pages && page <= start >> SYMCACHE_UNWIND_PAGE_SHIFT; page++)
			if (u->pages[page] != i)
				sc_fault(v, "unwind page %u: range %u instead of %u", page,
					 u->pages[page], i);
		before = start;
	}
	if (!v->stopped && (page + 1 != u->num_pages || u->pages[page] != u->num_starts))
		sc_fault(v, "unwind pages: %zu instead of %u, or a bad end", u->num_pages,
			 page + 1);
}

/* `seen`: a bit for each place of an expression that was looked at. */
static void verify_expression(struct verifier *v, const char *what, uint32_t i, int32_t n,
			      uint8_t *seen)
{
	const struct symcache *c = v->cache;
	const uint8_t *bytes = NULL;
	size_t size = symcache_expression(c, n, &bytes);
	const struct dw_section section = { bytes, size };
	bool big = c->image && c->image->big_endian;
	struct dw_cursor at = dw_cursor_at(&section, 0,
					   big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	struct dw_operation op;

	if (size && (seen[n / 8] >> n % 8 & 1))
		return;
	while (size && dw_next_operation(&at, c->unwind.facts->word, &op))
		;
	if (!size || at.bad)
		sc_fault(v, "%s %u: no expression at %d", what, i, n);
	else
		seen[n / 8] |= (uint8_t)(1 << n % 8);
}

static void verify_rule_order(struct verifier *v, uint32_t number, const struct symcache_row *row)
{
	for (unsigned k = 1; k < row->num_rules; k++)
		if (row->rules[k].reg <= row->rules[k - 1].reg)
			sc_fault(v, "unwind row %u: rules do not ascend", number);
}

void sc_verify_unwind(struct verifier *v)
{
	const struct symcache_unwind *u = &v->cache->unwind;
	uint8_t *seen;

	if (!u->facts)
		return;
	seen = calloc(u->expression_bytes / 8 + 1, 1);
	if (!seen) {
		v->stopped = v->no_memory = true;
		return;
	}
	if ((u->facts->word != 4 && u->facts->word != 8) || u->rows[0].cfa != SYMCACHE_CFA_NONE)
		sc_fault(v, "unwind facts: words of %u bytes, or row 0 is one", u->facts->word);
	verify_starts(v);
	for (uint32_t i = 1; i < u->num_rows && !v->stopped; i++) {
		struct symcache_row row;

		if (!symcache_get_row(v->cache, i, &row)) {
			sc_fault(v, "unwind row %u: kind %u, %u rules from %u", i, u->rows[i].cfa,
				 u->rows[i].num_rules, u->rows[i].first_rule);
			continue;
		}
		if (row.cfa == SYMCACHE_CFA_EXPRESSION)
			verify_expression(v, "unwind row", i, row.n, seen);
		verify_rule_order(v, i, &row);
	}
	for (uint32_t i = 0; i < u->num_rules && !v->stopped; i++) {
		const struct symcache_ext_rule *r = &u->rules[i];

		if (!r->kind || r->kind > SYMCACHE_RULE_SAME || r->zero)
			sc_fault(v, "unwind rule %u: kind %u", i, r->kind);
		else if (r->kind == SYMCACHE_RULE_EXPRESSION ||
			 r->kind == SYMCACHE_RULE_VAL_EXPRESSION)
			verify_expression(v, "unwind rule", i, r->n, seen);
	}
	free(seen);
}
