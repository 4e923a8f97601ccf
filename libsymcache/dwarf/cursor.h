/*
 * Reads numbers and strings from a section that may be cut off or hostile.
 *
 * Invariant: p never passes end. A read past the end returns 0 (or "") and
 * sets `bad`, which stays set: parse a whole entry, then test once.
 */
#ifndef DW_CURSOR_H
#define DW_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes of one section, inflated and relocated. */
struct dw_section {
	const uint8_t *data;
	size_t size;
};

struct dw_cursor {
	const uint8_t *p, *end;
	bool swap;  /* the bytes are in the other byte order than ours */
	bool bad;
};

static inline struct dw_cursor dw_cursor_at(const struct dw_section *s, uint64_t offset, bool swap)
{
	bool in = offset <= s->size;
	return (struct dw_cursor){
		.p = s->data ? s->data + (in ? offset : s->size) : NULL,
		.end = s->data ? s->data + s->size : NULL,
		.swap = swap,
		.bad = !in,
	};
}

static inline size_t dw_left(const struct dw_cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline bool dw_need(struct dw_cursor *c, uint64_t n)
{
	if (n <= dw_left(c))
		return true;
	c->bad = true;
	c->p = c->end;
	return false;
}

static inline void dw_skip(struct dw_cursor *c, uint64_t n)
{
	if (dw_need(c, n))
		c->p += n;
}

static inline uint8_t dw_u8(struct dw_cursor *c)
{
	return dw_need(c, 1) ? *c->p++ : 0;
}

#define DW_READ_FIXED(name, type, bswap)              \
	static inline type name(struct dw_cursor *c)  \
	{                                             \
		type v;                               \
		if (!dw_need(c, sizeof(v)))           \
			return 0;                     \
		memcpy(&v, c->p, sizeof(v));          \
		c->p += sizeof(v);                    \
		return c->swap ? bswap(v) : v;        \
	}
DW_READ_FIXED(dw_u16, uint16_t, __builtin_bswap16)
DW_READ_FIXED(dw_u32, uint32_t, __builtin_bswap32)
DW_READ_FIXED(dw_u64, uint64_t, __builtin_bswap64)
#undef DW_READ_FIXED

static inline uint32_t dw_u24(struct dw_cursor *c)
{
	uint32_t a = dw_u8(c), b = dw_u8(c), d = dw_u8(c);
	return c->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ?
		a << 16 | b << 8 | d : a | b << 8 | d << 16;
}

/* An unsigned number of 1, 2, 4 or 8 bytes; other sizes are bad. */
static inline uint64_t dw_uint(struct dw_cursor *c, unsigned size)
{
	switch (size) {
	case 1: return dw_u8(c);
	case 2: return dw_u16(c);
	case 4: return dw_u32(c);
	case 8: return dw_u64(c);
	}
	c->bad = true;
	return 0;
}

/* Unsigned LEB128. Bits past the 64th are dropped. */
static inline uint64_t dw_uleb(struct dw_cursor *c)
{
	uint64_t v;
	unsigned shift = 7;

	if (!dw_need(c, 1))
		return 0;
	v = *c->p++;
	if (v < 0x80)
		return v;
	v &= 0x7f;
	if (c->p < c->end && *c->p < 0x80)
		return v | (uint64_t)*c->p++ << 7;
	while (c->p < c->end) {
		uint8_t b = *c->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (b < 0x80)
			return v;
	}
	c->bad = true;
	return 0;
}

/* Signed LEB128. */
static inline int64_t dw_sleb(struct dw_cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;

	while (c->p < c->end) {
		uint8_t b = *c->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (b < 0x80) {
			if (shift < 64 && (b & 0x40))
				v |= ~(uint64_t)0 << shift;
			return (int64_t)v;
		}
	}
	c->bad = true;
	return 0;
}

/* A NUL-terminated string in the section; "" and bad if it is not terminated. */
static inline const char *dw_str(struct dw_cursor *c)
{
	const uint8_t *s = c->p, *nul = dw_left(c) ? memchr(s, 0, dw_left(c)) : NULL;

	if (!nul) {
		c->bad = true;
		c->p = c->end;
		return "";
	}
	c->p = nul + 1;
	return (const char *)s;
}

/* Takes the bytes read since `from` off those left to be read, but no more than are left. */
static inline void dw_spend(uint64_t *left, const uint8_t *from, const struct dw_cursor *c)
{
	uint64_t bytes = (uint64_t)(c->p - from);

	*left -= bytes < *left ? bytes : *left;
}

/* Cuts a string section off behind its last NUL, so that every string in it is
 * terminated. */
static inline void dw_section_end_with_nul(struct dw_section *s)
{
	while (s->size && s->data[s->size - 1])
		s->size--;
}

/* The string at `offset` of a section that ends with NUL, or NULL. */
static inline const char *dw_str_at(const struct dw_section *s, uint64_t offset)
{
	return offset < s->size ? (const char *)s->data + offset : NULL;
}

/* An initial length: sets *offset_size to 4 or 8 (DWARF 7.4). */
static inline uint64_t dw_initial_length(struct dw_cursor *c, unsigned *offset_size)
{
	uint64_t len = dw_u32(c);

	*offset_size = 4;
	if (len == 0xffffffff) {
		*offset_size = 8;
		return dw_u64(c);
	}
	if (len >= 0xfffffff0)
		c->bad = true;
	return len;
}

#endif
