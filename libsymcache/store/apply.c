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

/* The entry under the key of `op`; *there is false if it is missing or cannot be read, which is the
 * same: it may always be replaced. Its strings are in a copy: to write a large value, LMDB may take
 * the memory of any page that was changed before. */
static int find_old(struct symstore *store, MDB_txn *txn, struct symstore_op *op,
		    struct symstore_entry *old, bool *there)
{
	MDB_val key = { op->key_size, op->key }, value;
	int rc = mdb_get(txn, store->entries, &key, &value);

	*there = false;
	if (rc)
		return rc == MDB_NOTFOUND ? 0 : rc;
	free(op->old);
	if (!(op->old = malloc(value.mv_size + 1)))
		return ENOMEM;
	memcpy(op->old, value.mv_data, value.mv_size);
	*there = symstore_entry_decode(op->key, op->key_size, op->old, value.mv_size, old);
	return 0;
}

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

int symstore_put_format(struct symstore *store, MDB_txn *txn, const struct symstore_format *format)
{
	MDB_val key = { strlen(SYMSTORE_FORMAT_KEY), SYMSTORE_FORMAT_KEY }, value;
	int rc;

	value.mv_data = symstore_format_encode(format, &value.mv_size);
	rc = value.mv_data ? mdb_put(txn, store->meta, &key, &value, 0) : ENOMEM;
	free(value.mv_data);
	return rc;
}

/* A store of an older format may from now on have what `to` knows. A program that does not know
 * packed entries would take them for damage when it writes. */
static int raise_format(struct symstore *store, MDB_txn *txn, uint32_t to)
{
	MDB_val key = { strlen(SYMSTORE_FORMAT_KEY), SYMSTORE_FORMAT_KEY }, value;
	struct symstore_format format;
	int rc = mdb_get(txn, store->meta, &key, &value);

	if (rc || !symstore_format_decode(value.mv_data, value.mv_size, &format))
		return rc ? rc : MDB_CORRUPTED;
	if (format.format >= to)
		return 0;
	format.format = to;
	if (to >= SYMSTORE_FORMAT_PACKED && format.write_since < SYMSTORE_FORMAT_PACKED)
		format.write_since = SYMSTORE_FORMAT_PACKED;
	return symstore_put_format(store, txn, &format);
}

static void fill_cache(const struct symstore_op *op, uint8_t *dst)
{
	if (op->fill)
		op->fill(op->ctx, dst);
	else
		memcpy(dst, op->ctx, op->cache_size);
}

