/*
 * The store anew, without free pages: LMDB copies what is in use into a file
 * next to it, which is synced and takes the place of the old one.
 *
 * No one may have the store open meanwhile: a writer would go on in the old file,
 * and the lock file, which all share, describes one file only. So it is claimed
 * alone; others who come wait for that, and then open the new file. Killed at any
 * moment, the old file is in its place or the new one; at most a file
 * NAME.compact is left over, which the next run replaces.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/text.h"
#include "libsymcache/store/parts.h"

static int copy(const char *path, const char *fresh, struct sc_error *err)
{
	struct symstore *store;
	MDB_txn *txn;
	int rc = symstore_open_at(&(struct symstore_opening){ path, SYMSTORE_READ, true },
				  &store, err);

	if (rc)
		return rc;
	if (!(rc = symstore_txn_begin(store, MDB_RDONLY, &txn, err))) {
		rc = symstore_check_pages(store, txn, false, err);
		mdb_txn_abort(txn);
	}
	if (!rc && (rc = mdb_env_copy2(store->env, fresh, MDB_CP_COMPACT)))
		rc = symstore_fail(store, rc, err, "cannot write %s", fresh);
	symstore_close(store);
	return rc;
}

/* Gives the copy the owner and mode of the old file, as far as we may, and puts it
 * in its place. */
static int replace(const char *path, const char *fresh, const struct stat *old,
		   uint64_t *after, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) = open(fresh, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid) &&
		       old->st_gid == getegid()) ||
	    fchmod(fd, old->st_mode & 07777) || fstat(fd, &st) || fsync(fd) || rename(fresh, path))
		return sc_error_sys(err, "store %s: cannot replace it by %s", path, fresh);
	*after = (uint64_t)st.st_size;
	return symstore_sync_folder(path, err);
}

int symstore_compact(const char *path, uint64_t *before, uint64_t *after, struct sc_error *err)
{
	char *target __attribute__((cleanup(sc_free_text))) = NULL;
	char *fresh __attribute__((cleanup(sc_free_text))) = NULL;
	int claim __attribute__((cleanup(sc_close_fd))) = -1;
	struct stat st;
	int rc;

	if ((rc = symstore_resolve(path, &target, err)) ||
	    (rc = symstore_claim(target, true, &claim, err)))
		return rc;
	fresh = sc_text("%s.compact", target);
	if (!fresh)
		return sc_no_memory(err);
	if (fstat(claim, &st))
		return sc_error_sys(err, "store %s", path);
	*before = (uint64_t)st.st_size;
	unlink(fresh);
	rc = copy(target, fresh, err);
	if (!rc)
		rc = replace(target, fresh, &st, after, err);
	if (rc)
		unlink(fresh);
	return rc;
}
