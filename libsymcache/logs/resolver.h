/*
 * resolver.h: implements struct markup_resolver by symbolizers, for the filters of the program and
 * of the library, which differ only in where modules come from.
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
	const struct symcache_names_options *names; /* replaces the dialect's options, except for
	                                      * `bytes`; or NULL. Borrowed until
	                                      * sc_log_resolvers_create() returns */
	enum symcache_bytes bytes;
	unsigned threads;                    /* one resolver for each */
	struct symcache_caches *caches;      /* of all modules */
	/* Finds a module in `caches`, as symcache_find_module() does. */
	int (*find)(void *ctx, const struct symcache_file_id *of, struct symcache_module **ret,
		    struct sc_error *err);
	/* Lines of the source around the place of a frame; NULL: none are wanted. */
	struct sc_str (*source)(void *ctx, unsigned thread, struct symcache_module *m,
				const struct sc_frame *frame);
	/* Called before frames of a module are looked up for which symcache_module_is_first() is
	 * true; NULL: there are no such modules. */
	void (*announce)(void *ctx, unsigned thread, struct symcache_module *m);
	void *ctx;                           /* of these functions, which any thread calls */
};

struct sc_log_resolvers;

/* NULL: out of memory. */
struct sc_log_resolvers *sc_log_resolvers_create(const struct sc_log_resolver_options *options);
void sc_log_resolvers_destroy(struct sc_log_resolvers *r); /* NULL is fine */

/* For markup_filter_create(): one for each thread. When memory runs out, nothing is found. */
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
