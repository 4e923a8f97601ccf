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
 * cache, two syncs, of which the first finds the disk at work.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/store/apply.h"

struct symstore_writer {
	struct symstore *store;
	VEC(struct symstore_op) ops;
	uint64_t bytes;         /* in all */
	bool keep_files;
	int level;              /* at which what comes is packed; 0: it is not */
	bool packs;             /* something is */
	atomic_bool no_memory;
};

int symstore_write_begin(struct symstore *store, struct symstore_writer **ret,
			 struct sc_error *err)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return sc_no_memory(err);
	(*ret)->store = store;
	return 0;
}

void symstore_keep_files(struct symstore_writer *writer)
{
	writer->keep_files = true;
}

void symstore_write_packed(struct symstore_writer *writer, int level)
{
	writer->level = level;
}

void symstore_abort(struct symstore_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->ops.len; i++) {
		free(writer->ops.data[i].record);
		free(writer->ops.data[i].old);
		symstore_form_deinit(&writer->ops.data[i].form);
	}
	vec_deinit(&writer->ops);
	free(writer);
}

/* The record is NULL if memory is out. */
int symstore_push(struct symstore_writer *writer, const struct symstore_op *op,
		  struct sc_error *err)
{
	bool whole = op->record || op->kind == SYMSTORE_REMOVE || op->kind == SYMSTORE_REPACK;
	struct symstore_op *slot = whole ? vec_push(&writer->ops) : NULL;

	if (!slot) {
		struct symstore_form form = op->form;

		free(op->record);
		symstore_form_deinit(&form);
		return sc_no_memory(err);
	}
	*slot = *op;
	writer->bytes += op->cache_size + op->cache_size / 256 + op->record_size;
	return 0;
}

static int set_key(struct symstore_op *op, const uint8_t *build_id, size_t len,
		   struct sc_error *err)
{
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_EINVAL, "a build ID of %zu bytes", len);
	memcpy(op->key, build_id, len);
	op->key_size = len;
	return 0;
}

static int put(struct symstore_writer *writer, const struct symstore_entry *entry,
	       struct symstore_op op, struct sc_error *err)
{
	struct symstore_entry plain = *entry;
	int rc = set_key(&op, entry->build_id, entry->build_id_len, err);

	if (rc)
		return rc;
	if (entry->cache_size > SYMSTORE_MAX_CACHE)
		return sc_error_set(err, SC_ELIMIT,
				    "a cache of %llu bytes: the store takes up to %u",
				    (unsigned long long)entry->cache_size, SYMSTORE_MAX_CACHE);
	op.kind = SYMSTORE_PUT;
	op.cache_size = (size_t)entry->cache_size;
	op.keep_files = writer->keep_files;
	op.level = writer->level;
	writer->packs |= op.level;
	plain.packed_size = 0;
	op.record = symstore_entry_encode(&plain, &op.record_size);
	return symstore_push(writer, &op, err);
}

int symstore_put(struct symstore_writer *writer, const struct symstore_entry *entry,
		 symstore_fill_fn *fill, void *ctx, enum symstore_put_result *result,
		 struct sc_error *err)
{
	return put(writer, entry, (struct symstore_op){
		.fill = fill, .ctx = ctx, .result = result }, err);
}

int symstore_put_older(struct symstore_writer *writer, const struct symstore_entry *entry,
		       symstore_fill_fn *fill, void *ctx, enum symstore_put_result *result,
		 struct sc_error *err)
{
	return put(writer, entry, (struct symstore_op){
		.fill = fill, .ctx = ctx, .result = result, .yields = true }, err);
}

int symstore_add_words(struct symstore_writer *writer, const uint8_t *build_id, size_t len,
		       const char *tags, const char *names, struct sc_error *err)
{
	struct symstore_op op = { .kind = SYMSTORE_TAG };
	int rc = set_key(&op, build_id, len, err);

	if (rc)
		return rc;
	tags = tags ? tags : "";
	names = names ? names : "";
	op.record_size = strlen(tags) + strlen(names) + 2;
	op.record = malloc(op.record_size);
	if (op.record)
		strcpy(stpcpy((char *)op.record, tags) + 1, names);
	return symstore_push(writer, &op, err);
}

int symstore_remove(struct symstore_writer *writer, const uint8_t *build_id, size_t len,
		    bool *removed, struct sc_error *err)
{
	struct symstore_op op = { .kind = SYMSTORE_REMOVE, .removed = removed };
	int rc = set_key(&op, build_id, len, err);

	return rc ? rc : symstore_push(writer, &op, err);
}

int symstore_note(struct symstore_writer *writer, const char *name, const void *data, size_t size,
		  struct sc_error *err)
{
	struct symstore_op op = { .kind = SYMSTORE_NOTED, .record_size = size };
	size_t len = strlen(name);

	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_EINVAL, "a note's name of %zu bytes", len);
	memcpy(op.key, SYMSTORE_NOTE, strlen(SYMSTORE_NOTE));
	memcpy(op.key + strlen(SYMSTORE_NOTE), name, len);
	op.key_size = strlen(SYMSTORE_NOTE) + len;
	op.record = malloc(size + 1);
	if (op.record)
		memcpy(op.record, data, size);
	return symstore_push(writer, &op, err);
}

