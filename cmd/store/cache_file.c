/* A SymCache file, mapped and opened: see cmd.h. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/store/cache_file.h"
#include "symcache/symcache.h"

static int map(int fd, struct cache_file *ret, struct sc_error *err)
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

int cache_file_open(const char *path, struct cache_file *ret, struct sc_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	*ret = (struct cache_file){ 0 };
	rc = map(fd, ret, err);
	if (fd >= 0)
		close(fd);
	if (!rc)
		rc = symcache_open(&ret->cache, ret->bytes, ret->size, err);
	if (rc) {
		cache_file_close(ret);
		sc_error_prefix(err, "%.100s: ", path);
	}
	return rc;
}

void cache_file_close(struct cache_file *file)
{
	if (file->bytes)
		munmap(file->bytes, file->size);
	*file = (struct cache_file){ 0 };
}
