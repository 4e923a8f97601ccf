/*
 * Opening a store: what the file is, without LMDB; the lock file; LMDB; the
 * file's page tree if it may be cut off; the trees of the file and its version; if we
 * write, LMDB's handles for them.
 *
 * The order matters. LMDB believes a damaged file, makes a lock file
 * whose pages a full disk may refuse only when they are touched (SIGBUS), and
 * cannot read where it may not lock. So each of these is looked at before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/text.h"
#include "libsymcache/store/parts.h"

enum { MAX_DATABASES = 16, OPEN_TRIES = 100 };

static int open_databases(struct symstore *store, MDB_txn *txn, unsigned flags)
{
	int rc;

	if ((rc = mdb_dbi_open(txn, "meta", flags, &store->meta)) ||
	    (rc = mdb_dbi_open(txn, "entries", flags, &store->entries)) ||
	    (rc = mdb_dbi_open(txn, "caches", flags, &store->caches)))
		return rc;
	return mdb_dbi_open(txn, "seen", flags, &store->seen);
}

/* Looks at the version record. */
static int check_format(struct symstore *store, const void *record, size_t size,
			enum symstore_mode mode, struct sc_error *err)
{
	struct symstore_format format;
	uint32_t since;

	if (!symstore_format_decode(record, size, &format))
		return sc_error_set(err, SC_EFORMAT, "store %s: damaged: its format version",
				    store->path);
	since = mode != SYMSTORE_WRITE ? format.read_since : format.write_since;
	if (since > SYMSTORE_FORMAT_PACKED)
		return sc_error_set(err, SC_EUNSUPPORTED, "store %s was written by a newer symcache: "
				    "its format %u needs one that knows format %u to %s it; "
				    "this one knows %u", store->path, format.format, since,
				    mode != SYMSTORE_WRITE ? "read" : "write", SYMSTORE_FORMAT_PACKED);
	store->format = format.format;
	return 0;
}

static int write_format(struct symstore *store, MDB_txn *txn, struct sc_error *err)
{
	struct symstore_format format = {
		.format = SYMSTORE_FORMAT, .read_since = 1, .write_since = 1,
	};
	int rc = symstore_put_format(store, txn, &format);

	store->format = format.format;
	return rc ? symstore_fail(store, rc, err, "cannot write") : 0;
}

/* The version of a file that has one, and LMDB's handles if we write. SC_ENOTFOUND: an
 * LMDB file without any data. */
static int attach(struct symstore *store, enum symstore_mode mode, struct sc_error *err)
{
	MDB_txn *txn __attribute__((cleanup(symstore_txn_cleanup))) = NULL;
	struct symstore_reader in;
	struct symstore_bytes value;
	MDB_txn *done;
	int rc = symstore_txn_begin(store, MDB_RDONLY, &txn, err);

	if (rc || (rc = symstore_check_pages(store, txn, true, err)))
		return rc;
	rc = symstore_look_in(store, txn, &in, err);
	/* initialise() must not touch a damaged file; and where the list of trees is damaged, nothing
	 * that comes later could say which page that is. */
	if (rc == SC_EFORMAT || (rc == SC_ENOTFOUND && mode == SYMSTORE_WRITE)) {
		const int damaged = symstore_check_pages(store, txn, false, err);

		return damaged ? damaged : rc;
	}
	if (rc)
		return rc;
	if (symstore_find(&in.view, &in.meta, SYMSTORE_FORMAT_KEY, strlen(SYMSTORE_FORMAT_KEY),
			  &value))
		return sc_error_set(err, SC_EFORMAT, "store %s: no format version", store->path);
	rc = check_format(store, value.data, value.size, mode, err);
	if (rc || mode != SYMSTORE_WRITE)
		return rc;
	if ((rc = open_databases(store, txn, 0)))
		return symstore_fail(store, rc, err, "cannot read");
	done = txn;
	txn = NULL;
	mdb_txn_commit(done); /* keeps the handles */
	return 0;
}

