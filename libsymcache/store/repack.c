/*
 * Entries packed and unpacked where they are: see symstore_repack() in upkeep.h.
 *
 * In batches of one commit each, in the order of the build IDs: caches are read in a snapshot and
 * brought into the other form, which takes long; then the commit exchanges those that are still
 * the same. So it can be killed at any time, the disk can become full, and others may write: what
 * was not exchanged is as it was, and the next run goes on.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/store/apply.h"
#include "libsymcache/store/upkeep.h"

enum { BATCH_BYTES = 64 << 20, BATCH = 1000 };

struct item {
	struct symstore_id id;
	struct symstore_entry entry; /* without strings */
	struct symstore_bytes value;
	struct symstore_form form;
	struct packed_caches unpacked;
	int rc;
	bool done;
};

struct repacking {
	struct symstore *store;
	const struct symstore_repack_options *o;
	struct symstore_repacked *ret;
	VEC(struct symstore_id) ids;
	struct item items[BATCH];
	size_t num;
	struct sc_error *err;
	int rc;
};

static bool is_chosen(const struct repacking *r, const struct symstore_entry *e)
{
	const struct symstore_repack_options *o = r->o;

	return !e->packed_size == !!o->level && (!o->choose || symstore_selected(o->choose, e)) &&
	       e->time < o->used_before &&
	       symstore_last_used(r->store, e->build_id, e->build_id_len) < o->used_before;
}

static bool choose(void *ctx, const struct symstore_entry *entry)
{
	struct repacking *r = ctx;
	struct symstore_id *id;

	if (!is_chosen(r, entry))
		return true;
	if (!(id = vec_push(&r->ids))) {
		r->rc = sc_no_memory(r->err);
		return false;
	}
	*id = (struct symstore_id){ .len = entry->build_id_len };
	memcpy(id->bytes, entry->build_id, id->len);
	return true;
}

static void convert(void *ctx, unsigned worker, size_t i)
{
	struct repacking *r = ctx;
	struct item *item = &r->items[i];
	const struct symstore_entry *e = &item->entry;
	const void *data = item->value.data;

	(void)worker;
	if (e->packed_size) {
		item->rc = symstore_unpack(e, item->value.data, &item->unpacked, NULL);
		data = item->rc ? NULL : item->unpacked.caches->data;
	}
	if (!item->rc && XXH3_64bits(data, (size_t)e->cache_size) != e->cache_hash)
		item->rc = SC_EFORMAT;
	if (!item->rc && !e->packed_size)
		item->rc = symstore_form_make(r->store, data, (size_t)e->cache_size, r->o->level,
					      &item->form);
	if (item->rc || !e->packed_size)
		return;
	item->form.cache_size = e->cache_size;
	item->form.cache_hash = e->cache_hash;
}

/* Takes entries from *at on, until a commit is large enough, and converts them. */
static int gather(struct repacking *r, size_t *at)
{
	struct symstore_reader *reader;
	uint64_t bytes = 0;
	int rc = symstore_read_begin(r->store, &reader, r->err);

	if (rc)
		return rc;
	while (*at < r->ids.len && r->num < BATCH && bytes < BATCH_BYTES && !rc) {
		const struct symstore_id *id = &r->ids.data[(*at)++];
		struct item *item = &r->items[r->num];

		*item = (struct item){ .id = *id };
		rc = symstore_value(reader, id->bytes, id->len, &item->entry, &item->value, r->err);
		if (rc == SC_EFORMAT) {
			r->ret->damaged++;
			rc = 0;
		} else if (!rc && !item->entry.packed_size == !!r->o->level) {
			bytes += item->entry.cache_size;
			r->num++;
		} else if (rc == SC_ENOTFOUND) {
			rc = 0; /* removed meanwhile */
		}
	}
	if (!rc)
		sc_parallel(sc_cores(), r->num, convert, r);
	symstore_read_end(reader);
	return rc;
}

