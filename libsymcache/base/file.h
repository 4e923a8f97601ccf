/*
 * file.h: output files that are there as a whole or not at all.
 *
 * A new file is written under a temporary name next to its place, synced and renamed.
 * Until then the old one stays; after a failure, too. Killed by SIGKILL, it may leave
 * PATH.XXXXXXXX behind, which no one mistakes for a whole file.
 */
#ifndef SC_FILE_H
#define SC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "libsymcache/base/below.h"

struct sc_unfinished {
	int dir;     /* an open folder, or AT_FDCWD */
	char name[]; /* relative to it */
};

struct sc_new_file {
	int fd;      /* to write to; -1: none */
	char *path;  /* where it will be, for messages */
	const char *name; /* the same, relative to temp->dir */
	struct sc_unfinished *temp; /* where it is */
	size_t slot; /* in the list of unfinished files, see sc_new_files_remove() */
};

/* Opens a new file for `path`, with the mode that umask leaves of 0666. A symbolic link
 * at `path` is replaced, or with `follow` stays one, and what it points to is replaced.
 * SC_ESYS, SC_EFULL, SC_ENOMEM. */
int sc_new_file_open(const char *path, bool follow, struct sc_new_file *ret,
		     struct sc_error *err);

/* The same, without `follow`, below a folder that others may write to, too: the first `below`
 * bytes of `path` are that folder; links in it are followed, one behind it is an error. Missing
 * folders are made. */
int sc_new_file_below(const char *path, size_t below, struct sc_new_file *ret,
		      struct sc_error *err);

/* Syncs the file, closes it and puts it in its place; *f is empty after it in any case.
 * SC_ESYS, SC_EFULL: what was there is as it was. */
int sc_new_file_commit(struct sc_new_file *f, struct sc_error *err);

/* The same, but a file that is there by now stays, and this one is removed. On file systems that
 * have no links, as sc_new_file_commit(). */
int sc_new_file_commit_first(struct sc_new_file *f, struct sc_error *err);

/* Removes the new file; an empty *f is fine. */
void sc_new_file_discard(struct sc_new_file *f);

/* What becomes of it: `rc` 0: as sc_new_file_commit(); else it is removed, and rc returned. */
int sc_new_file_end(struct sc_new_file *f, int rc, struct sc_error *err);

/* Removes the new files of all threads that are not committed: for a handler of a signal
 * that ends the process (async-signal-safe). The first 128 at a time are known. */
void sc_new_files_remove(void);

/* The same, and from now on no thread makes one: for whoever ends the process next. */
void sc_new_files_end(void);

/* Where files of many megabytes may lie for a while: $TMPDIR, else /var/tmp. */
const char *sc_temp_folder(void);

/* A file without a name, to write and read; it goes when it is closed. -1: see errno. */
int sc_nameless_file(const char *folder);

/* Do both paths lead to one file? */
bool sc_same_file(const char *a, const char *b);

/* Writes all of it, whatever single writes and signals do. -1: see errno. */
int sc_write_all(int fd, const void *bytes, size_t size);
int sc_write_pieces(int fd, const struct iovec pieces[], size_t n);

/* Replaces the file at `path` as a whole. What is there and not a regular file (a device,
 * a pipe) is written into. SC_ESYS, SC_EFULL, SC_ENOMEM. */
int sc_replace_file(const char *path, const void *bytes, size_t size, struct sc_error *err);
int sc_replace_file_by(const char *path, const struct iovec pieces[], size_t n,
		       struct sc_error *err);

#endif
