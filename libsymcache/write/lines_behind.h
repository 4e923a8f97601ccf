/*
 * lines_behind.h: line programs are given back behind the units that were read. They mostly stand
 * in the order of the units; where they do not, that ends, and if a unit wants one that is gone,
 * all has to be read once more.
 */
#ifndef SC_LINES_BEHIND_H
#define SC_LINES_BEHIND_H

#include "libsymcache/dwarf/unit.h"

struct sc_lines_behind {
	const struct dw_section *line; /* NULL: all of it stays */
	uint64_t last;    /* line program of the units so far */
	uint64_t dropped; /* bytes of the section that were given back */
	bool disordered;
	bool too_early;   /* one was given back that is wanted */
};

/* A unit is going to be read; in the order of the units. */
void sc_lines_note(struct sc_lines_behind *b, const struct dw_unit *u);

/* All units before `first`, which was noted, are read. */
void sc_lines_drop(struct sc_lines_behind *b, const struct dw_unit *first);

#endif
