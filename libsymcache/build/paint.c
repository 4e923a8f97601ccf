/*
 * Overlapping intervals → disjoint ones: see paint.h.
 *
 * A sweep over the starts with a heap of the intervals that are open, highest
 * priority on top. An interval that has ended stays in the heap until it comes
 * to the top: only the top must be alive. Intervals mostly nest, so the heap is
 * as deep as the nesting.
 */
#include "libsymcache/build/paint.h"

static int by_start(const void *a, const void *b)
{
	const struct sc_interval *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->priority < y->priority ? -1 : x->priority > y->priority;
}

static int by_containment(const void *a, const void *b)
{
	const struct sc_interval *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->id > y->id ? -1 : x->id < y->id;
}

static bool sorted(const struct sc_intervals *in,
		   int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < in->list.len; i++)
		if (compare(&in->list.data[i - 1], &in->list.data[i]) > 0)
			return false;
	return true;
}

void sc_intervals_sort(struct sc_intervals *v, int (*compare)(const void *, const void *))
{
	if (!sorted(v, compare))
		qsort(v->list.data, v->list.len, sizeof(*v->list.data), compare);
}

bool sc_intervals_add(struct sc_intervals *v, uint64_t start, uint64_t end, uint64_t priority,
		      uint32_t id)
{
	struct sc_interval *i = vec_push(&v->list);

	if (!i)
		return false;
	*i = (struct sc_interval){ start, end, priority, id };
	return true;
}

void sc_rank_by_containment(struct sc_intervals *in)
{
	sc_intervals_sort(in, by_containment);
	for (size_t i = 0; i < in->list.len; i++)
		in->list.data[i].priority = i + 1;
}

/* ---- the heap: indices into the intervals, highest priority first ------------- */

static bool heap_push(struct sc_paint *pot, const struct sc_interval *in, uint32_t i)
{
	uint32_t *slot = vec_push(&pot->heap), *h = pot->heap.data;
	size_t at = pot->heap.len - 1;

	if (!slot)
		return false;
	while (at && in[h[(at - 1) / 2]].priority < in[i].priority) {
		h[at] = h[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	h[at] = i;
	return true;
}

static void heap_pop(struct sc_paint *pot, const struct sc_interval *in)
{
	uint32_t *h = pot->heap.data, last = h[--pot->heap.len];
	size_t at = 0, n = pot->heap.len;

	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= n)
			break;
		if (child + 1 < n && in[h[child]].priority < in[h[child + 1]].priority)
			child++;
		if (in[h[child]].priority <= in[last].priority)
			break;
		h[at] = h[child];
		at = child;
	}
	h[at] = last;
}

/* ---- the sweep ------------------------------------------------------------------ */

static bool emit(struct sc_intervals *out, const struct sc_interval *winner, uint64_t start,
		 uint64_t end)
{
	struct sc_interval *last = out->list.len ? &out->list.data[out->list.len - 1] : NULL;

	if (last && last->end == start && last->id == winner->id &&
	    last->priority == winner->priority) {
		last->end = end;
		return true;
	}
	last = vec_push(&out->list);
	if (!last)
		return false;
	*last = *winner;
	last->start = start;
	last->end = end;
	return true;
}

bool sc_paint(struct sc_paint *pot, struct sc_intervals *in, struct sc_intervals *out)
{
	const struct sc_interval *list;
	size_t i = 0, n = in->list.len;
	uint64_t at = 0;

	sc_intervals_sort(in, by_start);
	list = in->list.data;
	vec_clear(&out->list);
	vec_clear(&pot->heap);
	while (i < n || pot->heap.len) {
		const struct sc_interval *top;
		uint64_t end;

		if (!pot->heap.len)
			at = list[i].start;
		for (; i < n && list[i].start <= at; i++)
			if (list[i].end > at && !heap_push(pot, list, (uint32_t)i))
				return false;
		while (pot->heap.len && list[pot->heap.data[0]].end <= at)
			heap_pop(pot, list);
		if (!pot->heap.len)
			continue;
		top = &list[pot->heap.data[0]];
		end = i < n && list[i].start < top->end ? list[i].start : top->end;
		if (!emit(out, top, at, end))
			return false;
		at = end;
	}
	return true;
}
