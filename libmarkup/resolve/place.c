/*
 * Fuchsia's modules, which are placed as a whole: the first map gives the base, and a
 * module reaches from there up to the end of its highest map, that address included. A
 * kernel that is mapped below its own addresses has base 0 and a negative_base.
 */
#include "libmarkup/resolve/context.h"

#include <errno.h>
#include <stdlib.h>

enum mk_context_result mk_context_place(struct mk_context *c, struct mk_module *m,
					uint64_t address, uint64_t size, uint64_t offset)
{
	const bool negative = address < offset, first = !m->base_fixed;
	const uint64_t base = negative ? 0 : address - offset;
	const uint64_t end = negative ? address + size : size + offset;
	bool consistent = true;

	if (m->base_fixed) {
		consistent = m->base == base &&
			     (!negative || m->negative_base == offset - address);
	} else {
		m->base = base;
		if (negative)
			m->negative_base = offset - address;
		m->base_fixed = c->fixes_base;
	}
	if (end > m->size)
		m->size = end;
	mk_context_changed(c);
	return !consistent ? MK_CTX_OVERLAP : first && m->base_fixed ? MK_CTX_OK : MK_CTX_SAME;
}

static int by_base(const void *a, const void *b, void *ctx)
{
	const struct mk_module *modules = ctx;
	const struct mk_module *x = &modules[*(const uint32_t *)a];
	const struct mk_module *y = &modules[*(const uint32_t *)b];

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool sort_modules(struct mk_context *c)
{
	const uint32_t n = c->num_modules;
	uint32_t *sorted = realloc(c->by_base, (n + 1) * sizeof(*sorted));

	if (!sorted)
		return false;
	c->by_base = sorted;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = i;
	qsort_r(sorted, n, sizeof(*sorted), by_base, c->modules);
	c->by_base_generation = c->generation;
	return true;
}

/* The module with the highest base up to `limit`, if it reaches `address`. */
static struct mk_module *module_up_to(struct mk_context *c, uint64_t limit, uint64_t address)
{
	uint32_t low = 0, high = c->num_modules;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (c->modules[c->by_base[mid]].base <= limit)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	struct mk_module *m = &c->modules[c->by_base[low - 1]];
	return address - m->base <= m->size ? m : NULL;
}

struct mk_module *mk_context_module_at(struct mk_context *c, uint64_t address, int *error)
{
	struct mk_module *m;

	if (c->by_base_generation != c->generation && !sort_modules(c)) {
		*error = -ENOMEM;
		return NULL;
	}
	m = module_up_to(c, address, address);
	return m ? m : module_up_to(c, 0, address); /* a kernel with base 0 */
}
