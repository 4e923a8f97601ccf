/* An index of names: see name_index.h. */
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/symbolize/name_index.h"

static void deinit(struct sc_name_table *t)
{
	free(t->starts);
	free(t->keys);
}

void sc_name_index_destroy(struct sc_name_index *x)
{
	if (x) {
		deinit(&x->linkage);
		deinit(&x->shown);
	}
	free(x);
}

uint32_t sc_name_hash(const struct sc_name_index *x, struct sc_str name)
{
	return (uint32_t)XXH3_64bits_withSeed(name.ptr, name.len, (uintptr_t)x);
}

bool sc_name_table_init(struct sc_name_table *t, const struct sc_name_key *keys, size_t n)
{
	uint32_t buckets = 64, sum = 0;

	while (buckets < n && buckets < 1u << 30)
		buckets *= 2;
	t->mask = buckets - 1;
	t->starts = n < UINT32_MAX ? calloc((size_t)buckets + 2, sizeof(*t->starts)) : NULL;
	t->keys = malloc((n + 1) * sizeof(*t->keys));
	if (!t->starts || !t->keys) {
		deinit(t);
		*t = (struct sc_name_table){ .keys = NULL };
		return false;
	}
	/* starts[bucket + 1] becomes its beginning, and in the next pass its end. */
	for (size_t i = 0; i < n; i++)
		t->starts[(keys[i].hash & t->mask) + 2]++;
	for (uint32_t i = 2; i < buckets + 2; i++)
		t->starts[i] = sum += t->starts[i];
	for (size_t i = 0; i < n; i++)
		t->keys[t->starts[(keys[i].hash & t->mask) + 1]++] = keys[i];
	return true;
}

/* The string of a record that has it as `name`, if the record is one of the cache and in order. */
#define NAME_IN(cache, list, at) \
	(symcache_valid(cache, &(list)[at], sizeof(*(list))) ? symcache_string(cache, (list)[at].name) : \
	 (struct sc_str){ NULL, 0 })

/* The linkage name of an item, however long. */
static struct sc_str name_of(const struct symcache *c, uint32_t item)
{
	const uint32_t functions = c->header->num_functions;
	const struct symcache_function *f = &c->functions[item];

	if (item < functions)
		return symcache_valid(c, f, sizeof(*f)) && f->entry_pc != SYMCACHE_NONE ?
			symcache_string(c, f->name) : (struct sc_str){ NULL, 0 };
	item -= functions;
	if (item < c->num_symbols)
		return NAME_IN(c, c->symbols, item);
	item -= (uint32_t)c->num_symbols;
	if (item < c->num_data_symbols)
		return NAME_IN(c, c->data_symbols, item);
	return NAME_IN(c, c->aliases, item - c->num_data_symbols);
}

struct sc_str sc_name_index_name(const struct sc_name_index *x, uint32_t item)
{
	const struct sc_str name = name_of(x->cache, item);

	return name.len > x->longest || (name.len == 1 && *name.ptr == '?') ?
		(struct sc_str){ NULL, 0 } : name;
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
	struct sc_name_index *x = n < UINT32_MAX ? calloc(1, sizeof(*x)) : NULL;
	struct sc_name_key *keys = x ? malloc((n + 1) * sizeof(*keys)) : NULL;
	size_t named = 0;
	bool ok;

	if (keys) {
		x->cache = c;
		x->generation = generation;
		x->longest = longest_name(c, (uint32_t)n);
	}
	for (uint32_t item = 0; keys && item < n; item++) {
		const struct sc_str name = sc_name_index_name(x, item);

		if (name.ptr)
			keys[named++] = (struct sc_name_key){ sc_name_hash(x, name), item };
	}
	ok = keys && sc_name_table_init(&x->linkage, keys, named);
	free(keys);
	if (ok)
		return x;
	sc_name_index_destroy(x);
	return NULL;
}
