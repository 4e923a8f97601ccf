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

static inline bool starts_before(const struct sc_interval *a, const struct sc_interval *b)
{
	return a->start != b->start ? a->start < b->start : a->priority < b->priority;
}

static inline bool contains_or_precedes(const struct sc_interval *a, const struct sc_interval *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->end != b->end ? a->end > b->end : a->id > b->id;
}

SC_SORT(sort_by_start, struct sc_interval, starts_before)
SC_SORT(sort_by_containment, struct sc_interval, contains_or_precedes)

bool sc_intervals_add(struct sc_intervals *v, uint64_t start, uint64_t end, uint64_t priority,
		      uint32_t id)
{
	struct sc_interval *i = vec_push(&v->list);

	if (!i)
		return false;
	*i = (struct sc_interval){ start, end, priority, id };
	return true;
}

bool sc_rank_by_containment(struct sc_intervals *in)
{
	if (!sort_by_containment(in->list.data, in->list.len))
		return false;
	for (size_t i = 0; i < in->list.len; i++)
		in->list.data[i].priority = i + 1;
	return true;
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

	if (!sort_by_start(in->list.data, in->list.len))
		return false;
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
