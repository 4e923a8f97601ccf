/*
 * resolver.h: what a filter of logs asks (struct markup_resolver), answered by symbolizers; for all
 * filters, the program's and the library's, which differ in where modules come from.
 *
 *   resolver.c   modules, places, frames, names
 *   unwind.c     stacks
 */
#ifndef SC_LOGS_RESOLVER_H
#define SC_LOGS_RESOLVER_H

#include "libmarkup/markup.h"
#include "libsymcache/symbolize/finder.h"

/* All is borrowed as long as the resolvers live, but for `markup`. */
struct sc_log_resolver_options {
	const struct markup_options *markup; /* how names and paths are shown */
	const struct symcache_names_options *names; /* in place of the dialect's, but for `bytes`; or
	                                      * NULL. Valid while resolvers are created */
	enum symcache_bytes bytes;
	unsigned threads;                    /* one resolver for each */
	struct symcache_caches *caches;      /* of all modules */
	/* The module that is meant, as symcache_find_module(); its caches are those. */
	int (*find)(void *ctx, const struct symcache_file_id *of, struct symcache_module **ret,
		    struct sc_error *err);
	/* Lines of the source around the place of a frame; NULL: none are wanted. */
	struct sc_str (*source)(void *ctx, unsigned thread, struct symcache_module *m,
				const struct sc_frame *frame);
	/* Frames of a module that symcache_module_is_first() are about to be looked up; NULL: there
	 * are no such modules. */
	void (*announce)(void *ctx, unsigned thread, struct symcache_module *m);
	void *ctx;                           /* of them; any thread calls them */
};

struct sc_log_resolvers;

/* NULL: out of memory. */
struct sc_log_resolvers *sc_log_resolvers_create(const struct sc_log_resolver_options *options);
void sc_log_resolvers_destroy(struct sc_log_resolvers *r); /* NULL is fine */

/* For markup_filter_create(): one for each thread. Where memory is out, nothing is found. */
const struct markup_resolver *sc_log_resolvers_functions(const struct sc_log_resolvers *r);

/* ---- private: for one thread ------------------------------------------------------------- */

struct sc_log_resolver {
	const struct sc_log_resolver_options *options;
	unsigned thread;
	bool llvm;                                   /* names are as LLVM shows them */
	bool whole;                                  /* with functions, and not cut short */
	struct symcache_symbolizer *symbolizer;
	struct symcache_symbolizer *line_symbolizer; /* of frames whose module is named on their
	                                              * line */
	struct sc_error why;
	struct { struct sc_frame *data; size_t len, cap; } frames;
	struct sc_frame only;
	struct { struct markup_caller *data; size_t len, cap; } callers;
};

/* struct markup_resolver.unwind. */
size_t sc_log_unwind(void *resolver, const struct markup_stack *stack,
		     const struct markup_caller **callers, const char **end);

#endif
