/*
 * Scopes of one unit → disjoint runs of addresses: see scopes.h.
 *
 *   1. functions     [------- f -------)          painted by containment, give
 *                           [---- g ----------)   what each function owns:
 *      owned         [  f   [     g           )
 *   2. inlined in f       [-- h --)               painted for each function by
 *                                                 itself, in the order of the
 *                                                 entries, then split by what
 *                                                 the function owns:
 *                         [h [  h )               the first is within f, the
 *                                                 second a stray, hidden by g
 *   3. all of these, one above the other:
 *
 *     63               32 31            0
 *     | 0: stray        | scope         |
 *     | 1: a function   | 0             |
 *     | 2: inlined in it| scope         |
 *
 * Each function's inlined calls meet only what this function owns, so that no
 * step makes more pieces than there are ends of ranges.
 */
#include "libsymcache/write/flatten/scopes.h"

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"

#define LAST_REL 0xffffffffull
#define IN_FUNCTION (1ull << 32)
#define IN_INLINED (2ull << 32)

void sc_scopes_deinit(struct sc_scopes *s)
{
	vec_deinit(&s->function);
	vec_deinit(&s->functions.list);
	vec_deinit(&s->owned.list);
	vec_deinit(&s->inlined.list);
	vec_deinit(&s->group.list);
	vec_deinit(&s->painted.list);
	vec_deinit(&s->mixed.list);
	sc_paint_deinit(&s->pot);
}

bool sc_clip(const struct sc_flatten_env *env, uint64_t *start, uint64_t *end,
	     uint64_t *too_far)
{
	uint64_t code_end = env->code_end(env->ctx, *start), base = env->load_base;

	if (*end > code_end)
		*end = code_end;
	if (*start >= *end)
		return false;
	if (*start < base || *start - base > LAST_REL) {
		++*too_far;
		return false;
	}
	if (*end - base > LAST_REL + 1)
		*end = base + LAST_REL + 1;
	return true;
}

/* The first of the unit's own that ends behind vaddr; *at is where the last one was found. */
static size_t find_extent(const struct sc_intervals *extent, uint64_t vaddr, size_t *at)
{
	const struct sc_interval *c = extent->list.data;

	if (*at < extent->list.len && c[*at].start <= vaddr && vaddr < c[*at].end)
		return *at;
	return *at = SC_SEARCH(i, extent->list.len, c[i].end <= vaddr);
}

/* Adds a range of scope i, as far as it is the unit's own. */
static bool add_own(struct sc_scopes *s, struct dw_range r, uint32_t i, bool inlined,
		    const struct sc_intervals *extent, size_t *at)
{
	const struct sc_interval *c = extent->list.data;

	for (size_t k = find_extent(extent, r.start, at);
	     k < extent->list.len && c[k].start < r.end; k++) {
		uint64_t start = c[k].start > r.start ? c[k].start : r.start;
		uint64_t end = c[k].end < r.end ? c[k].end : r.end;

		/* Of equal functions that with the lower id wins, but it shall be the later
		 * entry: ids go down. */
		if (!(inlined ? sc_intervals_add(&s->inlined, start, end,
						 (uint64_t)s->function.data[i] << 32 | i, i) :
				sc_intervals_add(&s->functions, start, end, 0, UINT32_MAX - i)))
			return false;
	}
	return true;
}

/* Functions go to s->functions, inlined calls to s->inlined with the function
 * they are in as upper half of the priority. */
static bool collect(struct sc_scopes *s, const struct sc_flatten_env *env,
		    const struct dw_facts *u, const struct sc_intervals *extent,
		    uint64_t *too_far)
{
	size_t at = 0;

	vec_clear(&s->functions.list);
	vec_clear(&s->inlined.list);
	vec_clear(&s->function);
	if (!vec_reserve(&s->function, u->scopes.len))
		return false;
	s->function.len = u->scopes.len;
	for (uint32_t i = 0; i < u->scopes.len; i++) {
		const struct dw_scope *scope = &u->scopes.data[i];
		bool inlined = scope->parent < i;

		s->function.data[i] = inlined ? s->function.data[scope->parent] : i;
		for (uint32_t k = 0; k < scope->num_ranges; k++) {
			struct dw_range r = u->ranges.data[scope->first_range + k];

			if (sc_clip(env, &r.start, &r.end, too_far) &&
			    !add_own(s, r, i, inlined, extent, &at))
				return false;
		}
	}
	return true;
}

static inline bool by_id(const struct sc_interval *a, const struct sc_interval *b)
{
	return a->id != b->id ? a->id < b->id : a->start < b->start;
}

static inline bool by_priority(const struct sc_interval *a, const struct sc_interval *b)
{
	return a->priority < b->priority;
}

