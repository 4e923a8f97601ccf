/*
 * core_modules.c: the caches of a core file's modules; see core.h. A cache is opened when an
 * address in its module is met: most modules of a process are on no stack. The vDSO is in no
 * store, as it is the kernel's: its cache is made of its image in the core.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/core/core.h"
#include "symcache/build_id.h"

enum { MAX_VDSO = 1 << 20 };

struct core_modules {
	struct symcache_core *core;
	struct cmd_caches caches;
	int vdso;                 /* its image, in memory; −1: none */
	struct core_module *list;
	size_t len;
	struct core_module *last; /* found */
};

/* ---- --module ------------------------------------------------------------------------------ */

static bool is_called(const struct core_module *m, const char *name, size_t len)
{
	return (strlen(m->name) == len && !memcmp(m->name, name, len)) ||
	       (strlen(m->module->path) == len && !memcmp(m->module->path, name, len));
}

static int give(struct core_modules *m, const char *spec, struct sc_error *err)
{
	const char *is = strrchr(spec, '=');
	bool any = false;

	if (!is)
		return sc_error_set(err, SC_EINVAL, "--module '%.180s': write PATH=FILE or PATH=BUILDID",
				    spec);
	for (size_t i = 0; i < m->len; i++) {
		if (!is_called(&m->list[i], spec, (size_t)(is - spec)))
			continue;
		free(m->list[i].given);
		m->list[i].given = must_asprintf("%s", is + 1);
		any = true;
	}
	return any ? 0 : sc_error_set(err, SC_EINVAL, "--module '%.180s': the core has no such module; "
				      "--summary lists them", spec);
}

int core_modules_create(struct symcache_core *core, const char *store,
			const char *const *debug_dirs, struct symcache_debuginfod *debuginfod,
			const struct opt_list *given, struct core_modules **ret,
			struct sc_error *err)
{
	struct core_modules *m = must_calloc(1, sizeof(*m));
	int rc = 0;

	m->core = core;
	m->vdso = -1;
	cmd_caches_init(&m->caches, store, (struct symcache_caches_options){
		.debug_dirs = debug_dirs, .debuginfod = debuginfod, .without_symbols = true });
	m->len = core->num_modules;
	m->list = must_calloc(m->len + 1, sizeof(*m->list));
	for (size_t i = 0; i < m->len; i++) {
		const struct symcache_core_module *of = &core->modules[i];
		const char *slash = strrchr(of->path, '/');

		m->list[i].module = of;
		m->list[i].name = slash ? slash + 1 : of->path;
		symcache_build_id_text(m->list[i].id, of->build_id, of->build_id_len);
	}
	for (size_t i = 0; i < given->len && !rc; i++)
		rc = give(m, given->items[i], err);
	if (rc) {
		core_modules_destroy(m);
		m = NULL;
	}
	*ret = m;
	return rc;
}

void core_modules_destroy(struct core_modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->len; i++) {
		free(m->list[i].given);
		free(m->list[i].why);
	}
	free(m->list);
	cmd_caches_deinit(&m->caches);
	if (m->vdso >= 0)
		close(m->vdso);
	free(m);
}

struct symcache_caches *core_modules_caches(struct core_modules *m)
{
	return m->caches.caches;
}

struct core_module *core_modules_list(struct core_modules *m, size_t *n)
{
	*n = m->len;
	return m->list;
}

/* ---- caches ------------------------------------------------------------------------------- */

/* Copies an ELF image of the core's memory into a file, whose name it gives. */
static bool copy_image(struct core_modules *m, const struct symcache_core_module *of, char name[32])
{
	const size_t size = of->end - of->start;
	bool ok = size <= MAX_VDSO && m->vdso < 0;
	void *bytes = ok ? must_calloc(1, size) : NULL;

	ok = ok && symcache_core_read(m->core, of->start, bytes, size);
	m->vdso = ok ? memfd_create("vdso", MFD_CLOEXEC) : m->vdso;
	ok = ok && m->vdso >= 0 && write(m->vdso, bytes, size) == (ssize_t)size;
	free(bytes);
	snprintf(name, 32, "/proc/self/fd/%d", m->vdso);
	return ok;
}

/* The core does not have the build ID: says how it can be given, and what the store has of
 * this name. */
static int advise(struct core_modules *m, const struct core_module *module, struct sc_error *err)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error why;
	size_t len;
	const int rc = *module->name ? symcache_caches_find_name(m->caches.caches, module->name, NULL, id,
								&len, &why) : SC_ENOTFOUND;

	sc_error_set(err, SC_ENOTFOUND, "the core does not have its build ID: name it with --module "
		     "%.60s=BUILDID or =FILE", *module->name ? module->name : "NAME");
	if (!rc) {
		symcache_build_id_text(hex, id, len);
		sc_error_set(err, SC_ENOTFOUND, "the core does not have its build ID; if it is the one of this "
			     "name in the store: --module %.60s=%s", module->name, hex);
	} else if (rc == SC_EINVAL) {
		sc_error_prefix(&why, "the core does not have its build ID: give one with --module %.60s=BUILDID; ",
				module->name);
		*err = why;
	}
	return SC_ENOTFOUND;
}

static void find_cache(struct core_modules *m, struct core_module *module)
{
	const char *name = module->given ? module->given : module->id;
	bool file = module->given && !access(module->given, F_OK);
	char image[32];
	struct sc_error err;
	int rc;

	module->asked = true;
	if (module->module->vdso && !module->given && copy_image(m, module->module, image)) {
		name = image;
		file = true;
	}
	module->source = *name ? symcache_caches_module(m->caches.caches, file ? SYMCACHE_MODULE_FILE :
							SYMCACHE_MODULE_BUILD_ID, name) : NULL;
	if (module->source)
		rc = symcache_module_cache(module->source, &module->cache, NULL, &err);
	else
		rc = advise(m, module, &err);
	if (rc) {
		module->cache = NULL;
		module->why = must_asprintf("%s", err.msg);
		return;
	}
	/* Mappings begin at whole pages, the first segment may begin behind that. */
	module->base = module->module->start + (symcache_load_base(module->cache) & 4095);
	if (!*module->id && module->cache->image && module->cache->image->build_id_len <= SYMCACHE_BUILD_ID_MAX)
		symcache_build_id_text(module->id, module->cache->image->build_id,
				       module->cache->image->build_id_len);
}

bool core_modules_find(void *ctx, uint64_t address, struct symcache_unwind_module *ret)
{
	struct core_modules *m = ctx;
	struct core_module *found = m->last;

	if (!found || address < found->module->start || address >= found->module->end) {
		const struct symcache_core_module *at = symcache_core_module_at(m->core, address);

		if (!at)
			return false;
		found = &m->list[at - m->core->modules];
	}
	if (!symcache_core_executable(m->core, address))
		return false;
	m->last = found;
	if (!found->asked)
		find_cache(m, found);
	*ret = (struct symcache_unwind_module){ found->cache, found->base, found };
	return !found->cache || !found->cache->image ||
	       address - found->base < found->cache->image->image_size;
}

bool core_modules_read(void *ctx, uint64_t address, void *to, size_t bytes)
{
	return symcache_core_read(((struct core_modules *)ctx)->core, address, to, bytes);
}

bool core_modules_executable(void *ctx, uint64_t address)
{
	return symcache_core_executable(((struct core_modules *)ctx)->core, address);
}
