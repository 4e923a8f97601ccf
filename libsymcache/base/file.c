/* Output files: see file.h. */
#include "libsymcache/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/text.h"

/* Who takes one out of the list owns it: a signal handler, and then the process ends, or the
 * thread that frees it. */
static _Atomic(struct sc_unfinished *) unfinished[128];
enum { SLOTS = sizeof(unfinished) / sizeof(*unfinished) };

/* Held while a file is made, and from the end on: then none is. */
static pthread_mutex_t making = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static size_t remember(struct sc_unfinished *temp)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct sc_unfinished *none = NULL;

		if (atomic_compare_exchange_strong(&unfinished[i], &none, temp))
			return i;
	}
	return SLOTS;
}

void sc_new_files_remove(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct sc_unfinished *temp = atomic_exchange(&unfinished[i], NULL);

		if (temp)
			unlinkat(temp->dir, temp->name, 0);
	}
}

void sc_new_files_end(void)
{
	pthread_mutex_lock(&making);
	sc_new_files_remove();
}

static void forget(struct sc_new_file *f)
{
	if (f->temp && (f->slot == SLOTS || atomic_exchange(&unfinished[f->slot], NULL))) {
		if (f->temp->dir >= 0)
			close(f->temp->dir);
		free(f->temp);
	}
	free(f->path);
	*f = (struct sc_new_file){ .fd = -1, .slot = SLOTS };
}

/* A name that is not taken yet; errno as of open(). */
static int open_new(struct sc_unfinished *temp, size_t len)
{
	uint32_t random;
	int fd;

	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(temp->name + len, 10, ".%08x", random);
		fd = openat(temp->dir, temp->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

/* `path`, on the heap, becomes the file's; the last part of it, from `name` on, is relative to
 * `dir`, which becomes the file's, too. */
static int open_in(char *path, size_t name, int dir, struct sc_new_file *ret,
		   struct sc_error *err)
{
	const size_t len = path ? strlen(path + name) : 0;
	struct sc_unfinished *temp = malloc(sizeof(*temp) + len + 10);
	int rc;

	*ret = (struct sc_new_file){ .fd = -1, .path = path, .temp = temp, .slot = SLOTS };
	if (temp)
		temp->dir = dir;
	else if (dir >= 0)
		close(dir);
	if (!path || !temp) {
		forget(ret);
		return sc_no_memory(err);
	}
	ret->name = path + name;
	memcpy(temp->name, ret->name, len);
	pthread_mutex_lock(&making);
	ret->fd = open_new(temp, len);
	rc = ret->fd < 0 ? sc_error_sys(err, "cannot write %s", path) : 0;
	ret->slot = rc ? SLOTS : remember(temp);
	pthread_mutex_unlock(&making);
	if (rc)
		forget(ret);
	return rc;
}

int sc_new_file_open(const char *path, bool follow, struct sc_new_file *ret,
		     struct sc_error *err)
{
	char *real = follow ? realpath(path, NULL) : NULL;

	return open_in(real ? real : strdup(path), 0, AT_FDCWD, ret, err);
}

int sc_new_file_below(const char *path, size_t below, struct sc_new_file *ret,
		      struct sc_error *err)
{
	const char *name;
	const int dir = sc_folder_below(path, below, true, &name, err);

	*ret = (struct sc_new_file){ .fd = -1, .slot = SLOTS };
	return dir == -1 ? err ? err->code : SC_ESYS :
			   open_in(strdup(path), (size_t)(name - path), dir, ret, err);
}

/* Synced and closed. */
static int complete(struct sc_new_file *f, struct sc_error *err)
{
	int rc = fsync(f->fd) ? sc_error_sys(err, "cannot write %s", f->path) : 0;

	if (close(f->fd) && !rc)
		rc = sc_error_sys(err, "cannot write %s", f->path);
	f->fd = -1;
	return rc;
}

int sc_new_file_commit(struct sc_new_file *f, struct sc_error *err)
{
	const int dir = f->temp->dir;
	int rc = complete(f, err);

	if (!rc && renameat(dir, f->temp->name, dir, f->name))
		rc = sc_error_sys(err, "cannot rename to %s", f->path);
	if (rc)
		unlinkat(dir, f->temp->name, 0);
	forget(f);
	return rc;
}

int sc_new_file_commit_first(struct sc_new_file *f, struct sc_error *err)
{
	const int dir = f->temp->dir;
	int rc = complete(f, err);

	if (!rc && linkat(dir, f->temp->name, dir, f->name, 0) && errno != EEXIST &&
	    renameat(dir, f->temp->name, dir, f->name))
		rc = sc_error_sys(err, "cannot write %s", f->path);
	unlinkat(dir, f->temp->name, 0);
	forget(f);
	return rc;
}

void sc_new_file_discard(struct sc_new_file *f)
{
	if (f->fd >= 0) {
		close(f->fd);
		unlinkat(f->temp->dir, f->temp->name, 0);
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

bool sc_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
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

const char *sc_temp_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder ? folder : "/var/tmp";
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
