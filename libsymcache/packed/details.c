/*
 * DISX, discriminators that have no room in DISC; INLS and INLX, where inlined functions begin.
 *
 * A *run* of a call begins at a range whose chain of calls has it while that of the range before
 * has not. Most inlined functions begin where their only run does.
 */
#include "libsymcache/packed/model.h"

enum { DEPTH_MAX = 4096 };

INLINE void code_more_discriminators(struct model *m, const bool packing)
{
	struct symcache_ext_detail *d = m->known[SYMCACHE_SECTION_DISCRIMINATORS];
	const size_t num = m->counts[SYMCACHE_SECTION_DISCRIMINATORS];
	size_t at = 0;

	for (uint32_t i = 0; i < m->header->num_source_locations && at < num && !m->k.bad; i++) {
		uint32_t from = i >= m->num_calls ? m->ranges[i - m->num_calls] : 0, last = 0;
		uint64_t n = 0;

		if (m->discs[i] != SYMCACHE_DISCRIMINATOR_MORE)
			continue;
		while (packing && at + n < num && d[at + n].location == i)
			n++;
		n = code_num(&m->k, packing, S_DISX, n);
		for (; n && at < num; n--, at++) {
			if (!packing)
				d[at].location = i;
			from = code_diff(&m->k, packing, S_DISX, &d[at].from, from);
			last = code_diff(&m->k, packing, S_DISX, &d[at].value, last);
		}
	}
	if (at != num)
		coder_fail(&m->k, S_DISX, "not as many as the section has");
}

/* The runs of call c are at[first[c], first[c + 1]). */
struct runs {
	uint32_t *first, *at;
	uint32_t *depths; /* by calls: its place in the chain of the range before, from 1 on */
	uint64_t total;
};

/* Those that begin at range `i`, if `at` is there; else counts them. False: it cannot be. */
static bool begin_runs(const struct model *m, struct runs *r, uint32_t i, uint32_t chain[],
		       uint32_t *depth)
{
	uint32_t c = m->locations[m->num_calls + i].inlined_into_idx, fresh[DEPTH_MAX], n = 0, kept;

	if (*depth && c == chain[*depth - 1])
		return true;
	for (; c < m->num_calls && !r->depths[c]; c = m->locations[c].inlined_into_idx) {
		if (n == DEPTH_MAX || (n && c >= fresh[n - 1]))
			return false;
		fresh[n++] = c;
	}
	kept = c < m->num_calls ? r->depths[c] : 0;
	if (kept + n > DEPTH_MAX)
		return false;
	r->total += n;
	while (*depth > kept)
		r->depths[chain[--*depth]] = 0;
	while (n) {
		c = chain[(*depth)++] = fresh[--n];
		r->depths[c] = *depth;
		if (r->at)
			r->at[r->first[c + 1]++] = m->ranges[i];
		else
			r->first[c + 2]++;
	}
	return true;
}

static bool find_runs(struct model *m, struct runs *r)
{
	const uint64_t most = 2 * (uint64_t)m->header->num_source_locations + 1024;
	uint32_t chain[DEPTH_MAX];

	r->depths = coder_take(&m->k, m->num_calls, sizeof(*r->depths));
	r->first = coder_take(&m->k, (size_t)m->num_calls + 2, sizeof(*r->first));
	for (int pass = 0; pass < 2 && !m->k.bad; pass++) {
		uint32_t depth = 0;

		for (uint32_t i = 0; i < m->header->num_ranges; i++)
			if (!begin_runs(m, r, i, chain, &depth) || r->total > 2 * most)
				return false;
		while (depth)
			r->depths[chain[--depth]] = 0;
		if (pass)
			break;
		for (uint32_t c = 0; c < m->num_calls; c++)
			r->first[c + 2] += r->first[c + 1];
		r->at = coder_take(&m->k, r->first[m->num_calls + 1], sizeof(*r->at));
	}
	return !m->k.bad;
}

/* INLS of a call: 0: where its only run begins, or nowhere; 1: INLX has it; 2: nowhere; else the
 * difference to the first run. */
INLINE void code_inlined_start(struct model *m, const bool packing, uint32_t *start,
			       const uint32_t *runs, uint32_t n)
{
	const uint32_t expected = n == 1 ? runs[0] : SYMCACHE_NONE, base = n ? runs[0] : 0;
	uint64_t x = 0;

	if (packing)
		x = *start == expected ? 0 : *start == SYMCACHE_START_MORE ? 1 :
		    *start == SYMCACHE_NONE ? 2 : 3 + (uint64_t)zigzag(*start - base);
	x = code_num(&m->k, packing, S_START, x);
	if (!packing)
		*start = x == 0 ? expected : x == 1 ? SYMCACHE_START_MORE :
			 x == 2 ? SYMCACHE_NONE : base + unzigzag((uint32_t)(x - 3));
}

/* A record of INLX: where, and what: 0: the same, 1: as the last, 2: nowhere. */
INLINE void code_copy(struct model *m, const bool packing, struct symcache_ext_detail *d,
		      uint32_t from, uint32_t last)
{
	uint64_t x = 0;

	code_diff(&m->k, packing, S_INLX, &d->from, from);
	if (packing)
		x = d->value == d->from ? 0 : d->value == last ? 1 : d->value == SYMCACHE_NONE ? 2 :
		    3 + (uint64_t)zigzag(d->value - d->from);
	x = code_num(&m->k, packing, S_INLX_VALUE, x);
	if (!packing)
		d->value = x == 0 ? d->from : x == 1 ? last : x == 2 ? SYMCACHE_NONE :
			   d->from + unzigzag((uint32_t)(x - 3));
}

INLINE void code_inlined(struct model *m, const bool packing)
{
	uint32_t *starts = m->known[SYMCACHE_SECTION_INLINED];
	struct symcache_ext_detail *d = m->known[SYMCACHE_SECTION_INLINES];
	const size_t num = m->counts[SYMCACHE_SECTION_INLINES];
	struct runs r = { 0 };
	size_t at = 0;

	if (starts && !find_runs(m, &r))
		coder_fail(&m->k, S_START, "calls that are inlined too deeply");
	for (uint32_t c = 0; starts && c < m->num_calls && !m->k.bad; c++) {
		const uint32_t *runs = r.at + r.first[c], n = r.first[c + 1] - r.first[c];
		uint32_t count = 0, last = 0, p = 0;

		code_inlined_start(m, packing, &starts[c], runs, n);
		if (starts[c] != SYMCACHE_START_MORE || !d)
			continue;
		while (packing && at + count < num && d[at + count].location == c)
			count++;
		code_diff(&m->k, packing, S_INLX, &count, n);
		for (; count && at < num && !m->k.bad; count--, at++) {
			if (!packing)
				d[at].location = c;
			code_copy(m, packing, &d[at], p < n ? runs[p] : last, last);
			last = d[at].value;
			while (p < n && runs[p] <= d[at].from)
				p++;
		}
	}
	if (at != num)
		coder_fail(&m->k, S_INLX, "not as many as the section has");
	coder_drop(&m->k, r.depths);
	coder_drop(&m->k, r.first);
	coder_drop(&m->k, r.at);
}

void details_code(struct model *m, bool packing)
{
	if (packing) {
		code_more_discriminators(m, true);
		code_inlined(m, true);
	} else {
		code_more_discriminators(m, false);
		code_inlined(m, false);
	}
}
