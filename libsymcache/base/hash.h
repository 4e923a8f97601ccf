/*
 * hash.h: XXH3-128, which says whether bytes are the same: of files, caches, manifests, plans;
 * XXH3-64 at the end of a cache.
 */
#ifndef SC_HASH_H
#define SC_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct XXH3_state_s;

struct sc_hash {
	uint64_t low64, high64;
};

enum { SC_HASH_TEXT = 33 }; /* 32 hex digits and a NUL */

static inline bool sc_hash_same(struct sc_hash a, struct sc_hash b)
{
	return a.low64 == b.low64 && a.high64 == b.high64;
}

struct sc_hash sc_hash_of(const void *bytes, size_t size);
/* Of all that the state was given. */
struct sc_hash sc_hash_digest(const struct XXH3_state_s *state);
/* Writes the XXH3-64 of bytes[0, size) behind them, and returns that of all of it. */
uint64_t sc_write_hash(uint8_t *bytes, size_t size);
/* In hex digits, high first, as xxhsum writes them; returns `ret`. */
const char *sc_hash_text(struct sc_hash hash, char ret[SC_HASH_TEXT]);

#endif
