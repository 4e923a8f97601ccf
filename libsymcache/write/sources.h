/*
 * sources.h: sources that stand in the debug information itself, in its line tables
 * (clang -gembed-source). Caches do not hold them.
 */
#ifndef SYMCACHE_SOURCES_H
#define SYMCACHE_SOURCES_H

#include "libsymcache/read/read.h"
#include "libsymcache/write/build.h"

struct symcache_sources;

/*
 * Opens the ELF file at `path`, finding its debug file as symcache_build_create() does, and reads
 * the file tables of its .debug_line. Free with symcache_sources_close(). `options` may be NULL.
 * *ret is NULL if there are no sources. What is broken is left out. Errors as
 * symcache_build_create() has them.
 */
int symcache_sources_open(const char *path, const struct symcache_build_options *options,
			  struct symcache_sources **ret, struct sc_error *err);
void symcache_sources_close(struct symcache_sources *s); /* NULL is fine */

/* The source of the file with this path, whatever ".." and "." it has; of a relative one the first
 * that ends with it. ptr NULL: there is none. Valid as long as `s`. */
struct sc_str symcache_sources_find(const struct symcache_sources *s,
				    struct sc_str path);

#endif
