/* The text of sources: see <symcache-build.h>. Of the other library, as build.c. */
#include <stdlib.h>
#include <symcache-build.h>

#include "libsymcache/api/private.h"
#include "libsymcache/base/text.h"
#include "libsymcache/symbolize/debug_files.h"

struct symcache_source_reader {
	struct symcache_store *store;   /* NULL: debug information is not asked */
	struct symcache_caches *caches; /* of the store */
	char **debug_dirs, **folders;
	struct symcache_source_search search;
	struct symcache_source_files files;
};

void symcache_source_reader_destroy(struct symcache_source_reader *s)
{
	if (!s)
		return;
	symcache_source_files_deinit(&s->files);
	symcache_debug_files_destroy(s->search.files);
	symcache_caches_destroy(s->caches);
	symcache_store_close(s->store);
	symcache_transforms_deinit(&s->search.maps);
	sc_text_list_free(s->debug_dirs);
	sc_text_list_free(s->folders);
	free(s);
}

static int use_store(struct symcache_source_reader *s, const struct symcache_source_options *o,
		     struct symcache_error *err)
{
	struct symcache_caches_options from = { .memory_only = true, .without_symbols = true };
	int rc;

	if (!o->store)
		return 0;
	s->store = symcache_store_ref(o->store);
	rc = symcache_private_store(s->store, symcache_version, false, &from.borrowed, err);
	if (rc)
		return rc;
	s->caches = symcache_caches_create(&from);
	s->search.files = symcache_debug_files_create((const char *const *)s->debug_dirs, NULL);
	return s->caches && s->search.files ? 0 : api_error(err, SC_ENOMEM, "out of memory");
}

int symcache_source_reader_create(const struct symcache_source_options *options,
				  struct symcache_source_reader **ret, struct symcache_error *err)
{
	static const struct symcache_source_options none = { .size = sizeof(none) };
	const struct symcache_source_options *o = options ? options : &none;
	const struct symcache_maps maps = { .path_maps = o->path_maps };
	struct symcache_source_reader *s;
	struct sc_error e;
	int rc;

	*ret = NULL;
	if (!api_fits(o))
		return api_error(err, SC_EINVAL, "unknown options");
	s = calloc(1, sizeof(*s));
	if (!s || !sc_text_list_copy(o->debug_dirs, &s->debug_dirs) ||
	    !sc_text_list_copy(o->folders, &s->folders))
		rc = api_error(err, SC_ENOMEM, "out of memory");
	else if (symcache_transforms_init(&s->search.maps, &maps, &e))
		rc = api_fail(err, &e);
	else
		rc = use_store(s, o, err);
	if (rc) {
		symcache_source_reader_destroy(s);
		return rc;
	}
	s->search.folders = (const char *const *)s->folders;
	s->files.search = &s->search;
	*ret = s;
	return 0;
}

/* The module of a cache, whose files the store knows; NULL: it has none. */
static struct symcache_module *module_of(struct symcache_source_reader *s,
					 const struct symcache_cache *c)
{
	size_t len = 0;
	const uint8_t *id = c && s->caches ? symcache_cache_build_id(c, &len) : NULL;

	return len ? symcache_caches_module_of_id(s->caches, id, len) : NULL;
}

int symcache_source_text(struct symcache_source_reader *s, const struct symcache_cache *c,
			 const char *path, const char **ret, size_t *size, struct symcache_error *err)
{
	const struct symcache_source_file *f;
	struct symstore *store;
	int rc;

	*ret = NULL;
	*size = 0;
	if (!path)
		return api_error(err, SC_EINVAL, "NULL in place of a path");
	rc = s->store ? symcache_private_store(s->store, symcache_version, false, &store, err) : 0;
	if (rc)
		return rc;
	f = symcache_source_files_get(&s->files, module_of(s, c), sc_str_of(path));
	if (s->caches)
		symcache_caches_update(s->caches); /* no snapshot of the store is kept */
	if (!f->path)
		return api_error(err, SC_ENOMEM, "out of memory");
	if (!f->bytes && f->refused)
		return api_error(err, SC_EUNSUPPORTED, "%s: it does not have the name of a source file",
				 path);
	if (!f->bytes)
		return api_error(err, SC_ENOTFOUND, "%s: there is no such source", path);
	*ret = f->bytes;
	*size = f->size;
	return 0;
}
