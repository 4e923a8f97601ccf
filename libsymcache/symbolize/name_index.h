/*
 * name_index.h: functions and symbols of a cache by name. A cache has no such index; the first
 * question makes one in memory, chains of equal hashes in the order of the tables:
 *
 *   *head  →  item + 1  →  next[item]  →  …  0
 *
 * where an item is a function that is not inlined or, behind all functions, a symbol. Cost: a
 * pass over both with their names, 4 bytes for each and 4 to 8 for the heads.
 */
#ifndef SC_NAME_INDEX_H
#define SC_NAME_INDEX_H

#include "libsymcache/read/read.h"

struct sc_name_index {
	const struct symcache *cache;
	unsigned generation; /* of the module */
	uint32_t mask, *next, heads[];
};

/* NULL: out of memory, or more than numbers reach. */
struct sc_name_index *sc_name_index_create(const struct symcache *c, unsigned generation);
void sc_name_index_destroy(struct sc_name_index *x); /* NULL is fine */

/* The head of the chain that has all items of the name, and others. */
uint32_t *sc_name_index_head(struct sc_name_index *x, struct sc_str name);

#endif
