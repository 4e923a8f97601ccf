/* What a store holds: see identity.h. Its records are read, no caches. */
#include "cmd/plan/identity.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/store.h"

static bool add(void *state, const struct symstore_entry *e)
{
	const uint64_t hashes[] = { htole64(e->build_id_len), htole64(e->cache_size),
				    htole64(e->cache_hash), htole64(e->table_hash) };

	XXH3_128bits_update(state, e->build_id, e->build_id_len);
	XXH3_128bits_update(state, hashes, sizeof(hashes));
	/* Modules are also found by names and tags. */
	XXH3_128bits_update(state, e->source_path, strlen(e->source_path) + 1);
	XXH3_128bits_update(state, e->tags, strlen(e->tags) + 1);
	return true;
}

int store_identity(const char *option, char ret[MARKUP_HASH_TEXT], struct sc_error *err)
{
	struct symstore_reader *reader = NULL;
	struct symstore *store = NULL;
	XXH3_state_t *state = must(XXH3_createState());
	XXH128_hash_t hash;
	int rc = open_store(option, SYMSTORE_READ, &store, err);

	XXH3_128bits_reset(state);
	if (!rc)
		rc = symstore_read_begin(store, &reader, err);
	if (!rc)
		rc = symstore_each(reader, NULL, 0, add, state, err);
	hash = XXH3_128bits_digest(state);
	snprintf(ret, MARKUP_HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	symstore_read_end(reader);
	symstore_close(store);
	XXH3_freeState(state);
	return rc;
}
