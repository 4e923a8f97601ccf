/*
 * The modules of a core file with their caches: see core.h. A cache is opened when an
 * address in its module is met: most modules of a process are on no stack. The vDSO is in no
 * store, as it is the kernel's: its cache is made of its image in the core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/core/parts.h"

enum { MAX_VDSO = 1 << 20 };

struct symcache_core_images {
	struct symcache_core *core;
	struct symcache_caches *caches;
	const char *option;
	int vdso;                 /* its image, in memory; −1: none */
	struct symcache_core_image *list;
	size_t len;
	struct symcache_core_image *last; /* found */
};

struct symcache_core_images *symcache_core_images_create(struct symcache_core *core,
							 struct symcache_caches *caches,
							 const char *option)
{
	struct symcache_core_images *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	*m = (struct symcache_core_images){ core, caches, option, -1,
		calloc(core->num_modules + 1, sizeof(*m->list)), core->num_modules, NULL };
	for (size_t i = 0; m->list && i < m->len; i++) {
		const struct symcache_core_module *of = &core->modules[i];
		const char *slash = strrchr(of->path, '/');

		m->list[i].module = of;
		m->list[i].name = slash ? slash + 1 : of->path;
		symcache_build_id_text(m->list[i].id, of->build_id, of->build_id_len);
	}
	if (m->list)
		return m;
	free(m);
	return NULL;
}

void symcache_core_images_destroy(struct symcache_core_images *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->len; i++)
		free(m->list[i].given);
	free(m->list);
	if (m->vdso >= 0)
		close(m->vdso);
	free(m);
}

static bool is_called(const struct symcache_core_image *m, const char *name, size_t len)
{
	return (strlen(m->name) == len && !memcmp(m->name, name, len)) ||
	       (strlen(m->module->path) == len && !memcmp(m->module->path, name, len));
}

int symcache_core_images_bind(struct symcache_core_images *m, const char *spec,
			      struct sc_error *err)
{
	const char *is = strrchr(spec, '=');
	bool any = false;

	if (!is)
		return sc_error_set(err, SC_EINVAL, "'%.180s': write PATH=FILE or PATH=BUILDID",
				    spec);
	for (size_t i = 0; i < m->len; i++) {
		if (!is_called(&m->list[i], spec, (size_t)(is - spec)))
			continue;
		free(m->list[i].given);
		m->list[i].given = sc_text("%s", is + 1);
		if (!m->list[i].given)
			return sc_no_memory(err);
		any = true;
	}
	return any ? 0 :
		     sc_error_set(err, SC_ENOTFOUND, "'%.180s': the core has no such module", spec);
}

struct symcache_core_image *symcache_core_images_list(struct symcache_core_images *m, size_t *n)
{
	*n = m->len;
	return m->list;
}

/* ---- caches ------------------------------------------------------------------------------- */

/* Copies an ELF image of the core's memory into a file, whose name it gives. */
static bool copy_image(struct symcache_core_images *m, const struct symcache_core_module *of,
		       char name[32])
{
	const size_t size = of->end - of->start;
	bool ok = size <= MAX_VDSO && m->vdso < 0;
	void *bytes = ok ? calloc(1, size) : NULL;

	ok = bytes && symcache_core_read(m->core, of->start, bytes, size);
	m->vdso = ok ? memfd_create("vdso", MFD_CLOEXEC) : m->vdso;
	ok = ok && m->vdso >= 0 && write(m->vdso, bytes, size) == (ssize_t)size;
	free(bytes);
	snprintf(name, 32, "/proc/self/fd/%d", m->vdso);
	return ok;
}

/* The core does not have the build ID: says how it can be given, and what the store has of
 * this name. */
static int advise(struct symcache_core_images *m, const struct symcache_core_image *module,
		  struct sc_error *err)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error why;
	size_t len;
	const int rc = *module->name ? symcache_caches_find_name(m->caches, module->name, NULL, id,
								&len, &why) : SC_ENOTFOUND;

	sc_error_set(err, SC_ENOTFOUND, "the core does not have its build ID: name it with %s "
		     "%.60s=BUILDID or =FILE", m->option, *module->name ? module->name : "NAME");
	if (!rc) {
		symcache_build_id_text(hex, id, len);
		sc_error_set(err, SC_ENOTFOUND, "the core does not have its build ID; if it is the one of this "
			     "name in the store: %s %.60s=%s", m->option, module->name, hex);
	} else if (rc == SC_EINVAL) {
		sc_error_prefix(&why, "the core does not have its build ID: give one with %s %.60s=BUILDID; ",
				m->option, module->name);
		*err = why;
	}
	return SC_ENOTFOUND;
}

static void find_cache(struct symcache_core_images *m, struct symcache_core_image *module)
{
	const char *name = module->given ? module->given : module->id;
	bool file = module->given && !access(module->given, F_OK);
	char image[32];
	int rc;

	module->asked = true;
	if (module->module->vdso && !module->given && copy_image(m, module->module, image)) {
		name = image;
		file = true;
	}
	module->source = *name ? symcache_caches_module(m->caches, file ? SYMCACHE_MODULE_FILE :
							SYMCACHE_MODULE_BUILD_ID, name) : NULL;
	if (module->source)
		rc = symcache_module_cache(module->source, &module->cache, NULL, &module->why);
	else
		rc = advise(m, module, &module->why);
	if (rc) {
		module->cache = NULL;
		module->why.code = rc;
		return;
	}
	/* Mappings begin at whole pages, the first segment may begin behind that. */
	module->base = module->module->start + (symcache_load_base(module->cache) & 4095);
	if (!*module->id && module->cache->image &&
	    module->cache->image->build_id_len <= SYMCACHE_BUILD_ID_MAX)
		symcache_build_id_text(module->id, module->cache->image->build_id,
				       module->cache->image->build_id_len);
}

/* ---- stacks ------------------------------------------------------------------------------- */

static bool find_image(void *ctx, uint64_t address, struct symcache_unwind_module *ret)
{
	struct symcache_core_images *m = ctx;
	struct symcache_core_image *found = m->last;

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

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	return symcache_core_read(((struct symcache_core_images *)ctx)->core, address, to, bytes);
}

static bool is_executable(void *ctx, uint64_t address)
{
	return symcache_core_executable(((struct symcache_core_images *)ctx)->core, address);
}

int symcache_core_walk(struct symcache_core_images *m, const struct symcache_core_thread *thread,
		       bool registers, struct symcache_stack *ret, struct sc_error *err)
{
	const struct symcache_unwind_source source = {
		.machine = m->core->machine, .signature = m->core->signature, .read = read_memory,
		.module = find_image, .executable = is_executable, .ctx = m,
	};
	int rc = symcache_stack_walk(&source, &thread->registers, registers, ret, err);

	for (size_t i = 0; !rc && i < ret->num_frames; i++)
		if (ret->frames[i].owner)
			((struct symcache_core_image *)ret->frames[i].owner)->frames++;
	if (!rc && ret->lacks && ret->stop != SYMCACHE_STOP_NO_ROW)
		((struct symcache_core_image *)ret->lacks)->lost++;
	return rc;
}