/* Writes the hashes of its blocks to `table`, too, and returns the cache's. */
static uint64_t fill_hashed(const struct symstore_op *op, uint8_t *dst, uint8_t *table)
{
	uint64_t hash;

	if (!op->fill) {
		fill_cache(op, dst);
		return symcache_guard_hash(dst, op->cache_size, table);
	}
	hash = op->fill(op->ctx, dst);
	symcache_guard_blocks(dst, op->cache_size, table);
	return hash;
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

/* Makes a value of `size` bytes, of which those from `used` on are zeros. */
static int make_value(struct symstore *store, MDB_txn *txn, struct symstore_op *op, size_t size,
		      size_t used, uint8_t **ret)
{
	/* Values that fill a page, less its header, lie on pages of their own and so are
	 * aligned; smaller ones would lie in a leaf at any even address. */
	const size_t least = store->page_size - SYMSTORE_PAGE_HEADER;
	MDB_val key = { op->key_size, op->key }, value = { size > least ? size : least, NULL };
	int rc = mdb_put(txn, store->caches, &key, &value, MDB_RESERVE);

	if (rc)
		return rc;
	*ret = value.mv_data;
	memset(*ret + used, 0, value.mv_size - used);
	return 0;
}

static int write_packed(struct symstore *store, MDB_txn *txn, struct symstore_op *op,
			struct symstore_entry *fresh)
{
	const struct symstore_form *form = &op->form;
	uint8_t *bytes;
	int rc = raise_format(store, txn, SYMSTORE_FORMAT_PACKED);

	if (rc || (rc = make_value(store, txn, op, form->size, form->size, &bytes)))
		return rc;
	memcpy(bytes, form->bytes, form->size);
	fresh->packed_size = form->size;
	fresh->packed_hash = form->packed_hash;
	fresh->cache_size = form->cache_size;
	fresh->cache_hash = form->cache_hash;
	fresh->table_hash = form->table_hash;
	return put_record(store, txn, op, fresh);
}

/* Writes the cache, the hashes of its blocks and its record; or the packed cache and its record. */
static int write_cache(struct symstore *store, MDB_txn *txn, struct symstore_op *op,
		       struct symstore_entry *fresh)
{
	const size_t at = symstore_table_offset(op->cache_size);
	const size_t table = symcache_guard_table_size(op->cache_size);
	uint8_t *bytes;
	int rc;

	if (op->level && !op->form.made && symstore_op_pack(store, op))
		return ENOMEM;
	if (op->form.bytes)
		return write_packed(store, txn, op, fresh);
	if ((rc = make_value(store, txn, op, at + table, op->cache_size, &bytes)))
		return rc;
	fresh->packed_size = 0;
	fresh->cache_hash = fill_hashed(op, bytes, bytes + at);
	fresh->table_hash = XXH3_64bits(bytes + at, table);
	return put_record(store, txn, op, fresh);
}

int symstore_op_pack(const struct symstore *store, struct symstore_op *op)
{
	uint8_t *bytes = malloc(op->cache_size + 1);
	int rc = bytes ? 0 : SC_ENOMEM;

	if (!rc) {
		fill_cache(op, bytes);
		rc = symstore_form_make(store, bytes, op->cache_size, op->level, &op->form);
	}
	free(bytes);
	return rc;
}

/* ---- unwind information of two files -------------------------------------------------- */

/* Opens the cache that `op` brings, in memory that *bytes is set to, 8-aligned. False: out of
 * memory, or the bytes are not a cache. */
static bool open_op(const struct symstore_op *op, struct symcache *ret, char **bytes)
{
	*bytes = malloc(op->cache_size + 1);
	if (!*bytes) {
		sc_memory_refused();
		return false;
	}
	fill_cache(op, (uint8_t *)*bytes);
	return !symcache_open(ret, *bytes, op->cache_size, NULL);
}

/* The same of the old entry, if it is as it was written. */
static bool open_old(struct symstore *store, MDB_txn *txn, const struct symstore_op *op,
		     const struct symstore_entry *old, struct symcache *ret, char **bytes)
{
	struct symstore_op is = { .cache_size = old->cache_size };
	MDB_val key = { op->key_size, (void *)op->key }, value;
	struct packed_caches unpacked = { 0 };
	bool sound;

	if (mdb_get(txn, store->caches, &key, &value) || value.mv_size < symstore_stored_size(old))
		return false;
	is.ctx = value.mv_data;
	sound = !old->packed_size || !symstore_unpack(old, value.mv_data, &unpacked, NULL);
	if (sound && old->packed_size)
		is.ctx = (void *)unpacked.caches->data;
	sound = sound && XXH3_64bits(is.ctx, is.cache_size) == old->cache_hash &&
		open_op(&is, ret, bytes);
	packed_caches_deinit(&unpacked);
	return sound;
}

static uint64_t fill_merged(void *ctx, void *dst)
{
	return symcache_merge_write(ctx, dst);
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
 * more; packed, if it is. entry->cache_size is 0 unless that was done, and written.
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
	const unsigned long refused = sc_memory_refusals();
	int rc;

	entry->cache_size = 0;
	if (!open_old(store, txn, op, old, &its, &its_bytes) || !open_op(op, &mine, &my_bytes) ||
	    (stays == SYMSTORE_OTHER_STAYS && !same_code(&mine, &its)))
		return sc_memory_refusals() == refused ? 0 : ENOMEM;
	rc = symcache_merge_plan(stays ? &its : &mine, stays ? &mine : &its, &merge);
	if (rc != 1)
		return rc ? ENOMEM : 0;
	put.fill = fill_merged;
	put.ctx = &merge;
	put.form = (struct symstore_form){ 0 };
	if (stays)
		put.level = old->packed_size ? PACKED_LEVEL : 0;
	if (merge.size <= SYMSTORE_MAX_CACHE) {
		put.cache_size = entry->cache_size = merge.size;
		entry->sources |= SYMCACHE_FROM_CFI;
		rc = write_cache(store, txn, &put, entry);
	} else {
		rc = 0;
	}
	symstore_form_deinit(&put.form);
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

/* The cache that stands there, in another form. */
static int repack(struct symstore *store, MDB_txn *txn, struct symstore_op *op)
{
	const struct symstore_form *form = &op->form;
	struct symstore_entry old;
	bool there;
	int rc = find_old(store, txn, op, &old, &there);

	*op->repacked = !rc && there && old.cache_hash == form->cache_hash &&
			old.cache_size == form->cache_size && !old.packed_size == !!form->bytes;
	return *op->repacked ? write_cache(store, txn, op, &old) : rc;
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

int symstore_apply(struct symstore *store, MDB_txn *txn, struct symstore_op *ops, size_t num)
{
	bool changes = false;
	int rc = store->format < SYMSTORE_FORMAT ? raise_format(store, txn, SYMSTORE_FORMAT) : 0;

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
		case SYMSTORE_REPACK:
			rc = repack(store, txn, op);
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
