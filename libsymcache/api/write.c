/* Writing to stores: see symcache.h. */
#include <string.h>

#include "libsymcache/api/api.h"
#include "symcache/build.h"

int symcache_private_store(struct symcache_store *s, const char *version, bool write,
			   struct symstore **ret, struct symcache_error *err)
{
	struct sc_error e;

	if (strcmp(version, symcache_version))
		return api_error(err, SC_EUNSUPPORTED, "libsymcache is of %s, libsymcache-build of %s: "
				 "they belong together", symcache_version, version);
	if (api_store_may_use(s, write, &e))
		return api_fail(err, &e);
	*ret = s->file;
	return 0;
}

static void fill(void *ctx, void *dst)
{
	const struct symcache *cache = ctx;

	memcpy(dst, cache->data, cache->size);
}

/* Does with a writer what `work` says, and commits it. */
static int commit(struct symcache_store *s, int (*work)(struct symstore_writer *w, void *ctx,
							struct sc_error *err),
		  void *ctx, struct sc_error *err)
{
	struct symstore_writer *writer;
	int rc = api_store_may_use(s, true, err);

	if (!rc)
		rc = symstore_write_begin(s->file, &writer, err);
	if (rc)
		return rc;
	rc = work(writer, ctx, err);
	if (rc)
		symstore_abort(writer);
	else
		rc = symstore_commit(writer, err);
	return rc;
}

struct putting {
	const struct symcache *cache;
	struct symstore_entry entry;
	enum symstore_put_result result;
};

static int put(struct symstore_writer *w, void *ctx, struct sc_error *err)
{
	struct putting *p = ctx;

	return symstore_put(w, &p->entry, fill, (void *)p->cache, &p->result, err);
}

int symcache_store_put(struct symcache_store *s, const struct symcache_cache *c,
		       const struct symcache_put_options *options, struct symcache_error *err)
{
	struct putting p = { .cache = &c->cache, .entry = {
		.cache_size = c->cache.size, .sources = c->cache.image ? c->cache.image->sources : 0,
		.tool_version = symcache_version,
	} };
	struct sc_error e;

	if (!options || !api_fits(options) || !options->build_id ||
	    !options->build_id_len || options->build_id_len > SYMCACHE_BUILD_ID_MAX)
		return api_error(err, SC_EINVAL, "no build ID");
	if (symcache_verify(p.cache, NULL, NULL))
		return api_error(err, SC_EFORMAT, "the cache is malformed");
	memcpy(p.entry.build_id, options->build_id, options->build_id_len);
	p.entry.build_id_len = options->build_id_len;
	p.entry.source_path = options->source_path ? options->source_path : "";
	p.entry.tags = options->tags;
	p.entry.time = options->time;
	return commit(s, put, &p, &e) ? api_fail(err, &e) : p.result != SYMSTORE_WRITTEN;
}

struct change {
	const uint8_t *id;
	size_t len;
	const char *tags;
	bool removed;
};

static int remove_entry(struct symstore_writer *w, void *ctx, struct sc_error *err)
{
	struct change *c = ctx;

	return symstore_remove(w, c->id, c->len, &c->removed, err);
}

int symcache_store_remove(struct symcache_store *s, const uint8_t *build_id, size_t len,
			  struct symcache_error *err)
{
	struct change c = { build_id, len, NULL, false };
	struct sc_error e;

	if (commit(s, remove_entry, &c, &e))
		return api_fail(err, &e);
	return c.removed ? 0 : api_error(err, SC_ENOTFOUND, "the store has no such build ID");
}

static int add_tags(struct symstore_writer *w, void *ctx, struct sc_error *err)
{
	const struct change *c = ctx;

	return symstore_add_tags(w, c->id, c->len, c->tags, err);
}

int symcache_store_tag(struct symcache_store *s, const uint8_t *build_id, size_t len,
		       const char *tags, struct symcache_error *err)
{
	struct change c = { build_id, len, tags, false };
	struct sc_error e;

	return commit(s, add_tags, &c, &e) ? api_fail(err, &e) : 0;
}
