/*
 * name_index.h: functions, symbols and variables of a cache by name. A cache has no such index; the
 * first question makes one in memory: keys of hash and item, those of a bucket of hashes next to
 * each other, in the order of the tables:
 *
 *   starts[hash & mask]  →  keys …  starts[(hash & mask) + 1]
 *
 * An item is a function that is not inlined or, behind all functions, a symbol, behind all symbols
 * a variable, or behind all variables an alias. Cost: a pass over them with their names, 8 bytes
 * for each and 4 to 8 for the starts. Only items of an equal hash are looked at: memory is waited
 * for once for the bucket, once for the item, and once for its name.
 */
#ifndef SC_NAME_INDEX_H
#define SC_NAME_INDEX_H

#include "libsymcache/read/read.h"

struct sc_name_key {
	uint32_t hash, item;
};

struct sc_name_table {
	uint32_t mask, *starts;
	struct sc_name_key *keys; /* NULL: not made yet */
};

struct sc_name_index {
	const struct symcache *cache;
	unsigned generation; /* of the module */
	size_t longest;      /* longer names have no items */
	struct sc_name_table linkage, shown; /* `shown`: names that are not shown as they are linked */
};

/* Makes a table of keys, which it copies. False: out of memory, or more than numbers reach. */
bool sc_name_table_init(struct sc_name_table *t, const struct sc_name_key *keys, size_t n);

/* The keys that may have this hash, until *end. */
static inline const struct sc_name_key *sc_name_keys(const struct sc_name_table *t, uint32_t hash,
						     const struct sc_name_key **end)
{
	const uint32_t *at = &t->starts[hash & t->mask];

	*end = t->keys + at[1];
	return t->keys + at[0];
}

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

/* Which differs from run to run, so that no one can make names that all share a bucket. */
uint32_t sc_name_hash(const struct sc_name_index *x, struct sc_str name);

#endif
