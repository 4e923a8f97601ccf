/* packing.h: profiles behind gzip, xz and zstd, and into gzip. */
#ifndef SC_PROFILE_PACKING_H
#define SC_PROFILE_PACKING_H

#include "libsymcache/archive/inflate.h"
#include "libsymcache/profile/out.h"

#define PROF_UNPACKED_MAX ((uint64_t)4 << 30)

/* All zero: none yet. What is in it serves for the next profile. */
struct prof_packing {
	struct prof_bytes unpacked, packed;
	struct libdeflate_compressor *compressor;
	struct iovec piece;
};

void prof_packing_deinit(struct prof_packing *p);

/* What is in bytes[0, size): itself, if it is plain; valid as long as both. SC_EFORMAT: damaged;
 * SC_ELIMIT: more than 4 GiB; SC_ENOMEM. */
int prof_unpack(struct prof_packing *p, const uint8_t **bytes, size_t *size,
		enum symcache_packing *was, struct sc_error *err);

/* Unpacks *size bytes behind what is in `to`, until nothing more comes; *size is how many it took
 * then. `last`: no more bytes follow. Errors as of prof_unpack(). */
int prof_inflate(struct symcache_inflate *d, struct prof_bytes *to, const uint8_t *bytes,
		 size_t *size, bool last, struct sc_error *err);

/* One gzip member of what was written with out->in_one, the same bytes for the same input:
 * p->piece. SC_ENOMEM. */
int prof_pack(struct prof_packing *p, const struct prof_out *out, struct sc_error *err);

#endif