/* Makes a store of an LMDB file without any data. */
static int initialise(struct symstore *store, struct sc_error *err)
{
	MDB_txn *txn __attribute__((cleanup(symstore_txn_cleanup))) = NULL;
	MDB_txn *done;
	MDB_stat stat;
	MDB_dbi main_db;
	int rc = symstore_txn_begin(store, 0, &txn, err);

	if (rc)
		return rc;
	if ((rc = mdb_dbi_open(txn, NULL, 0, &main_db)) || (rc = mdb_stat(txn, main_db, &stat)))
		return symstore_fail(store, rc, err, "cannot read");
	if (stat.ms_entries) { /* another process was faster */
		mdb_txn_abort(txn);
		txn = NULL;
		return attach(store, SYMSTORE_WRITE, err);
	}
	if ((rc = open_databases(store, txn, MDB_CREATE)))
		return symstore_fail(store, rc, err, "cannot write");
	if ((rc = write_format(store, txn, err)))
		return rc;
	done = txn;
	txn = NULL;
	if ((rc = mdb_txn_commit(done)))
		return symstore_fail(store, rc, err, "cannot write");
	return 0;
}

/* Opens LMDB's environment, and reads from it once. */
static int try_env(struct symstore *store, const char *file, unsigned flags, size_t map,
		   MDB_stat *stat)
{
	MDB_txn *txn;
	int rc;

	if ((rc = mdb_env_create(&store->env)) ||
	    (rc = mdb_env_set_maxdbs(store->env, MAX_DATABASES)) ||
	    (rc = mdb_env_set_maxreaders(store->env, SYMSTORE_READERS)) ||
	    (rc = mdb_env_set_mapsize(store->env, map)) ||
	    (rc = mdb_env_open(store->env, file, flags, 0664)) ||
	    (rc = mdb_env_stat(store->env, stat)))
		return rc;
	rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
	if (!rc)
		mdb_txn_abort(txn);
	return rc == EINVAL ? MDB_BAD_RSLOT : rc == MDB_MAP_RESIZED ? 0 : rc;
}

/*
 * LMDB from 0.9.30 on destroys the mutexes in the lock file when its last user closes
 * it; a process that opens at this moment finds them so (EINVAL). Once it has let go as
 * well, the next to open makes them anew.
 */
static int open_env(struct symstore *store, const char *file, enum symstore_mode mode,
		    uint64_t used, struct sc_error *err)
{
	unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (mode == SYMSTORE_WRITE ? 0 : MDB_RDONLY) |
			 (store->locked ? 0 : MDB_NOLOCK);
	size_t map = symstore_map_size(used, store->roomy);
	MDB_stat stat;
	int rc;

	if (!map)
		return sc_error_set(err, SC_ENOMEM, "store %s: no address space for its %llu bytes",
				    store->path, (unsigned long long)used);
	for (unsigned tries = 0;
	     (rc = try_env(store, file, flags, map, &stat)) == MDB_BAD_RSLOT &&
	     tries < OPEN_TRIES;
	     tries++) {
		mdb_env_close(store->env);
		store->env = NULL;
		usleep(1000 + (unsigned)getpid() % 16 * 250 * tries);
	}
	if (rc)
		return symstore_fail(store, rc, err, "cannot open");
	store->page_size = stat.ms_psize;
	/* Readers that died hold pages back. */
	if (store->locked)
		mdb_reader_check(store->env, NULL);
	return symstore_map(store, err);
}

static void store_cleanup(struct symstore **store)
{
	symstore_destroy(*store);
}

/* Takes `path`, which is on the heap, or NULL. */
static struct symstore *store_create(char *path, uint64_t roomy)
{
	struct symstore *store = path ? calloc(1, sizeof(*store)) : NULL;

	if (!store) {
		free(path);
		return NULL;
	}
	pthread_mutex_init(&store->commit_lock, NULL);
	pthread_mutex_init(&store->lock, NULL);
	pthread_mutex_init(&store->unpacked_lock, NULL);
	pthread_cond_init(&store->changed, NULL);
	store->path = path;
	store->place = -1;
	store->pid = getpid();
	store->roomy = roomy;
	store->unpacked_most = SYMSTORE_UNPACKED_MOST;
	return store;
}

