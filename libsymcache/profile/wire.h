/*
 * wire.h: protobuf at the level of its wire: fields in the order of the bytes.
 *
 * No library of Debian's copies what it does not know byte for byte, which is what a profile
 * needs: so a message is a list of fields, each of which can be looked into, copied as it lies,
 * or replaced. Of what is read, everything is checked; a fault keeps its offset.
 */
#ifndef SC_PROFILE_WIRE_H
#define SC_PROFILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/vec.h"

enum { PROF_VARINT = 0, PROF_FIXED64 = 1, PROF_BYTES = 2, PROF_FIXED32 = 5 };

/* A message that is being read. */
struct prof_wire {
	const uint8_t *at, *end;
	const uint8_t *bad;   /* where it is malformed; NULL: nowhere so far */
	const char *why;      /* in a few words */
};

struct prof_field {
	uint64_t number;      /* of the field, not 0 */
	unsigned type;        /* PROF_… */
	uint64_t value;       /* of a number; its bits */
	const uint8_t *bytes; /* PROF_BYTES: the value, len bytes */
	size_t len;
	const uint8_t *from;  /* the field as it lies, with its tag, up to wire.at */
};

static inline struct prof_wire prof_wire_of(const uint8_t *bytes, size_t len)
{
	/* Nothing has no address to count from. */
	return (struct prof_wire){ .at = bytes, .end = len ? bytes + len : bytes };
}

static inline struct prof_wire prof_wire_in(const struct prof_field *f)
{
	return prof_wire_of(f->bytes, f->len);
}

/* The next field; false: the end, or w->bad. */
bool prof_wire_next(struct prof_wire *w, struct prof_field *ret);

/* The next field of this number that is bytes: a message, a string. */
static inline bool prof_wire_find(struct prof_wire *w, unsigned number, struct prof_field *ret)
{
	while (prof_wire_next(w, ret))
		if (ret->number == number && ret->type == PROF_BYTES)
			return true;
	return false;
}

/* Is it a number with this number? */
static inline bool prof_is_number(const struct prof_field *f, unsigned number)
{
	return f->number == number && f->type == PROF_VARINT;
}

/* The next number of a packed list, which w is; false: the end, or w->bad. */
bool prof_wire_number(struct prof_wire *w, uint64_t *ret);

/* The numbers of a repeated field, of which f is one occurrence, packed or not: calls of
 * prof_list_next() give them. */
struct prof_list {
	struct prof_wire w;
	uint64_t single;
	bool one;
};

static inline struct prof_list prof_list_of(const struct prof_field *f)
{
	if (f->type == PROF_BYTES)
		return (struct prof_list){ .w = prof_wire_in(f) };
	return (struct prof_list){ .single = f->value, .one = f->type == PROF_VARINT };
}

static inline bool prof_list_next(struct prof_list *l, uint64_t *ret)
{
	if (l->one) {
		*ret = l->single;
		l->one = false;
		return true;
	}
	return l->w.at < l->w.end && prof_wire_number(&l->w, ret);
}

/* ---- writing ------------------------------------------------------------------------- */

/* Bytes that grow. `failed`: out of memory at some time; what is there is of no use. */
struct prof_bytes {
	VEC(uint8_t) v;
	bool failed;
};

static inline void prof_bytes_clear(struct prof_bytes *b)
{
	vec_clear(&b->v);
	b->failed = false;
}

static inline void prof_bytes_deinit(struct prof_bytes *b)
{
	vec_deinit(&b->v);
}

void prof_put(struct prof_bytes *to, const void *bytes, size_t len);
void prof_put_varint(struct prof_bytes *to, uint64_t value);

/* A field that is a number; 0 is left out, as proto3 has it. */
void prof_put_number(struct prof_bytes *to, unsigned number, uint64_t value);

/* A field that is a packed list of numbers, also if there are none. */
void prof_put_list(struct prof_bytes *to, unsigned number, const uint64_t values[], size_t n);

/* A field of bytes, also if there are none. */
void prof_put_bytes(struct prof_bytes *to, unsigned number, const void *bytes, size_t len);

/* How many bytes a number takes. */
static inline size_t prof_varint_size(uint64_t value)
{
	return (size_t)(64 - __builtin_clzll(value | 1) + 6) / 7;
}

#endif
