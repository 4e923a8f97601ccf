/*
 * The ranges, and the calls as ranges meet them. A scope is a function and the call that it is
 * inlined into; the last 64 are kept, the most recent first, and a range names its own by rank.
 */
#include "libsymcache/packed/places.h"

/* The scope of a range, against that of the one before: OP. */
enum {
	NO_PLACE,                  /* no source location */
	NEXT_FUNCTION,             /* the next new function */
	EXPLICIT,
	CALLS,                     /* one of the next 1 … 32 new calls, each in the one before */
	BY_RANK = CALLS + 32,
};

static const struct symcache_source_location nowhere = {
	SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE,
};

/* A new one, in front. */
INLINE struct scope *push_scope(struct model *m, uint32_t function, uint32_t into)
{
	const uint8_t last = m->order[SCOPES - 1];
	struct scope *s = &m->scopes[last];

	memmove(m->order + 1, m->order, SCOPES - 1);
	m->order[0] = last;
	*s = (struct scope){
		function, into, *of_function(m, m->last_files, function), 0,
		hash_of(function, 0, 0),
	};
	return s;
}

INLINE struct scope *take_scope(struct model *m, uint32_t rank)
{
	const uint8_t i = m->order[rank];

	memmove(m->order + 1, m->order, rank);
	m->order[0] = i;
	return &m->scopes[i];
}

/* SCOPES: it is not there. */
static uint32_t rank_of(const struct model *m, uint32_t function, uint32_t into)
{
	for (uint32_t r = 0; r < SCOPES; r++)
		if (m->scopes[m->order[r]].function == function &&
		    m->scopes[m->order[r]].into == into)
			return r;
	return SCOPES;
}

static uint32_t choose_op(struct model *m, const struct symcache_source_location *l)
{
	const uint32_t rank = rank_of(m, l->function_idx, l->inlined_into_idx);
	uint32_t call = l->inlined_into_idx;

	if (!memcmp(l, &nowhere, sizeof(nowhere)))
		return NO_PLACE;
	if (rank < SCOPES)
		return BY_RANK + rank;
	if (call == SYMCACHE_NONE && l->function_idx == m->next_function &&
	    m->next_function < m->header->num_functions)
		return NEXT_FUNCTION;
	if (call < m->next_call || call >= m->num_calls || call - m->next_call >= BY_RANK - CALLS)
		return EXPLICIT;
	for (; call > m->next_call; call--)
		if (m->locations[call].inlined_into_idx != call - 1)
			return EXPLICIT;
	call = m->locations[m->next_call].inlined_into_idx;
	if (call != SYMCACHE_NONE && call >= m->next_call)
		return EXPLICIT;
	return CALLS + l->inlined_into_idx - m->next_call;
}

/* A scope by its numbers. INTO: 0 none; 1 …: that of a scope by rank; or the difference to the
 * most recent one. */
INLINE struct scope *code_explicit(struct model *m, const bool packing, uint32_t function,
				   uint32_t into, uint32_t start)
{
	const struct scope *front = &m->scopes[m->order[0]];
	const uint32_t base = front->into == SYMCACHE_NONE ? m->after_into : front->into;
	uint64_t x = 0;

	if (packing && into != SYMCACHE_NONE) {
		while (x < SCOPES && m->scopes[m->order[x]].into != into)
			x++;
		x = x < SCOPES ? x + 1 : SCOPES + 1 + (uint64_t)zigzag(into - base);
	}
	x = code_num(&m->k, packing, S_INTO, x);
	if (!packing)
		into = !x ? SYMCACHE_NONE : x <= SCOPES ? m->scopes[m->order[x - 1]].into :
		       base + unzigzag((uint32_t)(x - SCOPES - 1));
	m->after_into = into + 1;
	if (into < m->next_call) {
		function = code_callee(m, packing, into, function, start);
	} else {
		code_diff(&m->k, packing, S_OUTER, &function, m->after_outer);
		m->after_outer = function + 1;
		meet_function(m, packing, function, start, front->file);
	}
	return push_scope(m, function, into);
}

/* The next `n` new calls, of which a range that is in `l` is in the last. */
INLINE struct scope *code_calls(struct model *m, const bool packing, uint32_t n,
				const struct symcache_source_location *l, uint32_t start)
{
	struct symcache_source_location *first = &m->locations[m->next_call];
	struct scope *s;
	uint64_t rank = 0;

	if (n > m->num_calls - m->next_call) {
		coder_fail(&m->k, S_OP, "more calls than there are");
		return &m->scopes[0];
	}
	if (packing)
		rank = rank_of(m, first->function_idx, first->inlined_into_idx);
	rank = code_num(&m->k, packing, S_RANK, rank);
	s = rank < SCOPES ? take_scope(m, (uint32_t)rank) :
			    code_explicit(m, packing, first->function_idx, first->inlined_into_idx,
					  start);
	for (uint32_t i = m->next_call; n; i++, n--) {
		const struct symcache_source_location *inner = n > 1 ? &m->locations[i + 1] : l;

		if (packing && (m->locations[i].function_idx != s->function ||
				m->locations[i].inlined_into_idx != s->into))
			coder_fail(&m->k, S_OP, "a call in another scope");
		code_place(m, packing, i, s, true);
		s = push_scope(m, code_callee(m, packing, i, inner->function_idx, start), i);
		m->next_call = i + 1;
	}
	return s;
}

