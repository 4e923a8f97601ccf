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

/* What an xz stream may want for its dictionary; xz -9 wants 65 MiB. (Of zstd the
 * library itself allows 128 MiB.) */
#define XZ_MEMORY_MAX (512u << 20)

struct symcache_inflate {
	enum symcache_packing kind;
	z_stream gzip;
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
		ok = inflateInit2(&d->gzip, 15 + 16) == Z_OK;
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
		inflateEnd(&d->gzip);
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

/* Zeros behind a stream: takes them. */
static bool padding(const unsigned char *in, size_t *in_len)
{
	size_t n = 0;

	while (n < *in_len && !in[n])
		n++;
	*in_len = n;
	return n;
}

static int run_gzip(struct symcache_inflate *d, struct symcache_inflate_step *step,
		    struct sc_error *err)
{
	const size_t in_size = step->in_len, out_size = step->out_len;
	int rc = Z_OK;

	d->gzip.next_in = (unsigned char *)step->in;
	d->gzip.avail_in = (unsigned)in_size;
	d->gzip.next_out = step->out;
	d->gzip.avail_out = (unsigned)out_size;
	if (d->between && in_size) {
		step->out_len = 0;
		if (padding(step->in, &step->in_len))
			return 0;
		if (inflateReset(&d->gzip) != Z_OK)
			return damaged(err, "gzip: cannot go on");
		d->between = false;
	}
	if (!d->between)
		rc = inflate(&d->gzip, Z_NO_FLUSH);
	step->in_len = in_size - d->gzip.avail_in;
	step->out_len = out_size - d->gzip.avail_out;
	if (rc == Z_STREAM_END)
		d->between = true;
	else if (rc == Z_MEM_ERROR)
		return sc_no_memory(err);
	else if (rc != Z_OK && rc != Z_BUF_ERROR)
		return damaged(err, d->gzip.msg ? d->gzip.msg : "gzip: damaged");
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
		return step->end && !step->in_len && !step->out_len && out_size
			       ? damaged(err, "xz: the file is cut off") : 0;
	case LZMA_MEMLIMIT_ERROR:
		return sc_error_set(err, SC_ENOMEM, "xz: it wants more than %u MiB of memory",
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
