/*
 * core_modules.c: the caches of a core file's modules; see core.h. A cache is opened when an
 * address in its module is met: most modules of a process are on no stack. The vDSO is in no
 * store, as it is the kernel's: its cache is made of its image in the core.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/core/core.h"
#include "cmd/lookup/modules.h"
#include "symcache/build.h"
#include "symcache/build_id.h"

enum { MAX_VDSO = 1 << 20 };

struct core_modules {
	struct symcache_core *core;
	struct modules *caches;
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
			const char *const *debug_dirs, const struct opt_list *given,
			struct core_modules **ret, struct sc_error *err)
{
	struct core_modules *m = must_calloc(1, sizeof(*m));
	int rc = 0;

	m->core = core;
	m->caches = modules_create(store, debug_dirs);
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
		free(m->list[i].own);
	}
	free(m->list);
	modules_destroy(m->caches);
	free(m);
}

struct core_module *core_modules_list(struct core_modules *m, size_t *n)
{
	*n = m->len;
	return m->list;
}

/* ---- caches ------------------------------------------------------------------------------- */

static int open_image(void *ctx, const char *path)
{
	(void)path;
	return dup(*(const int *)ctx);
}

static const char *find_nothing(void *ctx, const struct symcache_wanted *wanted, unsigned n)
{
	(void)ctx;
	(void)wanted;
	(void)n;
	return NULL;
}

/* Makes the cache of an ELF image in the core's memory: module->own is a struct symcache,
 * and its bytes behind it. */
static int build_image(struct core_modules *m, struct core_module *module, struct sc_error *err)
{
	const size_t head = (sizeof(struct symcache) + 7) & ~(size_t)7;
	const size_t size = module->module->end - module->module->start;
	int fd = size <= MAX_VDSO ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	const struct symcache_files files = { open_image, find_nothing, &fd };
	const struct symcache_build_options options = { .no_debug_search = true, .threads = 1,
							.files = &files };
	struct symcache_build *build = NULL;
	void *bytes = must_calloc(1, size);
	int rc = SC_EFORMAT;

	if (fd >= 0 && symcache_core_read(m->core, module->module->start, bytes, size) &&
	    write(fd, bytes, size) == (ssize_t)size)
		rc = symcache_build_create(module->name, &options, &build, err);
	else
		sc_error_set(err, rc, "its image is not in the core");
	free(bytes);
	if (fd >= 0)
		close(fd);
	if (rc)
		return rc;
	module->own = must_calloc(1, head + symcache_build_size(build));
	symcache_build_write(build, (uint8_t *)module->own + head);
	rc = symcache_open(module->own, (uint8_t *)module->own + head, symcache_build_size(build), err);
	symcache_build_destroy(build);
	return rc;
}

static void find_cache(struct core_modules *m, struct core_module *module)
{
	const char *name = module->given ? module->given : module->id;
	bool again, file = module->given && !access(module->given, F_OK);
	struct sc_error err;
	int rc;

	module->asked = true;
	if (module->module->vdso && !module->given) {
		rc = build_image(m, module, &err);
		module->cache = rc ? NULL : module->own;
	} else if (!*name) {
		rc = sc_error_set(&err, SC_ENOTFOUND, "the core does not have its build ID: name it with "
				  "--module %s=BUILDID or =FILE", module->name);
	} else {
		rc = modules_get(m->caches, file ? MODULE_FILE : MODULE_BUILD_ID, name, &module->cache,
				 &again, &err);
	}
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
