/* Bytes with their sizes, compressed: see squeeze.h. */
#include "libsymcache/packed/squeeze.h"

#include <string.h>

#include <zstd_errors.h>

#include "libsymcache/base/bigmem.h"

enum {
	SIZES = 20,         /* bytes of two numbers */
	WINDOW_FROM = 10,   /* levels from here on look back as far as there is something */
	WINDOW_MIN = 10, WINDOW_MAX = 27,
};

static size_t put_uleb(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

/* At `end`, which is one too far, where it does not end before. */
static uint64_t get_uleb(const uint8_t **at, const uint8_t *end)
{
	uint64_t v = 0;

	for (int shift = 0; *at < end && shift < 63; shift += 7) {
		v |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return v;
	}
	return SIZE_MAX;
}

size_t squeeze_most(size_t len)
{
	return SIZES + ZSTD_compressBound(len);
}

static size_t compress(const uint8_t *data, size_t len, struct squeeze_prefix prefix, int level,
		       uint8_t *ret)
{
	const size_t room = ZSTD_compressBound(len);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	int window = WINDOW_MIN;
	size_t n;

	if (!z)
		return 0;
	while (window < WINDOW_MAX && (size_t)1 << window < prefix.len + len)
		window++;
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, 0);
	if (level >= WINDOW_FROM || prefix.len)
		ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, window);
	n = prefix.len ? ZSTD_CCtx_refPrefix(z, prefix.data, prefix.len) : 0;
	if (!ZSTD_isError(n))
		n = ZSTD_compress2(z, ret, room, data, len);
	ZSTD_freeCCtx(z);
	return ZSTD_isError(n) ? 0 : n;
}

size_t squeeze(const uint8_t *data, size_t len, struct squeeze_prefix prefix, int level,
	       uint8_t *ret)
{
	uint8_t *body = ret + SIZES;
	size_t n = 0, head = put_uleb(ret, len);

	if (!len)
		return head;
	if (level && !(n = compress(data, len, prefix, level, body)))
		return 0;
	if (n >= len)
		n = 0;
	head += put_uleb(ret + head, n);
	if (n)
		memmove(ret + head, body, n);
	else
		memcpy(ret + head, data, len);
	return head + (n ? n : len);
}

struct squeezed squeezed_next(const uint8_t **at, const uint8_t *end)
{
	struct squeezed s = { .len = get_uleb(at, end) };
	size_t bytes;

	s.size = s.len ? get_uleb(at, end) : 0;
	bytes = s.size ? s.size : s.len;
	if (s.len > SIZE_MAX / 2 || bytes > (size_t)(end - *at))
		return s;
	s.data = *at;
	*at += bytes;
	return s;
}

int unsqueeze(struct squeezed s, struct squeeze_prefix prefix, ZSTD_DCtx *zstd, uint8_t *ret,
	      struct sc_error *err)
{
	size_t n;

	sc_big_advise(ret, s.len);
	if (!s.size) {
		memcpy(ret, s.data, s.len);
		return 0;
	}
	n = prefix.len ? ZSTD_DCtx_refPrefix(zstd, prefix.data, prefix.len) : 0;
	if (!ZSTD_isError(n))
		n = ZSTD_decompressDCtx(zstd, ret, s.len, s.data, s.size);
	if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
		return sc_no_memory(err);
	if (ZSTD_isError(n))
		return sc_error_set(err, SC_EFORMAT, "%s", ZSTD_getErrorName(n));
	return n == s.len ? 0 : sc_error_set(err, SC_EFORMAT, "%zu bytes instead of %zu", n, s.len);
}
