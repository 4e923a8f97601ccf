/*
 * coder.h: the streams, and numbers in them.
 *
 * Packing and unpacking run the same code: each of the functions below codes a field, which is
 * put into a stream, or comes from it, as the constant `packing` says. Whoever calls them passes
 * it on, always inlined, so that each direction is compiled by itself.
 *
 * A fault is kept, with stream and offset, and what is read then is 0: loops test for it.
 */
#ifndef PACKED_CODER_H
#define PACKED_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libsymcache/base/error.h"

#define INLINE static inline __attribute__((always_inline))

/* In the order in which they lie in a file. */
#define PACKED_STREAMS(X) \
	X(HEAD) X(RAW) X(WORDS) X(PREFIX) X(TEXT) X(BASE) X(AFFIX) \
	X(OP) X(LENGTH) X(LAST) X(GAP) X(INTO) X(OUTER) X(RANK) \
	X(CALLEE) X(CALLEE_NEW) X(CALLEE_AGAIN) X(RECENT) X(FUNCTION) \
	X(HIT) X(FILE) X(LINE) X(COLUMN) X(COLUMN_NEW) X(DISC) \
	X(DECL_FILE) X(DECL_LINE) X(NAME) X(LANG) X(ENTRY) X(PATH) \
	X(DISX) X(START) X(INLX) X(INLX_VALUE) X(LOCAL_RANGE) X(LOCAL_FIRST) X(LOCAL_COUNT) X(LOCAL_ORDER) \
	X(TABLE_STRING) X(TABLE_FILE) \
	X(SYMBOL) X(SYMBOL_SIZE) X(SYMBOL_NAME) X(SYMBOL_FILE) X(ROW) \
	X(START_00) X(START_01) X(START_02) X(START_03) X(START_10) X(START_11) X(START_12) X(START_13) \
	X(START_20) X(START_21) X(START_22) X(START_23) X(START_30) X(START_31) X(START_32) X(START_33)

enum stream_id {
#define STREAM_NUMBER_(name) S_##name,
	PACKED_STREAMS(STREAM_NUMBER_)
#undef STREAM_NUMBER_
	NUM_STREAMS
};

struct stream {
	uint8_t *at, *end; /* the next byte, and the end: of the bytes, when packing of the room */
	uint8_t *base;
};

enum { STREAM_PAD = 8, CODER_BLOCKS = 24 };

struct coder {
	struct stream streams[NUM_STREAMS];
	bool bad;
	struct sc_error *err;  /* what is bad */
	size_t left;           /* bytes of memory that may still be taken */
	struct { void *at; size_t size; } blocks[CODER_BLOCKS];
};

const char *coder_name(enum stream_id s);

/* The first fault, where stream `s` stands. */
void coder_fail(struct coder *k, enum stream_id s, const char *what) __attribute__((cold));

/* `n` zeroed records of `size` bytes each, until coder_drop(). NULL, and bad: no memory. */
void *coder_take(struct coder *k, size_t n, size_t size);
/* Makes a block `bytes` long, more than it is; NULL: a new one. What is added is not zeroed. */
void *coder_enlarge(struct coder *k, void *block, size_t bytes);
void coder_drop(struct coder *k, void *block); /* NULL is fine */
void coder_deinit(struct coder *k);

/* Room for `more` bytes in a stream that is packed: false, and bad: out of memory. */
bool coder_grow(struct coder *k, enum stream_id s, size_t more);

/* ---- numbers ----------------------------------------------------------------------- */

enum { NUM_1 = 0xe0, NUM_2 = 0x1800, NUM_3 = 0x70000 }; /* how many numbers take 1, 2, 3 bytes */

INLINE void coder_put(struct coder *k, enum stream_id s, uint64_t v)
{
	struct stream *t = &k->streams[s];

	if (__builtin_expect(t->end - t->at < 6, 0) && !coder_grow(k, s, 6))
		return;
	if (__builtin_expect(v < NUM_1, 1)) {
		*t->at++ = (uint8_t)v;
	} else if (v < NUM_1 + NUM_2) {
		v -= NUM_1;
		*t->at++ = (uint8_t)(0xe0 + (v >> 8));
		*t->at++ = (uint8_t)v;
	} else if (v < NUM_1 + NUM_2 + NUM_3) {
		v -= NUM_1 + NUM_2;
		*t->at++ = (uint8_t)(0xf8 + (v >> 16));
		*t->at++ = (uint8_t)(v >> 8);
		*t->at++ = (uint8_t)v;
	} else {
		*t->at++ = 0xff;
		for (int i = 0; i < 5; i++)
			*t->at++ = (uint8_t)(v >> (8 * i));
	}
}

INLINE uint64_t coder_get(struct coder *k, enum stream_id s)
{
	struct stream *t = &k->streams[s];
	uint64_t v = 0;

	/* STREAM_PAD bytes are behind the end. */
	if (__builtin_expect(t->at >= t->end, 0)) {
		coder_fail(k, s, "it ends early");
		return 0;
	}
	v = *t->at++;
	if (__builtin_expect(v < 0xe0, 1))
		return v;
	if (v < 0xf8) {
		v = ((v - 0xe0) << 8 | t->at[0]) + NUM_1;
		t->at += 1;
	} else if (v < 0xff) {
		v = ((v - 0xf8) << 16 | (uint64_t)t->at[0] << 8 | t->at[1]) + NUM_1 + NUM_2;
		t->at += 2;
	} else {
		v = 0;
		for (int i = 0; i < 5; i++)
			v |= (uint64_t)t->at[i] << (8 * i);
		t->at += 5;
	}
	return v;
}

/* A number below 2^40, which is returned; `v` counts when packing. */
INLINE uint64_t code_num(struct coder *k, const bool packing, enum stream_id s, uint64_t v)
{
	if (!packing)
		return coder_get(k, s);
	coder_put(k, s, v);
	return v;
}

INLINE uint32_t zigzag(uint32_t d)
{
	return d << 1 ^ (uint32_t)((int32_t)d >> 31);
}

INLINE uint32_t unzigzag(uint32_t z)
{
	return z >> 1 ^ (0u - (z & 1));
}

/* *v as the difference to what is expected; returns it. */
INLINE uint32_t code_diff(struct coder *k, const bool packing, enum stream_id s, uint32_t *v,
			  uint32_t expected)
{
	if (packing)
		coder_put(k, s, zigzag(*v - expected));
	else
		*v = expected + unzigzag((uint32_t)coder_get(k, s));
	return *v;
}

/* *v: 0: as expected, else 1 + the difference to `base`; returns it. */
INLINE uint32_t code_or(struct coder *k, const bool packing, enum stream_id s, uint32_t *v,
			uint32_t expected, uint32_t base)
{
	if (packing) {
		coder_put(k, s, *v == expected ? 0 : 1 + (uint64_t)zigzag(*v - base));
	} else {
		const uint64_t x = coder_get(k, s);

		*v = x ? base + unzigzag((uint32_t)(x - 1)) : expected;
	}
	return *v;
}

/* p[0, n) as they are. */
INLINE void code_bytes(struct coder *k, const bool packing, enum stream_id s, void *p, size_t n)
{
	struct stream *t = &k->streams[s];

	if (!n)
		return;
	if (packing ? (size_t)(t->end - t->at) < n && !coder_grow(k, s, n) :
		      t->at > t->end || (size_t)(t->end - t->at) < n) {
		coder_fail(k, s, "it ends early");
		return;
	}
	if (packing)
		memcpy(t->at, p, n);
	else
		memcpy(p, t->at, n);
	t->at += n;
}

#endif
