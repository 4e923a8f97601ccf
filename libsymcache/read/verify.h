/* What the files that verify a cache share. */
#ifndef SC_VERIFY_H
#define SC_VERIFY_H

#include <stdarg.h>
#include <stdio.h>

#include "libsymcache/read/parts.h"

struct verifier {
	const struct symcache *cache;
	symcache_fault_fn *fn;
	void *ctx;
	size_t faults;
	bool stopped, no_memory;
	uint8_t *starts; /* bit i: a string starts at offset i */
};

/* Reports a fault. */
static inline void __attribute__((format(printf, 2, 3)))
sc_fault(struct verifier *v, const char *fmt, ...)
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

/* Holds the sections UNW… against the format (verify_rows.c). */
void sc_verify_unwind(struct verifier *v);

#endif
