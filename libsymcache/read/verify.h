/* What the files that verify a cache share. */
#ifndef SC_VERIFY_H
#define SC_VERIFY_H

#include "libsymcache/read/read.h"

struct verifier {
	const struct symcache *cache;
	symcache_fault_fn *fn;
	void *ctx;
	size_t faults;
	bool stopped;
	uint8_t *starts; /* bit i: a string starts at offset i */
};

/* Reports a fault. */
void sc_fault(struct verifier *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Holds the sections UNW… against the format (verify_rows.c). */
void sc_verify_unwind(struct verifier *v);

#endif
