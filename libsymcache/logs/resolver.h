/*
 * resolver.h: modules of a log, by build ID, name or path, found as modules of a source of
 * caches. One for each thread; any number share caches and names.
 */
#ifndef SC_LOGS_RESOLVER_H
#define SC_LOGS_RESOLVER_H

#include "libsymcache/logs/logs.h"
#include "libsymcache/logs/markup.h"

/* All is borrowed. `line_names`: of frames whose module is named on their line; `llvm`: names
 * are as LLVM shows them. NULL: out of memory. */
struct sc_log_resolver *sc_log_resolver_create(const struct symlog_sources *from,
					       struct symcache_names *names,
					       struct symcache_names *line_names, bool llvm);
void sc_log_resolver_destroy(struct sc_log_resolver *r); /* NULL is fine */

/* Its functions; they live as long as the resolver. */
struct markup_resolver sc_log_resolver_functions(struct sc_log_resolver *r);

/* struct markup_resolver.unwind; its ctx begins with a struct symcache_markup. */
size_t sc_markup_unwind(void *ctx, const struct markup_stack *stack,
			const struct markup_caller **callers, const char **end);

#endif
