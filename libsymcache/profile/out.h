/*
 * out.h: what is written: long runs of the input as they lie, and new bytes between them.
 *
 * Invariant: never more than `limit` bytes; what goes beyond is not kept, and `over` says so.
 */
#ifndef SC_PROFILE_OUT_H
#define SC_PROFILE_OUT_H

#include <sys/uio.h>

#include "libsymcache/base/error.h"
#include "libsymcache/profile/wire.h"

struct prof_piece {
	const uint8_t *from; /* of the input; NULL: of `own`, from `at` on */
	size_t at, len;
};

struct prof_out {
	struct prof_bytes own;
	VEC(struct prof_piece) pieces;
	VEC(struct iovec) vecs;
	const uint8_t *from, *to; /* of the input, to be written next */
	size_t taken;             /* of `own`, by pieces */
	size_t size, limit;       /* of pieces and `own` */
	bool over;
	bool in_one;              /* set by the owner: nothing stays in the input, all is one piece */
};

/* Forgets all; at most 64 times what came in and 64 MiB may be written. */
void prof_out_begin(struct prof_out *o, size_t input);
void prof_out_deinit(struct prof_out *o);

/* Bytes of the input, which stays as long as the output. */
void prof_out_input(struct prof_out *o, const uint8_t *from, const uint8_t *to);

/* To write new bytes behind all that was written. */
struct prof_bytes *prof_out_own(struct prof_out *o);

/* SC_ELIMIT: it would be too large. */
int prof_out_too_large(const struct prof_out *o, struct sc_error *err);

/* Afterwards o->vecs is the output, of o->size bytes. SC_ENOMEM, SC_ELIMIT. */
int prof_out_end(struct prof_out *o, struct sc_error *err);

#endif
