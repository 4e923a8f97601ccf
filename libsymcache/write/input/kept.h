/*
 * kept.h: pieces of a section that outlive the rest of it. A first answer needs a few units of
 * .debug_info and their line programs; the memory of the others serves for the names.
 */
#ifndef SC_KEPT_H
#define SC_KEPT_H

#include "libsymcache/base/vec.h"
#include "libsymcache/dwarf/sections.h"

struct sc_kept_piece {
	uint64_t offset;
	size_t size;
	uint8_t *bytes; /* a copy */
};

struct sc_kept {
	VEC(struct sc_kept_piece) list;
};

/* Keeps [start, end) of the section, which lie in it. False: out of memory. */
bool sc_keep(struct sc_kept *k, const struct dw_section *s, uint64_t start, uint64_t end);

/* Gives back the memory of the section, which belongs to us, and writes the pieces to where they
 * were: nothing else of it is to be read. */
void sc_kept_put_back(const struct sc_kept *k, const struct dw_section *s);
void sc_kept_deinit(struct sc_kept *k);

#endif
