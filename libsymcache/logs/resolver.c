/* What libmarkup asks, put to a symbolizer: see resolver.h. Its handles are modules. */
#include "libsymcache/logs/resolver.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"

enum { GUID_BYTES = 16 };

struct sc_log_resolver {
	struct symcache_markup markup; /* first: see symcache_markup_functions() */
	const struct symlog_sources *from;
	struct symcache_caches *caches;
	struct symcache_source_files sources;
	struct sc_error why;
	char advice[sizeof(((struct sc_error *)0)->msg) + 64];
};

struct sc_log_resolver *sc_log_resolver_create(const struct symlog_sources *from,
					       struct symcache_names *names,
					       struct symcache_names *line_names, bool llvm)
{
	struct sc_log_resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->from = from;
	r->caches = from->caches;
	r->sources.search = from->search;
	if (symcache_markup_init(&r->markup, from->caches, names, line_names, llvm))
		return r;
	sc_log_resolver_destroy(r);
	return NULL;
}

void sc_log_resolver_destroy(struct sc_log_resolver *r)
{
	if (!r)
		return;
	symcache_markup_deinit(&r->markup);
	symcache_source_files_deinit(&r->sources);
	free(r);
}

/* Has the module symbols? Else *why. */
static void *usable(struct sc_log_resolver *r, struct symcache_module *m, const char **why)
{
	const struct symcache *cache;

	if (!m || !symcache_module_cache(m, &cache, NULL, &r->why))
		return m;
	*why = r->why.msg;
	return NULL;
}

static void *find_module(void *ctx, const uint8_t *build_id, size_t len, const char **why)
{
	struct sc_log_resolver *r = ctx;
	char hex[2 * GUID_BYTES + 1];
	void *found = usable(r, symcache_caches_module_of_id(r->caches, build_id, len), why);

	if (found || len != GUID_BYTES)
		return found;
	/* A minidump has no more of a build ID. */
	symcache_build_id_text(hex, build_id, len);
	return usable(r, symcache_caches_module(r->caches, SYMCACHE_MODULE_BUILD_ID, hex), why);
}

/* What an option binds a name to, behind "NAME=", or NULL. */
static const char *bound_to(const struct sc_log_resolver *r, const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < r->from->num_modules; i++) {
		const char *text = r->from->modules[i];
		if (!strncmp(text, name, len) && text[len] == '=')
			return text + len + 1;
	}
	return NULL;
}

/* The only entry of the store that is called `name`, and has `tag`, if it is not NULL. */
static void *find_entry(struct sc_log_resolver *r, const char *name, const char *tag,
			const char **why)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;

	if (!symcache_caches_find_name(r->caches, name, tag, id, &len, &r->why))
		return usable(r, symcache_caches_module_of_id(r->caches, id, len), why);
	snprintf(r->advice, sizeof(r->advice), "%s%s", r->why.msg, r->why.code != SC_EINVAL ? "" :
		 "; choose one with --module NAME=BUILDID");
	if (r->why.code != SC_ENOTFOUND || tag)
		*why = r->advice;
	return NULL;
}

static void *find_named(void *ctx, struct sc_str path, const char **why)
{
	struct sc_log_resolver *r = ctx;
	const char *bound;
	char name[256];

	if (!symcache_markup_base(path, name))
		return NULL;
	bound = bound_to(r, name);
	if (!bound)
		return find_entry(r, name, NULL, why);
	if (!r->from->no_files && !access(bound, F_OK))
		return usable(r, symcache_caches_module(r->caches, SYMCACHE_MODULE_FILE, bound),
			      why);
	if (!bound[strspn(bound, "0123456789abcdefABCDEF")])
		return usable(r, symcache_caches_module(r->caches, SYMCACHE_MODULE_BUILD_ID, bound),
			      why);
	return find_entry(r, name, bound, why);
}

static void *find_kernel(void *ctx, struct sc_str module, struct sc_str release,
			 const char **why)
{
	struct sc_log_resolver *r = ctx;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char name[65], of[65];
	size_t len;

	if (module.len >= sizeof(name) || release.len >= sizeof(of))
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)module.len, module.ptr);
	snprintf(of, sizeof(of), "%.*s", (int)release.len, release.ptr);
	if (bound_to(r, name))
		return find_named(ctx, module, why);
	if (!symcache_caches_find_kernel(r->caches, name, *of ? of : NULL, id, &len, &r->why))
		return usable(r, symcache_caches_module_of_id(r->caches, id, len), why);
	if (r->why.code != SC_ENOTFOUND)
		*why = r->why.msg;
	return NULL;
}

static void *find_file(void *ctx, struct sc_str path, const uint8_t *build_id, size_t len,
		       const char **why)
{
	struct sc_log_resolver *r = ctx;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char name[PATH_MAX];
	size_t id_len;
	bool derived;

	if (r->from->no_files || path.len >= sizeof(name))
		return NULL;
	memcpy(name, path.ptr, path.len);
	name[path.len] = 0;
	if (symcache_elf_build_id(name, id, &id_len, &derived, NULL) || derived || id_len != len ||
	    memcmp(id, build_id, len))
		return NULL;
	return usable(r, symcache_caches_module(r->caches, SYMCACHE_MODULE_FILE, name), why);
}

static struct sc_str find_source(void *ctx, void *module, const struct sc_frame *frame)
{
	struct sc_log_resolver *r = ctx;

	return symcache_source_lines(&r->sources, module, frame->file, frame->line,
				     r->from->source_lines);
}

struct markup_resolver sc_log_resolver_functions(struct sc_log_resolver *r)
{
	struct markup_resolver ret = {
		.ctx = r, .module = find_module, .file = find_file, .named = find_named,
		.kernel = find_kernel,
	};

	symcache_markup_functions(&ret);
	if (r->from->search && r->from->source_lines)
		ret.source = find_source;
	return ret;
}
