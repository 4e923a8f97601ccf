/*
 * Commits: what a writer gathered goes into the store in one transaction.
 *
 * Nothing is locked before symstore_commit(): building a cache takes seconds,
 * and another process that waits for its turn would wait for that. The caches
 * are written by their fill function straight into LMDB's dirty pages. Where
 * the map turns out too small, the transaction is thrown away, the map grows,
 * and it starts over: hence the list of what shall be done, and fill functions
 * that can be called again.
 *
 * LMDB writes pages, syncs them, then writes and syncs a meta page; until that
 * is on the disk the store is as it was. Cost: the bytes once through the page
 * cache, two syncs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/store/record.h"
#include "libsymcache/store/store.h"

enum op_kind { OP_PUT, OP_TAG, OP_REMOVE, OP_REMEMBER, OP_NOTE };

/* One thing to do. */
struct op {
	enum op_kind kind;
	uint8_t key[SYMCACHE_BUILD_ID_MAX + sizeof(SYMSTORE_NOTE)];
	size_t key_size;
	uint8_t *record;        /* OP_TAG: the tags; OP_REMOVE: none */
	size_t record_size;
	symstore_fill_fn *fill; /* OP_PUT */
	void *ctx;
	size_t cache_size;
	bool *done;             /* what the commit tells; may be NULL */
};

struct symstore_writer {
	struct symstore *store;
	VEC(struct op) ops;
	uint64_t bytes;         /* in all */
};

int symstore_write_begin(struct symstore *store, struct symstore_writer **ret,
			 struct sc_error *err)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	(*ret)->store = store;
	return 0;
}

void symstore_abort(struct symstore_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->ops.len; i++)
		free(writer->ops.data[i].record);
	vec_deinit(&writer->ops);
	free(writer);
}

/* Appends `op`, whose record may be NULL for want of memory. */
static int push(struct symstore_writer *writer, const struct op *op, struct sc_error *err)
{
	struct op *slot = op->record || op->kind == OP_REMOVE ? vec_push(&writer->ops) : NULL;

	if (!slot) {
		free(op->record);
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	}
	*slot = *op;
	writer->bytes += op->cache_size + op->record_size;
	return 0;
}

static int set_key(struct op *op, const uint8_t *build_id, size_t len, struct sc_error *err)
{
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_EINVAL, "a build ID of %zu bytes", len);
	memcpy(op->key, build_id, len);
	op->key_size = len;
	return 0;
}

int symstore_put(struct symstore_writer *writer, const struct symstore_entry *entry,
		 symstore_fill_fn *fill, void *ctx, bool *stored, struct sc_error *err)
{
	struct op op = {
		.kind = OP_PUT, .fill = fill, .ctx = ctx,
		.cache_size = (size_t)entry->cache_size, .done = stored,
	};
	int rc = set_key(&op, entry->build_id, entry->build_id_len, err);

	if (rc)
		return rc;
	if (entry->cache_size > SYMSTORE_MAX_CACHE)
		return sc_error_set(err, SC_ELIMIT, "a cache of %llu bytes: the store takes up to %u",
				    (unsigned long long)entry->cache_size, SYMSTORE_MAX_CACHE);
	op.record = symstore_entry_encode(entry, &op.record_size);
	return push(writer, &op, err);
}

int symstore_add_tags(struct symstore_writer *writer, const uint8_t *build_id, size_t len,
		      const char *tags, struct sc_error *err)
{
	struct op op = { .kind = OP_TAG };
	int rc = set_key(&op, build_id, len, err);

	if (rc)
		return rc;
	op.record = (uint8_t *)strdup(tags);
	op.record_size = strlen(tags);
	return push(writer, &op, err);
}

int symstore_remove(struct symstore_writer *writer, const uint8_t *build_id, size_t len,
		    bool *removed, struct sc_error *err)
{
	struct op op = { .kind = OP_REMOVE, .done = removed };
	int rc = set_key(&op, build_id, len, err);

	return rc ? rc : push(writer, &op, err);
}

int symstore_note(struct symstore_writer *writer, const char *name, const void *data, size_t size,
		  struct sc_error *err)
{
	struct op op = { .kind = OP_NOTE, .record_size = size };
	size_t len = strlen(name);

	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_EINVAL, "a note's name of %zu bytes", len);
	memcpy(op.key, SYMSTORE_NOTE, strlen(SYMSTORE_NOTE));
	memcpy(op.key + strlen(SYMSTORE_NOTE), name, len);
	op.key_size = strlen(SYMSTORE_NOTE) + len;
	op.record = malloc(size + 1);
	if (op.record)
		memcpy(op.record, data, size);
	return push(writer, &op, err);
}

