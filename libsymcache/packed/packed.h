/*
 * packed.h: packs caches for transport and storage, to a tenth to an eighteenth of their size, and
 * unpacks them.
 *
 * A packed file (format/packed.md) holds one cache, or several that are compressed together; it
 * cannot be searched. Every cache can be packed: one that does not fit the model is just
 * compressed. Cost: packs 100 MB of cache a second at PACKED_LEVEL, unpacks 500.
 *
 * Packed files may be hostile. Unpacking takes the memory that the file states, at most
 * PACKED_SIZE_MAX, and PACKED_MEMORY_MAX in addition. The result is what was packed, or an error.
 */
#ifndef PACKED_H
#define PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"

enum {
	PACKED_LEVEL = 3,       /* of zstd: the default */
	PACKED_LEVEL_MAX = 19,
	PACKED_SIZE_MAX = 0x7fb00000, /* bytes of all caches in a file, as in a store */
	PACKED_MEMORY_MAX = 64 << 20, /* bytes to unpack, in addition to the caches */
};

struct packed_bytes {
	const void *data; /* 8-aligned */
	size_t size;
};

/* Does data[0, size) begin like a packed file? */
bool packed_begins(const void *data, size_t size);

/*
 * Packs `n` > 0 caches into one file. `level` is 0 (nothing is compressed) to PACKED_LEVEL_MAX.
 * The caller free()s *ret. The same caches and level give the same bytes. Memory: one and a half
 * times the size of the caches, as the result is unpacked and compared. SC_EINVAL: too large, or no
 * such level; SC_ENOMEM.
 */
int packed_pack(const struct packed_bytes caches[], size_t n, int level, void **ret,
		size_t *ret_size, struct sc_error *err);

/*
 * Packs a cache against another one, `old`: what both have in common costs little. To unpack it,
 * `old` is needed, to the byte. If that saves nothing, it is packed by itself. Memory: as
 * packed_pack(), and at most the size of `old` for its streams. Errors as packed_pack().
 */
int packed_pack_delta(struct packed_bytes cache, struct packed_bytes old, int level, void **ret,
		      size_t *ret_size, struct sc_error *err);

/* The total size of the caches in a packed file, as it states it; 0: it is not a packed file. */
uint64_t packed_total(const void *data, size_t size);

/* Unpacked caches; all zero: none. */
struct packed_caches {
	struct packed_bytes *caches;
	size_t num;
	uint8_t *bytes; /* from malloc(): the caches point into it */
	size_t size;
};

/* Unpacks the caches in data[0, size). SC_EFORMAT: damaged; the message names stream and offset.
 * SC_EUNSUPPORTED: of a later version; SC_EINVAL: packed against another cache; SC_ENOMEM. */
int packed_unpack(const void *data, size_t size, struct packed_caches *ret, struct sc_error *err);

/* A cache that others are packed against. */
struct packed_old {
	uint64_t size, hash; /* XXH3-64 of its bytes */
};

/* Was data[0, size) packed against another cache, by its header? Sets *ret to that. */
bool packed_is_delta(const void *data, size_t size, struct packed_old *ret);

/* As packed_unpack(), and also unpacks what was packed against `old`. SC_EINVAL: it was packed
 * against another cache. */
int packed_unpack_delta(const void *data, size_t size, struct packed_bytes old,
			struct packed_caches *ret, struct sc_error *err);
void packed_caches_deinit(struct packed_caches *caches);

#endif
