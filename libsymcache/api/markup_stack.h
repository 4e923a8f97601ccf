/* markup_stack.h: struct markup_resolver.unwind; its ctx begins with a struct symcache_markup. */
#ifndef SC_API_MARKUP_STACK_H
#define SC_API_MARKUP_STACK_H

#include "symcache/markup.h"

size_t sc_markup_unwind(void *ctx, const struct markup_stack *stack,
			const struct markup_caller **callers, const char **end);

#endif
