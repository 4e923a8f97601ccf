/* Names and paths that are put together of several strings of a cache: see names.h. */
#include <string.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/names.h"

size_t sc_linkage_scope(struct sc_str name)
{
	const char *end = name.len > 2 && !memcmp(name.ptr, "_Z", 2) ?
		memmem(name.ptr, name.len, "::", 2) : NULL;

	return end ? (size_t)(end - name.ptr) : 0;
}

struct sc_str sc_join(struct sc_shown *to, struct sc_str a, struct sc_str b)
{
	vec_clear(to);
	if (!vec_reserve(to, a.len + b.len))
		return (struct sc_str){ NULL, 0 };
	memcpy(mempcpy(to->data, a.ptr, a.len), b.ptr, b.len);
	return (struct sc_str){ to->data, a.len + b.len };
}

size_t sc_write_path(const struct symcache_file *file, enum symcache_paths paths, char *to,
		     size_t room)
{
	struct symcache_file parts = *file;
	const enum symcache_path_style style = paths == SYMCACHE_PATHS_CLEAN ?
		SYMCACHE_PATH_CLEAN : SYMCACHE_PATH_RAW;

	if (paths == SYMCACHE_PATHS_BASENAME) {
		parts.name = sc_basename(parts.name);
		memcpy(to, parts.name.ptr, parts.name.len);
		return parts.name.len;
	}
	if (paths == SYMCACHE_PATHS_RELATIVE)
		parts.comp_dir = (struct sc_str){ NULL, 0 };
	return symcache_path(&parts, style, to, room);
}
