/*
 * merge.h: makes one cache of the symbols in one cache and the unwind information in another, of
 * the same image.
 *
 * A stripped program has .eh_frame, which its debug file lacks; the debug file has the
 * symbols. Merging the caches of the two gives the same bytes as a build from both files.
 */
#ifndef SYMCACHE_MERGE_H
#define SYMCACHE_MERGE_H

#include "libsymcache/read/read.h"

/* What is to be written. The pointers borrow from the two caches, except for `united`. */
struct symcache_merge {
	size_t size;               /* of the result */
	const struct symcache *symbols, *other;
	struct symcache_unwind unwind;
	struct sc_rows *united;    /* rows of both; or NULL */
	uint32_t string_bytes, soname, writer;
	size_t insert_at, insert_bytes;
};

/*
 * Does `other` have unwind information that `symbols` lacks? 1: yes, and *ret has the size of the
 * result; 0: no, or they are not of the same image; SC_ENOMEM. If both have some, .eh_frame comes
 * first. Cost: reads the strings once, if only `other` has the SONAME; unites tables of
 * rows, if both have some.
 */
int symcache_merge_plan(const struct symcache *symbols, const struct symcache *other,
			struct symcache_merge *ret);

/* Writes the result to dst[0, size), 8-aligned, and returns its XXH3-64. */
uint64_t symcache_merge_write(const struct symcache_merge *merge, uint8_t *dst);

void symcache_merge_deinit(struct symcache_merge *merge);

#endif
