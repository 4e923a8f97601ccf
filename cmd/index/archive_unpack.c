/* A file in an archive → a descriptor of its own: see archive_walk.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/index/archive_walk.h"

enum { BLOCK = 256 << 10 };

struct target {
	int fd;
	uint64_t size, memory;
	bool on_disk;
};

static int write_all(int fd, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sc_error_sys(err, "cannot unpack it");
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Goes on in an unlinked file. */
static int move_to_disk(struct target *t, uint8_t *buf, struct sc_error *err)
{
	const char *dir = getenv("TMPDIR");
	uint64_t at = 0;
	int fd, rc = 0;

	dir = dir && *dir ? dir : "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		char *path = must_asprintf("%s/symcache.XXXXXX", dir);

		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
		free(path);
	}
	if (fd < 0)
		return sc_error_sys(err, "cannot unpack it in %s", dir);
	while (!rc && at < t->size) {
		ssize_t n = pread(t->fd, buf, BLOCK, (off_t)at);

		rc = n <= 0 ? sc_error_sys(err, "cannot unpack it") :
			write_all(fd, buf, (size_t)n, err);
		at += n > 0 ? (uint64_t)n : 0;
	}
	close(t->fd);
	t->fd = fd;
	t->on_disk = true;
	return rc;
}

static int append(struct target *t, const uint8_t *bytes, size_t len, uint8_t *spare,
		  struct sc_error *err)
{
	int rc = 0;

	if (!t->on_disk && t->size + len > t->memory)
		rc = move_to_disk(t, spare, err);
	t->size += len;
	return rc ? rc : write_all(t->fd, bytes, len, err);
}

int archive_file_unpack(const struct archive_file *file, uint64_t memory, int *ret_fd,
			uint64_t *ret_size, struct sc_error *err)
{
	struct target t = { memfd_create("symcache", MFD_CLOEXEC), 0, memory, false };
	uint8_t *buf = must_realloc(NULL, 2 * BLOCK);
	size_t len = 1;
	int rc;

	*ret_fd = -1;
	if (t.fd < 0)
		rc = sc_error_sys(err, "cannot unpack it");
	else
		rc = append(&t, file->head, file->head_len, buf + BLOCK, err);
	while (!rc && len) {
		rc = symarchive_read(file->archive, buf, BLOCK, &len, err);
		if (!rc && len)
			rc = append(&t, buf, len, buf + BLOCK, err);
	}
	free(buf);
	if (rc && t.fd >= 0)
		close(t.fd);
	if (rc)
		return rc;
	*ret_fd = t.fd;
	*ret_size = t.size;
	return 0;
}
