/*
 * SYMS, ALSO and UNWD: most symbols, and most ranges of unwind information, begin where a function
 * or a data symbol does. These are the candidates, by address. Most other names are of symbols.
 */
#include "libsymcache/base/sort.h"
#include "libsymcache/packed/model.h"

struct candidate {
	uint32_t address, name;
	uint32_t size; /* SYMCACHE_NONE: that of a function */
};

struct candidates {
	struct candidate *list;
	uint32_t n, next; /* the first that is not passed */
};

#define BY_ADDRESS(a, b) ((a)->address < (b)->address)
SC_SORT(sort_candidates, struct candidate, BY_ADDRESS)

enum { SKIPS_MAX = 200 };

/* Functions that begin somewhere, and data symbols. */
static bool find_candidates(struct model *m, bool data, struct candidates *ret)
{
	const struct symcache_ext_data *d = m->known[SYMCACHE_SECTION_DATA];
	const size_t num_data = data ? m->counts[SYMCACHE_SECTION_DATA] : 0;
	const uint32_t functions = m->header->num_functions;
	uint32_t n = 0;

	/* As many for sort_candidates(). */
	*ret = (struct candidates){ coder_take(&m->k, 2 * (functions + num_data),
					       sizeof(*ret->list)) };
	if (!ret->list)
		return false;
	for (uint32_t i = 0; i < functions; i++)
		if (m->functions[i].entry_pc != SYMCACHE_NONE)
			ret->list[n++] = (struct candidate){
				m->functions[i].entry_pc, m->functions[i].name, SYMCACHE_NONE };
	for (size_t i = 0; i < num_data; i++)
		ret->list[n++] = (struct candidate){ d[i].address, d[i].name, d[i].size };
	ret->n = n;
	if (!sort_candidates(ret->list, n)) {
		sc_no_memory(m->k.err);
		m->k.bad = true;
	}
	return !m->k.bad;
}

/* Those up to `address`, which is included, are passed; the address of the first that is not. */
INLINE uint32_t pass(struct candidates *c, uint32_t address)
{
	while (c->next < c->n && c->list[c->next].address <= address)
		c->next++;
	return c->next < c->n ? c->list[c->next].address : SYMCACHE_NONE;
}

/* 1 + the number of candidates' addresses that are skipped before `address`; 0: it has none. */
static uint32_t choose_skips(const struct candidates *c, uint32_t address)
{
	uint32_t at = c->next, skips = 0;

	for (; at < c->n && skips < SKIPS_MAX && c->list[at].address < address; at++)
		skips += at == c->next || c->list[at].address != c->list[at - 1].address;
	return at < c->n && c->list[at].address == address ? skips + 1 : 0;
}

/* The end of what begins at `address`: up to where no source location is, or the next candidate.
 * *range goes on from call to call. */
static uint32_t size_of_function(const struct model *m, const struct candidates *c,
				 uint32_t address, uint32_t *range)
{
	const uint32_t n = m->header->num_ranges;

	while (*range < n && m->ranges[*range] <= address)
		++*range;
	while (*range < n && m->locations[m->num_calls + *range].function_idx != SYMCACHE_NONE &&
	       (c->next >= c->n || m->ranges[*range] < c->list[c->next].address))
		++*range;
	return *range < n ? m->ranges[*range] - address : 0;
}

/* The candidate that a symbol is, and those of its address are passed: of them the largest, of
 * equals the last. */
static struct candidate take_candidate(struct model *m, struct candidates *c, uint32_t skips,
				       uint32_t *range)
{
	struct candidate best;

	for (; skips && c->next < c->n; skips--)
		pass(c, c->list[c->next].address);
	if (c->next >= c->n) {
		coder_fail(&m->k, S_SYMBOL, "no such candidate");
		return (struct candidate){ 0 };
	}
	best = c->list[c->next];
	while (++c->next < c->n && c->list[c->next].address == best.address)
		if (c->list[c->next].size == SYMCACHE_NONE || c->list[c->next].size >= best.size)
			best = c->list[c->next];
	if (best.size == SYMCACHE_NONE)
		best.size = size_of_function(m, c, best.address, range);
	return best;
}