/* Makes the file, where there is none, next to its place and links it there when it is a
 * store: LMDB would leave half of one where the disk is full. If another process was
 * faster, its file stays; where there are no links, LMDB makes the file in its place. */
static int make(const char *path, uint64_t roomy, struct sc_error *err)
{
	char *fresh __attribute__((cleanup(sc_free_text))) = NULL;
	char *lock __attribute__((cleanup(sc_free_text))) = NULL;
	struct symstore *store;
	int rc;

	if (!access(path, F_OK))
		return 0;
	if (!(fresh = sc_text("%s.new.%ld", path, (long)getpid())) ||
	    !(lock = sc_text("%s-lock", fresh)))
		return sc_no_memory(err);
	unlink(fresh);
	rc = symstore_open_at(&(struct symstore_opening){ fresh, SYMSTORE_WRITE, true, roomy,
							  path }, &store, err);
	symstore_destroy(store);
	if (!rc && !link(fresh, path))
		rc = symstore_sync_folder(path, err);
	unlink(fresh);
	unlink(lock);
	return rc;
}

int symstore_open_at(const struct symstore_opening *o, struct symstore **ret, struct sc_error *err)
{
	struct symstore *store __attribute__((cleanup(store_cleanup))) = NULL;
	char *target __attribute__((cleanup(sc_free_text))) = NULL;
	const bool claim = !o->unclaimed && o->mode != SYMSTORE_FROZEN;
	const enum symstore_mode mode = o->mode;
	uint64_t used;
	int rc;

	*ret = NULL;
	if ((rc = symstore_resolve(o->path, &target, err)))
		return rc;
	store = store_create(strdup(o->shown ? o->shown : target), o->roomy);
	if (!store)
		return sc_no_memory(err);
	store->frozen = mode == SYMSTORE_FROZEN;
	if (claim && mode == SYMSTORE_WRITE && (rc = make(target, o->roomy, err)))
		return rc;
	/* Before LMDB comes, so that it opens the file that is claimed. One that is made in
	 * its place has to be made first; no one puts another in the place of an empty one. */
	if (claim && (rc = symstore_claim(target, false, &store->place, err)) &&
	    (rc != SC_ENOTFOUND || mode != SYMSTORE_WRITE))
		return rc;
	if ((rc = symstore_look(target, store->path, &used, err)))
		return rc;
	if (!used && mode != SYMSTORE_WRITE)
		return sc_error_set(err, SC_ENOTFOUND, "there is no store at %s",
				    o->shown ? o->shown : o->path);
	if ((!store->frozen && (rc = symstore_lock_file(target, store->path, mode,
							&store->locked, err))) ||
	    (rc = open_env(store, target, mode, used, err)))
		return rc;
	rc = attach(store, mode, err);
	if (rc == SC_ENOTFOUND && mode == SYMSTORE_WRITE)
		rc = initialise(store, err);
	if (!rc && claim && store->place < 0)
		rc = symstore_claim(target, false, &store->place, err);
	if (!rc && !used && claim && mode == SYMSTORE_WRITE) /* else it has its name from make() */
		rc = symstore_sync_folder(store->path, err);
	if (rc)
		return rc;
	*ret = store;
	store = NULL;
	return 0;
}

const char *symstore_path(const struct symstore *store)
{
	return store->path;
}

void symstore_destroy(struct symstore *store)
{
	if (!store)
		return;
	symstore_drop_unpacked(store);
	symstore_unmap(store);
	mdb_env_close(store->env);
	if (store->place >= 0)
		close(store->place);
	pthread_cond_destroy(&store->changed);
	pthread_mutex_destroy(&store->unpacked_lock);
	pthread_mutex_destroy(&store->lock);
	pthread_mutex_destroy(&store->commit_lock);
	free(store->path);
	free(store);
}
