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

struct sc_str sc_name_index_name(const struct sc_name_index *x, uint32_t item)
{
	const struct symcache *c = x->cache;
	const uint32_t functions = c->header->num_functions;
	const struct symcache_function *f = &c->functions[item];
	struct symcache_symbol symbol = { .name = { NULL, 0 } };
	const struct symcache_ext_data *d;

	if (item < functions)
		return symcache_valid(c, f, sizeof(*f)) && f->entry_pc != SYMCACHE_NONE ?
			symcache_string(c, f->name) : symbol.name;
	item -= functions;
	if (item < c->num_symbols) {
		symcache_symbol(c, item, &symbol);
		return symbol.name;
	}
	d = &c->data_symbols[item - c->num_symbols];
	return symcache_valid(c, d, sizeof(*d)) ? symcache_string(c, d->name) : symbol.name;
}

struct sc_name_index *sc_name_index_create(const struct symcache *c, unsigned generation)
{
	const uint64_t n = c->header->num_functions + (uint64_t)c->num_symbols + c->num_data_symbols;
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
