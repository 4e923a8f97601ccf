/*
 * Address spaces: see <symcache-process.h>. What is mapped where, and the batches, are
 * symbolize/process.h; where caches come from is a list of handles of stores.
 */
#include <stdlib.h>
#include <string.h>
#include <symcache-process.h>

#include "libsymcache/api/space.h"
#include "libsymcache/base/build_id.h"

/* ---- where caches come from ---------------------------------------------------------------- */

/* Minidumps have the first 16 bytes of a build ID. */
enum { GUID_BYTES = 16 };

static int find_id(struct symcache_store *store, const struct symcache_file_id *of,
		   struct symcache_cache **ret, struct symcache_error *err)
{
	char hex[2 * GUID_BYTES + 1];
	const int rc = symcache_store_get(store, of->build_id, of->build_id_len, ret, err);

	if (rc != SC_ENOTFOUND || of->build_id_len != GUID_BYTES)
		return rc;
	symcache_build_id_text(hex, of->build_id, GUID_BYTES);
	return api_store_find(store, API_BY_BUILD_ID, hex, ret, err);
}

static int find_in(struct symcache_store *store, const struct symcache_file_id *of,
		   struct symcache_cache **ret, struct symcache_error *err)
{
	char name[SYMCACHE_FILE_NAME_MAX + 1], release[SYMCACHE_FILE_NAME_MAX + 1];

	if (of->build_id_len)
		return find_id(store, of, ret, err);
	if (!symcache_file_name(of->path, name))
		return api_error(err, SC_ENOTFOUND, "neither its name nor its build ID is known");
	if (of->kernel)
		return api_store_find_kernel(store, name, symcache_file_name(of->release, release) ?
					     release : NULL, ret, err);
	return api_store_find(store, API_BY_NAME, name, ret, err);
}

int api_find_in_stores(struct symcache_store *const *stores, size_t n,
		       const struct symcache_file_id *of, struct symcache_cache **ret,
		       struct symcache_error *err)
{
	int rc = api_error(err, SC_ENOTFOUND, "there is no store");

	for (size_t i = 0; i < n && rc == SC_ENOTFOUND; i++)
		rc = find_in(stores[i], of, ret, err);
	return rc;
}

/* Opens the default store, if no other was given. */
static int need_store(struct symcache_space *s, struct symcache_error *err)
{
	int rc = 0;

	if (s->stores.len)
		return 0;
	if (!vec_reserve(&s->stores, 1))
		return api_error(err, SC_ENOMEM, "out of memory");
	rc = symcache_store_open(NULL, 0, s->stores.data, err);
	s->stores.len = !rc;
	return rc;
}

/* As symcache_find_module(), in the stores of the space, then in what else there is. */
static int find_module(const struct symcache_finder *finder, const struct symcache_file_id *of,
		       struct symcache_module **ret, struct sc_error *err)
{
	struct symcache_space *s = finder->ctx;
	struct symcache_file_id known = *of;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symcache_cache *c, **kept;
	struct symcache_error why;
	int rc = need_store(s, &why);

	if (!known.build_id_len && (known.build_id_len = api_space_build_id(s, of->path, id)))
		known.build_id = id;
	if (!rc)
		rc = api_find_in_stores(s->stores.data, s->stores.len, &known, &c, &why);
	if (rc == SC_ENOTFOUND && s->fallback.find) {
		rc = s->fallback.find(&s->fallback, &known, ret, err);
		if (rc != SC_ENOTFOUND) /* else it has no store, and would say so */
			return rc;
	}
	if (rc)
		return sc_error_set(err, rc, "%s", why.msg);
	kept = vec_push(&s->caches);
	if (!kept) {
		symcache_cache_unref(c);
		return sc_no_memory(err);
	}
	*kept = c;
	*ret = &c->module;
	return 0;
}

int symcache_private_space(struct symcache_space *s, const char *version,
			   const struct symcache_finder *fallback, void (*destroy)(void *ctx),
			   struct symcache_error *err)
{
	int rc = api_check_version(version, err);

	if (!rc && s->fallback.find)
		rc = api_error(err, SC_EINVAL, "the space already has files");
	if (rc) {
		destroy(fallback->ctx);
		return rc;
	}
	s->fallback = *fallback;
	s->destroy = destroy;
	return 0;
}

