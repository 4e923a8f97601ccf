/*
 * The modules of a core file with their caches, and stacks: see core.h. A cache is opened when an
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

enum { MAX_VDSO = 1 << 20, MAX_FRAMES = 100000 };

void symcache_core_use(struct symcache_core *core, struct symcache_caches *caches,
		       const char *option)
{
	core->private->caches = caches;
	core->private->option = option;
	symcache_process_use(core->process, &(struct symcache_finder){ .find = symcache_find_module, .caches = caches });
}

static bool is_called(const struct symcache_image *m, struct sc_str name)
{
	return sc_str_is(name, m->name) || sc_str_is(name, m->path);
}

int symcache_core_bind(struct symcache_core *core, const char *spec, struct sc_error *err)
{
	const char *is = strrchr(spec, '=');
	bool any = false;

	if (!is)
		return sc_error_set(err, SC_EINVAL, "'%.180s': write PATH=FILE or PATH=BUILDID",
				    spec);
	for (size_t i = 0; i < core->num_modules; i++) {
		if (!is_called(core->modules[i], sc_span(spec, is)))
			continue;
		if (!symcache_image_bind(core->modules[i], is + 1))
			return sc_no_memory(err);
		any = true;
	}
	return any ? 0 :
		     sc_error_set(err, SC_ENOTFOUND, "'%.180s': the core has no such module", spec);
}

/* ---- caches ------------------------------------------------------------------------------- */

/* Copies an ELF image of the core's memory into a file, that it is bound to. */
static bool copy_image(struct symcache_core *core, struct symcache_image *image)
{
	struct symcache_core_private *p = core->private;
	const size_t size = image->end - image->start;
	bool ok = size <= MAX_VDSO && p->vdso_file < 0;
	void *bytes = ok ? calloc(1, size) : NULL;
	char name[32];

	ok = bytes && symcache_core_read(core, image->start, bytes, size);
	p->vdso_file = ok ? memfd_create("vdso", MFD_CLOEXEC) : p->vdso_file;
	ok = ok && p->vdso_file >= 0 && write(p->vdso_file, bytes, size) == (ssize_t)size;
	free(bytes);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", p->vdso_file);
	return ok && symcache_image_bind(image, name);
}

/* The core does not have the build ID: says how it can be given, and what the store has of
 * this name. */
static void advise(struct symcache_core *core, const struct symcache_image *image,
		   struct sc_error *err)
{
	const char *option = core->private->option;
	char hex[SYMCACHE_BUILD_ID_TEXT];
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error why;
	size_t len;
	const int rc = *image->name ? symcache_caches_find_name(core->private->caches, image->name,
								NULL, id, &len, &why) : SC_ENOTFOUND;

	sc_error_set(err, SC_ENOTFOUND, "the core does not have its build ID: name it with %s "
		     "%.60s=BUILDID or =FILE", option, *image->name ? image->name : "NAME");
	if (!rc) {
		sc_error_set(err, SC_ENOTFOUND, "the core does not have its build ID; if it is the one of this "
			     "name in the store: %s %.60s=%s", option, image->name,
			     symcache_build_id_text(hex, id, len));
	} else if (rc == SC_EINVAL) {
		sc_error_prefix(&why, "the core does not have its build ID: give one with %s %.60s=BUILDID; ",
				option, image->name);
		*err = why;
		err->code = SC_ENOTFOUND;
	}
}

/* Opens the cache, of what is known of the module. */
static void open_image(struct symcache_core *core, struct symcache_image *image)
{
	const struct symcache_ext_image *facts;

	if (!image->bound && !(image == core->vdso && copy_image(core, image)) &&
	    !image->build_id_len) {
		image->asked = true;
		advise(core, image, &image->why);
		return;
	}
	if (symcache_image_open(core->process, image))
		return;
	facts = image->cache->image;
	if (!image->build_id_len && facts && facts->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
		image->build_id_len = facts->build_id_len;
		memcpy(image->build_id, facts->build_id, facts->build_id_len);
	}
}

/* ---- stacks ------------------------------------------------------------------------------- */

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	struct symcache_core *core = ctx;
	const struct symcache_mapping *m = symcache_process_at(core->process, address);

	if (!m || !symcache_core_executable(core, address))
		return false;
	if (!m->image->asked)
		open_image(core, m->image);
	return symcache_process_unwind(core->process, address, ret);
}

static bool read_code(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct symcache_core *core = ctx;

	return symcache_process_code(core->process, address, to, bytes);
}

int symcache_core_walk(struct symcache_core *core, const struct symcache_core_thread *thread,
		       bool registers, struct symcache_stack *ret, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	const unsigned weight = registers ? 8 : 1; /* of a frame */
	const uint64_t most = p->frames_left / weight;
	uint64_t used;
	const struct symcache_unwind_source source = {
		.machine = core->machine, .signature = core->signature,
		.max_frames = most < MIN_FRAMES ? MIN_FRAMES : most < MAX_FRAMES ? (uint32_t)most : MAX_FRAMES,
		.read = symcache_core_read,
		.module = find_module, .modules = core, .executable = symcache_core_executable,
		.ctx = core,
		.code = read_code,
	};
	int rc = symcache_stack_walk(&source, &thread->registers, registers, ret, err);

	used = rc ? 0 : ret->num_frames * weight;
	p->frames_left -= used < p->frames_left ? used : p->frames_left;
	for (size_t i = 0; !rc && i < ret->num_frames; i++)
		if (ret->frames[i].owner)
			((struct symcache_image *)ret->frames[i].owner)->frames++;
	if (!rc && ret->lacks && ret->stop != SYMCACHE_STOP_NO_ROW)
		((struct symcache_image *)ret->lacks)->lost++;
	return rc;
}
