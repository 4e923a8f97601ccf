/* Caches → a packed file: the streams, each compressed by itself. See packed.h. */
#include <endian.h>
#include <stdlib.h>

#include <xxhash.h>

#include "libsymcache/packed/container.h"

struct packing {
	const struct packed_bytes *caches;
	size_t n;
	const struct base *base; /* NULL: by themselves */
	int level;
	void *packed; /* what came */
	size_t size;
	struct sc_error *err;
};

/* ---- the file --------------------------------------------------------------------------- */

static uint8_t *put_number(uint8_t *p, uint64_t v, size_t bytes)
{
	v = htole64(v);
	memcpy(p, &v, bytes);
	return p + bytes;
}

static uint8_t *put_cache(uint8_t *p, struct packed_bytes cache)
{
	p = put_number(p, cache.size, 8);
	return put_number(p, XXH3_64bits(cache.data, cache.size), 8);
}

static uint8_t *put_header(uint8_t *at, const struct packing *p, enum kind kind)
{
	memcpy(at, PACKED_MAGIC, MAGIC);
	at = put_number(at + MAGIC, kind, 1);
	at = put_number(at, p->n, 3);
	for (size_t i = 0; i < p->n; i++)
		at = put_cache(at, p->caches[i]);
	return p->base ? put_cache(at, p->base->cache) : at;
}

/* Stream `s` of the file; returns what is behind it. NULL: out of memory. */
static uint8_t *put_stream(uint8_t *at, const struct packing *p, size_t s,
			   struct packed_bytes stream)
{
	struct squeeze_prefix old = { 0 };
	size_t used;

	if (p->base) {
		old = stream_of(&p->base->k, s);
		*at = old.len != stream.size || (old.len && memcmp(old.data, stream.data, old.len));
		if (!*at++)
			return at;
	}
	used = squeeze(stream.data, stream.size, old, p->level, at);
	return used ? at + used : NULL;
}

static int put_file(struct packing *p, enum kind kind, const struct packed_bytes streams[],
		    size_t num)
{
	size_t most = HEADER + CACHE * (p->n + 1);
	uint8_t *out, *at;

	for (size_t i = 0; i < num; i++)
		most += 1 + squeeze_most(streams[i].size);
	if (!(out = malloc(most)))
		return sc_no_memory(p->err);
	at = put_header(out, p, kind);
	for (size_t i = 0; i < num && at; i++)
		at = put_stream(at, p, i, streams[i]);
	if (!at) {
		free(out);
		return sc_no_memory(p->err);
	}
	p->packed = out;
	p->size = (size_t)(at - out);
	return 0;
}

static int put_streams(struct packing *p)
{
	struct coder k = { .err = p->err, .left = SIZE_MAX };
	struct packed_bytes streams[NUM_STREAMS];
	int rc;

	caches_code(&k, true, p->caches, p->n, true);
	for (int s = 0; s < NUM_STREAMS; s++) {
		const struct squeeze_prefix stream = stream_of(&k, s);

		streams[s] = (struct packed_bytes){ stream.data, stream.len };
	}
	rc = k.bad ? p->err->code : put_file(p, p->base ? DELTA : STREAMS, streams, NUM_STREAMS);
	coder_deinit(&k);
	return rc;
}

/* Do they come back? It would also not be so of streams that take too much memory. */
static int compare(struct packing *p)
{
	struct packed_caches back = { 0 };
	int rc = unpack_with(p->packed, p->size, p->base, &back, p->err);

	for (size_t i = 0; i < p->n && !rc; i++)
		if (back.caches[i].size != p->caches[i].size ||
		    memcmp(back.caches[i].data, p->caches[i].data, p->caches[i].size))
			rc = sc_error_set(p->err, SC_EFORMAT, "it does not come back");
	packed_caches_deinit(&back);
	if (rc)
		free(p->packed);
	return rc;
}

static int check_arguments(const struct packed_bytes caches[], size_t n, int level,
			   struct sc_error *err)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += caches[i].size;
	if (!n || n > CACHES_MAX || total > PACKED_SIZE_MAX)
		return sc_error_set(err, SC_EINVAL, "too large to be packed");
	if (level < 0 || level > PACKED_LEVEL_MAX)
		return sc_error_set(err, SC_EINVAL, "levels are 1 to %d", PACKED_LEVEL_MAX);
	return 0;
}

int packed_pack(const struct packed_bytes caches[], size_t n, int level, void **ret,
		size_t *ret_size, struct sc_error *err)
{
	struct sc_error why;
	struct packing p = { caches, n, .err = err ? err : &why };
	int rc = check_arguments(caches, n, level, err);

	*ret = NULL;
	if (rc)
		return rc;
	/* Modelled; as they are; stored, as what is compressed too well is not believed. */
	rc = SC_EFORMAT;
	for (int attempt = 0; attempt < 3 && rc == SC_EFORMAT; attempt++) {
		p.level = attempt < 2 ? level : 0;
		rc = attempt ? put_file(&p, AS_IT_IS, caches, n) : put_streams(&p);
		if (!rc)
			rc = compare(&p);
	}
	*ret = rc ? NULL : p.packed;
	*ret_size = p.size;
	return rc;
}

/* ---- against another cache -------------------------------------------------------------- */

int packed_pack_delta(struct packed_bytes cache, struct packed_bytes old, int level, void **ret,
		      size_t *ret_size, struct sc_error *err)
{
	struct sc_error why;
	struct packing p = { &cache, 1, .level = level, .err = err ? err : &why };
	struct base base;
	int rc = check_arguments(&cache, 1, level, err);

	*ret = NULL;
	if (rc || (rc = base_init(&base, old, p.err)))
		return rc;
	p.base = &base;
	rc = put_streams(&p);
	if (!rc)
		rc = compare(&p);
	base_deinit(&base);
	if (rc == SC_EFORMAT)
		return packed_pack(&cache, 1, level, ret, ret_size, err);
	*ret = rc ? NULL : p.packed;
	*ret_size = p.size;
	return rc;
}
