/*
 * Overlapping intervals → disjoint ones: see paint.h.
 *
 * A sweep over the starts with a heap of the intervals that are open, highest
 * priority on top. An interval that has ended stays in the heap until it comes
 * to the top: only the top must be alive. Intervals mostly nest, so the heap is
 * as deep as the nesting.
 */
#include "libsymcache/write/flatten/paint.h"

#include "libsymcache/base/sort.h"

static inline bool starts_before(const struct sc_paint_start *a, const struct sc_paint_start *b)
{
	return a->start < b->start;
}

static inline bool contains_or_precedes(const struct sc_interval *a, const struct sc_interval *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->end != b->end ? a->end > b->end : a->id > b->id;
}

SC_SORT(sort_by_start, struct sc_paint_start, starts_before)
SC_SORT(sort_by_containment, struct sc_interval, contains_or_precedes)

bool sc_rank_by_containment(struct sc_intervals *in)
{
	if (!sort_by_containment(in->list.data, in->list.len))
		return false;
	for (size_t i = 0; i < in->list.len; i++)
		in->list.data[i].priority = i + 1;
	return true;
}

/* ---- the heap: indices into the intervals, highest priority first ------------- */

/* There is room. */
static void heap_push(struct sc_paint *pot, const struct sc_interval *in, uint32_t i)
{
	uint32_t *h = pot->heap.data;
	size_t at = pot->heap.len++;

	while (at && in[h[(at - 1) / 2]].priority < in[i].priority) {
		h[at] = h[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	h[at] = i;
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

static bool sort_starts(struct sc_paint *pot, const struct sc_intervals *in)
{
	const size_t n = in->list.len;

	vec_clear(&pot->starts);
	vec_clear(&pot->heap);
	if (n > UINT32_MAX || !vec_reserve(&pot->starts, n) || !vec_reserve(&pot->heap, n))
		return false;
	pot->starts.len = n;
	for (size_t i = 0; i < n; i++)
		pot->starts.data[i] = (struct sc_paint_start){ in->list.data[i].start, (uint32_t)i };
	return sort_by_start(pot->starts.data, n);
}

bool sc_paint(struct sc_paint *pot, const struct sc_intervals *in, struct sc_intervals *out)
{
	const struct sc_interval *list = in->list.data;
	const struct sc_paint_start *next, *last;
	uint64_t at = 0;

	vec_clear(&out->list);
	if (!in->list.len)
		return true;
	if (!sort_starts(pot, in))
		return false;
	next = pot->starts.data;
	last = next + pot->starts.len;
	while (next < last || pot->heap.len) {
		const struct sc_interval *top;
		uint64_t end;

		if (!pot->heap.len)
			at = next->start;
		for (; next < last && next->start <= at; next++)
			if (list[next->at].end > at)
				heap_push(pot, list, next->at);
		while (pot->heap.len && list[pot->heap.data[0]].end <= at)
			heap_pop(pot, list);
		if (!pot->heap.len)
			continue;
		top = &list[pot->heap.data[0]];
		end = next < last && next->start < top->end ? next->start : top->end;
		if (!sc_intervals_append(out, at, end, top->priority, top->id))
			return false;
		at = end;
	}
	return true;
}
