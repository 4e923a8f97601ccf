/*
 * Output buffer and numbers: see out.h. Numbers are formatted by hand: printf
 * would take most of the time of a frame whose text is remembered.
 */
#include "libmarkup/out.h"

#include <errno.h>
#include <stdlib.h>

static const char hex_digits[] = "0123456789abcdef";

int mk_out_init(struct markup_out *o, size_t cap,
		int (*write)(void *ctx, const char *data, size_t len), void *write_ctx)
{
	*o = (struct markup_out){ .cap = cap, .write = write, .write_ctx = write_ctx };
	o->buf = malloc(cap);
	return o->buf ? 0 : -ENOMEM;
}

void mk_out_deinit(struct markup_out *o)
{
	free(o->buf);
	o->buf = NULL;
	o->len = o->cap = 0;
}

static void write_through(struct markup_out *o, const char *p, size_t n)
{
	if (n && !o->error && o->write(o->write_ctx, p, n))
		o->error = -EIO;
}

void mk_out_flush(struct markup_out *o)
{
	write_through(o, o->buf, o->len);
	o->len = 0;
}

void mk_out_put_slow(struct markup_out *o, const char *p, size_t n)
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

void mk_out_spaces(struct markup_out *o, size_t n)
{
	for (; n; n--)
		mk_out_char(o, ' ');
}

size_t mk_fmt_dec(char buf[FMT_MAX], uint64_t v)
{
	char rev[FMT_MAX];
	size_t n = 0;

	do
		rev[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (size_t i = 0; i < n; i++)
		buf[i] = rev[n - 1 - i];
	return n;
}

/* 0x and exactly `digits` hex digits. */
static size_t fmt_digits(char buf[FMT_MAX], uint64_t v, size_t digits)
{
	buf[0] = '0';
	buf[1] = 'x';
	for (size_t i = digits; i; i--, v >>= 4)
		buf[1 + i] = hex_digits[v & 15];
	return 2 + digits;
}

size_t mk_fmt_hex(char buf[FMT_MAX], uint64_t v)
{
	return fmt_digits(buf, v, v ? (67 - (size_t)__builtin_clzll(v)) / 4 : 1);
}

size_t mk_fmt_addr(char buf[FMT_MAX], uint64_t v)
{
	return fmt_digits(buf, v, 16);
}

void mk_out_dec(struct markup_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_out_put(o, buf, mk_fmt_dec(buf, v));
}

void mk_out_hex(struct markup_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_out_put(o, buf, mk_fmt_hex(buf, v));
}

void mk_out_addr(struct markup_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_out_put(o, buf, mk_fmt_addr(buf, v));
}

void mk_out_bytes(struct markup_out *o, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char pair[2] = { hex_digits[p[i] >> 4], hex_digits[p[i] & 15] };
		mk_out_put(o, pair, 2);
	}
}
