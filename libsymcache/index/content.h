/*
 * content.h: whether a file is the one that was seen before: the hash of its content,
 * and whether it was written to meanwhile; and what the store's entry says of a build.
 */
#ifndef SC_INDEX_CONTENT_H
#define SC_INDEX_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "libsymcache/store/store.h"
#include "libsymcache/write/build.h"

/* XXH3-128 of an open file's first `size` bytes. −1 with errno. */
int sc_content_hash(int fd, size_t size, struct sc_hash *ret);

/* The same of a file by its path, and its size in bytes; both zero if it cannot be read. */
void sc_content_hash_file(const char *path, struct sc_hash *ret, uint64_t *size);

/* Has the open file changed since fstat() said `before`, by size and time? */
bool sc_content_changed(int fd, const struct stat *before);

/* What a build and its key say of the entry that will hold it; where it comes from is
 * filled in by the caller. `build_id` has `len` bytes, at most SYMCACHE_BUILD_ID_MAX;
 * `time` is in seconds since 1970. */
struct symstore_entry sc_entry_of_build(const struct symcache_build *build,
					const uint8_t *build_id, size_t len, int64_t time);

/* Would a build with these options and transformations (their text) have what the entry lacks,
 * or other names? */
bool sc_entry_differs(const struct symstore_entry *entry, const struct symcache_build_options *build,
		      const char *transforms);

#endif
