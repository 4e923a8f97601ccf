/*
 * Verification: the structure of the file, then each cache.
 *
 * symstore_check() walks the pages with pages.c, on a map of its own that ends
 * where the file ends, and only if they are valid asks LMDB for the records.
 * The reader's transaction keeps the pages of its snapshot from being reused
 * meanwhile. symstore_check_entry() reads a cache whole: its hash shows whether
 * the bytes are those that were written, symcache_verify() whether they were
 * right.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/fault.h"
#include "libsymcache/store/parts.h"

/* What went wrong is a fault, but for lack of memory. */
static void said(struct symstore_report *r, const struct sc_error *err)
{
	r->failed |= err->code == SC_ESYS;
	if (err->code == SC_ENOMEM)
		r->no_memory = r->stop = true;
	else
		symstore_fault(r, "%s", err->msg);
}

/* What a check returns. */
static ssize_t result(const struct symstore_report *r)
{
	return r->no_memory ? SC_ENOMEM : (ssize_t)r->faults;
}

static void check_pages(struct symstore *store, MDB_txn *txn, bool if_short,
			struct symstore_report *r)
{
	struct symstore_snapshot snapshot;
	struct sc_error err;
	size_t size;
	void *file;
	int fd;

	mdb_env_get_fd(store->env, &fd);
	if (symstore_snapshot_of(txn, fd, &snapshot, &err)) {
		said(r, &err);
		return;
	}
	size = (size_t)snapshot.file_size;
	if (if_short && size / snapshot.page_size > snapshot.last_page)
		return;
	file = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED) {
		sc_error_sys(&err, "cannot map %zu bytes", size);
		said(r, &err);
		return;
	}
	symstore_snapshot_check(file, size, &snapshot, r);
	munmap(file, size);
}

int symstore_check_pages(struct symstore *store, MDB_txn *txn, bool if_short, struct sc_error *err)
{
	struct sc_error first;
	struct symstore_report report = { .fn = sc_first_fault, .ctx = &first };

	check_pages(store, txn, if_short, &report);
	if (report.no_memory)
		return sc_no_memory(err);
	if (report.failed)
		return sc_error_set(err, SC_ESYS, "store %s: %s", store->path, first.msg);
	return report.faults ? sc_error_set(err, SC_EFORMAT, "store %s: damaged or cut off: %s",
					     store->path, first.msg)
			     : 0;
}

/* Each entry has a cache that is large enough, and there are no other caches. */
static void check_records(struct symstore_reader *reader, struct symstore_report *r)
{
	char id[SYMCACHE_BUILD_ID_TEXT];
	struct symstore_bytes cache;
	struct symstore_entry entry;
	struct symstore_walk walk;
	size_t with_cache = 0;
	int rc, found;

	for (rc = symstore_seek(&walk, &reader->view, &reader->entries, false,
				(struct symstore_bytes){ 0 });
	     !rc && !r->stop; rc = symstore_next(&walk)) {
		symcache_build_id_text(id, walk.key.data, walk.key.size < SYMCACHE_BUILD_ID_MAX ?
				       walk.key.size : SYMCACHE_BUILD_ID_MAX);
		if (!symstore_entry_decode(walk.key.data, walk.key.size, walk.value.data,
					   walk.value.size, &entry)) {
			symstore_fault(r, "%s: malformed entry record", id);
			entry.cache_size = entry.packed_size = 0;
		}
		found = symstore_find(&reader->view, &reader->caches, walk.key.data, walk.key.size,
				      &cache);
		if (found)
			symstore_fault(r, "%s: no cache", id);
		else if (cache.size < symstore_stored_size(&entry))
			symstore_fault(r, "%s: the cache has %zu bytes, the entry says %llu", id,
				       cache.size,
				       (unsigned long long)symstore_stored_size(&entry));
		with_cache += !found;
	}
	if (!r->stop && rc != SC_ENOTFOUND)
		symstore_fault(r, "the entries cannot be read");
	if (!r->stop && with_cache != reader->caches.entries)
		symstore_fault(r, "%zu caches have no entry", reader->caches.entries - with_cache);
}

ssize_t symstore_check(struct symstore_reader *reader, symcache_fault_fn *fn, void *ctx)
{
	struct symstore_report r = { .fn = fn, .ctx = ctx };

	check_pages(reader->store, reader->txn, false, &r);
	if (!r.faults && !r.no_memory)
		check_records(reader, &r);
	return r.failed ? SC_ESYS : result(&r);
}

/* Compares a cache with its hash and the hashes of its blocks, in one pass. */
static void check_hashes(struct symstore_report *r, const struct symstore_entry *entry,
			 const uint8_t *data, size_t room)
{
	const size_t at = symstore_table_offset((size_t)entry->cache_size);
	const size_t size = symcache_guard_table_size((size_t)entry->cache_size);
	uint8_t *table = malloc(size + 1);
	uint64_t hash;

	if (!table) {
		r->no_memory = true;
		return;
	}
	hash = symcache_guard_hash(data, (size_t)entry->cache_size, table);
	if (hash != entry->cache_hash)
		symstore_fault(r, "the bytes have changed since they were written: hash %016llx, not %016llx",
			       (unsigned long long)hash, (unsigned long long)entry->cache_hash);
	else if (entry->packed_size && entry->table_hash != XXH3_64bits(table, size))
		symstore_fault(r, "the hashes of its blocks are not those that the entry says");
	else if (!entry->packed_size && entry->table_hash && (at > room || size > room - at ||
				       memcmp(table, data + at, size) ||
				       XXH3_64bits(table, size) != entry->table_hash))
		symstore_fault(r, "the hashes of its blocks have changed since they were written");
	free(table);
}

/* By the rules of its format. */
static ssize_t check_cache(const uint8_t *data, const struct symstore_entry *entry,
			   symcache_fault_fn *fn, void *ctx)
{
	struct symstore_report r = { .fn = fn, .ctx = ctx };
	struct symcache cache;
	struct sc_error err;

	if (!symcache_open(&cache, data, (size_t)entry->cache_size, &err))
		return symcache_verify(&cache, fn, ctx);
	said(&r, &err);
	return result(&r);
}

ssize_t symstore_check_entry(struct symstore_reader *reader, const struct symstore_entry *entry,
			     symcache_fault_fn *fn, void *ctx)
{
	struct symstore_report r = { .fn = fn, .ctx = ctx };
	struct packed_caches unpacked = { 0 };
	struct symstore_entry own;
	struct sc_error err;
	struct symstore_bytes value;
	const uint8_t *data;
	ssize_t faults;

	if (symstore_value(reader, entry->build_id, entry->build_id_len, &own, &value, &err) ||
	    (own.packed_size && symstore_unpack(&own, value.data, &unpacked, &err))) {
		said(&r, &err);
		return result(&r);
	}
	data = own.packed_size ? unpacked.caches->data : value.data;
	check_hashes(&r, &own, data, value.size);
	faults = r.faults || r.no_memory ? result(&r) : check_cache(data, &own, fn, ctx);
	packed_caches_deinit(&unpacked);
	return faults;
}
