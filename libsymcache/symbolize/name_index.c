/* An index of names: see name_index.h. */
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/symbolize/name_index.h"

void sc_name_index_destroy(struct sc_name_index *x)
{
	if (x) {
		free(x->next);
		sc_big_free(x->shown, x->shown_cap * sizeof(*x->shown));
	}
	free(x);
}

/* The seed differs from run to run, so that no one can make names that all share a chain. */
uint32_t *sc_name_index_head(struct sc_name_index *x, struct sc_str name)
{
	return &x->heads[XXH3_64bits_withSeed(name.ptr, name.len, (uintptr_t)x) & x->mask];
}

/* The linkage name of an item, however long. */
static struct sc_str name_of(const struct symcache *c, uint32_t item)
{
	const uint32_t functions = c->header->num_functions;
	const struct symcache_function *f = &c->functions[item];
	struct symcache_symbol symbol = { .name = { NULL, 0 } };
	const struct symcache_ext_data *d;
	const struct symcache_ext_alias *a;

	if (item < functions)
		return symcache_valid(c, f, sizeof(*f)) && f->entry_pc != SYMCACHE_NONE ?
			symcache_string(c, f->name) : symbol.name;
	item -= functions;
	if (item < c->num_symbols) {
		symcache_symbol(c, item, &symbol);
		return symbol.name;
	}
	item -= (uint32_t)c->num_symbols;
	d = &c->data_symbols[item];
	if (item < c->num_data_symbols)
		return symcache_valid(c, d, sizeof(*d)) ? symcache_string(c, d->name) : symbol.name;
	a = &c->aliases[item - c->num_data_symbols];
	return symcache_valid(c, a, sizeof(*a)) ? symcache_string(c, a->name) : symbol.name;
}

struct sc_str sc_name_index_name(const struct sc_name_index *x, uint32_t item)
{
	const struct sc_str name = name_of(x->cache, item);

	return name.len <= x->longest ? name : (struct sc_str){ NULL, 0 };
}

enum {
	SHARED_MAX = 16,  /* times that a name has an item, on average */
	SHORT_NAME = 256, /* bytes */
};

/* Names that are long, and shared by more items than real ones, would cost as much as all items
 * together: then only short ones are in the index. */
static size_t longest_name(const struct symcache *c, uint32_t items)
{
	const uint64_t most = (uint64_t)SHARED_MAX * (c->header->string_bytes + (uint64_t)items);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < items && bytes <= most; i++)
		bytes += name_of(c, i).len;
	return bytes <= most ? SIZE_MAX : SHORT_NAME;
}

struct sc_name_index *sc_name_index_create(const struct symcache *c, unsigned generation)
{
	const uint64_t n = c->header->num_functions + (uint64_t)c->num_symbols + c->num_data_symbols +
			   c->num_aliases;
	uint32_t heads = 64;
	struct sc_name_index *x;

	while (heads < n && heads < 1u << 30)
		heads *= 2;
	x = n < UINT32_MAX ? calloc(1, sizeof(*x) + heads * sizeof(*x->heads)) : NULL;
	if (!x)
		return NULL;
	x->cache = c;
	x->generation = generation;
	x->mask = heads - 1;
	x->longest = longest_name(c, (uint32_t)n);
	x->next = calloc(n + 1, sizeof(*x->next));
	for (uint32_t item = (uint32_t)n; x->next && item--;) {
		const struct sc_str name = sc_name_index_name(x, item);
		uint32_t *head = name.ptr ? sc_name_index_head(x, name) : NULL;

		if (!head)
			continue;
		x->next[item] = *head;
		*head = item + 1;
	}
	if (x->next)
		return x;
	sc_name_index_destroy(x);
	return NULL;
}
