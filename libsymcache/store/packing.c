/*
 * Entries that are stored packed: what stands in the place of a cache, and back.
 *
 * A head comes first, by which a program that knows no packed entries takes the value for a
 * SymCache of a version that it does not know, and says so; then the packed file. The record has
 * size and hash of both, so that a value is compared with its hash before it is unpacked, and what
 * it says of its size before any memory is taken.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "libsymcache/packed/packed.h"
#include "libsymcache/store/parts.h"

enum { HEAD = 8, HEAD_VERSION = 10000 };

static void put_head(uint8_t head[HEAD])
{
	const uint32_t words[2] = { SYMCACHE_MAGIC, HEAD_VERSION };

	memcpy(head, words, HEAD);
}

static uint64_t pages(const struct symstore *store, uint64_t size)
{
	return (size + SYMSTORE_PAGE_HEADER + store->page_size - 1) / store->page_size;
}

/* The hashes that a record has of a cache. */
static int hash(const struct packed_bytes *cache, struct symstore_form *form)
{
	const size_t size = symcache_guard_table_size(cache->size);
	uint8_t *table = malloc(size + 1);

	if (!table)
		return SC_ENOMEM;
	form->cache_size = cache->size;
	form->cache_hash = symcache_guard_hash(cache->data, cache->size, table);
	form->table_hash = XXH3_64bits(table, size);
	free(table);
	return 0;
}

int symstore_form_make(const struct symstore *store, const void *cache, size_t size, int level,
		       struct symstore_form *ret)
{
	const struct packed_bytes bytes = { cache, size };
	const uint64_t plain = symstore_table_offset(size) + symcache_guard_table_size(size);
	void *packed = NULL;
	size_t packed_size;
	int rc;

	*ret = (struct symstore_form){ .made = true };
	if (pages(store, plain) == 1)
		return 0;
	rc = packed_pack(&bytes, 1, level, &packed, &packed_size, NULL);
	if (rc && rc != SC_ENOMEM)
		return 0;
	if (!rc && pages(store, HEAD + packed_size) < pages(store, plain)) {
		ret->size = HEAD + packed_size;
		ret->bytes = malloc(ret->size);
		rc = ret->bytes ? hash(&bytes, ret) : SC_ENOMEM;
	}
	if (!rc && ret->bytes) {
		put_head(ret->bytes);
		memcpy(ret->bytes + HEAD, packed, packed_size);
		ret->packed_hash = XXH3_64bits(ret->bytes, ret->size);
	}
	free(packed);
	if (rc)
		symstore_form_deinit(ret);
	return rc;
}

void symstore_form_deinit(struct symstore_form *form)
{
	free(form->bytes);
	*form = (struct symstore_form){ 0 };
}

bool symstore_packed_file(const struct symstore_entry *entry, const uint8_t *value,
			  struct packed_bytes *ret)
{
	uint8_t head[HEAD];

	put_head(head);
	if (entry->packed_size < HEAD || memcmp(value, head, HEAD) ||
	    XXH3_64bits(value, (size_t)entry->packed_size) != entry->packed_hash)
		return false;
	*ret = (struct packed_bytes){ value + HEAD, (size_t)entry->packed_size - HEAD };
	return true;
}

int symstore_unpack(const struct symstore_entry *entry, const uint8_t *value,
		    struct packed_caches *ret, struct sc_error *err)
{
	struct sc_error why = { 0 };
	struct packed_bytes file;
	int rc;

	*ret = (struct packed_caches){ 0 };
	if (!symstore_packed_file(entry, value, &file))
		return sc_error_set(err, SC_EFORMAT, "the packed bytes have changed since they were written");
	if (packed_total(file.data, file.size) - entry->cache_size > 7)
		return sc_error_set(err, SC_EFORMAT, "cannot be unpacked: it has not the %llu bytes "
				    "that the entry says", (unsigned long long)entry->cache_size);
	rc = packed_unpack(file.data, file.size, ret, &why);
	if (rc == SC_ENOMEM)
		return sc_no_memory(err);
	if (rc)
		return sc_error_set(err, SC_EFORMAT, "cannot be unpacked: %s", why.msg);
	if (ret->num == 1 && ret->caches->size == entry->cache_size)
		return 0;
	packed_caches_deinit(ret);
	return sc_error_set(err, SC_EFORMAT, "cannot be unpacked: it is not one cache of %llu bytes",
			    (unsigned long long)entry->cache_size);
}
