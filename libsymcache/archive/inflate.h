/*
 * inflate.h: gzip, xz and zstd streams, recognised by their first bytes.
 *
 * Concatenated streams are one, as the tools have it. What follows the last
 * stream is an error, but for zeros behind gzip and xz (tapes pad with them).
 */
#ifndef SYMCACHE_INFLATE_H
#define SYMCACHE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "libsymcache/base/error.h"

enum symcache_packing { SYMCACHE_PLAIN, SYMCACHE_GZIP, SYMCACHE_XZ, SYMCACHE_ZSTD };

/* What begins with begin[0, len), of which 6 bytes are enough. */
enum symcache_packing symcache_packing_of(const void *begin, size_t len);

struct symcache_inflate;

/* A decompressor for what begins so; *ret is NULL if that is SYMCACHE_PLAIN. `threads`, if above
 * 1: an xz file of several blocks is unpacked on so many. SC_ENOMEM. */
int symcache_inflate_create(const void *magic, size_t len, unsigned threads,
			    struct symcache_inflate **ret, struct sc_error *err);
void symcache_inflate_destroy(struct symcache_inflate *d); /* NULL is fine */

struct symcache_inflate_step {
	const void *in;
	void *out;
	size_t in_len, out_len; /* bytes that there are; then those that were taken and written */
	bool end;               /* there is no more input than this */
};

/* Call it until it neither takes nor writes. SC_EFORMAT: damaged, or it ends too early;
 * SC_ENOMEM. */
int symcache_inflate_run(struct symcache_inflate *d, struct symcache_inflate_step *step,
			 struct sc_error *err);

#endif
