/* Hashes: see hash.h. */
#include "libsymcache/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
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

const char *sc_hash_text(struct sc_hash hash, char ret[SC_HASH_TEXT])
{
	snprintf(ret, SC_HASH_TEXT, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
	return ret;
}
