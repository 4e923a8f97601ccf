/*
 * resolver.h: libmarkup asks, libsymcache answers: the one place where the two
 * meet. A resolver belongs to one thread; any number may share caches and names.
 */
#ifndef CMD_RESOLVER_H
#define CMD_RESOLVER_H

#include "libmarkup/markup.h"
#include "symcache/symbolize.h"

struct resolver;

/* `llvm`: `names` are as LLVM shows them. Out of memory ends the program. */
struct resolver *resolver_create(struct symcache_caches *caches, struct symcache_names *names,
				 bool llvm);
void resolver_destroy(struct resolver *r); /* NULL is fine */

/* Its functions; they live as long as the resolver. */
struct markup_resolver resolver_functions(struct resolver *r);

#endif
