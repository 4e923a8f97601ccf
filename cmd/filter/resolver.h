/*
 * resolver.h: libmarkup asks, libsymcache answers: the one place where the two
 * meet. A resolver belongs to one thread; any number may share caches and names.
 */
#ifndef CMD_RESOLVER_H
#define CMD_RESOLVER_H

#include "libmarkup/markup.h"
#include "symcache/symbolize.h"

struct resolver;

struct resolver_options {
	struct symcache_caches *caches;
	struct symcache_names *names;
	struct symcache_names *line_names; /* of frames whose module is named on their line */
	bool llvm;                         /* `names` are as LLVM shows them */
	const char *const *modules;        /* NAME=BUILDID or NAME=FILE, num_modules of them */
	size_t num_modules;
	bool no_files; /* a module is never a file of this machine */
	const char *store_name; /* what messages call the store; NULL: its path */
};

/* Out of memory ends the program. */
struct resolver *resolver_create(const struct resolver_options *options);
void resolver_destroy(struct resolver *r); /* NULL is fine */

/* Its functions; they live as long as the resolver. */
struct markup_resolver resolver_functions(struct resolver *r);

#endif
