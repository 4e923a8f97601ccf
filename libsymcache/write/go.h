/* go.h: what a stripped Go program says of itself, where nothing else does. */
#ifndef SC_GO_H
#define SC_GO_H

#include "libsymcache/write/input/input.h"
#include "libsymcache/write/units.h"

/*
 * Reads .gopclntab of the image, if that has one, and there is neither a debug file nor .symtab; of
 * `wanted` alone, unless that is NULL. Where it cannot be read, or inlined calls are not found, that
 * is a fault of `in`. Sets info->sources. SC_ENOMEM; SC_ELIMIT.
 */
int sc_go_read(struct sc_input *in, const struct sc_flatten_env *env, const struct dw_wanted *wanted,
	       struct sc_units *ret, struct symcache_build_info *info, struct sc_error *err);

#endif
