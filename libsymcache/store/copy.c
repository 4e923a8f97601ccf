/*
 * A private copy of a store, for one that others made: they may write into it, or cut
 * it off, between what is checked and what is used. The copy has no name, and takes no
 * room where the store has holes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/file.h"
#include "libsymcache/store/parts.h"

enum { TRIES = 10 };

/* Copies all that is not a hole. -1: see errno. */
static int copy_data(int from, int to, off_t size)
{
	off_t at = 0, end;

	if (ftruncate(to, 0) || ftruncate(to, size))
		return -1;
	while (at < size && (at = lseek(from, at, SEEK_DATA)) >= 0 && at < size) {
		if ((end = lseek(from, at, SEEK_HOLE)) < 0)
			return -1;
		end = end < size ? end : size;
		if (lseek(to, at, SEEK_SET) < 0)
			return -1;
		while (at < end) {
			ssize_t n = sendfile(to, from, &at, (size_t)(end - at));

			if (n < 0 && errno != EINTR)
				return -1;
			if (!n)
				return 0; /* it was cut off meanwhile */
		}
	}
	return at < 0 && errno != ENXIO ? -1 : 0;
}

/*
 * The pages of a snapshot are not used again by the next commit, but by the one behind
 * it: if the file's last commit is then not more than one later, the copy is whole.
 */
static int copy(int from, int to, const char *folder, struct sc_error *err)
{
	struct symstore_snapshot before, after;
	struct stat st;
	int rc;

	for (int i = 0; i < TRIES; i++) {
		if ((rc = symstore_snapshot_read(from, SYMSTORE_ANY_TXN, &before, err)))
			return rc;
		if (fstat(from, &st))
			return sc_error_sys(err, "cannot read");
		if (copy_data(from, to, st.st_size))
			return sc_error_sys(err, "cannot copy it to %s (TMPDIR)", folder);
		if ((rc = symstore_snapshot_read(from, SYMSTORE_ANY_TXN, &after, err)))
			return rc;
		if (after.txn - before.txn <= 1)
			return 0;
	}
	return sc_error_set(err, SC_EINVAL, "it changes all the time: try again later");
}

int symstore_open_copy(const char *path, struct symstore **ret, struct sc_error *err)
{
	const char *folder = sc_temp_folder();
	int from __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int to __attribute__((cleanup(sc_close_fd))) = sc_nameless_file(folder);
	char name[64];
	int rc;

	*ret = NULL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
	if (from < 0)
		rc = sc_error_sys(err, "cannot open");
	else if (to < 0)
		rc = sc_error_sys(err, "cannot copy it to %s (TMPDIR)", folder);
	else
		rc = copy(from, to, folder, err);
	if (rc) {
		sc_error_prefix(err, "store %s: ", path);
		return rc;
	}
	return symstore_open_at(&(struct symstore_opening){ name, SYMSTORE_VISIT, true,
							    .shown = path }, ret, err);
}
