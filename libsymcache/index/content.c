/* What stands in a file: see content.h. */
#include "libsymcache/index/content.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/xxh3.h"

enum { HASH_BUFFER = 128 << 10 };

/* Through a buffer that stays in the core's cache: a map would cost a page fault every
 * 64 KB, and count as memory. */
int sc_content_hash(int fd, size_t size, struct sc_hash *ret)
{
	XXH3_state_t *state = XXH3_createState();
	/* Aligned: the kernel copies three times as fast to the start of a page. */
	uint8_t *buf = aligned_alloc(4096, HASH_BUFFER);
	size_t at = 0;
	ssize_t n = buf && state && !XXH3_128bits_reset(state) ? 1 : -1;

	for (; at < size && n > 0; at += n > 0 ? (size_t)n : 0) {
		n = pread(fd, buf, size - at < HASH_BUFFER ? size - at : HASH_BUFFER, (off_t)at);
		if (n > 0)
			XXH3_128bits_update(state, buf, (size_t)n);
	}
	if (n >= 0) /* a file that has shrunk meanwhile is found out later */
		*ret = sc_hash_digest(state);
	XXH3_freeState(state);
	free(buf);
	return n < 0 ? -1 : 0;
}

void sc_content_hash_file(const char *path, struct sc_hash *ret, uint64_t *size)
{
	int fd __attribute__((cleanup(sc_close_fd))) = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	*ret = (struct sc_hash){ 0 };
	*size = 0;
	if (fd >= 0 && !fstat(fd, &st) && !sc_content_hash(fd, (size_t)st.st_size, ret))
		*size = (uint64_t)st.st_size;
}

bool sc_content_changed(int fd, const struct stat *before)
{
	struct stat now;

	return fstat(fd, &now) || now.st_size != before->st_size ||
	       now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

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
	return strcmp(entry->transforms, transforms) || entry->sources & SYMCACHE_FROM_NAMES ||
	       (build->locals && entry->sources & SYMCACHE_FROM_DWARF &&
		!(entry->sources & SYMCACHE_FROM_LOCALS));
}
