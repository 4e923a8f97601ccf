/* What is at a frame of a core: of a module, or of code that was made at run time. */
#include <stdlib.h>

#include "libsymcache/report/core.h"

struct symcache_code_place *mk_core_place(struct mk_core *c, const struct symcache_unwind_frame *f)
{
	const struct symcache_image *image = f->owner;
	const bool cached = image && image->cache;
	const char *name = image ? NULL : symcache_core_jitted(c->core, f->lookup_pc);

	if (!name)
		return mk_place(&c->places, image, cached ? image->module : NULL,
				f->rel_pc + (cached ? symcache_load_base(image->cache) : 0));
	free(c->jitted.text);
	c->jitted_frame = (struct sc_frame){ .function = sc_str_of(name), .file = { "", 0 } };
	c->jitted = (struct symcache_code_place){ .vaddr = f->lookup_pc, .frames = &c->jitted_frame,
						  .num_frames = 1 };
	return &c->jitted;
}
