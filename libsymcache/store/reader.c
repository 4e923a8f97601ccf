/*
 * Snapshots of the store: see symcache_store.h.
 *
 * What is given out points into the map. Every record and size that comes from
 * the file is checked, so a damaged file gives SC_EFORMAT, not a wild pointer.
 * A reader costs a slot in the lock file and no lock after it began.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/store/record.h"
#include "libsymcache/store/store.h"

/* Announces a reader of this process; waits while the map moves, unless this
 * thread reads already: then the map waits for it. */
static void enter(struct symstore_reader *reader)
{
	struct symstore *store = reader->store;
	bool inside = false;

	pthread_mutex_lock(&store->lock);
	for (struct symstore_reader *r = store->readers; r; r = r->next)
		inside |= pthread_equal(r->owner, reader->owner) != 0;
	while (store->remapping && !inside)
		pthread_cond_wait(&store->changed, &store->lock);
	reader->next = store->readers;
	store->readers = reader;
	pthread_mutex_unlock(&store->lock);
}

static void leave(struct symstore_reader *reader)
{
	struct symstore *store = reader->store;
	struct symstore_reader **at = &store->readers;

	pthread_mutex_lock(&store->lock);
	while (*at != reader)
		at = &(*at)->next;
	*at = reader->next;
	if (!store->readers)
		pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->lock);
}

int symstore_read_begin(struct symstore *store, struct symstore_reader **ret,
			struct sc_error *err)
{
	struct symstore_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	*ret = NULL;
	if (!reader)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	reader->store = store;
	reader->owner = pthread_self();
	for (;;) {
		enter(reader);
		rc = store->lost ? EINVAL : mdb_txn_begin(store->env, NULL, MDB_RDONLY, &reader->txn);
		/* Slots of readers that died. */
		if (rc == MDB_READERS_FULL && !mdb_reader_check(store->env, NULL))
			rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &reader->txn);
		if (!rc) {
			*ret = reader;
			return 0;
		}
		leave(reader);
		if (rc != MDB_MAP_RESIZED)
			break;
		pthread_mutex_lock(&store->commit_lock);
		rc = symstore_remap(store, 0, err);
		pthread_mutex_unlock(&store->commit_lock);
		if (rc) {
			free(reader);
			return rc;
		}
	}
	free(reader);
	return symstore_fail(store, rc, err, "cannot read");
}

void symstore_read_end(struct symstore_reader *reader)
{
	if (!reader)
		return;
	mdb_txn_abort(reader->txn);
	leave(reader);
	free(reader);
}

int symstore_snapshot_of(MDB_txn *txn, int fd, struct symstore_snapshot *ret,
			 struct sc_error *err)
{
	int rc;

	while ((rc = symstore_snapshot_read(fd, mdb_txn_id(txn), ret, err)) == SC_ENOTFOUND) {
		mdb_txn_reset(txn);
		if ((rc = mdb_txn_renew(txn)))
			return sc_error_set(err, SC_ESYS, "cannot read: %s", mdb_strerror(rc));
	}
	return rc;
}

/* SC_ENOTFOUND without the words of LMDB: it is an answer. */
static int get(struct symstore_reader *reader, MDB_dbi db, const void *key, size_t size,
	       MDB_val *value, struct sc_error *err)
{
	MDB_val k = { size, (void *)key };
	int rc = size ? mdb_get(reader->txn, db, &k, value) : MDB_NOTFOUND;

	if (rc == MDB_NOTFOUND)
		return sc_error_set(err, SC_ENOTFOUND, "the store has no such entry");
	return rc ? symstore_fail(reader->store, rc, err, "cannot read") : 0;
}

static int decode(const struct symstore_reader *reader, const MDB_val *key,
		  const MDB_val *value, struct symstore_entry *ret, struct sc_error *err)
{
	if (symstore_entry_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size, ret))
		return 0;
	return sc_error_set(err, SC_EFORMAT, "store %s: damaged: a malformed entry record",
			    reader->store->path);
}

int symstore_entry(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		   struct symstore_entry *ret, struct sc_error *err)
{
	MDB_val key = { len, (void *)build_id }, value;
	int rc = get(reader, reader->store->entries, build_id, len, &value, err);

	return rc ? rc : decode(reader, &key, &value, ret, err);
}

int symstore_get(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		 const void **data, size_t *size, struct sc_error *err)
{
	struct symstore_entry entry;
	MDB_val value;
	int rc;

	if ((rc = symstore_entry(reader, build_id, len, &entry, err)))
		return rc;
	rc = get(reader, reader->store->caches, build_id, len, &value, err);
	if (rc && rc != SC_ENOTFOUND)
		return rc;
	if (rc || entry.cache_size > value.mv_size || (uintptr_t)value.mv_data % 8)
		return sc_error_set(err, SC_EFORMAT, "store %s: damaged: an entry without its cache",
				    reader->store->path);
	*data = value.mv_data;
	*size = (size_t)entry.cache_size;
	return 0;
}

