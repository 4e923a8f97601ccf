/*
 * number.h: numbers as text, for inner loops, where printf would take most of the time.
 *
 * The functions return the length; what they write beyond it, up to FMT_MAX, means nothing.
 */
#ifndef MARKUP_NUMBER_H
#define MARKUP_NUMBER_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FMT_MAX 24

/* The eight decimal digits of v < 10^8, a byte of 0 to 9 each, the first one lowest:
 * two numbers of four digits become four of two, and those eight of one. */
static inline uint64_t mk_eight_decimals(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, tens;

	tens = x * 10486 >> 20 & 0x0000007f0000007full; /* x / 100 */
	x = tens | (x - tens * 100) << 16;
	tens = x * 103 >> 10 & 0x000f000f000f000full; /* x / 10 */
	return tens | (x - tens * 10) << 8;
}

/* Writes all eight bytes, whatever the length. */
static inline void mk_put_eight(char *buf, uint64_t digits)
{
	digits = htole64(digits + 0x3030303030303030ull);
	memcpy(buf, &digits, 8);
}

/* Decimal. */
static inline size_t mk_fmt_dec(char buf[FMT_MAX], uint64_t v)
{
	uint64_t digits;
	size_t len, zeros;

	if (__builtin_expect(v >= 100000000, 0)) {
		len = mk_fmt_dec(buf, v / 100000000);
		mk_put_eight(buf + len, mk_eight_decimals((uint32_t)(v % 100000000)));
		return len + 8;
	}
	/* Without a branch on the length, which would be guessed wrongly. */
	digits = mk_eight_decimals((uint32_t)v);
	zeros = (size_t)__builtin_ctzll(digits | 1ull << 56) / 8;
	mk_put_eight(buf, digits >> 8 * zeros);
	return 8 - zeros;
}

/* Eight hex digits at once: each nibble of v moves into a byte of its own, the
 * highest one first in memory, and '0' is added, or 'a' − 10. */
static inline uint64_t mk_eight_digits(uint32_t v)
{
	uint64_t x = v, letter;

	x = (x | x << 16) & 0x0000ffff0000ffffull;
	x = (x | x << 8) & 0x00ff00ff00ff00ffull;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
	letter = (x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
	return x + 0x3030303030303030ull + letter * ('a' - '0' - 10);
}

/* Writes all eight bytes, but only the digits from the highest on make sense. */
static inline void mk_put_digits(char *buf, uint64_t digits)
{
	digits = htobe64(digits);
	memcpy(buf, &digits, 8);
}

/* 0x and 16 hex digits. */
static inline size_t mk_fmt_addr(char buf[FMT_MAX], uint64_t v)
{
	buf[0] = '0';
	buf[1] = 'x';
	mk_put_digits(buf + 2, mk_eight_digits((uint32_t)(v >> 32)));
	mk_put_digits(buf + 10, mk_eight_digits((uint32_t)v));
	return 18;
}

/* 0x and as many hex digits as needed, lower case. */
static inline size_t mk_fmt_hex(char buf[FMT_MAX], uint64_t v)
{
	const size_t len = (67 - (size_t)__builtin_clzll(v | 1)) / 4;
	char *p = buf + 2;

	buf[0] = '0';
	buf[1] = 'x';
	if (len <= 8) {
		mk_put_digits(p, mk_eight_digits((uint32_t)v) << 8 * (8 - len));
		return 2 + len;
	}
	mk_put_digits(p, mk_eight_digits((uint32_t)(v >> 32)) << 8 * (16 - len));
	mk_put_digits(p + len - 8, mk_eight_digits((uint32_t)v));
	return 2 + len;
}

#endif
