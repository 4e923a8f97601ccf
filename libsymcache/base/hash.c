/* Hashes: see hash.h. */
#include "libsymcache/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include <xxhash.h>

struct sc_hash sc_hash_of(const void *bytes, size_t size)
{
	const XXH128_hash_t hash = XXH3_128bits(bytes, size);

	return (struct sc_hash){ hash.low64, hash.high64 };
}

struct sc_hash sc_hash_digest(const struct XXH3_state_s *state)
{
	const XXH128_hash_t hash = XXH3_128bits_digest(state);

	return (struct sc_hash){ hash.low64, hash.high64 };
}

uint64_t sc_write_hash(uint8_t *bytes, size_t size)
{
	XXH3_state_t state;
	uint64_t hash;

	XXH3_64bits_reset(&state);
	XXH3_64bits_update(&state, bytes, size);
	hash = XXH3_64bits_digest(&state);
	memcpy(bytes + size, &hash, sizeof(hash));
	XXH3_64bits_update(&state, bytes + size, sizeof(hash));
	return XXH3_64bits_digest(&state);
}

const char *sc_hash_text(struct sc_hash hash, char ret[SC_HASH_TEXT])
{
	snprintf(ret, SC_HASH_TEXT, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
	return ret;
}