/* One thing to do for the commit. */
static int push(struct repacking *r, struct symstore_writer *writer, struct item *item)
{
	struct symstore_op op = {
		.kind = SYMSTORE_REPACK, .key_size = item->id.len, .form = item->form,
		.repacked = &item->done, .cache_size = (size_t)item->entry.cache_size,
	};

	if (item->rc == SC_ENOMEM)
		return sc_no_memory(r->err);
	r->ret->damaged += item->rc != 0;
	if (item->rc || (r->o->level && !item->form.bytes))
		return 0; /* it would not be smaller */
	if (!r->o->level)
		op.ctx = (void *)item->unpacked.caches->data;
	memcpy(op.key, item->id.bytes, item->id.len);
	item->form = (struct symstore_form){ 0 }; /* the writer's now */
	return symstore_push(writer, &op, r->err);
}

static void clear(struct repacking *r)
{
	while (r->num) {
		struct item *item = &r->items[--r->num];

		symstore_form_deinit(&item->form);
		packed_caches_deinit(&item->unpacked);
	}
}

static int commit(struct repacking *r)
{
	struct symstore_writer *writer;
	int rc = symstore_write_begin(r->store, &writer, r->err);

	if (rc)
		return rc;
	for (size_t i = 0; i < r->num && !rc; i++)
		rc = push(r, writer, &r->items[i]);
	rc = symstore_end(writer, rc, r->err);
	for (size_t i = 0; i < r->num && !rc; i++) {
		r->ret->entries += r->items[i].done;
		r->ret->bytes += r->items[i].done ? r->items[i].entry.cache_size : 0;
	}
	return rc;
}

/* 0: no entry is packed; MDB_KEYEXIST: one is, or cannot be read; else LMDB's code. */
static int find_packed(struct symstore *store, MDB_txn *txn)
{
	MDB_cursor *cursor __attribute__((cleanup(symstore_cursor_cleanup))) = NULL;
	struct symstore_entry e;
	MDB_val key, value;
	int rc = mdb_cursor_open(txn, store->entries, &cursor);

	while (!rc && !(rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)))
		if (!symstore_entry_decode(key.mv_data, key.mv_size, value.mv_data, value.mv_size,
					   &e) ||
		    e.packed_size)
			return MDB_KEYEXIST;
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int lower_format(struct symstore *store, MDB_txn *txn)
{
	MDB_val key = { strlen(SYMSTORE_FORMAT_KEY), SYMSTORE_FORMAT_KEY }, value;
	struct symstore_format format;
	int rc = mdb_get(txn, store->meta, &key, &value);

	if (rc || !symstore_format_decode(value.mv_data, value.mv_size, &format) ||
	    format.format != SYMSTORE_FORMAT_PACKED || (rc = find_packed(store, txn)))
		return rc;
	format.format = SYMSTORE_FORMAT;
	format.write_since = 1;
	return symstore_put_format(store, txn, &format);
}

/* Once no entry is packed, programs that know no packed ones may write again. */
static int finish_unpacking(struct symstore *store, struct sc_error *err)
{
	MDB_txn *txn;
	int rc;

	pthread_mutex_lock(&store->commit_lock);
	if (!(rc = symstore_check_once(store, err)) &&
	    !(rc = symstore_txn_begin(store, 0, &txn, err))) {
		if ((rc = lower_format(store, txn)))
			mdb_txn_abort(txn);
		else
			rc = mdb_txn_commit(txn);
		rc = !rc || rc == MDB_KEYEXIST ? 0 : symstore_fail(store, rc, err, "cannot write");
	}
	pthread_mutex_unlock(&store->commit_lock);
	return rc;
}

int symstore_repack(struct symstore *store, const struct symstore_repack_options *options,
		    struct symstore_repacked *ret, struct sc_error *err)
{
	struct repacking *r = calloc(1, sizeof(*r));
	struct symstore_reader *reader;
	size_t at = 0;
	int rc;

	*ret = (struct symstore_repacked){ 0 };
	if (!r)
		return sc_no_memory(err);
	r->store = store;
	r->o = options;
	r->ret = ret;
	r->err = err;
	if (!(rc = symstore_read_begin(store, &reader, err)))
		rc = symstore_each(reader, NULL, 0, choose, r, err);
	symstore_read_end(reader);
	rc = rc ? rc : r->rc;
	while (!rc && at < r->ids.len) {
		if (options->progress)
			options->progress(options->ctx, at, r->ids.len);
		if (!(rc = gather(r, &at)))
			rc = commit(r);
		clear(r);
	}
	if (!rc && !options->level)
		rc = finish_unpacking(store, err);
	vec_deinit(&r->ids);
	free(r);
	return rc;
}