static bool has_prefix(const MDB_val *key, const uint8_t *prefix, size_t nibbles)
{
	const uint8_t *id = key->mv_data;

	return key->mv_size >= (nibbles + 1) / 2 && !memcmp(id, prefix, nibbles / 2) &&
	       (nibbles % 2 == 0 || (id[nibbles / 2] & 0xf0) == prefix[nibbles / 2]);
}

int symstore_each(struct symstore_reader *reader, const uint8_t *prefix, size_t nibbles,
		  symstore_each_fn *fn, void *ctx, struct sc_error *err)
{
	MDB_cursor *cursor __attribute__((cleanup(symstore_cursor_cleanup))) = NULL;
	uint8_t first[SYMCACHE_BUILD_ID_MAX];
	MDB_val key = { (nibbles + 1) / 2, first }, value;
	struct symstore_entry entry;
	int rc;

	if (nibbles > 2 * sizeof(first))
		return sc_error_set(err, SC_EINVAL, "a build ID has no %zu digits", nibbles);
	if (nibbles)
		memcpy(first, prefix, key.mv_size);
	if (nibbles % 2)
		first[nibbles / 2] &= 0xf0;
	if ((rc = mdb_cursor_open(reader->txn, reader->store->entries, &cursor)))
		return symstore_fail(reader->store, rc, err, "cannot read");
	for (rc = mdb_cursor_get(cursor, &key, &value, nibbles ? MDB_SET_RANGE : MDB_FIRST);
	     !rc && has_prefix(&key, first, nibbles);
	     rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
		if ((rc = decode(reader, &key, &value, &entry, err)))
			return rc;
		if (!fn(ctx, &entry))
			return 0;
	}
	return !rc || rc == MDB_NOTFOUND ? 0 :
		symstore_fail(reader->store, rc, err, "cannot read");
}

int symstore_get_note(struct symstore_reader *reader, const char *name, const void **data,
		      size_t *size, struct sc_error *err)
{
	char key[128];
	MDB_val value;
	int rc, len = snprintf(key, sizeof(key), SYMSTORE_NOTE "%s", name);

	if (len >= (int)sizeof(key))
		return sc_error_set(err, SC_ENOTFOUND, "no note has such a name");
	rc = get(reader, reader->store->meta, key, (size_t)len, &value, err);
	if (rc)
		return rc;
	*data = value.mv_data;
	*size = value.mv_size;
	return 0;
}

int symstore_seen(struct symstore_reader *reader, const struct symstore_hash *content,
		  const char *tool, struct symstore_outcome *ret, struct sc_error *err)
{
	uint8_t key[SYMSTORE_CONTENT_KEY];
	const char *by;
	MDB_val value;
	int rc;

	symstore_content_key(content, key);
	if ((rc = get(reader, reader->store->seen, key, sizeof(key), &value, err)))
		return rc;
	/* The record is a note, not data: a bad one only costs another look. */
	if (!symstore_outcome_decode(value.mv_data, value.mv_size, ret, &by) || strcmp(by, tool))
		return sc_error_set(err, SC_ENOTFOUND, "not seen by this version");
	return ret->code ? 0 : get(reader, reader->store->entries, ret->build_id,
				   ret->build_id_len, &value, err);
}

int symstore_info(struct symstore_reader *reader, struct symstore_info *ret,
		  struct sc_error *err)
{
	const MDB_dbi free_db = 0; /* LMDB's own: transaction → list of pages */
	MDB_cursor *cursor __attribute__((cleanup(symstore_cursor_cleanup))) = NULL;
	struct symstore *store = reader->store;
	MDB_val key, value;
	MDB_stat stat, seen;
	MDB_envinfo env;
	struct stat st;
	size_t pages;
	int rc, fd;

	if ((rc = mdb_stat(reader->txn, store->entries, &stat)) ||
	    (rc = mdb_stat(reader->txn, store->seen, &seen)) ||
	    (rc = mdb_env_info(store->env, &env)) ||
	    (rc = mdb_cursor_open(reader->txn, free_db, &cursor)))
		return symstore_fail(store, rc, err, "cannot read");
	mdb_env_get_fd(store->env, &fd);
	if (fstat(fd, &st))
		return sc_error_sys(err, "store %s: cannot read", store->path);
	*ret = (struct symstore_info){
		.entries = stat.ms_entries, .file_size = (uint64_t)st.st_size,
		.used_bytes = ((uint64_t)env.me_last_pgno + 1) * store->page_size,
		.map_size = env.me_mapsize, .seen = seen.ms_entries,
		.page_size = (uint32_t)store->page_size, .readers = env.me_numreaders,
		.format = store->format, .locked = store->locked,
	};
	while (!(rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
		if (value.mv_size < sizeof(pages))
			return symstore_fail(store, MDB_CORRUPTED, err, "free pages");
		memcpy(&pages, value.mv_data, sizeof(pages));
		ret->free_bytes += (uint64_t)pages * store->page_size;
	}
	return rc == MDB_NOTFOUND ? 0 : symstore_fail(store, rc, err, "cannot read");
}
