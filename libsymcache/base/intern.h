/*
 * A hash set of indices: gives equal things the same small number.
 *
 * It stores indices into a table of the caller, never the things themselves;
 * the caller compares. Open addressing, linear probing, at most half full.
 *
 *   uint32_t *slot = sc_intern_find(&set, hash, equal, ctx);
 *   if (!slot) out of memory
 *   if (*slot == SC_INTERN_NEW) *slot = index of the thing, added just now
 */
#ifndef SC_INTERN_H
#define SC_INTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/account.h"

#define SC_INTERN_NEW 0xffffffffu

struct sc_intern_slot {
	uint32_t index; /* SC_INTERN_NEW: free */
	uint32_t hash;
};

struct sc_intern {
	struct sc_intern_slot *slots;
	size_t size, used; /* size is a power of two, or 0 */
};

static inline void sc_intern_deinit(struct sc_intern *t)
{
	sc_discharge(t->size * sizeof(*t->slots));
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

/* Forgets everything; a set that is too large shrinks, so that clearing stays cheap. */
static inline void sc_intern_clear(struct sc_intern *t)
{
	if (t->size > 64 && t->used < t->size / 8) {
		sc_intern_deinit(t);
	} else if (t->used) {
		memset(t->slots, 0xff, t->size * sizeof(*t->slots));
		t->used = 0;
	}
}

static inline bool sc_intern_grow_(struct sc_intern *t)
{
	size_t size = t->size ? t->size * 2 : 64;
	struct sc_intern_slot *slots;

	if (!sc_charge((size - t->size) * sizeof(*slots)))
		return false;
	slots = malloc(size * sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0xff, size * sizeof(*slots));
	for (size_t i = 0; i < t->size; i++) {
		size_t at;
		if (t->slots[i].index == SC_INTERN_NEW)
			continue;
		at = t->slots[i].hash & (size - 1);
		while (slots[at].index != SC_INTERN_NEW)
			at = (at + 1) & (size - 1);
		slots[at] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->size = size;
	return true;
}

static inline uint32_t sc_intern_hash_(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/* Where a thing of this hash is looked for first: to be prefetched. NULL: nowhere. */
static inline const struct sc_intern_slot *sc_intern_likely(const struct sc_intern *t,
							    uint64_t hash)
{
	return t->size ? &t->slots[sc_intern_hash_(hash) & (t->size - 1)] : NULL;
}

/* The slot of the thing that `equal(ctx, index)` accepts, or a new one that the
 * caller must fill. Valid until the next call. NULL: out of memory. */
static inline uint32_t *sc_intern_find(struct sc_intern *t, uint64_t hash,
				       bool (*equal)(const void *ctx, uint32_t index),
				       const void *ctx)
{
	uint32_t h = sc_intern_hash_(hash);
	size_t at;

	if (t->used * 2 >= t->size && !sc_intern_grow_(t))
		return NULL;
	for (at = h & (t->size - 1); t->slots[at].index != SC_INTERN_NEW;
	     at = (at + 1) & (t->size - 1))
		if (t->slots[at].hash == h && equal(ctx, t->slots[at].index))
			return &t->slots[at].index;
	t->used++;
	t->slots[at].hash = h;
	return &t->slots[at].index;
}

/* The index of the thing that `equal(ctx, index)` accepts; SC_INTERN_NEW: it is not there. */
static inline uint32_t sc_intern_get(const struct sc_intern *t, uint64_t hash,
				     bool (*equal)(const void *ctx, uint32_t index),
				     const void *ctx)
{
	const uint32_t h = sc_intern_hash_(hash);

	for (size_t at = h & (t->size - 1); t->size && t->slots[at].index != SC_INTERN_NEW;
	     at = (at + 1) & (t->size - 1))
		if (t->slots[at].hash == h && equal(ctx, t->slots[at].index))
			return t->slots[at].index;
	return SC_INTERN_NEW;
}

#endif