int symstore_remember(struct symstore_writer *writer, const struct symstore_hash *content,
		      const char *tool, const struct symstore_outcome *outcome,
		      struct sc_error *err)
{
	struct op op = { .kind = OP_REMEMBER, .key_size = SYMSTORE_CONTENT_KEY };

	symstore_content_key(content, op.key);
	op.record = symstore_outcome_encode(outcome, tool, &op.record_size);
	return push(writer, &op, err);
}

/* ---- the commit: these return LMDB's codes -------------------------------- */

/* The entry under the key of `op`; *there is false if it is missing or cannot
 * be read, which is as good: such a one may always be replaced. */
static int find_old(struct symstore *store, MDB_txn *txn, const struct op *op,
		    struct symstore_entry *old, bool *there)
{
	MDB_val key = { op->key_size, (void *)op->key }, value;
	int rc = mdb_get(txn, store->entries, &key, &value);

	*there = !rc && symstore_entry_decode(op->key, op->key_size, value.mv_data, value.mv_size,
					      old);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* The record is complete on the heap before LMDB is asked to write, so `entry`
 * may lie in a page that this changes. */
static int put_record(struct symstore *store, MDB_txn *txn, struct op *op,
		      const struct symstore_entry *entry)
{
	MDB_val key = { op->key_size, op->key }, value;
	int rc;

	value.mv_data = symstore_entry_encode(entry, &value.mv_size);
	rc = value.mv_data ? mdb_put(txn, store->entries, &key, &value, 0) : ENOMEM;
	free(value.mv_data);
	return rc;
}

static void free_text(char **text)
{
	free(*text);
}

/* Writes the cache and its record; `tags` are those of the old entry, too. */
static int write_cache(struct symstore *store, MDB_txn *txn, struct op *op,
		       struct symstore_entry *fresh, const char *tags)
{
	/* Values that fill a page, less its header of 16 bytes, lie on pages of
	 * their own and so are aligned; smaller ones would lie in a leaf at any even
	 * address. */
	size_t least = store->page_size - 16;
	MDB_val key = { op->key_size, op->key }, value;
	int rc;

