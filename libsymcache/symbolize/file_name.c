/* The name that a file is found by: see finder.h. In a file of its own, as the library that reads
 * caches alone has no finder. */
#include <string.h>

#include "libsymcache/symbolize/finder.h"

bool symcache_file_name(struct sc_str path, char name[SYMCACHE_FILE_NAME_MAX + 1])
{
	path = sc_file_name(path);
	if (!path.len || path.len > SYMCACHE_FILE_NAME_MAX)
		return false;
	memcpy(name, path.ptr, path.len);
	name[path.len] = '\0';
	return true;
}
