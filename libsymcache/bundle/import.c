/*
 * A bundle → the store: see bundle.h. Caches gather in memory for a commit
 * each BATCH_BYTES.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xxhash.h>

#include "libsymcache/bundle/bundle.h"
#include "libsymcache/packed/packed.h"

enum { BATCH_BYTES = 64 << 20, BATCH_ENTRIES = 1000 };

struct pending {
	void *own;    /* bytes that it needs; or NULL */
	bool is_put;  /* else only tags are added */
	enum symstore_put_result put;
};

struct importing {
	const struct symbundle_import_options *o;
	struct symbundle_imported *done;
	struct symstore **store;
	struct symstore_writer *writer; /* NULL: nothing gathered */
	struct pending pending[BATCH_ENTRIES];
	size_t num_pending;
	uint64_t bytes;
	uint8_t *block; /* the last one of caches that came together; or NULL */
	size_t block_size; /* 0: none */
};

static void forget(struct importing *m)
{
	while (m->num_pending)
		free(m->pending[--m->num_pending].own);
	m->bytes = 0;
	m->writer = NULL;
}

static int commit(struct importing *m, struct sc_error *err)
{
	int rc = m->writer ? symstore_commit(m->writer, err) : 0;

	for (size_t i = 0; i < m->num_pending && !rc; i++) {
		if (!m->pending[i].is_put)
			continue;
		m->done->imported += m->pending[i].put == SYMSTORE_WRITTEN;
		m->done->better_in_store += m->pending[i].put == SYMSTORE_BETTER_STAYS;
		m->done->kept += m->pending[i].put == SYMSTORE_PINNED_STAYS;
	}
	forget(m);
	return rc;
}

/* What becomes of an entry of the bundle. */
enum fate {
	REPLACES, /* the store's, unless that has better symbols */
	YIELDS,   /* to the store's, which is newer; it may add unwind information */
	SAME,     /* as the store's, which stays: only its tags are added */
};

static enum fate judge(struct importing *m, const struct symstore_entry *entry,
		       const struct symstore_entry *old, const void *cache, size_t size)
{
	const bool better = symstore_entry_replaces(entry, old);
	enum fate fate = REPLACES;

	if (old->cache_size == size && old->cache_hash == XXH3_64bits(cache, size)) {
		m->done->unchanged++;
		return SAME;
	}
	if (m->o->no_replace || symstore_tags_have(old->tags, SYMSTORE_PINNED)) {
		m->done->kept++;
		return SAME;
	}
	if (better && symstore_entry_replaces(old, entry)) {
		fate = old->time > entry->time ? YIELDS : REPLACES;
		m->done->conflicts++;
		if (m->o->conflict)
			m->o->conflict(m->o->ctx, entry, fate == REPLACES);
	} else if (better && symstore_entry_other_file(entry, old) && m->o->replaced) {
		m->o->replaced(m->o->ctx, entry, old);
	}
	return fate;
}

static int compare(struct importing *m, const struct symstore_entry *entry, const void *cache,
		   size_t size, enum fate *ret, struct sc_error *err)
{
	struct symstore_reader *reader;
	struct symstore_entry old;
	int rc = *m->store ? 0 : m->o->open_store(m->o->ctx, m->store, err);

	*ret = REPLACES;
	if (rc || (rc = symstore_read_begin(*m->store, &reader, err)))
		return rc;
	rc = symstore_entry(reader, entry->build_id, entry->build_id_len, &old, err);
	if (!rc)
		*ret = judge(m, entry, &old, cache, size);
	symstore_read_end(reader);
	return rc == SC_ENOTFOUND ? 0 : rc;
}

static int put(struct importing *m, const struct symstore_entry *entry, const void *cache,
	       size_t size, enum fate fate, struct sc_error *err)
{
	const bool stays = (uintptr_t)cache - (uintptr_t)m->block < m->block_size;
	struct pending *p = &m->pending[m->num_pending];

	*p = (struct pending){ .is_put = fate != SAME };
	if (p->is_put && !stays && !(p->own = malloc(size + 1)))
		return sc_no_memory(err);
	m->num_pending++;
	if (fate == SAME)
		return !*entry->tags && !*entry->names ? 0 :
			symstore_add_words(m->writer, entry->build_id, entry->build_id_len,
					   entry->tags, entry->names, err);
	if (p->own) {
		memcpy(p->own, cache, size);
		m->bytes += size;
	}
	return (fate == YIELDS ? symstore_put_older : symstore_put)(
		m->writer, entry, NULL, p->own ? p->own : (void *)cache, &p->put, err);
}

