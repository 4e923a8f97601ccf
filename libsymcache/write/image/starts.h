/*
 * Where inlined functions begin, by the call locations of tables: a call location may stand for
 * several copies of a call (of an unrolled loop, say), and a copy may have several ranges.
 */
#ifndef SC_STARTS_H
#define SC_STARTS_H

#include "libsymcache/write/flatten/flatten.h"

struct sc_starts {
	VEC(uint32_t) first;         /* by call, and one over: into list */
	VEC(struct sc_inlined) list; /* by call and `from`; neighbours of a call differ in start */
};

/* Takes flat->inlined over, of so many calls. False: out of memory. */
bool sc_starts_make(struct sc_flat *flat, size_t num_calls, struct sc_starts *ret);
void sc_starts_deinit(struct sc_starts *s);

#endif
