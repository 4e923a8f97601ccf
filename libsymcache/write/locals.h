/*
 * locals.h: local variables of functions, out of debug information: what
 * llvm-symbolizer answers to FRAME. Caches hold them if that was asked for:
 * symcache_locals_of().
 */
#ifndef SYMCACHE_LOCALS_H
#define SYMCACHE_LOCALS_H

#include "libsymcache/read/read.h"
#include "libsymcache/write/build.h"

/* The debug information of a file. For one thread at a time. */
struct symcache_locals;

/*
 * Opens the ELF file at `path`, finding its debug file as symcache_build_create() does, and
 * inflates what is needed. Free with symcache_locals_close(). `options` may be NULL. A file
 * without debug information is fine: it has no locals. Errors as symcache_build_create() has
 * them.
 */
int symcache_locals_open(const char *path, const struct symcache_build_options *options,
			 struct symcache_locals **ret, struct sc_error *err);
void symcache_locals_close(struct symcache_locals *l); /* NULL is fine */

/*
 * The locals of the innermost function or inlined call that has the code at `vaddr`, and of those
 * inlined into it, in the order of the debug information: *ret, *n of them, valid until the next
 * call. SC_ENOMEM. Cost: a pass over the entries of a unit.
 */
int symcache_locals_at(struct symcache_locals *l, uint64_t vaddr, const struct symcache_local **ret,
		       size_t *n, struct sc_error *err);

#endif
