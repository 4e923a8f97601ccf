/* A place in the sources ↔ its path: see maps.h. */
#include "libsymcache/transforms/maps.h"

#include <string.h>

#include "libsymcache/read/read.h"

bool sc_place_path(const struct symcache_place *place, char *buf, size_t size)
{
	struct symcache_file file = {
		.comp_dir = sc_str_of(place->comp_dir), .directory = sc_str_of(place->dir),
		.name = sc_str_of(place->name),
	};
	size_t len = symcache_path(&file, SYMCACHE_PATH_RAW, buf, size);

	return len && len < size;
}

void sc_place_set_path(struct symcache_place *place, char *path)
{
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	place->comp_dir = place->dir = NULL;
	place->name = path;
	if (!slash || slash == path || !*name)
		return;
	*slash = 0;
	place->dir = path;
	place->name = name;
}
