/* Faults of a cache, reported: see verify.h. */
#include <stdarg.h>
#include <stdio.h>

#include "libsymcache/read/verify.h"

void sc_fault(struct verifier *v, const char *fmt, ...)
{
	char msg[200];
	va_list ap;

	if (v->stopped)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	v->faults++;
	v->stopped = v->fn && !v->fn(v->ctx, msg);
}
