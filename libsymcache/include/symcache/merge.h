/*
 * merge.h: symbols of one cache and unwind information of another, of the same image.
 *
 * A stripped program has .eh_frame, which its debug file lacks; the debug file has the
 * symbols. A cache made of both at once has both; so has what is merged of two caches, in
 * the same bytes.
 */
#ifndef SYMCACHE_MERGE_H
#define SYMCACHE_MERGE_H

#include "symcache/symcache.h"

struct symcache_merge {
	const struct symcache *symbols, *unwind; /* borrowed */
	size_t size;               /* of the result */
	uint32_t string_bytes, soname, writer; /* for symcache_merge_write() */
	size_t insert_at, insert_bytes;
};

/*
 * Can `symbols`, which has no unwind information, be given that of `unwind`? True: *ret says
 * how large the result is. False: there is nothing to add, or they are not of one image.
 * Cost: reads the strings once, if `unwind` alone knows the SONAME.
 */
bool symcache_merge_plan(const struct symcache *symbols, const struct symcache *unwind,
			 struct symcache_merge *ret);

/* Writes the result to dst[0, size), 8-aligned. */
void symcache_merge_write(const struct symcache_merge *merge, uint8_t *dst);

#endif
