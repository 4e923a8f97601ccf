/*
 * places.h: file, line, column and discriminator of a source location, and what is inlined at
 * a call. What came behind the same place before is likely to come again.
 */
#ifndef PACKED_PLACES_H
#define PACKED_PLACES_H

#include "libsymcache/packed/records.h"

/* How much of a place is as it was: HIT. */
enum { SAME_PLACE, OTHER_PLACE, SAME_LINE };

/* v, which counts when packing, against what is expected (NULL: nothing is). */
INLINE uint32_t code_spot(struct coder *k, const bool packing, enum stream_id s, uint32_t v,
			  const uint32_t *expected)
{
	uint64_t x;

	if (!expected)
		return (uint32_t)code_num(k, packing, s, v);
	x = code_num(k, packing, s, v == *expected ? 0 : 1 + (uint64_t)v);
	return packing ? v : x ? (uint32_t)x - 1 : *expected;
}

/* The column and discriminator of location `i`, which has its file and line. */
INLINE uint32_t code_spots(struct model *m, const bool packing, uint32_t i)
{
	const struct symcache_source_location *l = &m->locations[i];
	const uint32_t key = hash_of(l->file_idx, l->line, 1);
	struct guess *g = &m->spots[key & m->mask];
	const bool known = g->key == key;
	const uint32_t last_column = g->value & 0xffff, last_disc = g->value >> 16;
	uint32_t column = packing ? m->columns[i] : 0, disc = packing ? m->discs[i] : 0;

	column = known ? code_spot(&m->k, packing, S_COLUMN, column, &last_column) :
			 code_spot(&m->k, packing, S_COLUMN_NEW, column, NULL);
	disc = code_spot(&m->k, packing, S_DISC, disc, known ? &last_disc : NULL);
	g->key = key;
	return g->value = (column & 0xffff) | (disc & 0xff) << 16;
}

/* Location `i`, which is in scope `s`; `call`: it is a call. */
INLINE void code_place(struct model *m, const bool packing, uint32_t i, struct scope *s,
		       const bool call)
{
	struct symcache_source_location *l = &m->locations[i];
	struct place *p = &m->places[call][s->key & m->mask];
	uint32_t spot = packing ? m->columns[i] | (uint32_t)m->discs[i] << 16 : 0;
	uint32_t hit = OTHER_PLACE;

	if (p->key == s->key) {
		if (packing)
			hit = l->line != p->line || l->file_idx != p->file ? OTHER_PLACE :
			      spot == p->spot ? SAME_PLACE : SAME_LINE;
		hit = (uint32_t)code_num(&m->k, packing, S_HIT, hit);
	}
	if (hit == OTHER_PLACE) {
		code_file(m, packing, S_FILE, &l->file_idx, s->file);
		code_diff(&m->k, packing, S_LINE, &l->line, s->line ? s->line :
			  s->function < m->header->num_functions ? m->decls[s->function].line : 0);
	} else if (!packing) {
		l->file_idx = p->file;
		l->line = p->line;
	}
	if (hit == SAME_PLACE) {
		spot = p->spot;
	} else {
		spot = code_spots(m, packing, i);
		*p = (struct place){ s->key, l->file_idx, l->line, spot };
	}
	if (!packing) {
		m->columns[i] = (uint16_t)spot;
		m->discs[i] = (uint8_t)(spot >> 16);
		l->function_idx = s->function;
		l->inlined_into_idx = s->into;
	}
	*of_function(m, m->last_files, s->function) = s->file = l->file_idx;
	s->line = l->line;
	s->key = hash_of(s->function, s->line, spot);
	__builtin_prefetch(&m->places[0][s->key & m->mask]);
	__builtin_prefetch(&m->places[1][s->key & m->mask]);
}

/* What is inlined at a call: CALLEE. From AHEAD on: functions that are new. */
enum { SAME_CALLEE, NEXT_CALLEE, RECENT_CALLEE, OTHER_CALLEE, AHEAD, AHEAD_MAX = 32 };

static inline uint32_t choose_callee(const struct model *m, uint32_t function, bool same,
				     const struct guess *next)
{
	if (same)
		return SAME_CALLEE;
	if (next && next->value == function)
		return NEXT_CALLEE;
	if (function - m->next_function < AHEAD_MAX)
		return AHEAD + function - m->next_function;
	return m->recent[function % RECENT] == function ? RECENT_CALLEE : OTHER_CALLEE;
}

/* The function inlined at call `i`: the same as the last time there, or at an equal place;
 * `function` counts when packing. `near`: an address. */
INLINE uint32_t code_callee(struct model *m, const bool packing, uint32_t i, uint32_t function,
			    uint32_t near)
{
	const struct symcache_source_location *l = &m->locations[i];
	const uint32_t spot = m->columns[i] | (uint32_t)m->discs[i] << 16;
	const uint32_t key = hash_of(l->function_idx, l->line, spot);
	const uint32_t key2 = hash_of(m->last_callee, l->function_idx == m->last_callee, 5);
	struct guess *g = &m->callees[key & m->mask], *next = &m->callees[key2 & m->mask];
	const bool met = m->callee_of[i], known = met || g->key == key;
	const uint32_t same = met ? m->callee_of[i] - 1 : g->value;
	uint32_t x = 0;

	if (packing)
		x = choose_callee(m, function, known && same == function,
				  next->key == key2 ? next : NULL);
	x = (uint32_t)code_num(&m->k, packing,
			       met ? S_CALLEE_AGAIN : known ? S_CALLEE : S_CALLEE_NEW, x);
	if (x == SAME_CALLEE)
		function = same;
	else if (x == NEXT_CALLEE)
		function = next->value;
	else if (x == RECENT_CALLEE)
		function = m->recent[code_num(&m->k, packing, S_RECENT, function % RECENT) % RECENT];
	else if (x == OTHER_CALLEE)
		code_diff(&m->k, packing, S_FUNCTION, &function, m->next_function);
	else
		function = m->next_function + x - AHEAD;
	*g = (struct guess){ key, function };
	*next = (struct guess){ key2, function };
	m->recent[function % RECENT] = m->last_callee = function;
	m->callee_of[i] = function + 1;
	meet_function(m, packing, function, near, l->file_idx);
	return function;
}

#endif
