/*
 * Addresses of processes → frames, one by one and many together: see process.h. Many are sorted
 * by image and p_vaddr, so that each is looked up once, and announced to the symbolizer in
 * batches.
 */
#include "libsymcache/base/sort.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/process.h"

/* What an entry that turned out damaged is replaced by is found the second time. */
static enum symcache_reason symbolize(struct symcache_symbolizer *s,
				      const struct symcache_address *at,
				      struct symcache_answer *ret)
{
	enum symcache_reason reason = at->reason;

	if (reason != SYMCACHE_FOUND) {
		*ret = (struct symcache_answer){ .reason = reason, .code_idx = SYMCACHE_NONE };
		return reason;
	}
	reason = symcache_symbolize(s, at->image->module, at->vaddr, ret);
	return reason == SYMCACHE_DAMAGED ?
		symcache_symbolize(s, at->image->module, at->vaddr, ret) : reason;
}

enum symcache_reason symcache_process_symbolize(struct symcache_process *p,
						struct symcache_symbolizer *s, uint64_t address,
						enum symcache_pc pc, struct symcache_address *at,
						struct symcache_answer *ret)
{
	struct symcache_address own;

	at = at ? at : &own;
	symcache_process_find(p, address, pc, at);
	return symbolize(s, at, ret);
}

/* An address by the order in which it is looked up. */
struct turn {
	uint32_t image;
	uint64_t vaddr;
	size_t idx;
};

static bool is_before(const struct turn *a, const struct turn *b)
{
	if (a->image != b->image)
		return a->image < b->image;
	return a->vaddr != b->vaddr ? a->vaddr < b->vaddr : a->idx < b->idx;
}

SC_SORT(sort_turns, struct turn, is_before)

/* Announces the next addresses. Returns the first turn that is of none of them. */
static size_t announce(struct symcache_symbolizer *s, const struct symcache_address list[],
		       const struct turn *turns, size_t from, size_t n)
{
	struct symcache_module *modules[SYMCACHE_BATCH];
	uint64_t vaddrs[SYMCACHE_BATCH];
	size_t len = 0, i;

	for (i = from; i < n; i++) {
		struct symcache_module *m = list[turns[i].idx].image->module;

		if (len && modules[len - 1] == m && vaddrs[len - 1] == turns[i].vaddr)
			continue;
		if (len == SYMCACHE_BATCH)
			break;
		modules[len] = m;
		vaddrs[len++] = turns[i].vaddr;
	}
	symcache_symbolize_ahead(s, modules, vaddrs, len);
	return i;
}

int symcache_addresses_symbolize(struct symcache_symbolizer *s,
				 const struct symcache_address list[], size_t n,
				 int (*fn)(void *ctx, size_t i, const struct symcache_answer *a),
				 void *ctx)
{
	VEC(struct turn) turns = { 0 };
	struct symcache_answer a;
	size_t announced = 0;
	int rc = vec_reserve(&turns, n) ? 0 : SC_ENOMEM;

	for (size_t i = 0; !rc && i < n; i++) {
		if (list[i].reason == SYMCACHE_FOUND) {
			turns.data[turns.len++] = (struct turn){ list[i].image->number,
								 list[i].vaddr, i };
			continue;
		}
		symbolize(s, &list[i], &a);
		rc = fn(ctx, i, &a);
	}
	if (!rc && !sort_turns(turns.data, turns.len))
		rc = SC_ENOMEM;
	for (size_t i = 0; !rc && i < turns.len; i++) {
		const struct turn *t = &turns.data[i];

		if (i == announced)
			announced = announce(s, list, turns.data, i, turns.len);
		if (!i || t[-1].image != t->image || t[-1].vaddr != t->vaddr)
			symbolize(s, &list[t->idx], &a);
		rc = fn(ctx, t->idx, &a);
	}
	vec_deinit(&turns);
	return rc;
}
