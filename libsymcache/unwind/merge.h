/*
 * merge.h: symbols of one cache and unwind information of another, of the same image.
 *
 * A stripped program has .eh_frame, which its debug file lacks; the debug file has the
 * symbols. A cache made of both at once has both; so has what is merged of two caches, in
 * the same bytes.
 */
#ifndef SYMCACHE_MERGE_H
#define SYMCACHE_MERGE_H

#include "libsymcache/read/read.h"

/* What is to be written. All is borrowed from the two caches but what deinit gives back. */
struct symcache_merge {
	size_t size;               /* of the result */
	const struct symcache *symbols, *other;
	struct symcache_unwind unwind;
	struct sc_rows *united;    /* rows of both; or NULL */
	uint32_t string_bytes, soname, writer;
	size_t insert_at, insert_bytes;
};

/*
 * Has `other` unwind information that `symbols` lacks? 1: *ret says how large the result
 * is; 0: no, or they are not of one image; SC_ENOMEM. Where both have some, .eh_frame comes
 * first. Cost: reads the strings once, if `other` alone knows the SONAME; unites tables of
 * rows, if each has some.
 */
int symcache_merge_plan(const struct symcache *symbols, const struct symcache *other,
			struct symcache_merge *ret);

/* Writes the result to dst[0, size), 8-aligned. */
void symcache_merge_write(const struct symcache_merge *merge, uint8_t *dst);

void symcache_merge_deinit(struct symcache_merge *merge);

#endif
