/*
 * Overlapping intervals → disjoint ones: at each address the interval of the
 * highest priority wins.
 *
 *     priority 3            [-- c --]
 *     priority 2       [---- b ----------]
 *     priority 1   [------- a --------]
 *     painted      [ a [ b  [-- c --] b  ]
 */
#ifndef SC_PAINT_H
#define SC_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "libsymcache/base/vec.h"

struct sc_interval {
	uint64_t start, end; /* [start, end) */
	uint64_t priority;
	uint32_t id;         /* whose it is */
};

struct sc_intervals {
	VEC(struct sc_interval) list;
};

/* Adds one. False: out of memory. */
static inline bool sc_intervals_add(struct sc_intervals *v, uint64_t start, uint64_t end,
				    uint64_t priority, uint32_t id)
{
	if (!vec_reserve(&v->list, 1))
		return false;
	v->list.data[v->list.len++] = (struct sc_interval){ start, end, priority, id };
	return true;
}

/* Adds one behind the others; if it goes on what the last one ends with, that becomes longer.
 * False: out of memory. */
static inline bool sc_intervals_append(struct sc_intervals *v, uint64_t start, uint64_t end,
				       uint64_t priority, uint32_t id)
{
	struct sc_interval *last = v->list.len ? &v->list.data[v->list.len - 1] : NULL;

	if (!last || last->end != start || last->id != id || last->priority != priority)
		return sc_intervals_add(v, start, end, priority, id);
	last->end = end;
	return true;
}

struct sc_paint_start {
	uint64_t start;
	uint32_t at; /* the interval */
};

/* A paint pot: working memory that is kept from one call to the next. */
struct sc_paint {
	VEC(struct sc_paint_start) starts;
	VEC(uint32_t) heap;
};

static inline void sc_paint_deinit(struct sc_paint *p)
{
	vec_deinit(&p->starts);
	vec_deinit(&p->heap);
}

/*
 * Fills `out` (cleared first) with what is seen of `in`: ascending, disjoint,
 * each with the id and the priority of the winner; neighbours that touch and
 * have the same id and priority are one. Equal priorities: any. O(n log n),
 * nearly linear for intervals that nest and come nearly sorted.
 * False: out of memory.
 */
bool sc_paint(struct sc_paint *pot, const struct sc_intervals *in, struct sc_intervals *out);

/*
 * Gives `in` priorities by containment, and sorts it by start: an interval wins
 * over those that contain it, i.e. the one that starts later wins, and of those
 * that start together the shorter one. Among equals that with the lower `id`.
 * Priorities are 1 … n. False: out of memory.
 */
bool sc_rank_by_containment(struct sc_intervals *in);

/* Of what is ranked: behind the intervals that are equal to number `i`. */
static inline size_t sc_equal_end(const struct sc_intervals *in, size_t i)
{
	const struct sc_interval *list = in->list.data;
	size_t k = i + 1;

	while (k < in->list.len && list[k].start == list[i].start && list[k].end == list[i].end)
		k++;
	return k;
}

/* Of what is ranked, number `i` shall win over those that are equal to it, the last one of which
 * is number `last`. */
static inline void sc_prefer(struct sc_intervals *in, size_t i, size_t last)
{
	const uint64_t first = in->list.data[last].priority;

	in->list.data[last].priority = in->list.data[i].priority;
	in->list.data[i].priority = first;
}

#endif