	value.mv_size = op->cache_size > least ? op->cache_size : least;
	if ((rc = mdb_put(txn, store->caches, &key, &value, MDB_RESERVE)))
		return rc;
	op->fill(op->ctx, value.mv_data);
	memset((uint8_t *)value.mv_data + op->cache_size, 0, value.mv_size - op->cache_size);
	fresh->cache_hash = XXH3_64bits(value.mv_data, op->cache_size);
	fresh->tags = tags;
	return put_record(store, txn, op, fresh);
}

static int put_entry(struct symstore *store, MDB_txn *txn, struct op *op)
{
	char *tags __attribute__((cleanup(free_text))) = NULL;
	struct symstore_entry fresh, old;
	bool there, stays;
	int rc;

	if (!symstore_entry_decode(op->key, op->key_size, op->record, op->record_size, &fresh))
		return EINVAL;
	if ((rc = find_old(store, txn, op, &old, &there)))
		return rc;
	stays = there && !symstore_entry_replaces(&fresh, &old);
	if (op->done)
		*op->done = !stays;
	if (stays && !*fresh.tags)
		return 0;
	tags = symstore_tags_unite(fresh.tags, there ? old.tags : NULL);
	if (!tags)
		return ENOMEM;
	if (!stays)
		return write_cache(store, txn, op, &fresh, tags);
	old.tags = tags;
	return put_record(store, txn, op, &old);
}

static int add_tags(struct symstore *store, MDB_txn *txn, struct op *op)
{
	char *tags __attribute__((cleanup(free_text))) = NULL;
	struct symstore_entry old;
	bool there;
	int rc = find_old(store, txn, op, &old, &there);

	if (rc || !there)
		return rc;
	tags = symstore_tags_unite(old.tags, (const char *)op->record);
	old.tags = tags;
	return tags ? put_record(store, txn, op, &old) : ENOMEM;
}

static int remove_entry(struct symstore *store, MDB_txn *txn, struct op *op)
{
	MDB_val key = { op->key_size, op->key };
	int entry = mdb_del(txn, store->entries, &key, NULL);
	int cache = entry && entry != MDB_NOTFOUND ? entry : mdb_del(txn, store->caches, &key, NULL);

	if (op->done)
		*op->done = !entry || !cache;
	return cache == MDB_NOTFOUND ? 0 : cache;
}

/* Notes speak of entries that are about to change. */
static int drop_notes(struct symstore *store, MDB_txn *txn)
{
	static const char first[] = SYMSTORE_NOTE;
	MDB_cursor *cursor __attribute__((cleanup(symstore_cursor_cleanup))) = NULL;
	size_t len = strlen(first);
	MDB_val key, value;
	int rc = mdb_cursor_open(txn, store->meta, &cursor);

	while (!rc) {
		key = (MDB_val){ len, (void *)first };
		rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
		if (!rc && (key.mv_size < len || memcmp(key.mv_data, first, len)))
			return 0;
		if (!rc)
			rc = mdb_cursor_del(cursor, 0);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int apply(struct symstore_writer *writer, MDB_txn *txn)
{
	struct symstore *store = writer->store;
	bool changes = false;
	int rc = 0;

	for (size_t i = 0; i < writer->ops.len; i++)
		changes |= writer->ops.data[i].kind < OP_REMEMBER;
	if (changes)
		rc = drop_notes(store, txn);
	for (size_t i = 0; i < writer->ops.len && !rc; i++) {
		struct op *op = &writer->ops.data[i];
		MDB_val key = { op->key_size, op->key }, value = { op->record_size, op->record };

		switch (op->kind) {
		case OP_PUT:
			rc = put_entry(store, txn, op);
			break;
		case OP_TAG:
			rc = add_tags(store, txn, op);
			break;
		case OP_REMOVE:
			rc = remove_entry(store, txn, op);
			break;
		case OP_REMEMBER:
			rc = mdb_put(txn, store->seen, &key, &value, 0);
			break;
		case OP_NOTE:
			rc = mdb_put(txn, store->meta, &key, &value, 0);
			break;
		}
	}
	return rc;
}

/* Gives back what a failed commit wrote behind the last page. The write lock
 * keeps other writers from writing there; readers do not look there. */
static void trim(struct symstore *store)
{
	MDB_txn *txn;
	MDB_envinfo info;
	struct stat st;
	off_t end;
	int fd;

	if (mdb_txn_begin(store->env, NULL, 0, &txn))
		return;
	mdb_env_info(store->env, &info);
	mdb_env_get_fd(store->env, &fd);
	end = ((off_t)info.me_last_pgno + 1) * (off_t)store->page_size;
	if (!fstat(fd, &st) && st.st_size > end && ftruncate(fd, end))
		st.st_size = end; /* it was worth a try */
	mdb_txn_abort(txn);
}

/* Makes the file as long as LMDB says it is: it does not write pages that it
 * took and freed in one transaction, and a file that is too short has to be
 * looked at closely when it is opened. Never shortens it: another writer may be
 * at work by now. */
static void lengthen(struct symstore *store)
{
	MDB_envinfo info;
	struct stat st;
	off_t last;
	int fd;

	mdb_env_info(store->env, &info);
	mdb_env_get_fd(store->env, &fd);
	last = (off_t)info.me_last_pgno * (off_t)store->page_size;
	if (!fstat(fd, &st) && st.st_size < last + (off_t)store->page_size &&
	    fallocate(fd, 0, last, (off_t)store->page_size))
		return; /* no space, or not on this file system: it is as well */
}

static int commit(struct symstore_writer *writer, struct sc_error *err)
{
	struct symstore *store = writer->store;
	MDB_envinfo info;
	MDB_txn *txn;
	int rc;

	for (;;) {
		if ((rc = symstore_txn_begin(store, 0, &txn, err)))
			return rc;
		rc = apply(writer, txn);
		if (rc)
			mdb_txn_abort(txn);
		else
			rc = mdb_txn_commit(txn);
		if (rc != MDB_MAP_FULL)
			break;
		mdb_env_info(store->env, &info);
		if ((rc = symstore_remap(store, info.me_mapsize + writer->bytes + (1 << 20), err)))
			return rc;
	}
	if (!rc) {
		lengthen(store);
		return 0;
	}
	rc = symstore_fail(store, rc, err, "cannot write");
	if (rc == SC_EFULL)
		trim(store);
	return rc;
}

int symstore_commit(struct symstore_writer *writer, struct sc_error *err)
{
	struct symstore *store = writer->store;
	int rc = 0;

	if (writer->ops.len) {
		pthread_mutex_lock(&store->commit_lock);
		if (store->locked)
			mdb_reader_check(store->env, NULL);
		rc = commit(writer, err);
		pthread_mutex_unlock(&store->commit_lock);
	}
	symstore_abort(writer);
	return rc;
}
