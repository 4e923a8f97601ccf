/*
 * packed.h: caches for transport and storage, a tenth to an eighteenth of their size, and back.
 *
 * A packed file (format/packed.md) holds one cache, or several whose streams are compressed
 * together; it cannot be searched. Every cache can be packed: what the model does not know is
 * compressed as it is. Cost: packing 100 MB of cache a second at PACKED_LEVEL, unpacking 500.
 *
 * What is unpacked may be hostile. It takes the size that it states, PACKED_SIZE_MAX at most,
 * and PACKED_MEMORY_MAX in addition; and it is what was packed, or an error.
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
	PACKED_SIZE_MAX = 0x7fb00000, /* of the caches of a file: what a store takes */
	PACKED_MEMORY_MAX = 64 << 20, /* to unpack, in addition to them */
};

struct packed_bytes {
	const void *data; /* 8-aligned */
	size_t size;
};

/* Does data[0, size) begin like a packed file? */
bool packed_begins(const void *data, size_t size);

/*
 * Packs `n` > 0 caches, one behind the other. `level` is 0 (nothing is compressed) to
 * PACKED_LEVEL_MAX. *ret is the caller's to free(). The same bytes for the same caches and level.
 * Memory: one and a half times the caches' size, as what was packed is unpacked and compared. SC_EINVAL: too large, or no such level; SC_ENOMEM.
 */
int packed_pack(const struct packed_bytes caches[], size_t n, int level, void **ret,
		size_t *ret_size, struct sc_error *err);

/*
 * Packs a cache against another one, `old`: what both have costs little. Whoever unpacks it needs `old`,
 * to the byte. Where that leads nowhere, it is packed by itself. Memory: that of packed_pack(),
 * and for the streams of `old` no more than that has. Errors as those of packed_pack().
 */
int packed_pack_delta(struct packed_bytes cache, struct packed_bytes old, int level, void **ret,
		      size_t *ret_size, struct sc_error *err);

/* The bytes of all caches in a packed file, as it says; 0: it is none. */
uint64_t packed_total(const void *data, size_t size);

/* What was unpacked: all zero is nothing. */
struct packed_caches {
	struct packed_bytes *caches;
	size_t num;
	uint8_t *bytes; /* that the caches lie in, of malloc() */
	size_t size;
};

/* Unpacks the caches in data[0, size). SC_EFORMAT: damaged; the message names stream and
 * offset. SC_EUNSUPPORTED: of a later version; SC_EINVAL: packed against another cache; SC_ENOMEM. */
int packed_unpack(const void *data, size_t size, struct packed_caches *ret, struct sc_error *err);

/* A cache that others are packed against. */
struct packed_old {
	uint64_t size, hash; /* XXH3-64 of its bytes */
};

/* Does data[0, size) say that it was packed against another cache, and which? */
bool packed_is_delta(const void *data, size_t size, struct packed_old *ret);

/* As packed_unpack(), also what was packed against `old`. SC_EINVAL: that is not the one. */
int packed_unpack_delta(const void *data, size_t size, struct packed_bytes old,
			struct packed_caches *ret, struct sc_error *err);
void packed_caches_deinit(struct packed_caches *caches);

#endif
