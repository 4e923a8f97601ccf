/*
 * Snapshots of the store: see store.h.
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

#include "libsymcache/store/parts.h"

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
		return sc_no_memory(err);
	reader->store = store;
	reader->owner = pthread_self();
	for (;;) {
		enter(reader);
		rc = store->lost ? EINVAL :
				   mdb_txn_begin(store->env, NULL, MDB_RDONLY, &reader->txn);
		/* Slots of readers that died. */
		if (rc == MDB_READERS_FULL && !mdb_reader_check(store->env, NULL))
			rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &reader->txn);
		if (!rc) {
			rc = symstore_look_in(store, reader->txn, reader, err);
			if (!rc) {
				*ret = reader;
				return 0;
			}
			symstore_read_end(reader);
			return rc;
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

struct symstore *symstore_of(const struct symstore_reader *reader)
{
	return reader->store;
}

void symstore_read_end(struct symstore_reader *reader)
{
	if (!reader)
		return;
	symstore_let_go(reader);
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

static int damaged_pages(const struct symstore *store, struct sc_error *err)
{
	return sc_error_set(err, SC_EFORMAT, "store %s: damaged: its index pages: 'symcache verify' "
			    "says which", store->path);
}

int symstore_look_in(struct symstore *store, MDB_txn *txn, struct symstore_reader *ret,
		     struct sc_error *err)
{
	struct { const char *name; struct symstore_tree *tree; } trees[] = {
		{ "meta", &ret->meta }, { "entries", &ret->entries }, { "caches", &ret->caches },
		{ "seen", &ret->seen },
	};
	struct symstore_snapshot snapshot;
	uint64_t size;
	int rc, fd;

	mdb_env_get_fd(store->env, &fd);
	rc = symstore_snapshot_of(txn, fd, &snapshot, err);
	if (rc) {
		sc_error_prefix(err, "store %s: ", store->path);
		return rc;
	}
	size = snapshot.file_size < store->map_size ? snapshot.file_size : store->map_size;
	ret->view = (struct symstore_view){
		.file = store->map, .pages = (size_t)size / snapshot.page_size,
		.page_size = snapshot.page_size, .last_page = snapshot.last_page,
	};
	ret->free = snapshot.trees[0];
	if (snapshot.trees[1].root == SIZE_MAX)
		return sc_error_set(err, SC_ENOTFOUND, "the store %s is empty", store->path);
	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
		rc = symstore_find_tree(&ret->view, &snapshot.trees[1], trees[i].name,
					trees[i].tree);
		if (rc == SC_ENOTFOUND)
			return sc_error_set(err, SC_EFORMAT, "%s is an LMDB file, but not a store",
					    store->path);
		if (rc)
			return damaged_pages(store, err);
	}
	return 0;
}

static int get(const struct symstore_reader *reader, const struct symstore_tree *tree,
	       const void *key, size_t size, struct symstore_bytes *value, struct sc_error *err)
{
	int rc = size ? symstore_find(&reader->view, tree, key, size, value) : SC_ENOTFOUND;

	if (rc == SC_ENOTFOUND)
		return sc_error_set(err, SC_ENOTFOUND, "not in store %s",
				    reader->store->path);
	return rc ? damaged_pages(reader->store, err) : 0;
}

static int decode(const struct symstore_reader *reader, const struct symstore_bytes *key,
		  const struct symstore_bytes *value, struct symstore_entry *ret,
		  struct sc_error *err)
{
	if (symstore_entry_decode(key->data, key->size, value->data, value->size, ret))
		return 0;
	return sc_error_set(err, SC_EFORMAT, "store %s: damaged: a malformed entry record",
			    reader->store->path);
}

int symstore_entry(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		   struct symstore_entry *ret, struct sc_error *err)
{
	struct symstore_bytes key = { build_id, len }, value;
	int rc = get(reader, &reader->entries, build_id, len, &value, err);

	return rc ? rc : decode(reader, &key, &value, ret, err);
}

int symstore_value(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		   struct symstore_entry *entry, struct symstore_bytes *ret, struct sc_error *err)
{
	int rc;

	if ((rc = symstore_entry(reader, build_id, len, entry, err)))
		return rc;
	rc = get(reader, &reader->caches, build_id, len, ret, err);
	if (rc && rc != SC_ENOTFOUND)
		return rc;
	if (rc || symstore_stored_size(entry) > ret->size || (uintptr_t)ret->data % 8)
		return sc_error_set(err, SC_EFORMAT,
				    "store %s: damaged: an entry without its cache",
				    reader->store->path);
	return 0;
}

static bool has_prefix(const struct symstore_bytes *key, const uint8_t *prefix, size_t nibbles)
{
	const uint8_t *id = key->data;

	return key->size >= (nibbles + 1) / 2 && !memcmp(id, prefix, nibbles / 2) &&
	       (nibbles % 2 == 0 || (id[nibbles / 2] & 0xf0) == prefix[nibbles / 2]);
}

int symstore_each(struct symstore_reader *reader, const uint8_t *prefix, size_t nibbles,
		  symstore_each_fn *fn, void *ctx, struct sc_error *err)
{
	uint8_t first[SYMCACHE_BUILD_ID_MAX];
	struct symstore_bytes from = { nibbles ? first : NULL, (nibbles + 1) / 2 };
	struct symstore_entry entry;
	struct symstore_walk walk;
	int rc;

	if (nibbles > 2 * sizeof(first))
		return sc_error_set(err, SC_EINVAL, "a build ID has no %zu digits", nibbles);
	if (nibbles)
		memcpy(first, prefix, from.size);
	if (nibbles % 2)
		first[nibbles / 2] &= 0xf0;
	for (rc = symstore_seek(&walk, &reader->view, &reader->entries, false, from);
	     !rc && has_prefix(&walk.key, first, nibbles); rc = symstore_next(&walk)) {
		if ((rc = decode(reader, &walk.key, &walk.value, &entry, err)))
			return rc;
		if (!fn(ctx, &entry))
			return 0;
	}
	return !rc || rc == SC_ENOTFOUND ? 0 : damaged_pages(reader->store, err);
}

int symstore_get_note(struct symstore_reader *reader, const char *name, const void **data,
		      size_t *size, struct sc_error *err)
{
	char key[128];
	struct symstore_bytes value;
	int rc, len = snprintf(key, sizeof(key), SYMSTORE_NOTE "%s", name);

	if (len >= (int)sizeof(key))
		return sc_error_set(err, SC_ENOTFOUND, "no note has such a name");
	rc = get(reader, &reader->meta, key, (size_t)len, &value, err);
	if (rc)
		return rc;
	*data = value.data;
	*size = value.size;
	return 0;
}

int symstore_seen(struct symstore_reader *reader, const struct sc_hash *content,
		  const char *tool, struct symstore_outcome *ret, struct sc_error *err)
{
	uint8_t key[SYMSTORE_CONTENT_KEY];
	struct symstore_bytes value;
	const char *by;
	int rc;

	symstore_content_key(content, key);
	if ((rc = get(reader, &reader->seen, key, sizeof(key), &value, err)))
		return rc;
	/* The record is a note, not data: a bad one only costs another look. */
	if (!symstore_outcome_decode(value.data, value.size, ret, &by) || strcmp(by, tool))
		return sc_error_set(err, SC_ENOTFOUND, "not seen by this version");
	return ret->code ? 0 : get(reader, &reader->entries, ret->build_id,
				   ret->build_id_len, &value, err);
}

int symstore_info(struct symstore_reader *reader, struct symstore_info *ret,
		  struct sc_error *err)
{
	struct symstore *store = reader->store;
	struct symstore_walk walk;
	MDB_envinfo env;
	struct stat st;
	size_t pages;
	int rc, fd;

	mdb_env_info(store->env, &env);
	mdb_env_get_fd(store->env, &fd);
	if (fstat(fd, &st))
		return sc_error_sys(err, "store %s: cannot read", store->path);
	*ret = (struct symstore_info){
		.entries = reader->entries.entries, .file_size = (uint64_t)st.st_size,
		.used_bytes = ((uint64_t)reader->view.last_page + 1) * store->page_size,
		.map_size = env.me_mapsize, .seen = reader->seen.entries,
		.page_size = (uint32_t)store->page_size, .readers = env.me_numreaders,
		.format = store->format, .locked = store->locked,
	};
	/* Transaction → number of pages, then they. */
	for (rc = symstore_seek(&walk, &reader->view, &reader->free, true,
				(struct symstore_bytes){ 0 });
	     !rc; rc = symstore_next(&walk)) {
		if (walk.value.size < sizeof(pages))
			return damaged_pages(store, err);
		memcpy(&pages, walk.value.data, sizeof(pages));
		ret->free_bytes += (uint64_t)pages * store->page_size;
	}
	return rc == SC_ENOTFOUND ? 0 : damaged_pages(store, err);
}
