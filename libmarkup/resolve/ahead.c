/*
 * The scan for what inputs may read, some elements ahead of the lines: addresses are announced
 * before their turn, and where a resolver can look several of them up together
 * they need not wait for memory one after another.
 *
 *   ……{{{bt:…}}}……\n……{{{bt:…}}}……\n……\n……{{{bt:…}}}……
 *      hit 0              hit 1     | this     hit 2      ^ upto
 *                                   | line
 *
 * Announcing is a hint: elements are recognized by their first bytes alone,
 * modules and maps are not followed, and what comes out in the end does not depend
 * on it. Modules that were not asked for yet are left, as are addresses that the
 * memo knows; of these the text is fetched.
 */
#include "libmarkup/resolve/resolve.h"

#define BLOCK 8192 /* bytes to look through at once */

void mk_ahead_init(struct mk_ahead *a, const struct mk_input *const *inputs,
		   enum mk_scan_for scan_for)
{
	a->scan_for = scan_for;
	a->inputs = inputs;
	if (*inputs == &mk_markup_input && !inputs[1]) /* what mk_scan() finds is enough */
		return;
	if (scan_for == MK_SCAN_ESC)
		mk_words_add(&a->words, "\033");
	for (; *inputs; inputs++)
		for (const char *const *word = (*inputs)->words; *word; word++)
			mk_words_add(&a->words, *word);
}

/* Reads the address of a hit. */
static bool peek(const struct mk_ahead *a, const char *at, const char *end, struct mk_peek *ret)
{
	for (const struct mk_input *const *in = a->inputs; *in; in++)
		if ((*in)->peek && (*in)->peek(at, end, ret))
			return true;
	return false;
}

/* Announces the addresses of the current hits. */
static void announce(struct mk_resolve *r, const char *end)
{
	struct mk_ahead *a = &r->ahead;
	struct mk_memo_key key = { r->context.generation, 0, r->memo_kind };
	uint64_t vaddrs[MARKUP_AHEAD];
	void *modules[MARKUP_AHEAD];
	size_t n = 0;

	a->generation = key.generation;
	a->kind = key.kind;
	a->num = a->next = 0;
	/* Fuchsia's modules are found by their bases; its maps are not in order. */
	if (r->where->silent || !r->context.num_maps || r->dialect == MARKUP_FUCHSIA)
		return;
	for (uint32_t i = 0; i < a->num_hits; i++) {
		struct mk_announced *e = &a->addresses[a->num];

		if (!peek(a, a->hits[i].at, end, &e->peek))
			continue;
		key.address = e->peek.address;
		mk_memo_expect(&r->memo, &key);
		e->hit = (uint8_t)i;
		a->num++;
	}
	/* Step by step, so that they wait for memory together. */
	for (uint32_t i = 0; i < a->num; i++)
		a->addresses[i].map = mk_context_find(&r->context, a->addresses[i].peek.address);
	for (uint32_t i = 0; i < a->num; i++) {
		struct mk_announced *e = &a->addresses[i];
		const struct mk_module *m;

		if (!e->map)
			continue;
		m = &r->context.modules[e->map->module];
		key.address = e->peek.address;
		e->remembered = mk_memo_fetch(&r->memo, &key, &e->worth);
		if (e->remembered || !m->handle)
			continue;
		modules[n] = m->handle;
		vaddrs[n++] = mk_map_vaddr(e->map, e->peek.address);
	}
	if (n && r->resolver.prepare)
		r->resolver.prepare(r->resolver.ctx, modules, vaddrs, n);
}

void mk_ahead_start(struct mk_resolve *r, const char *p)
{
	struct mk_ahead *a = &r->ahead;

	a->upto = p;
	a->line_no = r->where->line_no;
	a->num_hits = a->next_hit = 0;
}

static void look(struct mk_resolve *r, const char *end)
{
	struct mk_ahead *a = &r->ahead;
	const char *limit = end - a->upto > BLOCK ? a->upto + BLOCK : end;

	a->next_hit = 0;
	/* Nothing may begin before the limit and end behind it. */
	if (a->words.num) {
		if (limit < end) {
			limit = memchr(limit, '\n', (size_t)(end - limit));
			limit = limit ? limit + 1 : end;
		}
		a->num_hits = mk_words_hits(&a->words, &a->upto, limit, &a->line_no, a->hits,
					    MARKUP_AHEAD);
	} else {
		while (limit < end && limit[-1] == '{')
			limit++;
		a->num_hits = mk_scan_hits(&a->upto, limit, a->scan_for, &a->line_no, a->hits,
					   MARKUP_AHEAD);
	}
	announce(r, end);
}

bool mk_ahead_finds(const struct mk_ahead *a, const char *p, const char *end, uint64_t *newlines)
{
	return a->words.num ? mk_words_find(&a->words, p, end, newlines)
			    : mk_scan(p, end, a->scan_for, newlines);
}

const char *mk_ahead_next(struct mk_resolve *r, const char *p, const char *end)
{
	struct mk_ahead *a = &r->ahead;

	while (1) {
		while (a->next_hit < a->num_hits) {
			const struct mk_hit *hit = &a->hits[a->next_hit++];
			if (hit->at >= p) {
				r->where->line_no = hit->line_no;
				return hit->at;
			}
		}
		if (a->upto >= end)
			break;
		look(r, end);
	}
	r->where->line_no = a->line_no;
	return NULL;
}

bool mk_ahead_in_line(struct mk_resolve *r, const char *p, const char *eol, const char *end)
{
	struct mk_ahead *a = &r->ahead;

	while (1) {
		for (; a->next_hit < a->num_hits; a->next_hit++)
			if (a->hits[a->next_hit].at >= p)
				return a->hits[a->next_hit].at < eol;
		if (a->upto >= eol)
			return false;
		look(r, end);
	}
}

const struct mk_announced *mk_ahead_frame(struct mk_resolve *r, uint32_t kind)
{
	struct mk_ahead *a = &r->ahead;
	const size_t hit = a->next_hit - 1;

	if (a->generation != r->context.generation || a->kind != kind)
		return NULL;
	while (a->next < a->num && a->addresses[a->next].hit < hit)
		a->next++;
	if (a->next == a->num || a->addresses[a->next].hit != hit ||
	    !a->addresses[a->next].peek.len)
		return NULL;
	return &a->addresses[a->next++];
}

const struct mk_announced *mk_ahead_address(struct mk_resolve *r, const struct mk_memo_key *key)
{
	struct mk_ahead *a = &r->ahead;

	if (a->generation != key->generation || a->kind != key->kind)
		return NULL;
	for (uint32_t i = a->next; i < a->num; i++) {
		if (a->addresses[i].peek.address == key->address) {
			a->next = i + 1;
			return &a->addresses[i];
		}
	}
	return NULL;
}
