/*
 * LOCR and LOCI: which local variables there are. The ranges of LOCR begin where others do, and
 * code of the same function or inlined call has the same variables. (LOCV is one of tables.c.)
 */
#include "libsymcache/packed/records.h"

/* The range that begins at *start: 1 + how many are skipped from *range on; 0: none does, so it is
 * the difference to the last, and the first that begins behind it is reached. */
INLINE void code_local_start(struct model *m, const bool packing, uint32_t *start, uint32_t *range,
			     uint32_t last)
{
	const uint32_t n = m->header->num_ranges;
	uint64_t x = 0;
	uint32_t at = *range;

	if (packing) {
		while (at < n && m->ranges[at] < *start)
			at++;
		x = at < n && m->ranges[at] == *start ? 1 + at - *range : 0;
	}
	x = code_num(&m->k, packing, S_LOCAL_RANGE, x);
	if (!x) {
		code_diff(&m->k, packing, S_LOCAL_RANGE, start, last);
		while (*range < n && m->ranges[*range] < *start)
			++*range;
	} else if (x > (uint64_t)n - *range) {
		coder_fail(&m->k, S_LOCAL_RANGE, "no such range");
	} else {
		*range += (uint32_t)x - 1;
		if (!packing)
			*start = m->ranges[*range];
	}
}

INLINE void code_local_ranges(struct model *m, const bool packing)
{
	struct symcache_ext_local_range *list = m->known[SYMCACHE_SECTION_LOCAL_RANGES], *r = list;
	const size_t num = m->counts[SYMCACHE_SECTION_LOCAL_RANGES];
	const uint32_t ranges = m->header->num_ranges;
	uint32_t range = 0, end = 0;

	for (size_t i = 0; i < num && !m->k.bad; i++, r++) {
		struct symcache_ext_local_range expected = { 0, end, 0 };
		const struct symcache_source_location *l;
		struct guess *g;
		uint32_t key;

		code_local_start(m, packing, &r->start, &range, i ? r[-1].start : 0);
		if (!ranges) {
			coder_fail(&m->k, S_LOCAL_RANGE, "there are no ranges");
			return;
		}
		l = &m->locations[m->num_calls + (range < ranges ? range : ranges - 1)];
		key = hash_of(l->function_idx, l->inlined_into_idx, 2);
		g = &m->callees[key & m->mask];
		if (g->key == key && g->value < i)
			expected = list[g->value];
		*g = (struct guess){ key, (uint32_t)i };
		code_or(&m->k, packing, S_LOCAL_FIRST, &r->first, expected.first, end);
		code_or(&m->k, packing, S_LOCAL_COUNT, &r->count, expected.count, 0);
		if (r->first + r->count > end)
			end = r->first + r->count;
	}
}

/* Numbers of variables: 0: the next new one, 1: the one behind the last. */
INLINE void code_local_order(struct model *m, const bool packing)
{
	uint32_t *v = m->known[SYMCACHE_SECTION_LOCAL_ORDER], next = 0, last = 0;

	for (size_t i = 0; i < m->counts[SYMCACHE_SECTION_LOCAL_ORDER] && !m->k.bad; i++, v++) {
		uint64_t x = 0;

		if (packing)
			x = *v == next ? 0 : *v == last + 1 ? 1 : 2 + (uint64_t)zigzag(next - *v);
		x = code_num(&m->k, packing, S_LOCAL_ORDER, x);
		if (!packing)
			*v = !x ? next : x == 1 ? last + 1 : next - unzigzag((uint32_t)(x - 2));
		last = *v;
		if (last >= next)
			next = last + 1;
	}
}

void locals_code(struct model *m, bool packing)
{
	if (packing) {
		code_local_ranges(m, true);
		code_local_order(m, true);
	} else {
		code_local_ranges(m, false);
		code_local_order(m, false);
	}
}
