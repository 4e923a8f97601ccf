/*
 * Output buffer: see out.h.
 */
#include "libmarkup/bytes/out.h"

#include <errno.h>
#include <stdlib.h>

#include "libsymcache/base/error.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/utf8.h"

static const char hex_digits[] = "0123456789abcdef";

int mk_out_init(struct mk_out *o, size_t cap,
		int (*write)(void *ctx, const char *data, size_t len), void *write_ctx)
{
	*o = (struct mk_out){ .cap = cap, .write = write, .write_ctx = write_ctx };
	o->buf = malloc(cap);
	return o->buf ? 0 : -ENOMEM;
}

void mk_out_deinit(struct mk_out *o)
{
	free(o->buf);
	o->buf = NULL;
	o->len = o->cap = 0;
}

static void write_through(struct mk_out *o, const char *p, size_t n)
{
	if (n && !o->error && o->write(o->write_ctx, p, n))
		o->error = -EIO;
}

void mk_out_flush(struct mk_out *o)
{
	write_through(o, o->buf, o->len);
	o->len = 0;
}

char *mk_out_take(struct mk_out *o)
{
	char *text;

	mk_out_char(o, 0);
	text = o->error ? NULL : o->buf;
	if (o->error)
		free(o->buf);
	*o = (struct mk_out){ 0 };
	return text;
}

/* Makes room for `n` more bytes. */
static void grow(struct mk_out *o, size_t n)
{
	const size_t cap = 2 * (o->len + n) + 256;
	char *buf = o->error ? NULL : realloc(o->buf, cap);

	if (!buf) {
		if (!o->error)
			sc_memory_refused();
		o->error = -ENOMEM;
		return;
	}
	o->buf = buf;
	o->cap = cap;
}

void mk_out_put_slow(struct mk_out *o, const char *p, size_t n)
{
	char *to;

	if (o->write && n >= o->cap / 4) {
		mk_out_flush(o);
		write_through(o, p, n);
	} else if ((to = mk_out_room_slow(o, n))) {
		memcpy(to, p, n);
		o->len += n;
	}
}

char *mk_out_room_slow(struct mk_out *o, size_t n)
{
	if (o->write)
		mk_out_flush(o);
	else
		grow(o, n);
	return n <= o->cap - o->len ? o->buf + o->len : NULL;
}

void mk_out_spaces(struct mk_out *o, size_t n)
{
	for (; n; n--)
		mk_out_char(o, ' ');
}

#define NUMBER(name, make) void name(struct mk_out *o, uint64_t v) \
{ \
	char *to = mk_out_room(o, FMT_MAX); \
	if (to) \
		o->len += make(to, v); \
}
NUMBER(mk_out_dec, mk_fmt_dec)
NUMBER(mk_out_hex, mk_fmt_hex)
NUMBER(mk_out_addr, mk_fmt_addr)

void mk_out_signed(struct mk_out *o, int64_t v)
{
	if (v < 0)
		mk_out_char(o, '-');
	mk_out_dec(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void mk_out_bytes(struct mk_out *o, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char pair[2] = { hex_digits[p[i] >> 4], hex_digits[p[i] & 15] };
		mk_out_put(o, pair, 2);
	}
}

void mk_out_shown(struct mk_out *o, struct sc_str s)
{
	char some[1024];

	while (!sc_printable(s.ptr, s.len)) {
		size_t n = s.len < sizeof(some) / 4 ? s.len : sizeof(some) / 4;

		for (int i = 0; i < 3 && n < s.len && (s.ptr[n] & 0xc0) == 0x80; i++)
			n--; /* not within a character */
		mk_out_put(o, some, sc_make_printable(s.ptr, n, some));
		s = (struct sc_str){ s.ptr + n, s.len - n };
	}
	mk_out_str(o, s);
}

void mk_out_printf(struct mk_out *o, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sc_vtext(fmt, ap);
	va_end(ap);
	if (text)
		mk_out_put(o, text, strlen(text));
	else
		o->error = -ENOMEM;
	free(text);
}
