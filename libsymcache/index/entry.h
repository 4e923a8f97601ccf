/* entry.h: the store's entry of a build. */
#ifndef SC_INDEX_ENTRY_H
#define SC_INDEX_ENTRY_H

#include "symcache/build.h"
#include "symcache/store.h"

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
