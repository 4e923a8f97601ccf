/*
 * The scan for markup, some elements ahead of the lines: addresses are announced
 * before their turn, and where a resolver can look several of them up together
 * they need not wait for memory one after another.
 *
 *   ……{{{bt:…}}}……\n……{{{bt:…}}}……\n……\n……{{{bt:…}}}……
 *      hit 0              hit 1     | line     hit 2      ^ upto
 *                                   | at hand
 *
 * Announcing is but a hint: elements are recognized by their first bytes alone,
 * contextual ones are not followed, and what comes out in the end does not depend
 * on it. Modules that were not asked for yet are left, as are addresses that the
 * memo knows; of these the text is fetched.
 */
#include "libmarkup/state.h"

#define BLOCK 8192 /* bytes to look through at once */

/* Reads the address of the element at `p`, the one that is looked up. */
static bool read_address(const char *p, const char *end, uint64_t *ret)
{
	const char *start;
	bool return_address;

	if (end - p < 12 || p[5] != ':')
		return false;
	return_address = p[3] == 'b' && p[4] == 't';
	if (!return_address && (p[3] != 'p' || p[4] != 'c'))
		return false;
	p += 6;
	if (return_address) {
		while (p < end && *p >= '0' && *p <= '9')
			p++;
		p++;
	}
	start = p;
	while (p < end && *p != ':' && *p != '}')
		p++;
	if (p >= end || !mk_field_address((struct markup_str){ start, (size_t)(p - start) }, ret))
		return false;
	if (*p == ':' && end - p > 2)
		return_address = p[2] == 'a' ? true : p[2] == 'c' ? false : return_address;
	*ret -= return_address;
	return true;
}

/*
 * Reads a bt element as programs write it: "{{{bt:1:0x7f00}}}", with ":ra" or ":pc"
 * behind the address or without. It is what elements.c would read; here it costs no
 * search for its fields. False: it is of another form, or too near to the end.
 */
static bool read_frame(const char *p, const char *end, struct announced *e)
{
	enum { NUMBER_MAX = 8, LONGEST = 6 + NUMBER_MAX + 3 + 16 + 6 };
	const char *start = p;
	uint32_t number = 0;
	uint64_t address;
	unsigned digits;

	if (end - p < LONGEST || memcmp(p + 3, "bt:", 3))
		return false;
	p += 6;
	for (digits = 0; digits < NUMBER_MAX && *p >= '0' && *p <= '9'; digits++)
		number = number * 10 + (uint32_t)(*p++ - '0');
	if (!digits || memcmp(p, ":0x", 3))
		return false;
	p += 3;
	digits = mk_field_hex_digits(p, &address);
	p += digits;
	e->return_address = true;
	if (*p == ':') {
		if (memcmp(p, ":ra", 3) && memcmp(p, ":pc", 3))
			return false;
		e->return_address = p[1] == 'r';
		p += 3;
	}
	if (!digits || memcmp(p, "}}}", 3))
		return false;
	e->address = address - e->return_address;
	e->number = number;
	e->len = (uint32_t)(p + 3 - start);
	return true;
}

/* Announces the addresses of the hits at hand. */
static void announce(struct markup_filter *f, const char *end)
{
	struct ahead *a = &f->ahead;
	struct memo_key key = { f->context.generation, 0, f->memo_kind };
	uint64_t vaddrs[MARKUP_AHEAD];
	void *modules[MARKUP_AHEAD];
	size_t n = 0;

	a->generation = key.generation;
	a->kind = key.kind;
	a->num = a->next = 0;
	/* Fuchsia's modules are found by their bases; its maps are not in order. */
	if (f->silent || !f->context.num_maps || f->options.dialect == MARKUP_FUCHSIA)
		return;
	for (uint32_t i = 0; i < a->num_hits; i++) {
		struct announced *e = &a->addresses[a->num];
		const char *at = a->hits[i].at;

		e->len = 0;
		if (!read_frame(at, end, e) && !read_address(at, end, &e->address))
			continue;
		key.address = e->address;
		mk_memo_expect(&f->memo, &key);
		e->hit = (uint8_t)i;
		a->num++;
	}
	/* Step by step, so that they wait for memory together. */
	for (uint32_t i = 0; i < a->num; i++)
		a->addresses[i].map = mk_context_find(&f->context, a->addresses[i].address);
	for (uint32_t i = 0; i < a->num; i++) {
		struct announced *e = &a->addresses[i];
		const struct markup_module *m;

		if (!e->map)
			continue;
		m = &f->context.modules[e->map->module];
		key.address = e->address;
		e->remembered = mk_memo_fetch(&f->memo, &key, &e->worth);
		if (e->remembered || !m->handle)
			continue;
		modules[n] = m->handle;
		vaddrs[n++] = mk_mmap_vaddr(e->map, e->address);
	}
	if (n && f->resolver.prepare)
		f->resolver.prepare(f->resolver.ctx, modules, vaddrs, n);
}

void mk_ahead_start(struct markup_filter *f, const char *p)
{
	struct ahead *a = &f->ahead;

	a->upto = p;
	a->line_no = f->line_no;
	a->num_hits = a->next_hit = 0;
}

void mk_ahead_look(struct markup_filter *f, const char *end)
{
	struct ahead *a = &f->ahead;
	const char *limit = end - a->upto > BLOCK ? a->upto + BLOCK : end;

	/* Nothing may begin before the limit and end behind it. */
	while (limit < end && limit[-1] == '{')
		limit++;
	a->next_hit = 0;
	a->num_hits = markup_scan_hits(&a->upto, limit, f->scan_for, &a->line_no, a->hits,
				       MARKUP_AHEAD);
	announce(f, end);
}

const char *mk_ahead_next(struct markup_filter *f, const char *p, const char *end)
{
	struct ahead *a = &f->ahead;

	while (1) {
		while (a->next_hit < a->num_hits) {
			const struct markup_hit *hit = &a->hits[a->next_hit++];
			if (hit->at >= p) {
				f->line_no = hit->line_no;
				return hit->at;
			}
		}
		if (a->upto >= end)
			break;
		mk_ahead_look(f, end);
	}
	f->line_no = a->line_no;
	return NULL;
}

const struct announced *mk_ahead_frame(struct markup_filter *f, uint32_t kind)
{
	struct ahead *a = &f->ahead;
	const size_t hit = a->next_hit - 1;

	if (a->generation != f->context.generation || a->kind != kind)
		return NULL;
	while (a->next < a->num && a->addresses[a->next].hit < hit)
		a->next++;
	if (a->next == a->num || a->addresses[a->next].hit != hit || !a->addresses[a->next].len)
		return NULL;
	return &a->addresses[a->next++];
}

const struct announced *mk_ahead_address(struct markup_filter *f, const struct memo_key *key)
{
	struct ahead *a = &f->ahead;

	if (a->generation != key->generation || a->kind != key->kind)
		return NULL;
	for (uint32_t i = a->next; i < a->num; i++) {
		if (a->addresses[i].address == key->address) {
			a->next = i + 1;
			return &a->addresses[i];
		}
	}
	return NULL;
}