/* ---- spaces -------------------------------------------------------------------------------- */

int symcache_space_create(const struct symcache_space_options *options,
			  struct symcache_space **ret, struct symcache_error *err)
{
	const struct symcache_space_options o = options ? *options :
		(struct symcache_space_options){ .size = sizeof(o) };
	const struct symcache_resolver_options texts = { sizeof(texts), o.flags, NULL };
	struct symcache_space *s;
	int rc;

	*ret = NULL;
	if ((options && !api_fits(options)) || (o.num_stores && !o.stores))
		return api_error(err, SC_EINVAL, "unknown options");
	s = calloc(1, sizeof(*s));
	if (!s)
		return api_error(err, SC_ENOMEM, "out of memory");
	rc = symcache_resolver_create(&texts, &s->resolver, err);
	if (!rc && !(s->process = symcache_process_create(&(struct symcache_finder){
			.find = find_module, .ctx = s })))
		rc = api_error(err, SC_ENOMEM, "out of memory");
	if (!rc && !vec_reserve(&s->stores, o.num_stores))
		rc = api_error(err, SC_ENOMEM, "out of memory");
	if (rc) {
		symcache_space_destroy(s);
		return rc;
	}
	for (uint32_t i = 0; i < o.num_stores; i++)
		s->stores.data[s->stores.len++] = symcache_store_ref(o.stores[i]);
	*ret = s;
	return 0;
}

void symcache_space_destroy(struct symcache_space *s)
{
	if (!s)
		return;
	symcache_process_destroy(s->process);
	symcache_resolver_destroy(s->resolver);
	if (s->destroy)
		s->destroy(s->fallback.ctx);
	api_space_close_folder(s);
	for (size_t i = 0; i < s->caches.len; i++)
		symcache_cache_unref(s->caches.data[i]);
	for (size_t i = 0; i < s->stores.len; i++)
		symcache_store_close(s->stores.data[i]);
	for (size_t i = 0; i < s->rows.len; i++)
		free(s->rows.data[i].path);
	symcache_perf_map_deinit(&s->jitted);
	vec_deinit(&s->rows);
	vec_deinit(&s->caches);
	vec_deinit(&s->stores);
	free(s);
}

int api_space_map(struct symcache_space *s, const struct symcache_file_id *of,
		  struct symcache_mapping m, struct symcache_error *err)
{
	int rc;

	m.image = symcache_process_image(s->process, of);
	rc = m.image ? symcache_process_map(s->process, &m) : SC_ENOMEM;
	return rc ? api_error(err, rc, rc == SC_ELIMIT ? "there are too many mappings" :
			      "out of memory") : 0;
}

int symcache_private_map(struct symcache_space *s, const char *version,
			 const struct symcache_mapping *m, struct symcache_error *err)
{
	const struct symcache_image *image = m->image;
	const int rc = api_check_version(version, err);

	return rc ? rc : api_space_map(s, &(struct symcache_file_id){
		.path = sc_str_of(image->path), .build_id = image->build_id,
		.build_id_len = image->build_id_len }, *m, err);
}

int symcache_space_add(struct symcache_space *s, const struct symcache_mapped *m,
		       struct symcache_error *err)
{
	static const enum symcache_origin origins[] = {
		[SYMCACHE_OFFSET_IN_FILE] = SYMCACHE_FROM_FILE,
		[SYMCACHE_OFFSET_IN_IMAGE] = SYMCACHE_FROM_LOAD_BASE,
		[SYMCACHE_OFFSET_VADDR] = SYMCACHE_FROM_ZERO,
	};

	if (!m || !api_fits(m) || m->start >= m->end || m->from > SYMCACHE_OFFSET_VADDR ||
	    m->build_id_len > SYMCACHE_BUILD_ID_MAX || (m->build_id_len && !m->build_id))
		return api_error(err, SC_EINVAL, "an empty range, or unknown options");
	return api_space_map(s, &(struct symcache_file_id){
		.path = sc_str_of(m->path ? m->path : ""), .build_id = m->build_id,
		.build_id_len = m->build_id_len }, (struct symcache_mapping){
		.start = m->start, .end = m->end, .offset = m->offset, .origin = origins[m->from] },
		err);
}

/* ---- addresses ----------------------------------------------------------------------------- */

