/*
 * Caches that may be damaged, and those that are packed: see symstore_get_guarded() in store.h.
 *
 * A small cache is compared with its hash as a whole. A large one has the hashes of
 * its blocks behind it, 1/512 of its size, and these have a hash in the record, which
 * has one itself: so what is tested is what is read, down from the record, and a
 * look-up in 80 MB hashes 160 KB and the blocks that it needs. Entries of format 1
 * have no such hashes, and are read whole, once for each guard. What was packed was tested when
 * it was unpacked.
 */
#include <xxhash.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/store/parts.h"

enum { SMALL = 128 << 10 };

int symstore_damaged(const uint8_t *build_id, size_t len, struct sc_error *err)
{
	char hex[SYMCACHE_BUILD_ID_TEXT];

	symcache_build_id_text(hex, build_id,
			       len < SYMCACHE_BUILD_ID_MAX ? len : SYMCACHE_BUILD_ID_MAX);
	return sc_error_set(err, SC_EFORMAT, "the store's entry %s is damaged and not used: run "
			    "'symcache verify --repair', then index its file again", hex);
}

/* Was this guard made for these bytes? Then it need not begin anew. The bytes of an
 * older snapshot may have gone and others come, but not with the same hash. */
static bool fits(const struct symcache_guard *guard, const void *data, size_t size,
		 uint64_t identity)
{
	return guard->valid && guard->data == data && guard->size == size &&
	       guard->identity == identity;
}

/* Makes `guard` one for the cache. It may be damaged, as far as is known by now. */
static int begin(struct symcache_guard *guard, const struct symstore_entry *entry,
		 const uint8_t *data, size_t room, struct sc_error *err)
{
	const size_t size = (size_t)entry->cache_size, at = symstore_table_offset(size);
	const size_t table = symcache_guard_table_size(size);
	const uint64_t identity = entry->table_hash ? entry->table_hash : entry->cache_hash;

	if (fits(guard, data, size, identity))
		return 0;
	symcache_guard_deinit(guard);
	if (!symcache_guard_init(guard, data, size, data + at))
		return sc_no_memory(err);
	guard->identity = identity;
	if (entry->packed_size) {
		guard->whole = true;
		return 0;
	}
	guard->mapped = true; /* symstore_map() */
	if (size <= SMALL || !entry->table_hash) {
		guard->whole = XXH3_64bits(data, size) == entry->cache_hash;
		guard->damaged = !guard->whole;
	} else {
		guard->damaged = at > room || table > room - at ||
				 XXH3_64bits(data + at, table) != entry->table_hash;
	}
	return 0;
}

int symstore_get_guarded(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
			 struct symcache_guard *guard, struct symcache *ret,
			 struct sc_error *err)
{
	struct symstore_entry entry;
	struct symstore_bytes value;
	int rc = symstore_value(reader, build_id, len, &entry, &value, err);
	const void *data = value.data;

	if (!rc && entry.packed_size)
		rc = symstore_get_unpacked(reader, &entry, value.data, &data, err);
	if (rc == SC_EFORMAT)
		return symstore_damaged(build_id, len, err);
	if (rc || (rc = begin(guard, &entry, data, value.size, err)))
		return rc;
	rc = guard->damaged ? SC_EFORMAT :
		symcache_open_guarded(ret, data, guard->size, guard, err);
	return guard->damaged ? symstore_damaged(build_id, len, err) : rc;
}

int symstore_get(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		 const void **data, size_t *size, struct sc_error *err)
{
	struct symstore_entry entry;
	struct symstore_bytes value;
	int rc = symstore_value(reader, build_id, len, &entry, &value, err);

	if (rc)
		return rc;
	*data = value.data;
	*size = (size_t)entry.cache_size;
	if (!entry.packed_size)
		return 0;
	rc = symstore_get_unpacked(reader, &entry, value.data, data, err);
	return rc == SC_EFORMAT ? symstore_damaged(build_id, len, err) : rc;
}

int symstore_get_packed(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
			const void **data, size_t *size, struct sc_error *err)
{
	struct symstore_entry entry;
	struct symstore_bytes value;
	struct packed_bytes file;
	int rc = symstore_value(reader, build_id, len, &entry, &value, err);

	if (rc)
		return rc;
	if (!entry.packed_size)
		return sc_error_set(err, SC_ENOTFOUND, "it is not packed");
	if (!symstore_packed_file(&entry, value.data, &file))
		return symstore_damaged(build_id, len, err);
	*data = file.data;
	*size = file.size;
	return 0;
}
