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

/* Where a run begins, and the next of the call; behind the last one the second. */
struct run {
	uint32_t start, next;
};

struct call_runs {
	uint32_t depth; /* its place in the chain of the range before, from 1 on */
	uint32_t first; /* where its first run begins */
	uint32_t last;  /* NO_RUN, ONE_RUN, or SEVERAL + the number of the last one in runs.more */
};

enum { NO_RUN, ONE_RUN, SEVERAL };

struct runs {
	struct call_runs *calls;
	struct run *more; /* those behind the first of a call */
	uint32_t num, room;
};

static bool add_run(struct model *m, struct runs *r, struct call_runs *c, uint32_t start)
{
	struct run *run;

	if (c->last == NO_RUN) {
		c->first = start;
		c->last = ONE_RUN;
		return true;
	}
	if (r->num == r->room) {
		struct run *more;

		r->room += r->room / 2 + 1024;
		if (!(more = coder_enlarge(&m->k, r->more, r->room * sizeof(*more))))
			return false;
		r->more = more;
	}
	run = &r->more[r->num];
	*run = (struct run){ start, r->num };
	if (c->last >= SEVERAL) {
		run->next = r->more[c->last - SEVERAL].next;
		r->more[c->last - SEVERAL].next = r->num;
	}
	c->last = SEVERAL + r->num++;
	return true;
}

/* Those that begin at range `i`. False: it cannot be. */
static bool begin_runs(struct model *m, struct runs *r, uint32_t i, uint32_t chain[],
		       uint32_t *depth)
{
	uint32_t c = m->locations[m->num_calls + i].inlined_into_idx, fresh[DEPTH_MAX], n = 0, kept;

	if (*depth && c == chain[*depth - 1])
		return true;
	for (; c < m->num_calls && !r->calls[c].depth; c = m->locations[c].inlined_into_idx) {
		if (n == DEPTH_MAX || (n && c >= fresh[n - 1]))
			return false;
		fresh[n++] = c;
	}
	kept = c < m->num_calls ? r->calls[c].depth : 0;
	if (kept + n > DEPTH_MAX)
		return false;
	while (*depth > kept)
		r->calls[chain[--*depth]].depth = 0;
	while (n) {
		c = chain[(*depth)++] = fresh[--n];
		r->calls[c].depth = *depth;
		if (!add_run(m, r, &r->calls[c], m->ranges[i]))
			return false;
	}
	return true;
}

static bool find_runs(struct model *m, struct runs *r)
{
	const uint64_t most = 4 * (uint64_t)m->header->num_source_locations + 2048;
	uint32_t chain[DEPTH_MAX], depth = 0;

	r->calls = coder_take(&m->k, m->num_calls, sizeof(*r->calls));
	for (uint32_t i = 0; i < m->header->num_ranges && !m->k.bad; i++)
		if (!begin_runs(m, r, i, chain, &depth) || r->num > most)
			return false;
	return !m->k.bad;
}

/* The runs of a call, one by one. */
struct walk {
	uint32_t left, start, next;
};

static struct walk walk_runs(const struct runs *r, const struct call_runs *c)
{
	struct walk w = { c->last, c->first, 0 };

	if (c->last < SEVERAL)
		return w;
	w.next = r->more[c->last - SEVERAL].next;
	w.left = 2;
	for (uint32_t i = w.next; i != c->last - SEVERAL; i = r->more[i].next)
		w.left++;
	return w;
}

static void walk_on(const struct runs *r, struct walk *w)
{
	if (--w->left) {
		w->start = r->more[w->next].start;
		w->next = r->more[w->next].next;
	}
}

/* INLS of a call: 0: where its only run begins, or nowhere; 1: INLX has it; 2: nowhere; else the
 * difference to the first run. */
INLINE void code_inlined_start(struct model *m, const bool packing, uint32_t *start,
			       const struct call_runs *c)
{
	const uint32_t expected = c->last == ONE_RUN ? c->first : SYMCACHE_NONE, base = c->first;
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
		uint32_t count = 0, last = 0;
		struct walk w;

		code_inlined_start(m, packing, &starts[c], &r.calls[c]);
		if (starts[c] != SYMCACHE_START_MORE || !d)
			continue;
		while (packing && at + count < num && d[at + count].location == c)
			count++;
		w = walk_runs(&r, &r.calls[c]);
		code_diff(&m->k, packing, S_INLX, &count, w.left);
		for (; count && at < num && !m->k.bad; count--, at++) {
			if (!packing)
				d[at].location = c;
			code_copy(m, packing, &d[at], w.left ? w.start : last, last);
			last = d[at].value;
			while (w.left && w.start <= d[at].from)
				walk_on(&r, &w);
		}
	}
	if (at != num)
		coder_fail(&m->k, S_INLX, "not as many as the section has");
	coder_drop(&m->k, r.calls);
	coder_drop(&m->k, r.more);
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
