/*
 * The place of a store: what is looked at and made ready before LMDB gets to
 * work there, since LMDB trusts its file, and writes the lock file through a map.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "libsymcache/base/text.h"
#include "libsymcache/store/parts.h"

/* What LMDB makes of the lock file: a header with the number of slots for readers that were
 * ever in use behind magic, version, a mutex and a transaction; and the slots. */
enum {
	LOCK_SLOT = 64,
	LOCK_HEADER = 192 - LOCK_SLOT,
	LOCK_READERS = (8 + (int)sizeof(pthread_mutex_t) + (int)sizeof(size_t) - 1) /
		       (int)sizeof(size_t) * (int)sizeof(size_t) + (int)sizeof(size_t),
	LOCK_FILE_SIZE = LOCK_HEADER + SYMSTORE_READERS * LOCK_SLOT,
};
#define LOCK_MAGIC 0xbeefc0deu

int symstore_default_path(char **ret, struct sc_error *err)
{
	static const char tail[] = "symcache/symcache.store";
	const char *env = getenv("SYMCACHE_STORE"), *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	*ret = NULL;
	if (env && *env)
		*ret = sc_text("%s", env);
	else if (cache && *cache == '/') /* XDG: ignore what is not absolute */
		*ret = sc_text("%s/%s", cache, tail);
	else if (home && *home)
		*ret = sc_text("%s/.cache/%s", home, tail);
	else
		return sc_error_set(err, SC_EINVAL, "where is the store? HOME is not set");
	return *ret ? 0 : sc_no_memory(err);
}

int symstore_resolve(const char *path, char **ret, struct sc_error *err)
{
	struct stat st;

	/* A link in /proc may lead to a file without a name. */
	if (strncmp(path, "/proc/", 6) && !lstat(path, &st) && S_ISLNK(st.st_mode))
		*ret = realpath(path, NULL);
	else
		*ret = strdup(path);
	return *ret ? 0 : sc_error_sys(err, "store %s", path);
}

/* Another process may be about to write a meta page, which we then see half: a
 * fault counts if it stays. */
int symstore_look(const char *path, const char *shown, uint64_t *used, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct symstore_snapshot snapshot;
	struct stat st;
	int rc;

	*used = 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return sc_error_sys(err, "store %s: cannot open", shown);
	for (int tries = 0; ; tries++) {
		if (fstat(fd, &st))
			rc = sc_error_sys(err, "cannot read");
		else if (!S_ISREG(st.st_mode))
			rc = sc_error_set(err, SC_EFORMAT, "not a store: it is not a regular file");
		else if (!st.st_size)
			rc = 0;
		else if (!(rc = symstore_snapshot_read(fd, SYMSTORE_ANY_TXN, &snapshot, err)))
			*used = ((uint64_t)snapshot.last_page + 1) * snapshot.page_size;
		if (!rc || rc == SC_ESYS || tries == 3)
			break;
		usleep(2000);
	}
	if (rc)
		sc_error_prefix(err, "store %s: ", shown);
	return rc;
}

/* Has another process locked it? Else LMDB makes it anew. */
static bool in_use(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK;
}

/* Is it empty, zeros only (LMDB was killed before it wrote) or LMDB's? LMDB believes the
 * number of readers, and would read behind the end of the file. */
static bool is_lock_file(int fd)
{
	uint32_t words[LOCK_FILE_SIZE / sizeof(uint32_t)];
	ssize_t n = pread(fd, words, sizeof(words), 0);
	size_t zeros = 0;

	while (n > 0 && zeros < (size_t)n / sizeof(*words) && !words[zeros])
		zeros++;
	if (n < 0 || (size_t)n == zeros * sizeof(*words))
		return n == (ssize_t)(zeros * sizeof(*words));
	return (size_t)n >= sizeof(*words) && words[0] == LOCK_MAGIC &&
	       (!in_use(fd) || (n >= LOCK_HEADER + LOCK_SLOT &&
				words[LOCK_READERS / sizeof(*words)] <=
				(size_t)(n - LOCK_HEADER) / LOCK_SLOT));
}

int symstore_open_next(const char *path, const char *suffix, int flags, bool (*ours)(int fd))
{
	struct stat st;
	char *name __attribute__((cleanup(sc_free_text))) = sc_text("%s%s", path, suffix);
	const int fd = !name ? -1 : open(name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
					 O_NOFOLLOW, 0664);
	int failed;

	if (fd < 0)
		return -1;
	errno = 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 && ours(fd))
		return fd;
	failed = errno; /* it could not be read: that says nothing about it */
	close(fd);
	errno = failed ? failed : EEXIST;
	return -1;
}

