/*
 * data.c: a relative address → the data symbol around it.
 *
 * The symbols ascend by address and may nest or overlap, so the one that covers
 * an address need not be the last that starts before it: `table` may hold the
 * symbols of its fields, and the address lie behind the last of them. From the
 * last start the search therefore goes back until a symbol covers the address.
 *
 * Cost: a binary search, then a step for each symbol that starts between the
 * answer and the address, MAX_STEPS at most: an address that nothing covers must
 * not cost a step for each symbol below it. In vmlinux, where sets of numbers with
 * a symbol for each of them nest deepest, a symbol holds 244 others.
 */
#include "libsymcache/base/prefetch.h"
#include "libsymcache/read/parts.h"

enum { MAX_STEPS = 4096 };

bool symcache_lookup_data(const struct symcache *cache, uint64_t rel_address,
			  struct symcache_data *ret)
{
	size_t n = sc_count_starts(cache, cache->data_symbols, cache->num_data_symbols,
				sizeof(*cache->data_symbols), rel_address);
	/* A symbol of unknown size that no other follows ends with the image. */
	bool outside = n == cache->num_data_symbols && cache->image &&
		       rel_address >= cache->image->image_size;

	for (size_t i = n; i-- > 0 && n - i <= MAX_STEPS;) {
		const struct symcache_ext_data *s = &cache->data_symbols[i];
		bool covers;

		if (!symcache_valid(cache, s, sizeof(*s)))
			return false;
		covers = s->size ? rel_address - s->address < s->size :
			s->address == cache->data_symbols[n - 1].address && !outside;
		if (covers) {
			*ret = (struct symcache_data){
				.name = symcache_string(cache, s->name),
				.rel_address = s->address,
				.size = s->size,
				.file = symcache_file(cache, s->file_idx),
				.line = s->line,
			};
			return true;
		}
	}
	return false;
}

struct sc_str symcache_qualified(const struct symcache *cache, uint32_t idx)
{
	const struct symcache_ext_qualified *q = cache->qualified;
	size_t from = 0, to = cache->num_qualified;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (!symcache_valid(cache, &q[middle], sizeof(*q)))
			break;
		if (q[middle].function == idx)
			return symcache_string(cache, q[middle].name);
		if (q[middle].function < idx)
			from = middle + 1;
		else
			to = middle;
	}
	return (struct sc_str){ NULL, 0 };
}

/* The symbol that covers `rel_address`, if `low` start at or below it. */
static uint32_t covering(const struct symcache *cache, uint64_t rel_address, size_t low)
{
	const struct symcache_ext_symbol *s = cache->symbols;

	/* A symbol of unknown size reaches far, but not around the address space. */
	if (!low || rel_address > UINT32_MAX ||
	    (s[low - 1].size && rel_address - s[low - 1].address >= s[low - 1].size))
		return SYMCACHE_NONE;
	return (uint32_t)low - 1;
}

uint32_t symcache_symbol_at(const struct symcache *cache, uint64_t rel_address)
{
	return covering(cache, rel_address,
			sc_count_starts(cache, cache->symbols, cache->num_symbols,
				     sizeof(*cache->symbols), rel_address));
}

/* Is it the last symbol to start at or below the address? */
static bool is_last_below(const struct symcache *cache, uint64_t rel_address, uint32_t symbol)
{
	const struct symcache_ext_symbol *s = cache->symbols + symbol;
	const size_t left = cache->num_symbols - symbol;

	return symbol < cache->num_symbols &&
	       symcache_valid(cache, s, (left > 1 ? 2 : 1) * sizeof(*s)) &&
	       s->address <= rel_address && (left == 1 || s[1].address > rel_address);
}

/* A step of all searches after another, so that they wait for memory together. */
void symcache_symbols_batch(const struct symcache_query q[], size_t n, uint32_t ret[])
{
	size_t low[SYMCACHE_BATCH], high[SYMCACHE_BATCH];
	uint32_t live = 0;

	for (; n > SYMCACHE_BATCH; q += SYMCACHE_BATCH, ret += SYMCACHE_BATCH, n -= SYMCACHE_BATCH)
		symcache_symbols_batch(q, SYMCACHE_BATCH, ret);
	for (size_t i = 0; i < n; i++)
		if (ret[i] < q[i].cache->num_symbols)
			sc_prefetch(&q[i].cache->symbols[ret[i]]);
	for (size_t i = 0; i < n; i++) {
		const bool known = is_last_below(q[i].cache, q[i].rel_pc, ret[i]);

		low[i] = known ? ret[i] + 1 : 0;
		high[i] = known ? low[i] : q[i].cache->num_symbols;
		live |= (uint32_t)(low[i] < high[i]) << i;
	}
	for (; live; ) {
		for (uint32_t todo = live; todo; todo &= todo - 1) {
			const int i = __builtin_ctz(todo);
			const struct symcache_ext_symbol *s = q[i].cache->symbols;
			const size_t mid = low[i] + (high[i] - low[i]) / 2;

			if (!symcache_valid(q[i].cache, &s[mid], sizeof(*s))) {
				low[i] = high[i] = 0;
			} else if (s[mid].address <= q[i].rel_pc) {
				low[i] = mid + 1;
			} else {
				high[i] = mid;
			}
			if (low[i] < high[i])
				sc_prefetch(&s[low[i] + (high[i] - low[i]) / 2]);
			else
				live &= ~(1u << i);
		}
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = covering(q[i].cache, q[i].rel_pc, low[i]);
}

bool symcache_symbol(const struct symcache *cache, uint32_t idx, struct symcache_symbol *ret)
{
	const struct symcache_ext_symbol *s = cache->symbols + idx;

	if (idx >= cache->num_symbols || !symcache_valid(cache, s, sizeof(*s)))
		return false;
	*ret = (struct symcache_symbol){
		.name = symcache_string(cache, s->name),
		.rel_address = s->address,
		.size = s->size,
		.file = symcache_string(cache, s->file),
	};
	return true;
}

bool symcache_lookup_symbol(const struct symcache *cache, uint64_t rel_address,
			    struct symcache_symbol *ret)
{
	return symcache_symbol(cache, symcache_symbol_at(cache, rel_address), ret);
}

size_t symcache_aliases_of(const struct symcache *cache, uint64_t rel_address, size_t *first)
{
	const struct symcache_ext_alias *a = cache->aliases;
	size_t n = 0;

	*first = rel_address ? sc_count_starts(cache, a, cache->num_aliases, sizeof(*a),
					       rel_address - 1) : 0;
	while (n < MAX_STEPS && *first + n < cache->num_aliases &&
	       symcache_valid(cache, &a[*first + n], sizeof(*a)) &&
	       a[*first + n].address == rel_address)
		n++;
	return n;
}
