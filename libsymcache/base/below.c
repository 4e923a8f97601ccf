/*
 * Files below a folder: see below.h.
 *
 * Not by openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS): missing folders are made on the way, a message
 * names the one that is a link, and where the call is missing or forbidden (before Linux 5.6, in some
 * containers) these steps would be needed as well. They follow no link either.
 */
#include "libsymcache/base/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"

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

DIR *sc_folder_entries(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const int why = errno;

	if (!dir && fd >= 0) {
		close(fd);
		errno = why;
	}
	return dir;
}

enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };

/* The folder `name` in `in`, which is closed; -1: errno is ELOOP for a link. */
static int step(int in, const char *name, bool make)
{
	int fd = openat(in, name, FOLDER | O_NOFOLLOW), why;
	struct stat st;

	if (fd < 0 && errno == ENOENT && make && (!mkdirat(in, name, 0775) || errno == EEXIST))
		fd = openat(in, name, FOLDER | O_NOFOLLOW);
	why = errno;
	if (fd < 0 && why == ENOTDIR && !fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISLNK(st.st_mode))
		why = ELOOP;
	close(in);
	errno = why;
	return fd;
}

/* As sc_folder_below(); errno EINVAL: a name is "..". `at`: how far it came. */
static int walk(const char *path, size_t below, bool make, const char **name, size_t *at)
{
	char part[PATH_MAX];
	int fd;

	*at = below;
	if (below + 1 >= sizeof(part)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(part, path, below);
	part[below] = 0;
	fd = open(below ? part : "/", FOLDER);
	if (fd < 0 && errno == ENOENT && make) {
		strcpy(part + below, "/");
		if (sc_make_parents(part, NULL))
			return -1;
		fd = open(part, FOLDER);
	}
	while (fd >= 0) {
		const char *begin = path + *at + strspn(path + *at, "/");
		const size_t len = strcspn(begin, "/");

		*name = begin;
		if (len >= sizeof(part) || (len == 2 && !memcmp(begin, "..", 2))) {
			close(fd);
			errno = len == 2 ? EINVAL : ENAMETOOLONG;
			return -1;
		}
		if (!begin[len])
			break;
		memcpy(part, begin, len);
		part[len] = 0;
		fd = step(fd, part, make);
		*at = (size_t)(begin + len - path);
	}
	return fd;
}

int sc_folder_below(const char *path, size_t below, bool make, const char **name,
		    struct sc_error *err)
{
	size_t at;
	const int fd = walk(path, below, make, name, &at);

	if (fd < 0 && errno == ELOOP && at > below)
		sc_error_set(err, SC_EINVAL, "%s: %.*s is a link, which is not followed", path,
			     (int)at, path);
	else if (fd < 0 && errno == EINVAL)
		sc_error_set(err, SC_EINVAL, "%s leads outside its folder", path);
	else if (fd < 0)
		sc_error_sys(err, "%s %.*s", make ? "cannot make the directory" : "cannot open",
			     (int)at, path);
	return fd;
}

int sc_open_in(int fd, const char *name)
{
	return openat(fd, *name ? name : ".", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

int sc_open_below(const char *path, size_t below)
{
	const char *name;
	size_t at;
	int dir __attribute__((cleanup(sc_close_fd))) = walk(path, below, false, &name, &at);

	return dir < 0 ? -1 : sc_open_in(dir, name);
}

int sc_stat_below(const char *path, size_t below, struct stat *ret)
{
	const char *name;
	size_t at;
	int dir __attribute__((cleanup(sc_close_fd))) = walk(path, below, false, &name, &at);

	return dir < 0 ? -1 : fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW);
}

int sc_remove_below(const char *path, size_t below)
{
	const char *name;
	size_t at;
	int dir __attribute__((cleanup(sc_close_fd))) = walk(path, below, false, &name, &at);

	return dir < 0 ? -1 : unlinkat(dir, name, 0);
}