int symstore_lock_file(const char *path, const char *shown, enum symstore_mode mode, bool *usable,
		       struct sc_error *err)
{
	const int make = mode == SYMSTORE_VISIT ? 0 : O_CREAT;
	int fd, failed;

	/* Another process may be about to make it: LMDB writes its mutexes before its magic
	 * number. A fault counts if it stays. */
	for (int tries = 0; ; tries++) {
		fd = symstore_open_next(path, "-lock", O_RDWR | make, is_lock_file);
		failed = fd < 0 ? errno : 0;
		if (failed != EEXIST || tries == 20)
			break;
		usleep(2000);
	}
	if (fd >= 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, LOCK_FILE_SIZE))
		failed = errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
	if (fd >= 0)
		close(fd);
	*usable = !failed;
	if (!failed || mode != SYMSTORE_WRITE)
		return 0;
	if (failed == EEXIST || failed == ELOOP)
		return sc_error_set(err, SC_EFORMAT, "store %s: %s-lock is a link or not a valid lock "
				    "file: remove it", shown, shown);
	errno = failed;
	return sc_error_sys(err, "store %s: cannot make or read the lock file %s-lock", shown, shown);
}

/* flock(), since LMDB's own locks are of the other kind, which closing any
 * descriptor of the file would drop. */
int symstore_claim(const char *path, bool alone, int *ret, struct sc_error *err)
{
	struct stat ours, named;
	int fd, rc;

	*ret = -1;
	for (;;) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 && errno == ENOENT)
			return sc_error_set(err, SC_ENOTFOUND, "there is no store at %s", path);
		if (fd < 0)
			return sc_error_sys(err, "store %s: cannot open", path);
		while ((rc = flock(fd, alone ? LOCK_EX | LOCK_NB : LOCK_SH)) && errno == EINTR)
			;
		/* On a file system without such locks no one gets it alone. */
		if (rc && alone) {
			rc = errno == EWOULDBLOCK ?
				     sc_error_set(err, SC_EINVAL,
						  "store %s: another process has it open", path) :
				     sc_error_sys(err, "store %s: cannot lock", path);
			close(fd);
			return rc;
		}
		if (!fstat(fd, &ours) && !stat(path, &named) && ours.st_ino == named.st_ino &&
		    ours.st_dev == named.st_dev)
			break;
		close(fd); /* another took its place while we waited */
	}
	*ret = fd;
	return 0;
}

int symstore_sync_folder(const char *path, struct sc_error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir __attribute__((cleanup(sc_free_text))) =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd __attribute__((cleanup(sc_close_fd))) =
		dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	/* Some file systems cannot sync directories. */
	return fd >= 0 && fsync(fd) && errno != EINVAL && errno != ENOSYS ?
		sc_error_sys(err, "store %s: cannot sync its directory", path) : 0;
}

/* LMDB says EIO for a write that was cut short, which is how a disk fills up: is it
 * full? */
static bool no_space(const struct symstore *store)
{
	struct rlimit limit;
	struct statvfs vfs;
	struct stat st;
	int fd;

	if (mdb_env_get_fd(store->env, &fd))
		return false;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    !fstat(fd, &st) && (rlim_t)st.st_size >= limit.rlim_cur)
		return true;
	return !fstatvfs(fd, &vfs) && (uint64_t)vfs.f_bavail * vfs.f_frsize < 1 << 20;
}

static int fail_code(int rc)
{
	switch (rc) {
	case ENOMEM:
		return sc_no_memory(NULL);
	case ENOSPC: case EDQUOT: case EFBIG: case MDB_MAP_FULL: case MDB_TXN_FULL:
		return SC_EFULL;
	case MDB_CORRUPTED: case MDB_PAGE_NOTFOUND: case MDB_INVALID: case MDB_CURSOR_FULL:
	case MDB_INCOMPATIBLE: case MDB_BAD_VALSIZE:
		return SC_EFORMAT;
	case MDB_VERSION_MISMATCH:
		return SC_EUNSUPPORTED;
	case MDB_NOTFOUND:
		return SC_ENOTFOUND;
	case MDB_READERS_FULL:
		return SC_ELIMIT;
	}
	return SC_ESYS;
}

int symstore_fail(const struct symstore *store, int rc, struct sc_error *err,
		  const char *fmt, ...)
{
	char what[128];
	va_list ap;

	if (rc == EIO && no_space(store))
		rc = ENOSPC;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return sc_error_set(err, fail_code(rc), "store %s: %s: %s", store->path, what,
			    mdb_strerror(rc));
}