INLINE void code_symbols(struct model *m, const bool packing)
{
	struct symcache_ext_symbol *s = m->known[SYMCACHE_SECTION_SYMBOL];
	struct candidates c = { 0 };
	uint32_t end = 0, file = SYMCACHE_NONE, range = 0;

	if (!s || !find_candidates(m, true, &c))
		return;
	for (size_t i = 0; i < m->counts[SYMCACHE_SECTION_SYMBOL] && !m->k.bad; i++, s++) {
		struct candidate is = { .name = SYMCACHE_NONE };
		uint64_t x = packing ? choose_skips(&c, s->address) : 0;

		x = code_num(&m->k, packing, S_SYMBOL, x);
		if (x) {
			is = take_candidate(m, &c, (uint32_t)x - 1, &range);
			if (!packing)
				s->address = is.address;
		} else {
			code_diff(&m->k, packing, S_SYMBOL, &s->address, end);
			is.size = pass(&c, s->address) - s->address;
		}
		code_or(&m->k, packing, S_SYMBOL_SIZE, &s->size, is.size, 0);
		code_string(m, packing, S_SYMBOL_NAME, &s->name, is.name);
		file = code_string(m, packing, S_SYMBOL_FILE, &s->file, file);
		end = s->address + s->size;
	}
	coder_drop(&m->k, c.list);
}

/* Other names, most of them of symbols: how many of those are skipped, or none is at the
 * address. */
INLINE void code_aliases(struct model *m, const bool packing)
{
	const struct symcache_ext_symbol *s = m->known[SYMCACHE_SECTION_SYMBOL];
	struct symcache_ext_alias *a = m->known[SYMCACHE_SECTION_ALIAS];
	const size_t n = s ? m->counts[SYMCACHE_SECTION_SYMBOL] : 0;
	uint32_t before = 0;
	size_t at = 0, to = 0; /* the symbol that an alias was of, and what may be the next one */

	for (size_t i = 0; a && i < m->counts[SYMCACHE_SECTION_ALIAS] && !m->k.bad; i++, a++) {
		uint64_t x;

		while (packing && to < n && s[to].address < a->address)
			to++;
		x = code_num(&m->k, packing, S_SYMBOL,
			     to < n && s[to].address == a->address ? 1 + to - at : 0);
		if (x > n - at)
			coder_fail(&m->k, S_SYMBOL, "no such symbol");
		else if (x)
			at += x - 1;
		if (!x)
			code_diff(&m->k, packing, S_SYMBOL, &a->address, before);
		else if (!packing && !m->k.bad)
			a->address = s[at].address;
		before = a->address;
		code_string(m, packing, S_SYMBOL_NAME, &a->name, SYMCACHE_NONE);
	}
}

/* The stream of a start: by its row and the one before, as most have three rows. */
INLINE enum stream_id start_stream(uint32_t before, uint32_t row)
{
	return S_START_00 + (before < 3 ? before : 3) * 4 + (row < 3 ? row : 3);
}

/* Starts are those within a page of 64 KiB: one that is not above the last is in the next. */
INLINE void code_unwind(struct model *m, const bool packing)
{
	struct symcache_ext_start *u = m->known[SYMCACHE_SECTION_UNWIND_STARTS];
	struct candidates c = { 0 };
	uint32_t last = 0, now = 0, row = 0;

	if (!u || !find_candidates(m, false, &c))
		return;
	for (size_t i = 0; i < m->counts[SYMCACHE_SECTION_UNWIND_STARTS] && !m->k.bad; i++, u++) {
		const uint32_t next = pass(&c, last), before = row;
		uint64_t x = 0;

		if (packing) {
			now = (last & 0xffff0000) | u->start;
			now += i && u->start <= (last & 0xffff) ? 0x10000 : 0;
			x = now == next ? 0 : 1 + (uint64_t)(now - last);
		}
		row = (uint32_t)code_num(&m->k, packing, S_ROW, u->row);
		x = code_num(&m->k, packing, start_stream(before, row), x);
		now = x ? last + (uint32_t)(x - 1) : next;
		if (!packing)
			*u = (struct symcache_ext_start){ (uint16_t)now, (uint16_t)row };
		last = now;
	}
	coder_drop(&m->k, c.list);
}

void symbols_code(struct model *m, bool packing)
{
	if (packing) {
		code_symbols(m, true);
		code_aliases(m, true);
	} else {
		code_symbols(m, false);
		code_aliases(m, false);
	}
}

void unwind_code(struct model *m, bool packing)
{
	if (packing)
		code_unwind(m, true);
	else
		code_unwind(m, false);
}
