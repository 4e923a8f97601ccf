/*
 * Verification: the structure of the file, then each cache.
 *
 * symstore_check() walks the pages with pages.c, on a map of its own that ends
 * where the file ends, and only if they are sound asks LMDB for the records.
 * The reader's transaction keeps the pages of its snapshot from being reused
 * meanwhile. symstore_check_entry() reads a cache whole: its hash tells whether
 * the bytes are those that were written, symcache_verify() whether they were
 * right.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "libsymcache/store/record.h"
#include "libsymcache/store/store.h"

void symstore_check_pages(struct symstore *store, MDB_txn *txn, bool if_short,
			  struct symstore_report *r)
{
	struct symstore_snapshot snapshot;
	struct sc_error err;
	struct stat st;
	size_t size;
	void *file;
	int fd, rc;

	mdb_env_get_fd(store->env, &fd);
	rc = symstore_snapshot_of(txn, fd, &snapshot, &err);
	if (rc || fstat(fd, &st)) {
		symstore_fault(r, "%s", rc ? err.msg : "cannot read the file's size");
		return;
	}
	size = (size_t)st.st_size;
	if (if_short && size / snapshot.page_size > snapshot.last_page)
		return;
	file = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED) {
		symstore_fault(r, "cannot map %zu bytes", size);
		return;
	}
	symstore_snapshot_check(file, size, &snapshot, r);
	munmap(file, size);
}

static void key_text(char text[2 * SYMCACHE_BUILD_ID_MAX + 1], const MDB_val *key)
{
	text[0] = 0;
	for (size_t i = 0; i < key->mv_size && i < SYMCACHE_BUILD_ID_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)key->mv_data)[i]);
}

/* Each entry has a cache that is large enough, and there are no other caches. */
static void check_records(struct symstore_reader *reader, struct symstore_report *r)
{
	MDB_cursor *entries __attribute__((cleanup(symstore_cursor_cleanup))) = NULL;
	struct symstore *store = reader->store;
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];
	MDB_val key, value, cache;
	struct symstore_entry entry;
	size_t with_cache = 0;
	MDB_stat stat;
	int rc;

	if ((rc = mdb_cursor_open(reader->txn, store->entries, &entries)) ||
	    (rc = mdb_stat(reader->txn, store->caches, &stat))) {
		symstore_fault(r, "cannot read: %s", mdb_strerror(rc));
		return;
	}
	while (!r->stop && !(rc = mdb_cursor_get(entries, &key, &value, MDB_NEXT))) {
		key_text(id, &key);
		if (!symstore_entry_decode(key.mv_data, key.mv_size, value.mv_data, value.mv_size,
					   &entry)) {
			symstore_fault(r, "%s: malformed entry record", id);
			entry.cache_size = 0;
		}
		rc = mdb_get(reader->txn, store->caches, &key, &cache);
		if (rc)
			symstore_fault(r, "%s: no cache: %s", id, mdb_strerror(rc));
		else if (cache.mv_size < entry.cache_size)
			symstore_fault(r, "%s: the cache has %zu bytes, the entry says %llu", id,
			      cache.mv_size, (unsigned long long)entry.cache_size);
		with_cache += !rc;
	}
	if (!r->stop && rc != MDB_NOTFOUND)
		symstore_fault(r, "cannot read: %s", mdb_strerror(rc));
	if (!r->stop && with_cache != stat.ms_entries)
		symstore_fault(r, "%zu caches have no entry", stat.ms_entries - with_cache);
}

size_t symstore_check(struct symstore_reader *reader, symcache_fault_fn *fn, void *ctx)
{
	struct symstore_report r = { .fn = fn, .ctx = ctx };

	symstore_check_pages(reader->store, reader->txn, false, &r);
	if (!r.faults)
		check_records(reader, &r);
	return r.faults;
}

size_t symstore_check_entry(struct symstore_reader *reader, const struct symstore_entry *entry,
			    symcache_fault_fn *fn, void *ctx)
{
	struct symstore_report r = { .fn = fn, .ctx = ctx };
	struct symcache cache;
	struct sc_error err;
	const void *data;
	size_t size;

	if (symstore_get(reader, entry->build_id, entry->build_id_len, &data, &size, &err)) {
		symstore_fault(&r, "%s", err.msg);
		return r.faults;
	}
	if (XXH3_64bits(data, size) != entry->cache_hash) {
		symstore_fault(&r, "the bytes are not those that were written: hash %016llx, not %016llx",
		      (unsigned long long)XXH3_64bits(data, size),
		      (unsigned long long)entry->cache_hash);
		return r.faults;
	}
	if (symcache_open(&cache, data, size, &err))
		symstore_fault(&r, "%s", err.msg);
	else
		r.faults += symcache_verify(&cache, fn, ctx);
	return r.faults;
}
