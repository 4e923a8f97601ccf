/*
 * out.h: where text is put together: a buffer in front of the sink, or, with
 * no sink, one that grows in memory.
 *
 * Everything is appended with the inline functions below; none of them can
 * fail. An error (the sink's, or no memory) sticks in `error` and makes the
 * rest vanish; whoever hands control back to the caller looks at it.
 */
#ifndef MARKUP_OUT_H
#define MARKUP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libmarkup/markup.h"

struct mk_out {
	char *buf;
	size_t len, cap;
	int (*write)(void *ctx, const char *data, size_t len); /* NULL: grow */
	void *write_ctx;
	int error; /* 0, -EIO or -ENOMEM */
};

/* A buffer of `cap` bytes in front of `write`; grows if `write` is NULL. */
int mk_out_init(struct mk_out *o, size_t cap,
		int (*write)(void *ctx, const char *data, size_t len), void *write_ctx);
void mk_out_deinit(struct mk_out *o);

/* Hands all to the sink. */
void mk_out_flush(struct mk_out *o);

/* What mk_out_put() and out_room() do when the buffer is full. */
void mk_out_put_slow(struct mk_out *o, const char *p, size_t n);

static inline void mk_out_put(struct mk_out *o, const char *p, size_t n)
{
	if (__builtin_expect(n > o->cap - o->len, 0)) {
		mk_out_put_slow(o, p, n);
		return;
	}
	if (n) /* p may be NULL then */
		memcpy(o->buf + o->len, p, n);
	o->len += n;
}

char *mk_out_room_slow(struct mk_out *o, size_t n);

/* Where up to `n` bytes may be written; then say how many with mk_out_used().
 * NULL: not so many at once, or no memory. */
static inline char *mk_out_room(struct mk_out *o, size_t n)
{
	return n <= o->cap - o->len ? o->buf + o->len : mk_out_room_slow(o, n);
}

static inline void mk_out_used(struct mk_out *o, const char *end)
{
	o->len = (size_t)(end - o->buf);
}

static inline void mk_out_str(struct mk_out *o, struct markup_str s)
{
	mk_out_put(o, s.ptr, s.len);
}

#define mk_out_lit(o, literal) mk_out_put((o), (literal), sizeof(literal) - 1)

static inline void mk_out_char(struct mk_out *o, char c)
{
	mk_out_put(o, &c, 1);
}

void mk_out_spaces(struct mk_out *o, size_t n);

/* The fmt_… functions return the length; what they write beyond it, up to FMT_MAX,
 * means nothing. */
#define FMT_MAX 24

/* Decimal. */
size_t mk_fmt_dec(char buf[FMT_MAX], uint64_t v);
/* 0x and as many hex digits as needed, lower case. */
size_t mk_fmt_hex(char buf[FMT_MAX], uint64_t v);
/* 0x and 16 hex digits. */
size_t mk_fmt_addr(char buf[FMT_MAX], uint64_t v);

void mk_out_dec(struct mk_out *o, uint64_t v);
void mk_out_hex(struct mk_out *o, uint64_t v);
void mk_out_addr(struct mk_out *o, uint64_t v);
/* Bytes as hex digits, lower case, without 0x. */
void mk_out_bytes(struct mk_out *o, const uint8_t *p, size_t n);

#endif
