/*
 * resolver.h: libmarkup asks, libsymcache answers: the one place where the two
 * meet. A resolver belongs to one thread; any number may share the symbols.
 */
#ifndef CMD_RESOLVER_H
#define CMD_RESOLVER_H

#include "cmd/filter/names.h"
#include "cmd/filter/symbols.h"
#include "libmarkup/markup.h"

struct resolver;

/* `llvm`: as of `names`. */
struct resolver *resolver_create(struct symbols *symbols, struct names *names, bool llvm);
void resolver_destroy(struct resolver *r); /* NULL is fine */

/* Its functions; they live as long as the resolver. */
struct markup_resolver resolver_functions(struct resolver *r);

#endif
