/* What a store holds: see store.h. */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "libsymcache/store/store.h"

static bool add(void *state, const struct symstore_entry *e)
{
	const uint64_t hashes[] = { htole64(e->build_id_len), htole64(e->cache_size),
				    htole64(e->cache_hash), htole64(e->table_hash) };

	XXH3_128bits_update(state, e->build_id, e->build_id_len);
	XXH3_128bits_update(state, hashes, sizeof(hashes));
	/* Modules are also found by names and tags. */
	XXH3_128bits_update(state, e->source_path, strlen(e->source_path) + 1);
	XXH3_128bits_update(state, e->tags, strlen(e->tags) + 1);
	XXH3_128bits_update(state, e->names, strlen(e->names) + 1);
	return true;
}

int symstore_identity(struct symstore_reader *reader, char ret[SC_HASH_TEXT],
		      struct sc_error *err)
{
	XXH3_state_t *state = XXH3_createState();
	int rc;

	if (!state)
		return sc_no_memory(err);
	XXH3_128bits_reset(state);
	rc = symstore_each(reader, NULL, 0, add, state, err);
	sc_hash_text(sc_hash_digest(state), ret);
	XXH3_freeState(state);
	return rc;
}
