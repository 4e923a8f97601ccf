/* Many addresses in an order that is given: see symbolize.h. */
#include "libsymcache/symbolize/symbolize.h"

#include "libsymcache/symbolize/module.h"

static bool is_same(const struct symcache_question *a, const struct symcache_question *b)
{
	return a->module == b->module && a->vaddr == b->vaddr;
}

/* Announces the next addresses. Returns the first that is not among them. */
static size_t announce(struct symcache_symbolizer *s, size_t from, size_t n,
		       struct symcache_question (*at)(void *ctx, size_t i), void *ctx)
{
	struct symcache_module *modules[SYMCACHE_BATCH];
	uint64_t vaddrs[SYMCACHE_BATCH];
	struct symcache_question last = { 0 };
	size_t len = 0, i;

	for (i = from; i < n; i++) {
		const struct symcache_question q = at(ctx, i);

		if (len && is_same(&q, &last))
			continue;
		if (len == SYMCACHE_BATCH)
			break;
		modules[len] = q.module;
		vaddrs[len++] = q.vaddr;
		last = q;
	}
	symcache_symbolize_ahead(s, modules, vaddrs, len);
	return i;
}

void symcache_symbolize_expect(struct symcache_module *m, size_t n)
{
	enum { READS = 4 }; /* of each address at least: index, ranges, location, name */
	const struct symcache *cache = sc_module_cache(m);

	if (cache && cache->guard)
		symcache_guard_expect(cache->guard, READS * n);
}

int symcache_symbolize_sorted(struct symcache_symbolizer *s, size_t n,
			      struct symcache_question (*at)(void *ctx, size_t i),
			      int (*fn)(void *ctx, size_t i, const struct symcache_answer *a),
			      void *ctx)
{
	struct symcache_question last = { 0 };
	struct symcache_answer a;
	size_t announced = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		const struct symcache_question q = at(ctx, i);

		if (i == announced)
			announced = announce(s, i, n, at, ctx);
		if ((!i || !is_same(&q, &last)) &&
		    symcache_symbolize(s, q.module, q.vaddr, &a) == SYMCACHE_DAMAGED)
			symcache_symbolize(s, q.module, q.vaddr, &a); /* in another cache */
		rc = fn(ctx, i, &a);
		last = q;
	}
	return rc;
}
