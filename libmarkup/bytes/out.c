/*
 * Output buffer and numbers: see out.h. Numbers are formatted by hand: printf
 * would take most of the time of a frame whose text is remembered.
 */
#include "libmarkup/bytes/out.h"

#include <endian.h>
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

/* The eight decimal digits of v < 10^8, a byte of 0 to 9 each, the first one lowest:
 * two numbers of four digits become four of two, and those eight of one. */
static inline uint64_t eight_decimals(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, tens;

	tens = x * 10486 >> 20 & 0x0000007f0000007full; /* x / 100 */
	x = tens | (x - tens * 100) << 16;
	tens = x * 103 >> 10 & 0x000f000f000f000full; /* x / 10 */
	return tens | (x - tens * 10) << 8;
}

/* Writes all eight bytes, whatever the length. */
static inline void put_eight(char *buf, uint64_t digits)
{
	digits = htole64(digits + 0x3030303030303030ull);
	memcpy(buf, &digits, 8);
}

size_t mk_fmt_dec(char buf[FMT_MAX], uint64_t v)
{
	uint64_t digits;
	size_t len, zeros;

	if (__builtin_expect(v >= 100000000, 0)) {
		len = mk_fmt_dec(buf, v / 100000000);
		put_eight(buf + len, eight_decimals((uint32_t)(v % 100000000)));
		return len + 8;
	}
	/* Without a branch on the length, which would be guessed wrongly. */
	digits = eight_decimals((uint32_t)v);
	zeros = (size_t)__builtin_ctzll(digits | 1ull << 56) / 8;
	put_eight(buf, digits >> 8 * zeros);
	return 8 - zeros;
}

/* Eight hex digits at once: each nibble of v moves into a byte of its own, the
 * highest one first in memory, and '0' is added, or 'a' − 10. */
static uint64_t eight_digits(uint32_t v)
{
	uint64_t x = v, letter;

	x = (x | x << 16) & 0x0000ffff0000ffffull;
	x = (x | x << 8) & 0x00ff00ff00ff00ffull;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
	letter = (x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
	return x + 0x3030303030303030ull + letter * ('a' - '0' - 10);
}

/* Writes all eight bytes, but only the digits from the highest on make sense. */
static void put_digits(char *buf, uint64_t digits)
{
	digits = htobe64(digits);
	memcpy(buf, &digits, 8);
}

size_t mk_fmt_addr(char buf[FMT_MAX], uint64_t v)
{
	buf[0] = '0';
	buf[1] = 'x';
	put_digits(buf + 2, eight_digits((uint32_t)(v >> 32)));
	put_digits(buf + 10, eight_digits((uint32_t)v));
	return 18;
}

size_t mk_fmt_hex(char buf[FMT_MAX], uint64_t v)
{
	const size_t len = (67 - (size_t)__builtin_clzll(v | 1)) / 4;
	char *p = buf + 2;

	buf[0] = '0';
	buf[1] = 'x';
	if (len <= 8) {
		put_digits(p, eight_digits((uint32_t)v) << 8 * (8 - len));
		return 2 + len;
	}
	put_digits(p, eight_digits((uint32_t)(v >> 32)) << 8 * (16 - len));
	put_digits(p + len - 8, eight_digits((uint32_t)v));
	return 2 + len;
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