/* Caches that need not be copied; those of the block before are needed up to the next commit. */
static int take_block(void *ctx, void *block, size_t size, struct sc_error *err)
{
	struct importing *m = ctx;
	int rc = 0;

	if (m->bytes >= BATCH_BYTES || m->num_pending + 1 >= BATCH_ENTRIES)
		rc = commit(m, err);
	if (rc)
		return rc;
	m->pending[m->num_pending++] = (struct pending){ .own = m->block };
	m->block = block;
	m->block_size = size;
	m->bytes += size;
	return 0;
}

/* Those of the bundle and of the options; only the user pins. */
static char *tags_of(const struct importing *m, const struct symstore_entry *entry)
{
	char *own = symstore_tags_without(entry->tags, SYMSTORE_PINNED);
	char *tags = own ? symstore_tags_unite(own, m->o->tags) : NULL;

	free(own);
	return tags;
}

static int import_entry(void *ctx, const struct symstore_entry *given, const void *cache,
			size_t size, struct sc_error *err)
{
	struct symstore_entry entry = *given;
	const int64_t now = time(NULL);
	struct importing *m = ctx;
	enum fate fate;
	char *tags;
	int rc;

	entry.time = entry.time < now ? entry.time : now;
	rc = compare(m, &entry, cache, size, &fate, err);
	if (!rc && !m->writer)
		rc = symstore_write_begin(*m->store, &m->writer, err);
	if (rc)
		return rc;
	if (m->o->packed)
		symstore_write_packed(m->writer, PACKED_LEVEL);
	if (!(tags = tags_of(m, &entry)))
		return sc_no_memory(err);
	entry.tags = tags;
	entry.cache_size = size;
	rc = put(m, &entry, cache, size, fate, err);
	free(tags);
	if (!rc && (m->bytes >= BATCH_BYTES || m->num_pending == BATCH_ENTRIES))
		rc = commit(m, err);
	return rc;
}

static struct symstore *old_store(void *ctx)
{
	const struct importing *m = ctx;

	if (!*m->store && (!m->o->has_store || m->o->has_store(m->o->ctx)))
		m->o->open_store(m->o->ctx, m->store, NULL);
	return *m->store;
}

/* Is nothing to be done but to count it? Then its cache is not even fetched. */
static bool has_entry(void *ctx, const struct symstore_entry *entry)
{
	struct importing *m = ctx;
	struct symstore_reader *reader;
	struct symstore_entry old;
	char *tags = tags_of(m, entry);
	bool has = false;

	if (tags && old_store(m) && !symstore_read_begin(*m->store, &reader, NULL)) {
		has = !symstore_entry(reader, entry->build_id, entry->build_id_len, &old, NULL) &&
		      old.cache_size == entry->cache_size && old.cache_hash == entry->cache_hash &&
		      symstore_names_have(old.tags, tags) &&
		      symstore_names_have(old.names, entry->names);
		symstore_read_end(reader);
	}
	free(tags);
	m->done->unchanged += has;
	return has;
}

static void on_missing(void *ctx, const struct symstore_id *id)
{
	struct importing *m = ctx;

	if (m->o->missing)
		m->o->missing(m->o->ctx, id);
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	struct importing *m = ctx;

	m->done->bad++;
	if (m->o->fault)
		m->o->fault(m->o->ctx, name, why);
}

static void on_progress(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	struct importing *m = ctx;

	if (m->o->progress)
		m->o->progress(m->o->ctx, done, total, item);
}

int symbundle_import(struct symstore **store, const char *path,
		     const struct symbundle_import_options *options,
		     struct symbundle_imported *ret, struct sc_error *err)
{
	struct importing m = { .o = options, .done = ret, .store = store };
	const struct symbundle_reader reader = {
		.verify_key = options->verify_key, .old_store = old_store, .take = take_block,
		.entry = import_entry, .fault = on_fault, .ids = options->ids,
		.num_ids = options->num_ids, .choose = options->choose, .missing = on_missing,
		.has = has_entry, .web = options->web, .progress = on_progress, .ctx = &m,
	};
	int rc = symbundle_read(path, &reader, err);

	if (!rc)
		rc = commit(&m, err);
	else
		symstore_abort(m.writer);
	forget(&m);
	free(m.block);
	return rc;
}
