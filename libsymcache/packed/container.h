/* container.h: what packing and unpacking a file share; format/packed.md describes it. */
#ifndef PACKED_CONTAINER_H
#define PACKED_CONTAINER_H

#include "libsymcache/packed/model.h"
#include "libsymcache/packed/squeeze.h"

enum {
	CACHES_MAX = 1 << 16,
	GROWTH_MAX = 256,    /* caches are not larger than so many times the file and 256 bytes */
	OLD_GROWTH_MAX = 16, /* and so many times the cache that they are against */
	HEADER = 12,         /* magic, version, kind, number of caches */
	CACHE = 16,          /* size and hash */
	MAGIC = 8,
};

#define PACKED_MAGIC "SYMPACK\1"

/* The kind of a file: each cache as it is; streams; those of one cache against those of another. */
enum kind { AS_IT_IS, STREAMS, DELTA };

/* The cache that a file of kind DELTA is against, and its streams. */
struct base {
	struct packed_bytes cache;
	struct coder k;
};

/* By the model, as far as that knows it. SC_ENOMEM: there is nothing to be deinited. */
int base_init(struct base *b, struct packed_bytes cache, struct sc_error *err);
void base_deinit(struct base *b);

/* What was packed into a stream of *k. */
struct squeeze_prefix stream_of(const struct coder *k, size_t s);

/* As packed_unpack_delta(); `base` NULL: the file is none. */
int unpack_with(const uint8_t *data, size_t size, const struct base *base,
		struct packed_caches *ret, struct sc_error *err);

#endif
