/* The store's entry of a build: see entry.h. */
#include "libsymcache/index/entry.h"

#include <string.h>

struct symstore_entry sc_entry_of_build(const struct symcache_build *build,
					const uint8_t *build_id, size_t len, int64_t time)
{
	const struct symcache_build_info *info = symcache_build_info(build);
	struct symstore_entry entry = {
		.build_id_len = len,
		.sources = info->sources,
		.bad_units = info->bad_units > UINT32_MAX ? UINT32_MAX : (uint32_t)info->bad_units,
		.cache_size = symcache_build_size(build),
		.time = time,
		.tool_version = symcache_version,
	};

	memcpy(entry.build_id, build_id, len);
	return entry;
}

bool sc_entry_differs(const struct symstore_entry *entry, const struct symcache_build_options *build,
		      const char *transforms)
{
	return strcmp(entry->transforms, transforms) ||
	       (build->locals && entry->sources & SYMCACHE_FROM_DWARF &&
		!(entry->sources & SYMCACHE_FROM_LOCALS));
}
