/* Profiles behind compression: see packing.h. */
#include "libsymcache/profile/packing.h"

#include <libdeflate.h>

/* A third of the time of level 6, and 14 % larger. */
enum { LEVEL = 1 };

void prof_packing_deinit(struct prof_packing *p)
{
	prof_bytes_deinit(&p->unpacked);
	prof_bytes_deinit(&p->packed);
	libdeflate_free_compressor(p->compressor);
}

int prof_inflate(struct symcache_inflate *d, struct prof_bytes *to, const uint8_t *bytes,
		 size_t *size, bool last, struct sc_error *err)
{
	const size_t most = (size_t)1 << 30; /* at once */
	struct symcache_inflate_step step;
	size_t left = *size;
	int rc;

	do {

		if (!vec_reserve(&to->v, 64 << 10))
			return sc_no_memory(err);
		step = (struct symcache_inflate_step){
			bytes + (*size - left), to->v.data + to->v.len, left < most ? left : most,
			to->v.cap - to->v.len < most ? to->v.cap - to->v.len : most,
			last && left <= most,
		};
		rc = symcache_inflate_run(d, &step, err);
		left -= rc ? 0 : step.in_len;
		to->v.len += rc ? 0 : step.out_len;
		if (!rc && to->v.len > PROF_UNPACKED_MAX)
			rc = sc_error_set(err, SC_ELIMIT, "it has more than 4 GiB unpacked");
	} while (!rc && (step.in_len || step.out_len));
	*size -= left;
	return rc;
}

int prof_unpack(struct prof_packing *p, const uint8_t **bytes, size_t *size,
		enum symcache_packing *was, struct sc_error *err)
{
	struct symcache_inflate *d;
	size_t taken = *size;
	int rc = symcache_inflate_create(*bytes, *size, 1, &d, err);

	*was = symcache_packing_of(*bytes, *size);
	if (rc || !d)
		return rc ? rc : *size <= PROF_UNPACKED_MAX ? 0 :
			sc_error_set(err, SC_ELIMIT, "it has more than 4 GiB");
	vec_clear(&p->unpacked.v);
	rc = prof_inflate(d, &p->unpacked, *bytes, &taken, true, err);
	symcache_inflate_destroy(d);
	if (rc && rc != SC_ELIMIT)
		return sc_error_prefix(err, "after 0x%zx bytes: ", taken);
	if (!rc && taken < *size)
		return sc_error_set(err, SC_EFORMAT, "at 0x%zx: there is more data after the compressed data",
				    taken);
	*bytes = p->unpacked.v.data;
	*size = p->unpacked.v.len;
	return rc;
}

int prof_pack(struct prof_packing *p, const struct prof_out *out, struct sc_error *err)
{
	size_t bound;

	if (!p->compressor)
		p->compressor = libdeflate_alloc_compressor(LEVEL);
	if (!p->compressor)
		return sc_no_memory(err);
	bound = libdeflate_gzip_compress_bound(p->compressor, out->size);
	vec_clear(&p->packed.v);
	if (!vec_reserve(&p->packed.v, bound))
		return sc_no_memory(err);
	p->packed.v.len = libdeflate_gzip_compress(p->compressor, out->own.v.data, out->size,
						   p->packed.v.data, bound);
	p->piece = (struct iovec){ p->packed.v.data, p->packed.v.len };
	return 0;
}
