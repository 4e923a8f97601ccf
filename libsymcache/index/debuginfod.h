/*
 * debuginfod.h: build ID → debug file, from the servers in $DEBUGINFOD_URLS.
 *
 * Uses libdebuginfod, which is loaded only when it is needed, as it brings a web client and
 * thirty libraries along; it keeps files in a cache of its own. The servers are asked one
 * after the other. That a server does not have a file is remembered in the store, so that it
 * is not asked each time; a server that fails, or sends nothing for 10 seconds
 * ($DEBUGINFOD_TIMEOUT), is not asked again until the process ends.
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

/* `retry`: seconds after which a build ID that no server had is asked for again.
 * SC_EUNSUPPORTED: no library, or no servers; SC_ESYS, SC_ENOMEM. */
int symcache_debuginfod_create(int64_t retry, struct symcache_debuginfod **ret,
			       struct sc_error *err);
void symcache_debuginfod_destroy(struct symcache_debuginfod *d); /* NULL is fine */

/*
 * Gets the debug file with this build ID, or else the program; with `program`, only the program.
 * *path is on the heap; the file has been checked to have that build ID. Thread-safe.
 * SC_ENOTFOUND: none of the servers that have not failed has it; SC_ESYS: a server fails, for the
 * first time; the message says which and why; SC_EFORMAT: the file is not what it should be.
 */
int symcache_debuginfod_get(struct symcache_debuginfod *d, const uint8_t *build_id, size_t len,
			    bool program, char **path, struct sc_error *err);

/* How many servers are no longer asked because they failed. */
size_t symcache_debuginfod_failed(const struct symcache_debuginfod *d);

/* Did all of the servers lack it less than `retry` seconds ago, so that it is too early to ask
 * again? */
bool symcache_debuginfod_missed(const struct symcache_debuginfod *d, struct symstore_reader *reader,
				const uint8_t *build_id, size_t len);

/* Remembers which servers did not have it. Errors as symstore_remember(). */
int symcache_debuginfod_remember(struct symcache_debuginfod *d, struct symstore_writer *writer,
				 const uint8_t *build_id, size_t len, struct sc_error *err);

/* For the options of a build: lets it fetch the files that a file refers to by build ID, and the
 * programs of debug files. Valid as long as `d`. */
struct symcache_files symcache_debuginfod_files(struct symcache_debuginfod *d);

#endif
