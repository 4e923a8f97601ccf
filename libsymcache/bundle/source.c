/* The caches that go into a bundle: see write.h. */
#include "libsymcache/bundle/write.h"
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
	rc = symstore_get(reader, entry->build_id, entry->build_id_len, &ret->data, &ret->size, err);
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
