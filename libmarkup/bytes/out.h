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

#include "libmarkup/bytes/number.h"
#include "libmarkup/markup.h"

/* All zero: an empty one that grows. */
struct mk_out {
	char *buf;
	size_t len, cap;
	int (*write)(void *ctx, const char *data, size_t len); /* NULL: grow */
	void *write_ctx;
	int error; /* 0, -EIO or -ENOMEM */
};

/* A buffer of `cap` bytes, FMT_MAX at least, in front of `write`; grows if `write` is NULL. */
int mk_out_init(struct mk_out *o, size_t cap,
		int (*write)(void *ctx, const char *data, size_t len), void *write_ctx);
void mk_out_deinit(struct mk_out *o);

/* Hands all to the sink. */
void mk_out_flush(struct mk_out *o);

/* What has grown, with a NUL behind it, on the heap; the buffer is empty then. NULL: no
 * memory, also at an earlier time. */
char *mk_out_take(struct mk_out *o);

/* What mk_out_put() and mk_out_room() do when the buffer is full. */
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

/* mk_out_put() of bytes of which 32 may be read, however few they are (SC_PADDED). */
static inline void mk_out_put_padded(struct mk_out *o, const char *p, size_t n)
{
	char *to = mk_out_room(o, n + 32);

	if (__builtin_expect(!to || n > 32, 0)) {
		mk_out_put(o, p, n);
		return;
	}
	memcpy(to, p, 32);
	o->len += n;
}

static inline void mk_out_str(struct mk_out *o, struct sc_str s)
{
	mk_out_put(o, s.ptr, s.len);
}

#define mk_out_lit(o, literal) mk_out_put((o), (literal), sizeof(literal) - 1)

static inline void mk_out_char(struct mk_out *o, char c)
{
	mk_out_put(o, &c, 1);
}

void mk_out_spaces(struct mk_out *o, size_t n);

void mk_out_dec(struct mk_out *o, uint64_t v);
void mk_out_signed(struct mk_out *o, int64_t v);
void mk_out_hex(struct mk_out *o, uint64_t v);
void mk_out_addr(struct mk_out *o, uint64_t v);
/* Bytes as hex digits, lower case, without 0x. */
void mk_out_bytes(struct mk_out *o, const uint8_t *p, size_t n);
/* For a terminal: "\x1b" for each byte that may not be shown (sc_printable()). */
void mk_out_shown(struct mk_out *o, struct sc_str s);
void mk_out_printf(struct mk_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Up to nine at once, each by its type:
 *
 *   mk_put(o, "module #", mk_hex(m->id), " \"", m->name, "\"");
 *
 * text, struct sc_str, numbers in decimal, and what mk_hex(), mk_addr(), mk_as(),
 * mk_shown() of a text and mk_shown_str() of a struct sc_str make.
 */
struct mk_hex { uint64_t v; };
struct mk_addr { uint64_t v; };
struct mk_as { void (*put)(struct mk_out *o, struct sc_str s); struct sc_str s; };

#define mk_hex(n) ((struct mk_hex){ n })
#define mk_addr(n) ((struct mk_addr){ n })
#define mk_as(fn, text) ((struct mk_as){ fn, text })
#define mk_shown(text) mk_as(mk_out_shown, sc_str_of(text))
#define mk_shown_str(s) mk_as(mk_out_shown, s)

static inline void mk_put_text_(struct mk_out *o, const char *s) { mk_out_put(o, s, strlen(s)); }
static inline void mk_put_hex_(struct mk_out *o, struct mk_hex n) { mk_out_hex(o, n.v); }
static inline void mk_put_addr_(struct mk_out *o, struct mk_addr n) { mk_out_addr(o, n.v); }
static inline void mk_put_as_(struct mk_out *o, struct mk_as x) { x.put(o, x.s); }

#define MK_PUT(o, x) _Generic((x), char *: mk_put_text_, const char *: mk_put_text_, \
	struct sc_str: mk_out_str, unsigned: mk_out_dec, unsigned long: mk_out_dec, \
	unsigned long long: mk_out_dec, long: mk_out_signed, struct mk_hex: mk_put_hex_, \
	struct mk_addr: mk_put_addr_, struct mk_as: mk_put_as_)(o, x)
#define mk_put(o, ...) MK_EACH(MK_PUT, o, __VA_ARGS__)

/* put(o, x) for each x. */
#define MK_1(put, o, x) put(o, x)
#define MK_2(put, o, x, ...) (put(o, x), MK_1(put, o, __VA_ARGS__))
#define MK_3(put, o, x, ...) (put(o, x), MK_2(put, o, __VA_ARGS__))
#define MK_4(put, o, x, ...) (put(o, x), MK_3(put, o, __VA_ARGS__))
#define MK_5(put, o, x, ...) (put(o, x), MK_4(put, o, __VA_ARGS__))
#define MK_6(put, o, x, ...) (put(o, x), MK_5(put, o, __VA_ARGS__))
#define MK_7(put, o, x, ...) (put(o, x), MK_6(put, o, __VA_ARGS__))
#define MK_8(put, o, x, ...) (put(o, x), MK_7(put, o, __VA_ARGS__))
#define MK_9(put, o, x, ...) (put(o, x), MK_8(put, o, __VA_ARGS__))
#define MK_TENTH(a, b, c, d, e, f, g, h, i, name, ...) name
#define MK_EACH(put, o, ...) MK_TENTH(__VA_ARGS__, MK_9, MK_8, MK_7, MK_6, MK_5, MK_4, MK_3, \
				      MK_2, MK_1)(put, o, __VA_ARGS__)

/* Highlighting of a text, as the filter has it for values: green. */
#define MK_VALUE_ON "\033[0;32m"
#define MK_VALUE_OFF "\033[0m"

#endif
