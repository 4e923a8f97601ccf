/*
 * What a commit does: see apply.h. These return LMDB's codes. Each may be done
 * again from the beginning, when the map turned out too small.
 */
#include "libsymcache/store/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/unwind/merge.h"

/* The entry under the key of `op`; *there is false if it is missing or cannot
 * be read, which is the same: it may always be replaced. */
static int find_old(struct symstore *store, MDB_txn *txn, const struct symstore_op *op,
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
static int put_record(struct symstore *store, MDB_txn *txn, struct symstore_op *op,
		      const struct symstore_entry *entry)
{
	MDB_val key = { op->key_size, op->key }, value;
	int rc;

	value.mv_data = symstore_entry_encode(entry, &value.mv_size);
	rc = value.mv_data ? mdb_put(txn, store->entries, &key, &value, 0) : ENOMEM;
	free(value.mv_data);
	return rc;
}

static void fill_cache(const struct symstore_op *op, uint8_t *dst)
{
	if (op->fill)
		op->fill(op->ctx, dst);
	else
		memcpy(dst, op->ctx, op->cache_size);
}

/* What an entry and the one it replaces have together; on the heap. */
struct words {
	char *tags, *names;
};

static void words_deinit(struct words *w)
{
	free(w->tags);
	free(w->names);
}

static int unite(struct words *w, const struct symstore_entry *old, const char *tags,
		 const char *names)
{
	w->tags = symstore_tags_unite(tags, old ? old->tags : NULL);
	w->names = symstore_names_unite(old ? old->names : NULL, names);
	return w->tags && w->names ? 0 : ENOMEM;
}

static void set_words(struct symstore_entry *entry, const struct words *w)
{
	entry->tags = w->tags;
	entry->names = w->names;
}

/* Writes the cache, the hashes of its blocks and its record. */
static int write_cache(struct symstore *store, MDB_txn *txn, struct symstore_op *op,
		       struct symstore_entry *fresh)
{
	/* Values that fill a page, less its header of 16 bytes, lie on pages of
	 * their own and so are aligned; smaller ones would lie in a leaf at any even
	 * address. */
	const size_t least = store->page_size - 16, at = symstore_table_offset(op->cache_size);
	const size_t table = symcache_guard_table_size(op->cache_size);
	MDB_val key = { op->key_size, op->key }, value;
	uint8_t *bytes;
	int rc;

	value.mv_size = at + table > least ? at + table : least;
	if ((rc = mdb_put(txn, store->caches, &key, &value, MDB_RESERVE)))
		return rc;
	bytes = value.mv_data;
	fill_cache(op, bytes);
	memset(bytes + op->cache_size, 0, value.mv_size - op->cache_size);
	fresh->cache_hash = symcache_guard_hash(bytes, op->cache_size, bytes + at);
	fresh->table_hash = XXH3_64bits(bytes + at, table);
	return put_record(store, txn, op, fresh);
}

/* ---- unwind information of two files -------------------------------------------------- */

/* Opens the cache that `op` brings, in memory that *bytes is set to, 8-aligned. False: out of
 * memory, or the bytes are not a cache. */
static bool open_op(const struct symstore_op *op, struct symcache *ret, char **bytes)
{
	*bytes = malloc(op->cache_size + 1);
	if (!*bytes)
		return false;
	fill_cache(op, (uint8_t *)*bytes);
	return !symcache_open(ret, *bytes, op->cache_size, NULL);
}

/* The same of the old entry, if it is as it was written. */
static bool open_old(struct symstore *store, MDB_txn *txn, const struct symstore_op *op,
		     const struct symstore_entry *old, struct symcache *ret, char **bytes)
{
	MDB_val key = { op->key_size, (void *)op->key }, value;

	if (mdb_get(txn, store->caches, &key, &value) || value.mv_size < old->cache_size ||
	    XXH3_64bits(value.mv_data, old->cache_size) != old->cache_hash)
		return false;
	return open_op(&(struct symstore_op){ .ctx = value.mv_data, .cache_size = old->cache_size },
		       ret, bytes);
}

static void fill_merged(void *ctx, void *dst)
{
	symcache_merge_write(ctx, dst);
}

/* A debug file and its program have the same functions. */
static bool same_code(const struct symcache *a, const struct symcache *b)
{
	return a->header->num_functions == b->header->num_functions &&
	       a->header->num_ranges == b->header->num_ranges;
}

/*
 * A program has the unwind information that its debug file lacks: the entry that
 * is to be, `entry`, which is the fresh one or (`stays`) the old one, takes what the other has
 * more. entry->cache_size is 0 unless that was done, and written.
 */
static int merge_entry(struct symstore *store, MDB_txn *txn, struct symstore_op *op,
		       struct symstore_entry *entry, const struct symstore_entry *old,
		       enum symstore_put_result stays)
{
	char *my_bytes __attribute__((cleanup(sc_free_text))) = NULL;
	char *its_bytes __attribute__((cleanup(sc_free_text))) = NULL;
	struct symcache mine, its;
	struct symcache_merge merge;
	struct symstore_op put = *op;
	int rc;

	entry->cache_size = 0;
	if (!open_old(store, txn, op, old, &its, &its_bytes) || !open_op(op, &mine, &my_bytes) ||
	    (stays == SYMSTORE_OTHER_STAYS && !same_code(&mine, &its)))
		return 0;
	rc = symcache_merge_plan(stays ? &its : &mine, stays ? &mine : &its, &merge);
	if (rc != 1)
		return rc ? ENOMEM : 0;
	put.fill = fill_merged;
	put.ctx = &merge;
	if (merge.size <= SYMSTORE_MAX_CACHE) {
		put.cache_size = entry->cache_size = merge.size;
		entry->sources |= SYMCACHE_FROM_CFI;
		rc = write_cache(store, txn, &put, entry);
	} else {
		rc = 0;
	}
	symcache_merge_deinit(&merge);
	return rc;
}

static enum symstore_put_result judge(const struct symstore_op *op,
				      const struct symstore_entry *fresh,
				      const struct symstore_entry *old)
{
	const bool as_good = symstore_entry_replaces(old, fresh);

	if (symstore_tags_have(old->tags, SYMSTORE_PINNED))
		return SYMSTORE_PINNED_STAYS;
	if (!symstore_entry_replaces(fresh, old) || (op->yields && as_good))
		return SYMSTORE_BETTER_STAYS;
	return op->keep_files && as_good && symstore_entry_other_file(old, fresh) ?
		SYMSTORE_OTHER_STAYS : SYMSTORE_WRITTEN;
}

static int put_entry(struct symstore *store, MDB_txn *txn, struct symstore_op *op)
{
	struct words words __attribute__((cleanup(words_deinit))) = { 0 };
	struct symstore_entry fresh, old;
	enum symstore_put_result result = SYMSTORE_WRITTEN;
	bool there, merged = false;
	int rc;

	if (!symstore_entry_decode(op->key, op->key_size, op->record, op->record_size, &fresh))
		return EINVAL;
	if ((rc = find_old(store, txn, op, &old, &there)))
		return rc;
	if (there)
		result = judge(op, &fresh, &old);
	/* A file that is not taken for one of this build ID does not name it. */
	if ((rc = unite(&words, there ? &old : NULL, fresh.tags,
			result <= SYMSTORE_BETTER_STAYS ? fresh.names : NULL)))
		return rc;
	if (there && result <= SYMSTORE_OTHER_STAYS &&
	    (result ? &fresh : &old)->sources & SYMCACHE_FROM_CFI) {
		struct symstore_entry entry = result ? old : fresh;

		set_words(&entry, &words);
		rc = merge_entry(store, txn, op, &entry, &old, result);
		merged = entry.cache_size;
	}
	if (op->result)
		*op->result = merged ? SYMSTORE_WRITTEN : result;
	if (rc || merged)
		return rc;
	if (result == SYMSTORE_WRITTEN) {
		set_words(&fresh, &words);
		return write_cache(store, txn, op, &fresh);
	}
	if (!*fresh.tags && !strcmp(words.names, old.names))
		return 0;
	set_words(&old, &words);
	return put_record(store, txn, op, &old);
}

static int add_words(struct symstore *store, MDB_txn *txn, struct symstore_op *op)
{
	struct words words __attribute__((cleanup(words_deinit))) = { 0 };
	const char *tags = (const char *)op->record, *names = tags + strlen(tags) + 1;
	struct symstore_entry old;
	bool there;
	int rc = find_old(store, txn, op, &old, &there);

	if (rc || !there || (rc = unite(&words, &old, tags, names)))
		return rc;
	set_words(&old, &words);
	return put_record(store, txn, op, &old);
}

static int remove_entry(struct symstore *store, MDB_txn *txn, struct symstore_op *op)
{
	MDB_val key = { op->key_size, op->key };
	int entry = mdb_del(txn, store->entries, &key, NULL);
	int cache = entry && entry != MDB_NOTFOUND ? entry :
						     mdb_del(txn, store->caches, &key, NULL);

	if (op->removed)
		*op->removed = !entry || !cache;
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

int symstore_put_format(struct symstore *store, MDB_txn *txn, const struct symstore_format *format)
{
	MDB_val key = { strlen(SYMSTORE_FORMAT_KEY), SYMSTORE_FORMAT_KEY }, value;
	int rc;

	value.mv_data = symstore_format_encode(format, &value.mv_size);
	rc = value.mv_data ? mdb_put(txn, store->meta, &key, &value, 0) : ENOMEM;
	free(value.mv_data);
	return rc;
}

/* A store of an older format may from now on have what this one knows. */
static int raise_format(struct symstore *store, MDB_txn *txn)
{
	MDB_val key = { strlen(SYMSTORE_FORMAT_KEY), SYMSTORE_FORMAT_KEY }, value;
	struct symstore_format format;
	int rc = mdb_get(txn, store->meta, &key, &value);

	if (rc || !symstore_format_decode(value.mv_data, value.mv_size, &format))
		return rc ? rc : MDB_CORRUPTED;
	if (format.format >= SYMSTORE_FORMAT)
		return 0;
	format.format = SYMSTORE_FORMAT;
	return symstore_put_format(store, txn, &format);
}

int symstore_apply(struct symstore *store, MDB_txn *txn, struct symstore_op *ops, size_t num)
{
	bool changes = false;
	int rc = store->format < SYMSTORE_FORMAT ? raise_format(store, txn) : 0;

	for (size_t i = 0; i < num; i++)
		changes |= ops[i].kind == SYMSTORE_PUT || ops[i].kind == SYMSTORE_TAG ||
			   ops[i].kind == SYMSTORE_REMOVE;
	if (changes && !rc)
		rc = drop_notes(store, txn);
	for (size_t i = 0; i < num && !rc; i++) {
		struct symstore_op *op = &ops[i];
		MDB_val key = { op->key_size, op->key }, value = { op->record_size, op->record };

		switch (op->kind) {
		case SYMSTORE_PUT:
			rc = put_entry(store, txn, op);
			break;
		case SYMSTORE_TAG:
			rc = add_words(store, txn, op);
			break;
		case SYMSTORE_REMOVE:
			rc = remove_entry(store, txn, op);
			break;
		case SYMSTORE_REMEMBER:
			rc = mdb_put(txn, store->seen, &key, &value, 0);
			break;
		case SYMSTORE_NOTED:
			rc = mdb_put(txn, store->meta, &key, &value, 0);
			break;
		}
	}
	return rc;
}
