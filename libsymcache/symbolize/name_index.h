/*
 * name_index.h: functions, symbols and variables of a cache by name. A cache has no such index; the
 * first question makes one in memory, chains of equal hashes in the order of the tables:
 *
 *   *head  →  item + 1  →  next[item]  →  …  0
 *
 * where an item is a function that is not inlined or, behind all functions, a symbol, behind all
 * symbols a variable, or behind all variables an alias. Cost: a pass over them with their names, 4 bytes for each and 4 to 8 for the
 * heads.
 */
#ifndef SC_NAME_INDEX_H
#define SC_NAME_INDEX_H

#include "libsymcache/read/read.h"

struct sc_name_index {
	const struct symcache *cache;
	unsigned generation; /* of the module */
	struct sc_shown_key *shown; /* by hash; NULL: not made yet */
	size_t num_shown, shown_cap;
	size_t longest;      /* longer names have no items */
	uint32_t mask, *next, heads[];
};

/* A name as it is shown. */
struct sc_shown_key {
	uint64_t hash;
	uint32_t item;
};

/* NULL: out of memory, or more than numbers reach. */
struct sc_name_index *sc_name_index_create(const struct symcache *c, unsigned generation);
void sc_name_index_destroy(struct sc_name_index *x); /* NULL is fine */

/* How many items there are, with those that have no name. */
static inline uint32_t sc_name_index_items(const struct sc_name_index *x)
{
	return (uint32_t)(x->cache->header->num_functions + x->cache->num_symbols +
			  x->cache->num_data_symbols + x->cache->num_aliases);
}

/* The linkage name of an item; ptr NULL: it has none, or is inlined. */
struct sc_str sc_name_index_name(const struct sc_name_index *x, uint32_t item);

/* The head of the chain that has all items of the name, and others. */
uint32_t *sc_name_index_head(struct sc_name_index *x, struct sc_str name);

#endif
