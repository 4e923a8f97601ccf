/* Local variables: see <symcache-find.h>. */
#include <symcache-find.h>

#include "libsymcache/api/api.h"

static const char *known(struct symcache_resolver *r, struct sc_str s, enum sc_shown_kind kind)
{
	return api_copy_text(r, sc_names_printable(r->symbolizer->names, s, kind));
}

static int give(struct symcache_resolver *r, const struct symcache_local *l, symcache_local_fn *fn,
		void *ctx, struct symcache_error *err)
{
	const struct sc_str file = sc_symbolizer_path(r->symbolizer, &l->file);
	struct symcache_local_variable v = {
		.line = (uint32_t)l->line, /* a cache has no more */
		.flags = (l->has_offset ? SYMCACHE_LOCAL_HAS_OFFSET : 0) |
			 (l->has_size ? SYMCACHE_LOCAL_HAS_SIZE : 0) |
			 (l->has_tag ? SYMCACHE_LOCAL_HAS_TAG : 0) |
			 (l->function.ptr ? 0 : SYMCACHE_FRAME_NO_FUNCTION) |
			 (file.ptr ? 0 : SYMCACHE_FRAME_NO_FILE),
		.offset = l->offset, .size = l->size, .tag = l->tag,
	};

	/* A byte becomes four at most where it is made printable. */
	if (!api_reserve_texts(r, 4 * (l->name.len + l->function.len) + file.len + 3))
		return api_error(err, SC_ENOMEM, "out of memory");
	v.name = known(r, l->name, SC_SHOWN_NAME);
	v.function = known(r, l->function, SC_SHOWN_NAME);
	v.file = api_copy_text(r, file);
	return fn(ctx, &v);
}

int symcache_each_local(struct symcache_resolver *r, struct symcache_cache *c, uint64_t vaddr,
			symcache_local_fn *fn, void *ctx, struct symcache_error *err)
{
	const struct symcache *cache = &c->cache;
	const struct sc_seen *seen;
	struct symcache_local local;
	uint32_t first = 0, n;
	int rc = 0;

	if (!fn)
		return api_error(err, SC_EINVAL, "there is no function");
	api_forget_others(r, c);
	seen = sc_symbolizer_begin(r->symbolizer, &c->module);
	if (!seen)
		return symcache_damaged(cache) ? api_error(err, SC_EFORMAT, "the cache is damaged") :
						 api_error(err, SC_ENOMEM, "out of memory");
	if (!cache->locals.ranges)
		return api_error(err, SC_EUNSUPPORTED, "the cache was made without local variables");
	n = symcache_locals_of(cache, sc_relative(seen, vaddr), &first);
	for (uint32_t i = 0; !rc && i < n; i++)
		if (symcache_local(cache, first + i, &local))
			rc = give(r, &local, fn, ctx, err);
	if (rc)
		return rc;
	if (symcache_damaged(cache))
		return api_error(err, SC_EFORMAT, "the cache is damaged");
	return n ? 0 : api_error(err, SC_ENOTFOUND, "0x%llx: there are no local variables",
				 (unsigned long long)vaddr);
}
