/*
 * gzip, xz and zstd streams: see inflate.h. One struct, three libraries that all
 * work alike: they take what they can and give what they can.
 */
#include "libsymcache/archive/inflate.h"

#include <stdlib.h>
#include <string.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#if !defined(SC_PORTABLE) && __has_include(<isa-l/igzip_lib.h>)
#define WITH_ISAL
#include <isa-l/igzip_lib.h>
#endif

/* What an xz stream may want for its dictionary; xz -9 wants 65 MiB. (Of zstd the
 * library itself allows 128 MiB.) */
#define XZ_MEMORY_MAX (512u << 20)

struct symcache_inflate {
	enum symcache_packing kind;
	z_stream gzip;
	bool has_zlib; /* `gzip` is in use */
#ifdef WITH_ISAL
	struct inflate_state *isal; /* NULL: not yet */
	bool fast;     /* it has the current stream */
#endif
	lzma_stream xz;
	ZSTD_DStream *zstd;
	bool between; /* a gzip or zstd stream has ended, and no other begun */
	bool over;    /* an xz decoder says that it is at its end */
};

enum symcache_packing symcache_packing_of(const void *begin, size_t len)
{
	const unsigned char *magic = begin;
	static const unsigned char gzip[] = { 0x1f, 0x8b }, xz[] = { 0xfd, '7', 'z', 'X', 'Z', 0 },
				   zstd[] = { 0x28, 0xb5, 0x2f, 0xfd },
				   skippable[] = { 0x2a, 0x4d, 0x18 }; /* behind 0x50 to 0x5f */

	if (len >= sizeof(gzip) && !memcmp(magic, gzip, sizeof(gzip)))
		return SYMCACHE_GZIP;
	if (len >= sizeof(xz) && !memcmp(magic, xz, sizeof(xz)))
		return SYMCACHE_XZ;
	if (len >= sizeof(zstd) &&
	    (!memcmp(magic, zstd, sizeof(zstd)) ||
	     ((magic[0] & 0xf0) == 0x50 && !memcmp(magic + 1, skippable, sizeof(skippable)))))
		return SYMCACHE_ZSTD;
	return SYMCACHE_PLAIN;
}

/* ---- gzip ----------------------------------------------------------------------------- */

/* 1: the stream has ended. SC_EFORMAT, SC_ENOMEM. */
static int by_zlib(struct symcache_inflate *d, struct symcache_inflate_step *step)
{
	const size_t in_size = step->in_len, out_size = step->out_len;
	int rc;

	d->gzip.next_in = (unsigned char *)(uintptr_t)step->in;
	d->gzip.avail_in = (unsigned)in_size;
	d->gzip.next_out = step->out;
	d->gzip.avail_out = (unsigned)out_size;
	rc = inflate(&d->gzip, Z_NO_FLUSH);
	step->in_len = in_size - d->gzip.avail_in;
	step->out_len = out_size - d->gzip.avail_out;
	return rc == Z_STREAM_END ? 1 : rc == Z_MEM_ERROR ? SC_ENOMEM :
	       rc == Z_OK || rc == Z_BUF_ERROR ? 0 : SC_EFORMAT;
}

#ifdef WITH_ISAL

/* The same, three times as fast on text. */
static int by_isal(struct symcache_inflate *d, struct symcache_inflate_step *step)
{
	struct inflate_state *z = d->isal;
	const size_t in_size = step->in_len, out_size = step->out_len;
	int rc;

	z->next_in = (uint8_t *)(uintptr_t)step->in;
	z->avail_in = (uint32_t)in_size;
	z->next_out = step->out;
	z->avail_out = (uint32_t)out_size;
	rc = isal_inflate(z);
	step->in_len = in_size - z->avail_in;
	step->out_len = out_size - z->avail_out;
	return rc < 0 || rc == ISAL_NEED_DICT ? SC_EFORMAT : z->block_state == ISAL_BLOCK_FINISH;
}

