/*
 * The addresses of the next lines, before their turn: where a resolver can look
 * several of them up together they need not wait for memory one after another.
 *
 * Only a hint: elements are recognized by their first bytes alone, contextual
 * ones are not followed, and what comes out in the end does not depend on it.
 * Modules that were not asked for yet are left, as are addresses that the memo
 * knows; of these the text is fetched.
 *
 * Cost: one more scan over the text, a block at a time, which is then at hand.
 */
#include "libmarkup/state.h"

#define BLOCK 8192u /* bytes to look through at once */

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

const char *mk_announce(struct markup_filter *f, const char *p, const char *end)
{
	struct memo_key key = { f->context.generation, 0, f->memo_kind };
	uint64_t vaddrs[MARKUP_AHEAD], lines = 0;
	void *modules[MARKUP_AHEAD];
	size_t n = 0;

	if (f->silent || !f->resolver.prepare || !f->context.num_maps)
		return end;
	if ((size_t)(end - p) > BLOCK)
		end = p + BLOCK;
	for (; n < MARKUP_AHEAD && (p = markup_scan(p, end, MARKUP_SCAN_BRACES, &lines)); p += 3) {
		const struct markup_mmap *map;
		const struct markup_module *m;

		if (!read_address(p, end, &key.address) || mk_memo_fetch(&f->memo, &key))
			continue;
		map = mk_context_find(&f->context, key.address);
		m = map ? &f->context.modules[map->module] : NULL;
		if (!m || !m->handle)
			continue;
		modules[n] = m->handle;
		vaddrs[n++] = mk_mmap_vaddr(map, key.address);
	}
	if (n)
		f->resolver.prepare(f->resolver.ctx, modules, vaddrs, n);
	return p ? p : end;
}