struct batch {
	struct symcache_space *s;
	const struct symcache_addresses *addresses;
	VEC(struct symcache_address) found;
	symcache_located_fn *fn;
	void *ctx;
	int result;
};

static const char *why(const struct symcache_address *at, enum symcache_reason reason)
{
	switch (reason) {
	case SYMCACHE_FOUND: return "";
	case SYMCACHE_NO_IMAGE: return "nothing is mapped there";
	case SYMCACHE_NO_CACHE: return *at->image->why.msg ? at->image->why.msg : "there is no cache";
	case SYMCACHE_OUTSIDE: return "it is outside of the code";
	case SYMCACHE_NO_CODE: return "it is in no function";
	case SYMCACHE_DAMAGED: return "the entry in the store is damaged";
	case SYMCACHE_NO_MEMORY: break;
	}
	return "out of memory";
}

/* The handle of a module of a store; NULL: it is another's. */
static struct symcache_cache *cache_of(struct symcache_module *m)
{
	return m && m->caches == &api_no_caches ?
		(void *)((char *)m - offsetof(struct symcache_cache, module)) : NULL;
}

/* That of the cache, else what the mapping says. */
static void set_build_id(const struct symcache_image *image, struct symcache_located *l)
{
	const struct symcache_ext_image *facts = image->cache ? image->cache->image : NULL;

	if (l->cache) {
		l->build_id = symcache_cache_build_id(l->cache, &l->build_id_len);
	} else if (facts && symcache_valid(image->cache, facts, sizeof(*facts)) &&
		   facts->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
		l->build_id = facts->build_id;
		l->build_id_len = facts->build_id_len;
	} else {
		l->build_id = image->build_id;
		l->build_id_len = image->build_id_len;
	}
}

static int give(void *ctx, size_t i, const struct symcache_answer *a)
{
	struct batch *b = ctx;
	const struct symcache_address *at = &b->found.data[i];
	const struct symcache_image *image = at->image;
	const bool returns = b->addresses->flags & SYMCACHE_RETURN_ADDRESSES;
	struct symcache_resolver *r = b->s->resolver;
	struct symcache_located l = {
		.address = b->addresses->list[i], .vaddr = at->vaddr,
		.path = image ? image->path : "", .num_frames = a->num_frames,
		.reason = api_reason_of(a->reason), .why = why(at, a->reason),
	};
	const char *jitted = a->num_frames ? NULL : api_space_jitted(b->s, l.address - returns);
	const struct symcache_frame of_jit[] = { api_jit_frame(jitted), { .function = NULL } };

	if (!api_take_frames(r, a))
		return SC_ENOMEM;
	l.frames = jitted ? of_jit : r->frames.data;
	if (jitted) {
		l.num_frames = 1;
		l.reason = SYMCACHE_REASON_FOUND;
		l.why = "";
	}
	l.cache = image ? cache_of(image->module) : NULL;
	if (image)
		set_build_id(image, &l);
	b->result = b->fn(b->ctx, i, &l);
	return b->result ? 1 : 0;
}

int symcache_space_symbolize(struct symcache_space *s, const struct symcache_addresses *addresses,
			     symcache_located_fn *fn, void *ctx, struct symcache_error *err)
{
	struct batch b = { .s = s, .addresses = addresses, .fn = fn, .ctx = ctx };
	int rc = 0;

	if (!addresses || !api_fits(addresses) || !fn || (addresses->num && !addresses->list) ||
	    addresses->flags & ~SYMCACHE_RETURN_ADDRESSES)
		return api_error(err, SC_EINVAL, "unknown options, or no function");
	if (!vec_reserve(&b.found, addresses->num))
		return api_error(err, SC_ENOMEM, "out of memory");
	for (size_t i = 0; i < addresses->num; i++)
		symcache_process_find(s->process, addresses->list[i],
				      addresses->flags & SYMCACHE_RETURN_ADDRESSES ?
				      SYMCACHE_RETURNS : SYMCACHE_EXACT, &b.found.data[i]);
	rc = symcache_addresses_symbolize(s->resolver->symbolizer, b.found.data, addresses->num,
					  give, &b);
	vec_deinit(&b.found);
	api_space_close_folder(s);
	if (b.result)
		return b.result;
	return rc ? api_error(err, SC_ENOMEM, "out of memory") : 0;
}
