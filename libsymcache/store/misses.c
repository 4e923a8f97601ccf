/* What servers said that they do not have, among the contents that were looked at: see misses.h. */
#include "libsymcache/store/misses.h"

#include <string.h>
#include <time.h>
#include <xxhash.h>

struct sc_hash symstore_miss_key(const char *kind, const char *server, const uint8_t *build_id,
				       size_t len)
{
	const size_t kind_len = strnlen(kind, SYMSTORE_MISS_KIND - 1) + 1; /* and its NUL */
	uint8_t text[SYMSTORE_MISS_KIND + SYMCACHE_BUILD_ID_MAX] = { 0 };
	XXH128_hash_t hash;

	memcpy(text, kind, kind_len - 1);
	memcpy(text + kind_len, build_id, len);
	hash = XXH3_128bits_withSeed(text, kind_len + len, XXH3_64bits(server, strlen(server)));
	return (struct sc_hash){ hash.low64, hash.high64 };
}

struct search {
	const struct symstore_misses *misses;
	const struct sc_hash *key;
};

static bool is_key(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;

	return sc_hash_same(search->misses->list.data[i], *search->key);
}

bool symstore_misses_have(const struct symstore_misses *m, const struct sc_hash *key)
{
	return sc_intern_get(&m->set, key->low64, is_key, &(struct search){ m, key }) !=
	       SC_INTERN_NEW;
}

void symstore_misses_add(struct symstore_misses *m, const struct sc_hash *key)
{
	uint32_t *slot = vec_reserve(&m->list, 1) ?
		sc_intern_find(&m->set, key->low64, is_key, &(struct search){ m, key }) : NULL;

	if (!slot || *slot != SC_INTERN_NEW)
		return;
	*slot = (uint32_t)m->list.len;
	m->list.data[m->list.len++] = *key;
}

void symstore_misses_deinit(struct symstore_misses *m)
{
	vec_deinit(&m->list);
	sc_intern_deinit(&m->set);
}

bool symstore_missed(struct symstore_reader *reader, const struct sc_hash *key, const char *tool,
		     int64_t retry)
{
	const int64_t now = time(NULL);
	struct symstore_outcome seen;

	return !symstore_seen(reader, key, tool, &seen, NULL) && seen.time <= now &&
	       now - seen.time < retry;
}

int symstore_remember_miss(struct symstore_writer *writer, const struct sc_hash *key,
			   const char *tool, struct sc_error *err)
{
	const struct symstore_outcome outcome = { .code = SC_ENOTFOUND, .time = time(NULL) };

	return symstore_remember(writer, key, tool, &outcome, err);
}
