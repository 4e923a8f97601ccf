/* unwind.h: struct markup_resolver.unwind; its ctx begins with a struct symcache_markup. */
#ifndef SC_LOGS_UNWIND_H
#define SC_LOGS_UNWIND_H

#include "symcache/markup.h"

size_t sc_markup_unwind(void *ctx, const struct markup_stack *stack,
			const struct markup_caller **callers, const char **end);

#endif
