/* A file in an archive → a descriptor of its own: see nested.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libsymcache/archive/nested.h"
#include "libsymcache/base/file.h"

enum { BLOCK = 256 << 10 };

struct target {
	int fd;
	uint64_t size, memory;
	bool on_disk;
};

static int put(int fd, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	return sc_write_all(fd, bytes, size) ? sc_error_sys(err, "cannot unpack it") : 0;
}

/* Goes on in an unlinked file. */
static int move_to_disk(struct target *t, uint8_t *buf, struct sc_error *err)
{
	const char *dir = getenv("TMPDIR");
	uint64_t at = 0;
	int fd, rc = 0;

	dir = dir && *dir ? dir : "/tmp";
	fd = sc_nameless_file(dir);
	if (fd < 0)
		return sc_error_sys(err, "cannot unpack it in %s", dir);
	while (!rc && at < t->size) {
		ssize_t n = pread(t->fd, buf, BLOCK, (off_t)at);

		rc = n <= 0 ? sc_error_sys(err, "cannot unpack it") :
			put(fd, buf, (size_t)n, err);
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
	return rc ? rc : put(t->fd, bytes, len, err);
}

int sc_archive_unpack(const struct sc_archive_file *file, uint64_t memory, int *ret_fd,
		      uint64_t *ret_size, struct sc_error *err)
{
	struct target t = { memfd_create("symcache", MFD_CLOEXEC), 0, memory, false };
	uint8_t *buf = malloc(2 * BLOCK);
	size_t len = 1;
	int rc;

	*ret_fd = -1;
	if (t.fd < 0 || !buf)
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