int symstore_remember(struct symstore_writer *writer, const struct sc_hash *content,
		      const char *tool, const struct symstore_outcome *outcome,
		      struct sc_error *err)
{
	struct symstore_op op = { .kind = SYMSTORE_REMEMBER, .key_size = SYMSTORE_CONTENT_KEY };

	symstore_content_key(content, op.key);
	op.record = symstore_outcome_encode(outcome, tool, &op.record_size);
	return symstore_push(writer, &op, err);
}

/* Room behind the last page, so that entries can be removed when the disk is full. As much
 * as can be had; it does not count for the file's size. */
static void reserve(int fd, off_t end)
{
	enum { RESERVE = 256 << 10 };

	(void)!fallocate(fd, FALLOC_FL_KEEP_SIZE, end, RESERVE);
}

/* Where the last page ends, and the file that it is in. */
static off_t end_of_pages(struct symstore *store, int *fd)
{
	MDB_envinfo info;

	mdb_env_info(store->env, &info);
	mdb_env_get_fd(store->env, fd);
	return ((off_t)info.me_last_pgno + 1) * (off_t)store->page_size;
}

/* Gives back what a failed commit wrote behind the last page. The write lock
 * keeps other writers from writing there; readers do not look there. */
static void trim(struct symstore *store)
{
	MDB_txn *txn;
	struct stat st;
	off_t end;
	int fd;

	if (mdb_txn_begin(store->env, NULL, 0, &txn))
		return;
	end = end_of_pages(store, &fd);
	if (!fstat(fd, &st) && st.st_size > end) {
		(void)!ftruncate(fd, end);
		reserve(fd, end);
	}
	mdb_txn_abort(txn);
}

/* Makes the file as long as LMDB says it is: it does not write pages that it
 * took and freed in one transaction, and a file that is too short has to be
 * looked at closely when it is opened. Never shortens it: another writer may be
 * at work by now. */
static void lengthen(struct symstore *store)
{
	struct stat st;
	int fd;
	const off_t end = end_of_pages(store, &fd), page = (off_t)store->page_size;

	if (!fstat(fd, &st) && st.st_size < end)
		(void)!fallocate(fd, 0, end - page, page);
	reserve(fd, end);
}

int symstore_check_once(struct symstore *store, struct sc_error *err)
{
	MDB_txn *txn __attribute__((cleanup(symstore_txn_cleanup))) = NULL;
	int rc = store->checked ? 0 : symstore_txn_begin(store, MDB_RDONLY, &txn, err);

	if (!rc && txn)
		rc = symstore_check_pages(store, txn, false, err);
	store->checked |= !rc;
	return rc;
}

/* ---- the disk begins early ----------------------------------------------------- */

#define WORTH_A_THREAD (2u << 20) /* bytes of a commit */

struct early {
	int fd;
	atomic_bool over;
};

/* Has the kernel write what there is to be written. It is a hint: syncing is LMDB's. */
static void *write_early(void *ctx)
{
	struct early *early = ctx;

	while (!early->over) {
		usleep(1000);
		sync_file_range(early->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	}
	return NULL;
}

/* mdb_txn_commit(); LMDB writes all pages before it syncs them, and the disk need not
 * wait for that. */
static int commit_pages(struct symstore_writer *writer, MDB_txn *txn)
{
	struct early early = { .fd = -1 };
	pthread_t thread;
	bool begun;
	int rc;

	mdb_env_get_fd(writer->store->env, &early.fd);
	begun = writer->bytes >= WORTH_A_THREAD &&
		sc_thread_help(&thread, write_early, &early);
	rc = mdb_txn_commit(txn);
	early.over = true;
	if (begun)
		pthread_join(thread, NULL);
	return rc;
}

static void pack(void *ctx, unsigned worker, size_t i)
{
	struct symstore_writer *writer = ctx;

	(void)worker;
	if (writer->ops.data[i].level && symstore_op_pack(writer->store, &writer->ops.data[i]))
		writer->no_memory = true;
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
		rc = symstore_apply(store, txn, writer->ops.data, writer->ops.len);
		if (rc)
			mdb_txn_abort(txn);
		else
			rc = commit_pages(writer, txn);
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

	/* Before anything is locked. */
	if (writer->packs)
		sc_parallel(sc_cores(), writer->ops.len, pack, writer);
	if (writer->no_memory)
		rc = sc_no_memory(err);
	else if (writer->ops.len) {
		pthread_mutex_lock(&store->commit_lock);
		if (store->locked)
			mdb_reader_check(store->env, NULL);
		rc = symstore_check_once(store, err);
		if (!rc)
			rc = commit(writer, err);
		pthread_mutex_unlock(&store->commit_lock);
	}
	symstore_abort(writer);
	return rc;
}

int symstore_end(struct symstore_writer *writer, int rc, struct sc_error *err)
{
	if (!rc)
		return symstore_commit(writer, err);
	symstore_abort(writer);
	return rc;
}
