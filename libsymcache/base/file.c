/* Output files: see file.h. */
#include "libsymcache/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/text.h"

/* The names of unfinished files. Who takes one out owns it: a signal handler, and then
 * the process ends, or the thread that frees it. */
static _Atomic(char *) unfinished[64];
enum { SLOTS = sizeof(unfinished) / sizeof(*unfinished) };

static size_t remember(char *temp)
{
	for (size_t i = 0; i < SLOTS; i++) {
		char *none = NULL;

		if (atomic_compare_exchange_strong(&unfinished[i], &none, temp))
			return i;
	}
	return SLOTS;
}

void sc_new_files_remove(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		char *temp = atomic_exchange(&unfinished[i], NULL);

		if (temp)
			unlink(temp);
	}
}

static void forget(struct sc_new_file *f)
{
	if (f->slot == SLOTS || atomic_exchange(&unfinished[f->slot], NULL))
		free(f->temp);
	free(f->path);
	*f = (struct sc_new_file){ .fd = -1, .slot = SLOTS };
}

/* A name that is not taken yet; errno as of open(). */
static int open_new(char *temp, size_t len)
{
	uint32_t random;
	int fd;

	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(temp + len, 10, ".%08x", random);
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

int sc_new_file_open(const char *path, bool follow, struct sc_new_file *ret,
		     struct sc_error *err)
{
	size_t len;

	*ret = (struct sc_new_file){ .fd = -1, .slot = SLOTS };
	ret->path = follow ? realpath(path, NULL) : NULL;
	if (!ret->path)
		ret->path = strdup(path);
	len = ret->path ? strlen(ret->path) : 0;
	ret->temp = malloc(len + 10);
	if (!ret->path || !ret->temp) {
		forget(ret);
		return sc_no_memory(err);
	}
	memcpy(ret->temp, ret->path, len);
	ret->fd = open_new(ret->temp, len);
	if (ret->fd < 0) {
		int rc = sc_error_sys(err, "cannot write %s", path);

		forget(ret);
		return rc;
	}
	ret->slot = remember(ret->temp);
	return 0;
}

int sc_new_file_make(char *path, struct sc_new_file *ret, struct sc_error *err)
{
	const int rc = sc_make_parents(path, err);

	if (!rc)
		return sc_new_file_open(path, false, ret, err);
	*ret = (struct sc_new_file){ .fd = -1 };
	return rc;
}

int sc_new_file_commit(struct sc_new_file *f, struct sc_error *err)
{
	int rc = fsync(f->fd) ? sc_error_sys(err, "cannot write %s", f->path) : 0;

	if (close(f->fd) && !rc)
		rc = sc_error_sys(err, "cannot write %s", f->path);
	f->fd = -1;
	if (!rc && rename(f->temp, f->path))
		rc = sc_error_sys(err, "cannot rename to %s", f->path);
	if (rc)
		unlink(f->temp);
	forget(f);
	return rc;
}

void sc_new_file_discard(struct sc_new_file *f)
{
	if (f->fd >= 0) {
		close(f->fd);
		unlink(f->temp);
		forget(f);
	}
}

int sc_new_file_end(struct sc_new_file *f, int rc, struct sc_error *err)
{
	if (!rc)
		return sc_new_file_commit(f, err);
	sc_new_file_discard(f);
	return rc;
}

int sc_write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int sc_write_pieces(int fd, const struct iovec pieces[], size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = sc_write_all(fd, pieces[i].iov_base, pieces[i].iov_len);
	return rc;
}

int sc_nameless_file(const char *folder)
{
	char *name __attribute__((cleanup(sc_free_text))) = NULL;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || !(name = sc_text("%s/symcache.XXXXXX", folder)))
		return fd;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

/* Into what is there already and is not a regular file. */
static int write_into(const char *path, const struct iovec pieces[], size_t n,
		      struct sc_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), rc = 0;

	if (fd < 0)
		return sc_error_sys(err, "cannot open %s", path);
	if (sc_write_pieces(fd, pieces, n))
		rc = sc_error_sys(err, "cannot write %s", path);
	if (close(fd) && !rc)
		rc = sc_error_sys(err, "cannot write %s", path);
	return rc;
}

int sc_replace_file_by(const char *path, const struct iovec pieces[], size_t n,
		       struct sc_error *err)
{
	struct sc_new_file f;
	struct stat st;
	int rc;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_into(path, pieces, n, err);
	if ((rc = sc_new_file_open(path, true, &f, err)))
		return rc;
	if (sc_write_pieces(f.fd, pieces, n))
		rc = sc_error_sys(err, "cannot write %s", path);
	return sc_new_file_end(&f, rc, err);
}

int sc_replace_file(const char *path, const void *bytes, size_t size, struct sc_error *err)
{
	return sc_replace_file_by(path, &(struct iovec){ (void *)bytes, size }, 1, err);
}

int sc_make_parents(char *path, struct sc_error *err)
{
	struct stat st;

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int rc = 0;

		*slash = 0;
		if (stat(path, &st) && mkdir(path, 0775) && errno != EEXIST)
			rc = sc_error_sys(err, "cannot make the directory %s", path);
		*slash = '/';
		if (rc)
			return rc;
	}
	return 0;
}
