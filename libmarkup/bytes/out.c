/*
 * Output buffer: see out.h.
 */
#include "libmarkup/bytes/out.h"

#include <errno.h>
#include <stdlib.h>

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

void mk_out_put_slow(struct mk_out *o, const char *p, size_t n)
{
	if (o->write) {
		mk_out_flush(o);
		if (n >= o->cap / 4) {
			write_through(o, p, n);
			return;
		}
	} else if (!o->error) {
		size_t cap = o->cap * 2;
		while (cap - o->len < n)
			cap *= 2;
		char *buf = realloc(o->buf, cap);
		if (buf) {
			o->buf = buf;
			o->cap = cap;
		} else {
			o->error = -ENOMEM;
		}
	}
	if (n <= o->cap - o->len) {
		memcpy(o->buf + o->len, p, n);
		o->len += n;
	}
}

char *mk_out_room_slow(struct mk_out *o, size_t n)
{
	if (o->write) {
		mk_out_flush(o);
		return n <= o->cap ? o->buf : NULL;
	}
	/* Grow by way of putting something there, which is taken back. */
	const size_t len = o->len;
	for (size_t left = n; left && !o->error;) {
		static const char blank[256];
		size_t some = left < sizeof(blank) ? left : sizeof(blank);
		mk_out_put(o, blank, some);
		left -= some;
	}
	o->len = len;
	return n <= o->cap - len ? o->buf + len : NULL;
}

void mk_out_spaces(struct mk_out *o, size_t n)
{
	for (; n; n--)
		mk_out_char(o, ' ');
}

void mk_out_dec(struct mk_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_out_put(o, buf, mk_fmt_dec(buf, v));
}

void mk_out_hex(struct mk_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_out_put(o, buf, mk_fmt_hex(buf, v));
}

void mk_out_addr(struct mk_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_out_put(o, buf, mk_fmt_addr(buf, v));
}

void mk_out_bytes(struct mk_out *o, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char pair[2] = { hex_digits[p[i] >> 4], hex_digits[p[i] & 15] };
		mk_out_put(o, pair, 2);
	}
}
