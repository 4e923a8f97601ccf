/* Local variables of a cache under construction: the sections LOC…. */
#ifndef SC_IMAGE_LOCALS_H
#define SC_IMAGE_LOCALS_H

#include "format/symcache_format.h"
#include "libsymcache/base/vec.h"

struct sc_locals {
	VEC(struct symcache_ext_local) list; /* each once; strings and files are numbers here */
	VEC(uint32_t) order;
	VEC(struct symcache_ext_local_range) ranges;
};

static inline void sc_locals_deinit(struct sc_locals *l)
{
	vec_deinit(&l->list);
	vec_deinit(&l->order);
	vec_deinit(&l->ranges);
}

#endif
