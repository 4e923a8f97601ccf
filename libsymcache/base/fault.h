/* fault.h: the first fault of a check as an error. */
#ifndef SC_FAULT_H
#define SC_FAULT_H

#include <stdbool.h>

#include "libsymcache/base/error.h"

/* A symcache_fault_fn whose `ctx` is a struct sc_error: SC_EFORMAT with the first fault. */
static inline bool sc_first_fault(void *ctx, const char *text)
{
	sc_error_set(ctx, SC_EFORMAT, "%s", text);
	return false;
}

#endif
