/* squeeze.h: bytes in front of which stand their sizes, compressed by zstd where that helps. */
#ifndef PACKED_SQUEEZE_H
#define PACKED_SQUEEZE_H

#include <stddef.h>
#include <stdint.h>

#include <zstd.h>

#include "libsymcache/base/error.h"

/* How large data[0, len) becomes at most. */
size_t squeeze_most(size_t len);

/* Bytes in front of others, which both directions know: what is found there again costs little. */
struct squeeze_prefix {
	const uint8_t *data;
	size_t len;
};

/* Squeezes data[0, len) into `ret`, and returns how much of it that takes. `level` is zstd's, or 0:
 * they are stored. Returns 0: out of memory. */
size_t squeeze(const uint8_t *data, size_t len, struct squeeze_prefix prefix, int level,
	       uint8_t *ret);

struct squeezed {
	const uint8_t *data; /* NULL: the sizes are not within the bytes */
	size_t size, len;    /* size 0: len bytes are stored */
};

/* The one that begins at *at, behind which *at stands then. */
struct squeezed squeezed_next(const uint8_t **at, const uint8_t *end);

/* What it was: ret[0, s.len). `zstd` may serve for many. SC_EFORMAT, SC_ENOMEM. */
int unsqueeze(struct squeezed s, struct squeeze_prefix prefix, ZSTD_DCtx *zstd, uint8_t *ret,
	      struct sc_error *err);

#endif
