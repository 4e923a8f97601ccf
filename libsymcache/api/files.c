/* Files, servers and core files for address spaces: see <symcache-build.h>. Of the other library, as build.c. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <symcache-build.h>

#include "libsymcache/api/private.h"
#include "libsymcache/base/text.h"
#include "libsymcache/core/core.h"

enum { RETRY = 24 * 60 * 60 }; /* seconds until a server is asked again for what it had not */

struct files {
	struct symcache_caches *caches;
	struct symcache_debuginfod *debuginfod; /* NULL: not asked */
	struct symbundle_sites *sites;          /* NULL: none are named */
	char *verify_key;
	char **debug_dirs;                      /* copies, with a NULL behind them; or NULL */
};

static void destroy(void *ctx)
{
	struct files *f = ctx;

	symcache_caches_destroy(f->caches);
	symcache_debuginfod_destroy(f->debuginfod);
	symbundle_sites_destroy(f->sites);
	free(f->verify_key);
	sc_text_list_free(f->debug_dirs);
	free(f);
}

/* Programs that were built before there were URLs have a shorter struct. */
static bool take_options(const struct symcache_space_files *options, struct symcache_space_files *ret)
{
	const size_t size = options ? options->size : 0;
	const size_t known = size < sizeof(*ret) ? size : sizeof(*ret);

	*ret = (struct symcache_space_files){ .size = sizeof(*ret) };
	if (!options)
		return true;
	if (size < offsetof(struct symcache_space_files, urls) || !api_options_fit(options, size, known))
		return false;
	memcpy(ret, options, known);
	return !(ret->flags & ~SYMCACHE_FILES_DEBUGINFOD) && (ret->urls || !ret->verify_key);
}

static int use_servers(struct files *f, const struct symcache_space_files *o, struct sc_error *err)
{
	if (o->verify_key && !(f->verify_key = strdup(o->verify_key)))
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	const struct symbundle_sites_options sites = {
		.urls = o->urls, .verify_key = f->verify_key, .retry = RETRY };
	int rc = o->urls ? symbundle_sites_create(&sites, &f->sites, err) : 0;

	return rc || !(o->flags & SYMCACHE_FILES_DEBUGINFOD) ? rc :
	       symcache_debuginfod_create(RETRY, &f->debuginfod, err);
}

int symcache_space_use_files(struct symcache_space *s, const struct symcache_space_files *options,
			     struct symcache_error *err)
{
	struct symcache_space_files o;
	static const char *const usual[] = { "/usr/lib/debug", NULL };
	struct symcache_finder finder = { .find = symcache_find_module };
	struct symcache_caches_options from = { .memory_only = true, .search_debug_dirs = true };
	struct files *f;
	struct sc_error e;

	if (!take_options(options, &o))
		return api_error(err, SC_EINVAL, "unknown options");
	f = calloc(1, sizeof(*f));
	if (!f)
		return api_error(err, SC_ENOMEM, "out of memory");
	if (use_servers(f, &o, &e)) {
		destroy(f);
		return api_fail(err, &e);
	}
	if (sc_text_list_copy(o.debug_dirs, &f->debug_dirs)) {
		from.debug_dirs = f->debug_dirs ? (const char *const *)f->debug_dirs : usual;
		from.debuginfod = f->debuginfod;
		from.sites = f->sites;
		f->caches = symcache_caches_create(&from);
	}
	if (!f->caches) {
		destroy(f);
		return api_error(err, SC_ENOMEM, "out of memory");
	}
	finder.caches = f->caches;
	finder.ctx = f;
	return symcache_private_space(s, symcache_version, &finder, destroy, err);
}

int symcache_space_add_core(struct symcache_space *s, const char *path, struct symcache_error *err)
{
	const struct symcache_mapping *m;
	struct symcache_core *core;
	struct sc_error e;
	int rc = 0;
	size_t n;

	if (!path)
		return api_error(err, SC_EINVAL, "NULL in place of a path");
	if (symcache_core_open(path, &core, &e))
		return api_fail(err, &e);
	m = symcache_process_mappings(core->process, &n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = symcache_private_map(s, symcache_version, &m[i], err);
	symcache_core_close(core);
	return rc;
}
