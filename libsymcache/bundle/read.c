/* Reading a bundle: which shape has it? See symcache/bundle.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/bundle/reading.h"
#include "symcache/archive.h"

/* LMDB's magic number, in either byte order and word size. */
static bool is_store(int fd)
{
	char head[32];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n > 0 && (memmem(head, (size_t)n, "\xde\xc0\xef\xbe", 4) ||
			 memmem(head, (size_t)n, "\xbe\xef\xc0\xde", 4));
}

/* Does an archive begin with a manifest, as those that we write? */
static bool archive_of_ours(int fd)
{
	struct symarchive *a;
	const char *name;
	bool ours;

	if (symarchive_open(fd, &a, NULL))
		return false;
	ours = !symarchive_next(a, &name, NULL) && !strcmp(name, SYMBUNDLE_MANIFEST);
	symarchive_close(a);
	return ours;
}

bool symbundle_is_one(const char *path)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	if (S_ISDIR(st.st_mode))
		return !faccessat(fd, SYMBUNDLE_MANIFEST, R_OK, 0);
	return S_ISREG(st.st_mode) && (is_store(fd) || archive_of_ours(fd));
}

int symbundle_read(const char *path, const struct symbundle_reader *r, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct bundle_reading b = { .r = r };
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st))
		rc = sc_error_sys(err, "cannot open");
	else if (S_ISDIR(st.st_mode))
		rc = bundle_read_tree(&b, path, err);
	else if (is_store(fd))
		rc = bundle_read_store(&b, path, err);
	else
		rc = bundle_read_archive(&b, fd, err);
	free(b.seen);
	manifest_deinit(&b.manifest);
	if (rc && strncmp(err->msg, "store ", 6))
		sc_error_prefix(err, "%.100s: ", path);
	return rc;
}
