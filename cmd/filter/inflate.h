/*
 * inflate.h: gzip, xz and zstd streams, told by their first bytes.
 *
 * Concatenated streams are one, as the tools have it. What follows the last
 * stream is an error, but for zeros behind gzip and xz (tapes pad with them).
 */
#ifndef CMD_INFLATE_H
#define CMD_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "symcache/symcache.h"

struct inflate;

enum { INFLATE_MAGIC = 6 }; /* bytes that tell */

/* A decompressor for what begins with magic[0, len), or NULL: it is none of the
 * three. */
struct inflate *inflate_create(const unsigned char *magic, size_t len);
void inflate_destroy(struct inflate *d); /* NULL is fine */

/*
 * Takes *in_len bytes at `in` and writes up to *out_len bytes to `out`; both are
 * set to what was taken and written. Call it until it neither takes nor writes;
 * `end`: there is no more input than this. SC_EFORMAT: damaged, or it ends too
 * early; SC_ENOMEM.
 */
int inflate_run(struct inflate *d, const void *in, size_t *in_len, void *out, size_t *out_len,
		bool end, struct sc_error *err);

#endif
