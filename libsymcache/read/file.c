/* A SymCache file, mapped and opened: see read.h. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/read/read.h"

static int map_fd(int fd, struct symcache_map *ret, struct sc_error *err)
{
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st))
		return sc_error_sys(err, "cannot open");
	if (!S_ISREG(st.st_mode))
		return sc_error_set(err, SC_EINVAL, "not a regular file");
	if (!st.st_size)
		return 0; /* symcache_open() has words for it */
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return sc_error_sys(err, "cannot map");
	ret->bytes = bytes;
	ret->size = (size_t)st.st_size;
	return 0;
}

/* A packed one is unpacked in place of what is mapped. */
static int unpack(struct symcache_map *map, struct sc_error *err)
{
	const int rc = packed_unpack(map->bytes, map->size, &map->unpacked, err);

	if (rc)
		return rc;
	if (map->unpacked.num > 1)
		return sc_error_set(err, SC_EUNSUPPORTED, "packed, with %zu caches: unpack it first",
				    map->unpacked.num);
	return symcache_open(&map->cache, map->unpacked.caches[0].data, map->unpacked.caches[0].size, err);
}

int symcache_map_open(const char *path, struct symcache_map *ret, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int rc;

	*ret = (struct symcache_map){ 0 };
	rc = map_fd(fd, ret, err);
	if (!rc)
		rc = packed_begins(ret->bytes, ret->size) ? unpack(ret, err) :
			symcache_open(&ret->cache, ret->bytes, ret->size, err);
	if (rc) {
		symcache_map_close(ret);
		sc_error_prefix(err, "%.100s: ", path);
	}
	return rc;
}

void symcache_map_close(struct symcache_map *map)
{
	if (map->bytes)
		munmap(map->bytes, map->size);
	packed_caches_deinit(&map->unpacked);
	*map = (struct symcache_map){ 0 };
}