INLINE void code_nowhere(struct model *m, const bool packing, uint32_t i)
{
	if (!packing) {
		m->locations[i] = nowhere;
		m->columns[i] = 0;
		m->discs[i] = 0;
	} else if (m->columns[i] || m->discs[i]) {
		coder_fail(&m->k, S_OP, "a column of nothing");
	}
}

/* The start of range `i`: behind a gap near the next multiple of 16, else from the one before. */
INLINE uint32_t code_start(struct model *m, const bool packing, uint32_t i, uint32_t before,
			   enum stream_id s)
{
	if (s == S_GAP)
		return code_diff(&m->k, packing, s, &m->ranges[i], (before + 16) & ~15u);
	if (!packing)
		return m->ranges[i] = before + (uint32_t)coder_get(&m->k, s);
	coder_put(&m->k, s, (uint32_t)(m->ranges[i] - before));
	return m->ranges[i];
}

INLINE void code_ranges(struct model *m, const bool packing)
{
	const uint32_t n = m->header->num_ranges;
	uint32_t start = 0, op = NO_PLACE;
	struct scope *s;

	for (uint32_t i = 0; i < n && !m->k.bad; i++) {
		const uint32_t at = m->num_calls + i;
		const struct symcache_source_location *l = &m->locations[at];
		const bool gap = op == NO_PLACE;

		op = (uint32_t)code_num(&m->k, packing, S_OP, packing ? choose_op(m, l) : 0);
		start = code_start(m, packing, i, start,
				   gap ? S_GAP : op <= NEXT_FUNCTION ? S_LAST : S_LENGTH);
		if (op == NO_PLACE) {
			code_nowhere(m, packing, at);
			continue;
		}
		if (op == NEXT_FUNCTION) {
			const uint32_t function = m->next_function;

			meet_function(m, packing, function, start, m->scopes[m->order[0]].file);
			s = push_scope(m, function, SYMCACHE_NONE);
		} else if (op == EXPLICIT) {
			s = code_explicit(m, packing, l->function_idx, l->inlined_into_idx, start);
		} else if (op < BY_RANK) {
			s = code_calls(m, packing, op - CALLS + 1, l, start);
		} else if (op < BY_RANK + SCOPES) {
			s = take_scope(m, op - BY_RANK);
		} else {
			coder_fail(&m->k, S_OP, "no such scope");
			return;
		}
		code_place(m, packing, at, s, false);
	}
}

/* What no range led to. */
INLINE void code_rest(struct model *m, const bool packing)
{
	for (uint32_t i = m->next_call; i < m->num_calls && !m->k.bad; i++) {
		uint32_t *words = &m->locations[i].file_idx;

		for (int w = 0; w < 4; w++)
			code_diff(&m->k, packing, S_WORDS, &words[w], i ? words[w - 4] : 0);
		code_bytes(&m->k, packing, S_RAW, &m->columns[i], sizeof(*m->columns));
		code_bytes(&m->k, packing, S_RAW, &m->discs[i], sizeof(*m->discs));
	}
	for (uint32_t i = 0; i < m->header->num_functions && !m->k.bad; i++)
		meet_function(m, packing, i, i ? m->functions[i - 1].entry_pc : 0,
			      i ? m->decls[i - 1].file_idx : 0);
	for (uint32_t i = 0; i < m->header->num_functions && !m->k.bad; i++)
		meet_file(m, packing, m->decls[i].file_idx);
}

static void begin(struct model *m)
{
	uint32_t bits = 8;
	struct coder *k = &m->k;

	while (bits < 16 && (uint32_t)1 << bits < m->header->num_source_locations / 2)
		bits++;
	m->mask = ((uint32_t)1 << bits) - 1;
	m->places[0] = coder_take(k, m->mask + 1, sizeof(*m->places[0]));
	m->places[1] = coder_take(k, m->mask + 1, sizeof(*m->places[1]));
	m->spots = coder_take(k, m->mask + 1, sizeof(*m->spots));
	m->callees = coder_take(k, m->mask + 1, sizeof(*m->callees));
	m->file_met = coder_take(k, m->header->num_files, sizeof(*m->file_met));
	m->decl_lines = coder_take(k, (size_t)m->header->num_files + 1, sizeof(*m->decl_lines));
	m->function_met = coder_take(k, m->header->num_functions, sizeof(*m->function_met));
	m->last_files = coder_take(k, (size_t)m->header->num_functions + 1, sizeof(*m->last_files));
	m->callee_of = coder_take(k, m->num_calls, sizeof(*m->callee_of));
	for (uint32_t i = 0; i < SCOPES; i++) {
		m->order[i] = (uint8_t)i;
		m->scopes[i].function = m->scopes[i].into = SYMCACHE_NONE;
	}
	memset(m->last_file, 0xff, sizeof(m->last_file));
}

void scopes_code(struct model *m, bool packing)
{
	begin(m);
	if (m->k.bad)
		return;
	if (packing) {
		code_ranges(m, true);
		code_rest(m, true);
	} else {
		code_ranges(m, false);
		code_rest(m, false);
	}
	coder_drop(&m->k, m->callee_of);
	coder_drop(&m->k, m->places[0]);
	coder_drop(&m->k, m->places[1]);
}
