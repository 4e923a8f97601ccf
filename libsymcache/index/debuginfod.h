/*
 * debuginfod.h: debug files by build ID from the servers in $DEBUGINFOD_URLS.
 *
 * Through libdebuginfod, loaded when it is first asked for, as it brings a web client
 * and thirty libraries along; it keeps what it got in a cache of its own. The servers are
 * asked one after the other. That one does not have a file is remembered in the store, so
 * that it is not asked each time; one that fails, or sends nothing for 10 seconds
 * ($DEBUGINFOD_TIMEOUT), is left alone until the process ends.
 */
#ifndef SYMCACHE_DEBUGINFOD_H
#define SYMCACHE_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"
#include "libsymcache/store/store.h"
#include "libsymcache/write/build.h"

struct symcache_debuginfod;

/* What no server had is asked for again after `retry` seconds. SC_EUNSUPPORTED: no
 * library, or no servers; SC_ESYS, SC_ENOMEM. */
int symcache_debuginfod_create(int64_t retry, struct symcache_debuginfod **ret,
			       struct sc_error *err);
void symcache_debuginfod_destroy(struct symcache_debuginfod *d); /* NULL is fine */

/*
 * Gets the debug file with this build ID, else the program, or, if `program`, that alone: *path on
 * the heap, checked
 * to have that build ID. Thread-safe. SC_ENOTFOUND: no server has it, of those that have
 * not failed; SC_ESYS: one fails now, the message says which and why, once for each;
 * SC_EFORMAT: what came is something else.
 */
int symcache_debuginfod_get(struct symcache_debuginfod *d, const uint8_t *build_id, size_t len,
			    bool program, char **path, struct sc_error *err);

/* How many servers are left alone because they failed. */
size_t symcache_debuginfod_failed(const struct symcache_debuginfod *d);

/* Was it not found on each of the servers so short ago that asking again is too early? */
bool symcache_debuginfod_missed(const struct symcache_debuginfod *d, struct symstore_reader *reader,
				const uint8_t *build_id, size_t len);

/* Remembers the servers that said that they do not have it. Errors as
 * symstore_remember(). */
int symcache_debuginfod_remember(struct symcache_debuginfod *d, struct symstore_writer *writer,
				 const uint8_t *build_id, size_t len, struct sc_error *err);

/* For a build's options: files that files refer to by build ID are fetched, too, and the
 * programs of debug files. They live as long as `d`. */
struct symcache_files symcache_debuginfod_files(struct symcache_debuginfod *d);

#endif
