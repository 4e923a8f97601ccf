/*
 * only_names.h: a cache → one with its outermost functions and their ranges alone.
 *
 * Of vmlinux that is a twelfth of the cache, also when both are packed. It says of itself
 * that it has names alone (SYMCACHE_FROM_NAMES), and from which symbols, so that a store takes
 * any other cache of these symbols, or of better ones, in its place. There are not files, lines,
 * inlined calls, data symbols, unwind information or local variables.
 */
#ifndef WRITE_ONLY_NAMES_H
#define WRITE_ONLY_NAMES_H

#include "libsymcache/read/read.h"

/* What such a cache of symbols from `sources` says of them: or of enum symcache_source. */
uint32_t symcache_only_names_sources(uint32_t sources);

/* *ret, *ret_size: its bytes, to be freed. The same for the same functions, ranges and image, whatever
 * else the cache has. SC_ENOMEM; SC_EFORMAT: the cache is damaged. */
int symcache_only_names(const struct symcache *cache, void **ret, size_t *ret_size,
			struct sc_error *err);

#endif
