/* A packed file → its caches: see packed.h. Its bytes may be anything. */
#include <endian.h>
#include <stdlib.h>

#include <xxhash.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/packed/container.h"

bool packed_begins(const void *data, size_t size)
{
	return size >= MAGIC && !memcmp(data, PACKED_MAGIC, MAGIC - 1);
}

static size_t rounded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static uint64_t get_number(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return le64toh(v);
}

static uint64_t total_of(const uint8_t *p, size_t num)
{
	uint64_t total = 0;

	for (size_t i = 0; i < num; i++) {
		const uint64_t one = get_number(p + HEADER + CACHE * i, 8);

		total += one <= PACKED_SIZE_MAX ? rounded(one) : PACKED_SIZE_MAX + 1;
	}
	return total;
}

uint64_t packed_total(const void *data, size_t size)
{
	const uint8_t *p = data;
	const size_t num = packed_begins(p, size) && size >= HEADER ? get_number(p + 9, 3) : 0;

	return num <= (size - (num ? HEADER : 0)) / CACHE ? total_of(p, num) : 0;
}

/* ---- the header ------------------------------------------------------------------------- */

bool packed_is_delta(const void *data, size_t size, struct packed_old *ret)
{
	const uint8_t *p = data;

	if (!packed_begins(p, size) || p[MAGIC - 1] != PACKED_MAGIC[MAGIC - 1] ||
	    size < HEADER + 2 * CACHE || p[MAGIC] != DELTA)
		return false;
	ret->size = get_number(p + HEADER + CACHE, 8);
	ret->hash = get_number(p + HEADER + CACHE + 8, 8);
	return true;
}

/* The sizes of the caches, and room for them; *begin: where the streams do. */
static int get_header(const uint8_t *p, size_t size, const struct base *base,
		      struct packed_caches *ret, const uint8_t **begin, struct sc_error *err)
{
	const uint64_t more = base ? base->cache.size / GROWTH_MAX * OLD_GROWTH_MAX : 0;
	uint64_t total;
	uint8_t *at;

	if (!packed_begins(p, size))
		return sc_error_set(err, SC_EFORMAT, "not a packed SymCache");
	if (p[MAGIC - 1] != PACKED_MAGIC[MAGIC - 1] || size < HEADER || p[MAGIC] > DELTA)
		return sc_error_set(err, SC_EUNSUPPORTED, "packed by a later version");
	if (p[MAGIC] == DELTA && !base)
		return sc_error_set(err, SC_EINVAL, "a delta against another cache, without which it cannot be used");
	ret->num = get_number(p + 9, 3);
	if (!ret->num || ret->num > CACHES_MAX || ret->num > (size - HEADER) / CACHE ||
	    (base && ret->num > 1))
		return sc_error_set(err, SC_EFORMAT, "header: the number of caches is %zu", ret->num);
	*begin = p + HEADER + CACHE * (ret->num + (base != NULL));
	total = total_of(p, ret->num);
	if (total > PACKED_SIZE_MAX || total / GROWTH_MAX > size + GROWTH_MAX + more)
		return sc_error_set(err, SC_EFORMAT, "header: a file of %zu bytes cannot have such large caches", size);
	ret->size = total;
	ret->caches = calloc(ret->num, sizeof(*ret->caches));
	ret->bytes = at = malloc(total + 8);
	if (!ret->caches || !ret->bytes)
		return sc_no_memory(err);
	sc_big_advise(ret->bytes, total);
	for (size_t i = 0; i < ret->num; i++) {
		ret->caches[i] = (struct packed_bytes){ at, get_number(p + HEADER + CACHE * i, 8) };
		at += rounded(ret->caches[i].size);
	}
	return 0;
}

/* ---- streams ---------------------------------------------------------------------------- */

static int take_stream(struct coder *k, struct stream *t, size_t len)
{
	if (len + STREAM_PAD > k->left)
		return sc_error_set(k->err, SC_EFORMAT, "it takes more than %d MiB", PACKED_MEMORY_MAX >> 20);
	if (!(t->base = malloc(len + STREAM_PAD)))
		return sc_no_memory(k->err);
	memset(t->base + len, 0, STREAM_PAD);
	k->left -= len + STREAM_PAD;
	t->at = t->base;
	t->end = t->base + len;
	return 0;
}

/* The stream that begins at *at; `old` is the same one of the base. */
static int get_stream(struct coder *k, struct stream *t, const uint8_t **at, const uint8_t *end,
		      struct squeeze_prefix old, ZSTD_DCtx *zstd)
{
	const struct squeezed q = squeezed_next(at, end);
	int rc;

	if (!q.data)
		return sc_error_set(k->err, SC_EFORMAT, "it is longer than the file");
	rc = take_stream(k, t, q.len);
	return rc ? rc : unsqueeze(q, old, zstd, t->base, k->err);
}

/* Against a base, a byte says first whether it is another stream than there. */
static int get_delta(struct coder *k, struct stream *t, const uint8_t **at, const uint8_t *end,
		     struct squeeze_prefix old, ZSTD_DCtx *zstd)
{
	int rc;

