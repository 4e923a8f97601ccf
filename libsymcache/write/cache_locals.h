/* cache_locals.h: the local variables of a file, for its cache. */
#ifndef SC_WRITE_CACHE_LOCALS_H
#define SC_WRITE_CACHE_LOCALS_H

#include "libsymcache/write/build.h"
#include "libsymcache/write/flatten/tables.h"
#include "libsymcache/write/image/locals.h"
#include "libsymcache/write/input/input.h"

/*
 * Reads those of all functions of the files that `opened` has into `ret` (zeroed; deinit it also
 * after failure), names and files into `tables`. Errors as symcache_locals_open() has them.
 */
int sc_locals_read(const struct sc_input *opened, const struct symcache_build_options *options,
		   struct sc_tables *tables, struct sc_locals *ret, struct sc_error *err);

#endif
