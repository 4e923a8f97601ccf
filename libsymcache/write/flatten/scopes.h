/*
 * Scopes of one unit → disjoint runs of addresses, each of one scope.
 *
 * At each address the innermost function wins: of those that cover it the one
 * whose range starts last, of these the shortest, of equal ones the later
 * entry. Of the calls inlined into that function the last one in the order of
 * the entries wins. Where no function is, an inlined call shows that reaches
 * beyond its function: a stray.
 */
#ifndef SC_SCOPES_H
#define SC_SCOPES_H

#include "libsymcache/write/flatten/flatten.h"

/* A run of what a function owns, and the pieces of inlined calls in it. */
struct sc_owned {
	uint64_t start, end;
	uint32_t function;
	uint32_t first_inside, num_inside; /* of sc_scopes.inside */
};

/* Working memory, kept from unit to unit. */
struct sc_scopes {
	VEC(uint32_t) function; /* scope → the function around it */
	struct sc_intervals functions, owned, inlined, painted, inside, strays;
	VEC(struct sc_owned) runs;
	struct sc_paint pot;
};

void sc_scopes_deinit(struct sc_scopes *s);

/*
 * `extent`: what is the unit's own or has its lines, ascending and disjoint: ranges count
 * only there. Assemblers give functions in Thumb code the odd addresses that their labels
 * have, and others the size of what follows them in another unit.
 * Fills s->function, and `ret` (cleared first) with the runs: ascending,
 * disjoint, id is the scope; sc_is_stray() says whether it is a stray. O(n log n), whatever
 * the ranges overlap. False: out of memory.
 */
bool sc_scopes_paint(struct sc_scopes *s, const struct sc_flatten_env *env,
		     const struct dw_facts *unit, const struct sc_intervals *extent,
		     struct sc_intervals *ret, uint64_t *too_far);

/*
 * Fills `ret` (cleared first) with the unit's sequences of line rows, made disjoint:
 * where two overlap, the one inside wins, of equal ones that of the function that has the code by
 * `s`, which was painted; id is the sequence. `sequences` is working memory. False: out of
 * memory.
 */
bool sc_sequences_paint(struct sc_scopes *s, const struct sc_flatten_env *env,
			const struct dw_facts *unit, struct sc_intervals *sequences,
			struct sc_intervals *ret, uint64_t *too_far);

/*
 * Fills `ret` (cleared first) with what the unit says is its own; everything, if it does not
 * say. `with_lines`: and where it has lines. `own` is working memory. False: out of memory.
 */
bool sc_covers_paint(struct sc_paint *pot, const struct dw_facts *unit, bool with_lines,
		     struct sc_intervals *own, struct sc_intervals *ret);

/* Strays have priorities below those of all that is within a function. */
static inline bool sc_is_stray(const struct sc_interval *run)
{
	return run->priority <= UINT32_MAX;
}

#endif