	if (*at == end || **at > 1)
		return sc_error_set(k->err, SC_EFORMAT, "neither that of the other cache nor one of its own");
	if (*(*at)++)
		return get_stream(k, t, at, end, old, zstd);
	rc = take_stream(k, t, old.len);
	if (!rc && old.len)
		memcpy(t->base, old.data, old.len);
	return rc;
}

/* What unpacks, and the file. */
struct unpacking {
	const uint8_t *data, *at, *end;
	const struct base *base; /* NULL: it is of no kind that has one */
	ZSTD_DCtx *zstd;
};

static int unpack_streams(struct unpacking *u, const struct packed_caches *ret,
			  struct sc_error *err)
{
	struct sc_error why = { 0 };
	struct coder k = { .err = &why, .left = PACKED_MEMORY_MAX };
	const struct squeeze_prefix none = { 0 };
	int rc = 0;

	for (int s = 0; s < NUM_STREAMS && !rc; s++) {
		const size_t offset = (size_t)(u->at - u->data);
		struct stream *t = &k.streams[s];

		rc = u->base ?
			get_delta(&k, t, &u->at, u->end, stream_of(&u->base->k, s), u->zstd) :
			get_stream(&k, t, &u->at, u->end, none, u->zstd);
		if (rc)
			sc_error_set(err, rc, "stream %s, at %zu: %s", coder_name(s), offset, why.msg);
	}
	if (!rc && u->at != u->end)
		rc = sc_error_set(err, SC_EFORMAT, "at %zu: bytes after the last stream",
				  (size_t)(u->at - u->data));
	if (!rc)
		caches_code(&k, false, ret->caches, ret->num, false);
	for (int s = 0; s < NUM_STREAMS && !rc && !k.bad; s++)
		if (k.streams[s].at != k.streams[s].end)
			coder_fail(&k, s, "it is too long");
	if (!rc && k.bad)
		rc = sc_error_set(err, why.code, "%s", why.msg);
	coder_deinit(&k);
	return rc;
}

static int unpack_bytes(struct unpacking *u, const struct packed_caches *ret, struct sc_error *err)
{
	const struct squeeze_prefix none = { 0 };
	int rc = 0;

	for (size_t i = 0; i < ret->num && !rc; i++) {
		const size_t offset = (size_t)(u->at - u->data);
		const struct squeezed q = squeezed_next(&u->at, u->end);

		if (!q.data || q.len != ret->caches[i].size ||
		    (i + 1 == ret->num && u->at != u->end))
			rc = sc_error_set(err, SC_EFORMAT, "not %zu bytes", ret->caches[i].size);
		else
			rc = unsqueeze(q, none, u->zstd, (uint8_t *)ret->caches[i].data, err);
		if (rc)
			sc_error_prefix(err, "at %zu: ", offset);
	}
	return rc;
}

/* ---- the whole -------------------------------------------------------------------------- */

int unpack_with(const uint8_t *p, size_t size, const struct base *base, struct packed_caches *ret,
		struct sc_error *err)
{
	struct unpacking u = { p, p, p + size, base, NULL };
	int rc;

	*ret = (struct packed_caches){ 0 };
	rc = get_header(p, size, base, ret, &u.at, err);
	if (!rc && !(u.zstd = ZSTD_createDCtx()))
		rc = sc_no_memory(err);
	if (!rc)
		rc = p[MAGIC] == AS_IT_IS ? unpack_bytes(&u, ret, err) :
					    unpack_streams(&u, ret, err);
	ZSTD_freeDCtx(u.zstd);
	for (size_t i = 0; i < ret->num && !rc; i++)
		if (XXH3_64bits(ret->caches[i].data, ret->caches[i].size) !=
		    get_number(p + HEADER + CACHE * i + 8, 8))
			rc = sc_error_set(err, SC_EFORMAT, "cache %zu is not what was packed: its hash differs", i);
	if (rc)
		packed_caches_deinit(ret);
	return rc;
}

int packed_unpack(const void *data, size_t size, struct packed_caches *ret, struct sc_error *err)
{
	return unpack_with(data, size, NULL, ret, err);
}

int packed_unpack_delta(const void *data, size_t size, struct packed_bytes old,
			struct packed_caches *ret, struct sc_error *err)
{
	struct packed_old wanted;
	struct sc_error why = { 0 };
	struct base base;
	int rc;

	*ret = (struct packed_caches){ 0 };
	if (!packed_is_delta(data, size, &wanted))
		return packed_unpack(data, size, ret, err);
	if (wanted.size != old.size || wanted.hash != XXH3_64bits(old.data, old.size))
		return sc_error_set(err, SC_EINVAL, "a delta against a different cache");
	if ((rc = base_init(&base, old, &why)))
		return sc_error_set(err, rc, "%s", why.msg);
	rc = unpack_with(data, size, &base, ret, err);
	base_deinit(&base);
	return rc;
}

void packed_caches_deinit(struct packed_caches *caches)
{
	free(caches->bytes);
	free(caches->caches);
	*caches = (struct packed_caches){ 0 };
}
