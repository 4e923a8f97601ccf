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
 *   3. along the addresses: what functions own, with the calls in each run of it, and
 *      strays where no function is.
 *
 * Each function's inlined calls meet only what this function owns, so that no
 * step makes more pieces than there are ends of ranges.
 */
#include "libsymcache/write/flatten/scopes.h"

#include <string.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"

#define LAST_REL 0xffffffffull
#define DROPPED UINT32_MAX /* in place of a function: by the linker */
#define IN_FUNCTION (1ull << 32) /* the priority of what is not a stray */

void sc_scopes_deinit(struct sc_scopes *s)
{
	vec_deinit(&s->function);
	vec_deinit(&s->functions.list);
	vec_deinit(&s->owned.list);
	vec_deinit(&s->inlined.list);
	vec_deinit(&s->painted.list);
	vec_deinit(&s->inside.list);
	vec_deinit(&s->strays.list);
	vec_deinit(&s->runs);
	sc_paint_deinit(&s->pot);
}

/* Cuts [start, end) to what is code and within reach of a u32; what starts out of reach is
 * counted in *too_far. *code is the code around the last one. False: nothing is left. */
static bool clip(const struct sc_flatten_env *env, struct dw_range *code, struct dw_range *r,
		 uint64_t *too_far)
{
	const uint64_t base = env->load_base;

	if (r->start < code->start || r->start >= code->end)
		*code = (struct dw_range){ r->start, env->code_end(env->ctx, r->start) };
	if (r->end > code->end)
		r->end = code->end;
	if (r->start >= r->end)
		return false;
	if (r->start < base || r->start - base > LAST_REL) {
		++*too_far;
		return false;
	}
	if (r->end - base > LAST_REL + 1)
		r->end = base + LAST_REL + 1;
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
 * they are in as upper half of the priority. Those in a function that has ranges, but not one in
 * code, are none: the linker dropped it, and left offsets from 0 of what is in it. */
static bool collect(struct sc_scopes *s, const struct sc_flatten_env *env,
		    const struct dw_facts *u, const struct sc_intervals *extent,
		    uint64_t *too_far)
{
	struct dw_range code = { 0, 0 };
	size_t at = 0;

	vec_clear(&s->functions.list);
	vec_clear(&s->inlined.list);
	vec_clear(&s->function);
	if (!vec_reserve(&s->function, u->scopes.len))
		return false;
	s->function.len = u->scopes.len;
	for (uint32_t i = 0; i < u->scopes.len; i++) {
		const struct dw_scope *scope = &u->scopes.data[i];
		bool inlined = scope->parent < i, live = !scope->num_ranges;

		s->function.data[i] = inlined ? s->function.data[scope->parent] : i;
		if (s->function.data[i] == DROPPED)
			continue;
		for (uint32_t k = 0; k < scope->num_ranges; k++) {
			struct dw_range r = u->ranges.data[scope->first_range + k];

			if (!clip(env, &code, &r, too_far))
				continue;
			live = true;
			if (!add_own(s, r, i, inlined, extent, &at))
				return false;
		}
		if (!inlined && !live)
			s->function.data[i] = DROPPED;
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

/* Of the equal ones [i, end) that which is called so, if one is. `name` may be NULL. */
static bool prefer_called(struct sc_intervals *functions, size_t i, size_t end,
			  const struct dw_facts *u, const char *name)
{
	for (size_t k = end; name && k-- > i;) {
		const struct dw_scope *f = &u->scopes.data[UINT32_MAX - functions->list.data[k].id];

		if (f->name && f->decl_line && !strcmp(f->name, name)) {
			sc_prefer(functions, k, end - 1);
			return true;
		}
	}
	return false;
}

/* Of functions that the linker folded into one, that of the symbol that is there wins, if it is one
 * of them. Those without a place of their own are one function with several names: assemblers'. */
static void prefer_symbols(struct sc_intervals *functions, const struct sc_flatten_env *env,
			   const struct dw_facts *u)
{
	for (size_t i = 0, end; i < functions->list.len; i = end) {
		const uint64_t start = functions->list.data[i].start;

		end = sc_equal_end(functions, i);
		if (end == i + 1)
			continue;
		if (!env->shown_symbol_at ||
		    !prefer_called(functions, i, end, u, env->shown_symbol_at(env->ctx, start)))
			prefer_called(functions, i, end, u, env->symbol_at(env->ctx, start));
	}
}

/* What each function owns, to s->owned, by function, and to s->runs, by address. */
static bool paint_functions(struct sc_scopes *s, const struct sc_flatten_env *env,
			    const struct dw_facts *unit)
{
	if (!sc_rank_by_containment(&s->functions))
		return false;
	prefer_symbols(&s->functions, env, unit);
	if (!sc_paint(&s->pot, &s->functions, &s->owned))
		return false;
	vec_clear(&s->runs);
	if (!vec_reserve(&s->runs, s->owned.list.len))
		return false;
	for (size_t i = 0; i < s->owned.list.len; i++) {
		struct sc_interval *run = &s->owned.list.data[i];

		run->id = UINT32_MAX - run->id;
		run->priority = i;
		s->runs.data[s->runs.len++] = (struct sc_owned){ run->start, run->end, run->id, 0, 0 };
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
			uint64_t stop = run->end;
			bool in;

			while (k < last && own[k].end <= at)
				k++;
			in = k < last && own[k].start <= at;
			if (k < last && stop > (in ? own[k].end : own[k].start))
				stop = in ? own[k].end : own[k].start;
			if (in) {
				struct sc_owned *within = &s->runs.data[own[k].priority];

				if (!within->num_inside++)
					within->first_inside = (uint32_t)s->inside.list.len;
			}
			if (!sc_intervals_add(in ? &s->inside : &s->strays, at, stop, run->id,
					      run->id))
				return false;
			at = stop;
		}
	}
	return true;
}

/* Inlined calls, to s->inside and s->strays. */
static bool paint_inlined(struct sc_scopes *s)
{
	const struct sc_interval *own = s->owned.list.data;
	size_t n = s->inlined.list.len, num_own = s->owned.list.len, first = 0;
	struct sc_interval *all = s->inlined.list.data;

	vec_clear(&s->inside.list);
	vec_clear(&s->strays.list);
	if (!sort_by_priority(all, n))
		return false;
	for (size_t i = 0; i < n; ) {
		const uint32_t function = (uint32_t)(all[i].priority >> 32);
		struct sc_intervals group = { { .data = all + i } };
		size_t last;

		for (; i < n && all[i].priority >> 32 == function; i++)
			group.list.len++;
		while (first < num_own && own[first].id < function)
			first++;
		for (last = first; last < num_own && own[last].id == function;)
			last++;
		if (!sc_paint(&s->pot, &group, &s->painted) ||
		    !split_group(s, first, last))
			return false;
		first = last;
	}
	return true;
}

/* Adds the strays in [start, end), from *next on. */
static bool put_strays(const struct sc_intervals *strays, size_t *next, uint64_t start,
		       uint64_t end, struct sc_intervals *ret)
{
	for (; *next < strays->list.len && strays->list.data[*next].start < end; ++*next) {
		const struct sc_interval *i = &strays->list.data[*next];
		const uint64_t from = i->start > start ? i->start : start;

		if (from < i->end && !sc_intervals_append(ret, from, i->end < end ? i->end : end,
							  i->id, i->id))
			return false;
		if (i->end > end)
			return true;
	}
	return true;
}

/* Adds a run of what a function owns, with the calls in it. */
static bool put_run(const struct sc_scopes *s, const struct sc_owned *run, struct sc_intervals *ret)
{
	const struct sc_interval *in = run->num_inside ? &s->inside.list.data[run->first_inside] : NULL;
	uint64_t at = run->start;

	for (uint32_t i = 0; i < run->num_inside; at = in[i++].end)
		if ((at < in[i].start &&
		     !sc_intervals_append(ret, at, in[i].start, IN_FUNCTION, run->function)) ||
		    !sc_intervals_append(ret, in[i].start, in[i].end, IN_FUNCTION, in[i].id))
			return false;
	return at == run->end || sc_intervals_append(ret, at, run->end, IN_FUNCTION, run->function);
}

bool sc_scopes_paint(struct sc_scopes *s, const struct sc_flatten_env *env,
		     const struct dw_facts *unit, const struct sc_intervals *extent,
		     struct sc_intervals *ret, uint64_t *too_far)
{
	uint64_t at = 0;
	size_t next = 0;

	vec_clear(&ret->list);
	if (!collect(s, env, unit, extent, too_far) || !paint_functions(s, env, unit) || !paint_inlined(s) ||
	    !sc_paint(&s->pot, &s->strays, &s->painted))
		return false;
	for (size_t i = 0; i < s->runs.len; at = s->runs.data[i++].end)
		if (!put_strays(&s->painted, &next, at, s->runs.data[i].start, ret) ||
		    !put_run(s, &s->runs.data[i], ret))
			return false;
	return put_strays(&s->painted, &next, at, UINT64_MAX, ret);
}

/* How far the first row of a sequence is from where the function is declared; UINT32_MAX: in
 * another file. */
static uint32_t distance(const struct dw_facts *u, uint32_t sequence, const struct dw_scope *of)
{
	const struct dw_sequence *q = &u->sequences.data[sequence];
	const struct dw_row *row = q->num_rows ? &u->rows.data[q->first_row] : NULL;

	if (!row || row->file != of->decl_file)
		return UINT32_MAX;
	return row->line < of->decl_line ? of->decl_line - row->line : row->line - of->decl_line;
}

/* Of equal sequences, those of functions that the linker folded into one, that of the function that
 * was chosen wins. */
static void prefer_own(struct sc_intervals *sequences, const struct sc_scopes *s,
		       const struct dw_facts *u)
{
	for (size_t i = 0, end; i < sequences->list.len; i = end) {
		const uint64_t start = sequences->list.data[i].start;
		const struct dw_scope *of;
		size_t run, best;

		best = (end = sc_equal_end(sequences, i)) - 1;
		if (best == i)
			continue;
		run = SC_SEARCH(k, s->runs.len, s->runs.data[k].end <= start);
		if (run == s->runs.len || s->runs.data[run].start > start)
			continue;
		of = &u->scopes.data[s->runs.data[run].function];
		for (size_t k = end - 1; k-- > i;)
			if (distance(u, sequences->list.data[k].id, of) <
			    distance(u, sequences->list.data[best].id, of))
				best = k;
		sc_prefer(sequences, best, end - 1);
	}
}

bool sc_sequences_paint(struct sc_scopes *s, const struct sc_flatten_env *env,
			const struct dw_facts *unit, struct sc_intervals *sequences,
			struct sc_intervals *ret, uint64_t *too_far)
{
	struct dw_range code = { 0, 0 };

	vec_clear(&sequences->list);
	for (uint32_t i = 0; i < unit->sequences.len; i++) {
		const struct dw_sequence *q = &unit->sequences.data[i];
		struct dw_range r = { q->start, q->end };

		if (clip(env, &code, &r, too_far) &&
		    !sc_intervals_add(sequences, r.start, r.end, 0, i))
			return false;
	}
	if (!sc_rank_by_containment(sequences))
		return false;
	prefer_own(sequences, s, unit);
	return sc_paint(&s->pot, sequences, ret);
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
