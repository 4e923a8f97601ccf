/*
 * below.h: files below a folder that others may write to, too. No symbolic link behind the name of
 * that folder is followed, so nothing outside it is read, written or removed.
 *
 * The first `below` bytes of a path are the folder, in which links are followed; what comes behind
 * its slash may not have "..". Each function opens the folders one after the other.
 */
#ifndef SC_BELOW_H
#define SC_BELOW_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "libsymcache/base/error.h"

/* Opens the folder that the last name of `path` is in (O_PATH); `name`: that last name. `make`:
 * missing folders are made. -1, with *err: SC_ENOTFOUND, SC_ESYS, SC_EFULL, SC_EINVAL: a link or
 * "..". */
int sc_folder_below(const char *path, size_t below, bool make, const char **name,
		    struct sc_error *err);

/* As open() for reading, of a file, or with a slash at the end of a folder; no link, and without
 * waiting for a pipe. -1: see errno. */
int sc_open_below(const char *path, size_t below);
/* The same of a name in the folder `fd`, as sc_folder_below() gives both. */
int sc_open_in(int fd, const char *name);
/* As lstat(), unlink(). */
int sc_stat_below(const char *path, size_t below, struct stat *ret);
int sc_remove_below(const char *path, size_t below);

/* What the open folder `fd` has. The descriptor is the stream's, or closed. NULL: see errno, also
 * where fd is -1. */
DIR *sc_folder_entries(int fd);

/* Makes the directories above `path` that are missing; `path` is written to, and
 * restored. SC_ESYS, SC_EFULL. */
int sc_make_parents(char *path, struct sc_error *err);

#endif
