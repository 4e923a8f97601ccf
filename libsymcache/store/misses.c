/* What servers said that they do not have, among the contents that were looked at: see store.h. */
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "libsymcache/store/store.h"

struct symstore_hash symstore_miss_key(const char *kind, const char *server, const uint8_t *build_id,
				       size_t len)
{
	const size_t kind_len = strnlen(kind, SYMSTORE_MISS_KIND - 1) + 1; /* and its NUL */
	uint8_t text[SYMSTORE_MISS_KIND + SYMCACHE_BUILD_ID_MAX] = { 0 };
	XXH128_hash_t hash;

	memcpy(text, kind, kind_len - 1);
	memcpy(text + kind_len, build_id, len);
	hash = XXH3_128bits_withSeed(text, kind_len + len, XXH3_64bits(server, strlen(server)));
	return (struct symstore_hash){ hash.low64, hash.high64 };
}

bool symstore_missed(struct symstore_reader *reader, const struct symstore_hash *key, const char *tool,
		     int64_t retry)
{
	const int64_t now = time(NULL);
	struct symstore_outcome seen;

	return !symstore_seen(reader, key, tool, &seen, NULL) && seen.time <= now &&
	       now - seen.time < retry;
}

int symstore_remember_miss(struct symstore_writer *writer, const struct symstore_hash *key,
			   const char *tool, struct sc_error *err)
{
	const struct symstore_outcome outcome = { .code = SC_ENOTFOUND, .time = time(NULL) };

	return symstore_remember(writer, key, tool, &outcome, err);
}