SC_SORT(sort_by_id, struct sc_interval, by_id)
SC_SORT(sort_by_priority, struct sc_interval, by_priority)

/* What each function owns, to s->owned, by function. */
static bool paint_functions(struct sc_scopes *s)
{
	if (!sc_rank_by_containment(&s->functions) ||
	    !sc_paint(&s->pot, &s->functions, &s->owned))
		return false;
	for (size_t i = 0; i < s->owned.list.len; i++) {
		struct sc_interval *run = &s->owned.list.data[i];

		run->id = UINT32_MAX - run->id;
		run->priority = IN_FUNCTION;
		if (!sc_intervals_add(&s->mixed, run->start, run->end, IN_FUNCTION, run->id))
			return false;
	}
	return sort_by_id(s->owned.list.data, s->owned.list.len);
}

/*
 * Splits the painted calls of one function by what it owns, s->owned[k, last):
 *
 *   owned           [----------)        [----------)
 *   inlined call          [---------------------------)
 *   becomes               [in )[ stray )[-- in --)[str)
 */
static bool split_group(struct sc_scopes *s, size_t k, size_t last)
{
	const struct sc_interval *own = s->owned.list.data;

	for (size_t i = 0; i < s->painted.list.len; i++) {
		const struct sc_interval *run = &s->painted.list.data[i];
		uint64_t at = run->start;

		while (at < run->end) {
			bool in;
			uint64_t stop = run->end;

			while (k < last && own[k].end <= at)
				k++;
			in = k < last && own[k].start <= at;
			if (k < last && stop > (in ? own[k].end : own[k].start))
				stop = in ? own[k].end : own[k].start;
			if (!sc_intervals_add(&s->mixed, at, stop,
					      (in ? IN_INLINED : 0) | run->id, run->id))
				return false;
			at = stop;
		}
	}
	return true;
}

static bool paint_inlined(struct sc_scopes *s)
{
	const struct sc_interval *all, *own = s->owned.list.data;
	size_t n = s->inlined.list.len, num_own = s->owned.list.len, first = 0;

	if (!sort_by_priority(s->inlined.list.data, n))
		return false;
	all = s->inlined.list.data;
	for (size_t i = 0; i < n; ) {
		uint32_t function = (uint32_t)(all[i].priority >> 32);
		size_t last;

		vec_clear(&s->group.list);
		for (; i < n && all[i].priority >> 32 == function; i++)
			if (!sc_intervals_add(&s->group, all[i].start, all[i].end, all[i].id,
					      all[i].id))
				return false;
		while (first < num_own && own[first].id < function)
			first++;
		for (last = first; last < num_own && own[last].id == function;)
			last++;
		if (!sc_paint(&s->pot, &s->group, &s->painted) ||
		    !split_group(s, first, last))
			return false;
		first = last;
	}
	return true;
}

bool sc_scopes_paint(struct sc_scopes *s, const struct sc_flatten_env *env,
		     const struct dw_facts *unit, const struct sc_intervals *extent,
		     struct sc_intervals *ret, uint64_t *too_far)
{
	vec_clear(&s->mixed.list);
	return collect(s, env, unit, extent, too_far) && paint_functions(s) && paint_inlined(s) &&
	       sc_paint(&s->pot, &s->mixed, ret);
}

bool sc_sequences_paint(struct sc_paint *pot, const struct sc_flatten_env *env,
			const struct dw_facts *unit, struct sc_intervals *sequences,
			struct sc_intervals *ret, uint64_t *too_far)
{
	vec_clear(&sequences->list);
	for (uint32_t i = 0; i < unit->sequences.len; i++) {
		uint64_t start = unit->sequences.data[i].start, end = unit->sequences.data[i].end;

		if (sc_clip(env, &start, &end, too_far) &&
		    !sc_intervals_add(sequences, start, end, 0, i))
			return false;
	}
	return sc_rank_by_containment(sequences) && sc_paint(pot, sequences, ret);
}

bool sc_covers_paint(struct sc_paint *pot, const struct dw_facts *unit, bool with_lines,
		     struct sc_intervals *own, struct sc_intervals *ret)
{
	vec_clear(&own->list);
	for (uint32_t i = 0; i < unit->num_covers; i++)
		if (!sc_intervals_add(own, unit->ranges.data[i].start, unit->ranges.data[i].end,
				      0, 0))
			return false;
	for (size_t i = 0; with_lines && i < unit->sequences.len; i++)
		if (!sc_intervals_add(own, unit->sequences.data[i].start,
				      unit->sequences.data[i].end, 0, 0))
			return false;
	if (!unit->num_covers && !sc_intervals_add(own, 0, UINT64_MAX, 0, 0))
		return false;
	return sc_paint(pot, own, ret);
}
