/* Writing to stores: see <symcache.h>. */
#include <string.h>

#include "libsymcache/api/api.h"
#include "libsymcache/write/build.h"

int api_check_version(const char *version, struct symcache_error *err)
{
	return !strcmp(version, symcache_version) ? 0 :
		api_error(err, SC_EUNSUPPORTED, "libsymcache is of %s, libsymcache-build of %s: "
			  "they belong together", symcache_version, version);
}

int symcache_private_store(struct symcache_store *s, const char *version, bool write,
			   struct symstore **ret, struct symcache_error *err)
{
	struct sc_error e;

	if (api_check_version(version, err))
		return SC_EUNSUPPORTED;
	if (api_store_may_use(s, write, &e))
		return api_fail(err, &e);
	*ret = s->file;
	return 0;
}

static int begin(struct symcache_store *s, struct symstore_writer **ret, struct sc_error *err)
{
	const int rc = api_store_may_use(s, true, err);

	return rc ? rc : symstore_write_begin(s->file, ret, err);
}

int symcache_store_put(struct symcache_store *s, const struct symcache_cache *c,
		       const struct symcache_put_options *options, struct symcache_error *err)
{
	struct symstore_entry entry = {
		.cache_size = c->cache.size, .sources = c->cache.image ? c->cache.image->sources : 0,
		.tool_version = symcache_version,
	};
	enum symstore_put_result result;
	struct symstore_writer *w;
	struct sc_error e;
	ssize_t faults;
	int rc;

	if (!options || !api_fits(options) || !options->build_id ||
	    !options->build_id_len || options->build_id_len > SYMCACHE_BUILD_ID_MAX)
		return api_error(err, SC_EINVAL, "no build ID");
	faults = symcache_verify(&c->cache, NULL, NULL);
	if (faults < 0)
		return api_error(err, SC_ENOMEM, "out of memory");
	if (faults)
		return api_error(err, SC_EFORMAT, "the cache is malformed");
	memcpy(entry.build_id, options->build_id, options->build_id_len);
	entry.build_id_len = options->build_id_len;
	entry.source_path = options->source_path ? options->source_path : "";
	entry.tags = options->tags;
	entry.time = options->time;
	if (!(rc = begin(s, &w, &e))) {
		rc = symstore_put(w, &entry, NULL, (void *)c->cache.data, &result, &e);
		rc = symstore_end(w, rc, &e);
	}
	return rc ? api_fail(err, &e) : result != SYMSTORE_WRITTEN;
}

int symcache_store_remove(struct symcache_store *s, const uint8_t *build_id, size_t len,
			  struct symcache_error *err)
{
	struct symstore_writer *w;
	struct sc_error e;
	bool removed = false;
	int rc = begin(s, &w, &e);

	if (!rc)
		rc = symstore_end(w, symstore_remove(w, build_id, len, &removed, &e), &e);
	if (rc)
		return api_fail(err, &e);
	return removed ? 0 : api_error(err, SC_ENOTFOUND, "the store has no such build ID");
}

int symcache_store_tag(struct symcache_store *s, const uint8_t *build_id, size_t len,
		       const char *tags, struct symcache_error *err)
{
	struct symstore_writer *w;
	struct sc_error e;
	int rc = begin(s, &w, &e);

	if (!rc)
		rc = symstore_end(w, symstore_add_words(w, build_id, len, tags, NULL, &e), &e);
	return rc ? api_fail(err, &e) : 0;
}