/* May ISA-L have the stream that begins so? It gets checksums of headers (2) wrong, takes methods
 * and flags that there are not, and forgets the flags of a header that comes in parts. */
static bool is_for_isal(const unsigned char *begin, size_t len)
{
	enum { TEXT = 1, EXTRA = 4, NAME = 8, COMMENT = 16, FIXED = 10 };
	const unsigned flags = len > FIXED ? begin[3] : 0;
	const unsigned char *at = begin + FIXED, *end = begin + len;

	if (len <= FIXED || begin[2] != 8 || flags & ~(unsigned)(TEXT | EXTRA | NAME | COMMENT))
		return false;
	if (flags & EXTRA) {
		if (end - at < 2 || end - at - 2 < (at[0] | at[1] << 8))
			return false;
		at += 2 + (at[0] | at[1] << 8);
	}
	for (int texts = !!(flags & NAME) + !!(flags & COMMENT); texts && at; texts--) {
		at = memchr(at, 0, (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return at;
}

static int gzip_some(struct symcache_inflate *d, struct symcache_inflate_step *step)
{
	return d->fast ? by_isal(d, step) : by_zlib(d, step);
}

#else
#define gzip_some by_zlib
#endif

/* A stream that begins with begin[0, len), or as much as there is of it. False: out of memory. */
static bool gzip_begin(struct symcache_inflate *d, const void *begin, size_t len)
{
#ifdef WITH_ISAL
	d->fast = is_for_isal(begin, len);
	if (d->fast && !d->isal)
		d->isal = calloc(1, sizeof(*d->isal));
	if (d->fast && d->isal) {
		isal_inflate_init(d->isal);
		d->isal->crc_flag = ISAL_GZIP;
	}
	if (d->fast)
		return d->isal;
#endif
	(void)begin;
	(void)len;
	if (d->has_zlib)
		return inflateReset(&d->gzip) == Z_OK;
	return d->has_zlib = inflateInit2(&d->gzip, 15 + 16) == Z_OK;
}

static void gzip_end(struct symcache_inflate *d)
{
	if (d->has_zlib)
		inflateEnd(&d->gzip);
#ifdef WITH_ISAL
	free(d->isal);
#endif
}

/* ---- all of them ------------------------------------------------------------------------ */

static lzma_ret begin_xz(lzma_stream *xz, unsigned threads)
{
	const lzma_mt parallel = {
		.flags = LZMA_CONCATENATED, .threads = threads,
		.memlimit_threading = XZ_MEMORY_MAX, .memlimit_stop = XZ_MEMORY_MAX,
	};

	return threads > 1 ? lzma_stream_decoder_mt(xz, &parallel) :
			     lzma_stream_decoder(xz, XZ_MEMORY_MAX, LZMA_CONCATENATED);
}

int symcache_inflate_create(const void *magic, size_t len, unsigned threads,
			    struct symcache_inflate **ret, struct sc_error *err)
{
	struct symcache_inflate *d;
	const enum symcache_packing kind = symcache_packing_of(magic, len);
	bool ok = false;

	*ret = NULL;
	if (!kind)
		return 0;
	d = calloc(1, sizeof(*d));
	if (d)
		d->kind = kind;
	if (d && kind == SYMCACHE_GZIP) {
		ok = d->between = true; /* which library has it is seen when it is there */
	} else if (d && kind == SYMCACHE_XZ) {
		d->xz = (lzma_stream)LZMA_STREAM_INIT;
		ok = begin_xz(&d->xz, threads) == LZMA_OK;
	} else if (d) {
		d->zstd = ZSTD_createDStream();
		ok = d->zstd;
	}
	if (!ok) {
		free(d);
		return sc_no_memory(err);
	}
	*ret = d;
	return 0;
}

void symcache_inflate_destroy(struct symcache_inflate *d)
{
	if (!d)
		return;
	if (d->kind == SYMCACHE_GZIP)
		gzip_end(d);
	else if (d->kind == SYMCACHE_XZ)
		lzma_end(&d->xz);
	else
		ZSTD_freeDStream(d->zstd);
	free(d);
}

static int damaged(struct sc_error *err, const char *what)
{
	return sc_error_set(err, SC_EFORMAT, "%s", what);
}

/* Zeros behind a stream. */
static size_t padding(const unsigned char *in, size_t in_len)
{
	size_t n = 0;

	while (n < in_len && !in[n])
		n++;
	return n;
}

static int run_gzip(struct symcache_inflate *d, struct symcache_inflate_step *step,
		    struct sc_error *err)
{
	size_t zeros;
	int rc = 0;

	if (d->between && step->in_len) {
		zeros = padding(step->in, step->in_len);
		if (zeros) {
			step->in_len = zeros;
			step->out_len = 0;
			return 0;
		}
		if (!gzip_begin(d, step->in, step->in_len))
			return sc_no_memory(err);
		d->between = false;
	}
	if (d->between)
		step->in_len = step->out_len = 0;
	else
		rc = gzip_some(d, step);
	if (rc < 0)
		return rc == SC_ENOMEM ? sc_no_memory(err) : damaged(err, "gzip: damaged");
	d->between |= rc > 0;
	if (step->end && !d->between && !step->in_len && !step->out_len)
		return damaged(err, "gzip: the file is cut off");
	return 0;
}

static int run_xz(struct symcache_inflate *d, struct symcache_inflate_step *step,
		  struct sc_error *err)
{
	const size_t in_size = step->in_len, out_size = step->out_len;
	lzma_ret rc = LZMA_OK;

	d->xz.next_in = step->in;
	d->xz.avail_in = in_size;
	d->xz.next_out = step->out;
	d->xz.avail_out = out_size;
	/* At the end, what comes to nothing is LZMA_OK the first time. */
	for (int tries = step->end ? 2 : 1; !d->over && tries && rc == LZMA_OK &&
	     d->xz.avail_in == in_size && d->xz.avail_out == out_size; tries--)
		rc = lzma_code(&d->xz, step->end ? LZMA_FINISH : LZMA_RUN);
	step->in_len = in_size - d->xz.avail_in;
	step->out_len = out_size - d->xz.avail_out;
	switch (rc) {
	case LZMA_STREAM_END:
		d->over = true;
		return 0;
	case LZMA_OK:
		return 0;
	case LZMA_BUF_ERROR:
		return step->end && !step->in_len && !step->out_len ?
			damaged(err, "xz: the file is cut off") : 0;
	case LZMA_MEMLIMIT_ERROR:
		return sc_error_set(err, SC_ELIMIT, "xz: it wants more than %u MiB of memory",
				    XZ_MEMORY_MAX >> 20);
	case LZMA_MEM_ERROR:
		return sc_no_memory(err);
	default:
		return damaged(err, "xz: damaged");
	}
}

static int run_zstd(struct symcache_inflate *d, struct symcache_inflate_step *step,
		    struct sc_error *err)
{
	ZSTD_inBuffer from = { step->in, step->in_len, 0 };
	ZSTD_outBuffer to = { step->out, step->out_len, 0 };
	size_t rc = 0;

	if (!d->between || step->in_len) {
		rc = ZSTD_decompressStream(d->zstd, &to, &from);
		if (ZSTD_isError(rc))
			return sc_error_set(err, SC_EFORMAT, "zstd: %s", ZSTD_getErrorName(rc));
		d->between = !rc;
	}
	step->in_len = from.pos;
	step->out_len = to.pos;
	if (step->end && !d->between && !step->in_len && !step->out_len)
		return damaged(err, "zstd: the file is cut off");
	return 0;
}

int symcache_inflate_run(struct symcache_inflate *d, struct symcache_inflate_step *step,
			 struct sc_error *err)
{
	switch (d->kind) {
	case SYMCACHE_GZIP:
		return run_gzip(d, step, err);
	case SYMCACHE_XZ:
		return run_xz(d, step, err);
	default:
		return run_zstd(d, step, err);
	}
}
