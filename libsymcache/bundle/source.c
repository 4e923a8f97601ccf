/* The caches that go into a bundle: see write.h. */
#include "libsymcache/bundle/write.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/write/only_names.h"

static int names_of(struct bundle_cache *cache, struct sc_error *err)
{
	struct symcache whole;
	int rc = symcache_open(&whole, cache->data, cache->size, err);

	if (!rc)
		rc = symcache_only_names(&whole, &cache->made, &cache->size, err);
	cache->data = cache->made;
	return rc;
}

int bundle_get_cache(struct symstore_reader *reader, const struct symstore_entry *entry,
		     bool names_only, struct bundle_cache *ret, struct sc_error *err)
{
	int rc;

	*ret = (struct bundle_cache){ 0 };
	rc = symstore_get(reader, entry->build_id, entry->build_id_len, &ret->data, &ret->size,
			  err);
	return !rc && names_only ? names_of(ret, err) : rc;
}

int bundle_source_cache(const struct bundle_source *s, size_t i, struct bundle_cache *ret,
			struct sc_error *err)
{
	const struct symstore_entry *e = &s->manifest->data[i].entry;

	if (s->progress)
		s->progress(s->ctx, i, s->manifest->len, e->source_path);
	return bundle_get_cache(s->reader, e, s->names_only, ret, err);
}

int bundle_find_old(struct symstore_reader *reader, const struct manifest_entry *e,
		    struct bundle_cache *ret, struct sc_error *err)
{
	struct symstore_entry entry = { .build_id_len = e->old.len };
	char text[SYMCACHE_BUILD_ID_TEXT];
	struct sc_hash hash;
	int rc;

	*ret = (struct bundle_cache){ 0 };
	symcache_build_id_text(text, e->old.bytes, e->old.len);
	memcpy(entry.build_id, e->old.bytes, e->old.len);
	rc = reader ? bundle_get_cache(reader, &entry, false, ret, err) : SC_ENOTFOUND;
	if (rc == SC_ENOTFOUND)
		return sc_error_set(err, rc, "it is a delta against %s, which is not in the store", text);
	if (rc)
		return rc;
	hash = sc_hash_of(ret->data, ret->size);
	if (sc_hash_same(hash, e->old_hash))
		return 0;
	free(ret->made);
	*ret = (struct bundle_cache){ 0 };
	return sc_error_set(err, SC_ENOTFOUND, "it is a delta against %s, of which the store has different bytes",
			    text);
}
