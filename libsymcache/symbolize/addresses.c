/*
 * Addresses of processes → frames: see process.h. They are sorted by image and p_vaddr, so that
 * each is looked up once, and announced to the symbolizer in batches.
 */
#include "libsymcache/base/sort.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/process.h"

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

/* The addresses of a batch in that order, and whom to give the answers. */
struct batch {
	const struct symcache_address *list;
	VEC(struct turn) turns;
	int (*fn)(void *ctx, size_t i, const struct symcache_answer *a);
	void *ctx;
};

static struct symcache_question question_at(void *ctx, size_t i)
{
	const struct batch *b = ctx;
	const struct turn *t = &b->turns.data[i];

	return (struct symcache_question){ b->list[t->idx].image->module, t->vaddr };
}

static int give(void *ctx, size_t i, const struct symcache_answer *a)
{
	const struct batch *b = ctx;

	return b->fn(b->ctx, b->turns.data[i].idx, a);
}

int symcache_addresses_symbolize(struct symcache_symbolizer *s,
				 const struct symcache_address list[], size_t n,
				 int (*fn)(void *ctx, size_t i, const struct symcache_answer *a),
				 void *ctx)
{
	struct batch b = { .list = list, .fn = fn, .ctx = ctx };
	int rc = vec_reserve(&b.turns, n) ? 0 : SC_ENOMEM;

	for (size_t i = 0; !rc && i < n; i++) {
		if (list[i].reason == SYMCACHE_FOUND) {
			b.turns.data[b.turns.len++] = (struct turn){ list[i].image->number,
								     list[i].vaddr, i };
			continue;
		}
		rc = fn(ctx, i, &(struct symcache_answer){ .reason = list[i].reason,
							   .code_idx = SYMCACHE_NONE,
							   .symbol_idx = SYMCACHE_NONE });
	}
	if (!rc && !sort_turns(b.turns.data, b.turns.len))
		rc = SC_ENOMEM;
	if (!rc)
		rc = symcache_symbolize_sorted(s, b.turns.len, question_at, give, &b);
	vec_deinit(&b.turns);
	return rc;
}
