/*
 * number.h: numbers as text, for inner loops, where printf would take most of the time, and back.
 *
 * The mk_fmt_ functions return the length; what they write beyond it, up to FMT_MAX, means nothing.
 */
#ifndef MARKUP_NUMBER_H
#define MARKUP_NUMBER_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FMT_MAX 24

/* The four decimal digits of v < 10^4, a byte of 0 to 9 each, the first one lowest: two numbers
 * of two digits become four of one. */
static inline uint32_t mk_four_decimals(uint32_t v)
{
	const uint32_t hundreds = v * 5243 >> 19; /* v / 100 */
	const uint32_t x = hundreds | (v - hundreds * 100) << 16;
	const uint32_t tens = x * 103 >> 10 & 0x000f000f; /* x / 10 */

	return tens | (x - tens * 10) << 8;
}

/* Writes all four bytes, whatever the length. */
static inline void mk_put_four(char *buf, uint32_t digits)
{
	digits = htole32(digits + 0x30303030u);
	memcpy(buf, &digits, 4);
}

/* Decimal. */
static inline size_t mk_fmt_dec(char buf[FMT_MAX], uint64_t v)
{
	uint32_t digits;
	size_t len, zeros;

	if (__builtin_expect(v >= 10000, 0)) {
		len = mk_fmt_dec(buf, v / 10000);
		mk_put_four(buf + len, mk_four_decimals((uint32_t)(v % 10000)));
		return len + 4;
	}
	/* Without a branch on the length, which would be guessed wrongly. */
	digits = mk_four_decimals((uint32_t)v);
	zeros = (size_t)__builtin_ctz(digits | 1u << 24) / 8;
	mk_put_four(buf, digits >> 8 * zeros);
	return 4 - zeros;
}

/* Sixteen hex digits: each nibble of v becomes a byte, the highest one first, and '0' is added,
 * or 'a' − 10. */
static inline void mk_put_sixteen(char *buf, uint64_t v)
{
	typedef uint8_t vector __attribute__((vector_size(16)));
	typedef int8_t numbers __attribute__((vector_size(16)));
	const uint64_t eight[2] = { htobe64(v), 0 };
	vector bytes;
	numbers x;

	memcpy(&bytes, eight, 16);
	x = (numbers)__builtin_shufflevector(bytes >> 4, bytes & 15, 0, 16, 1, 17, 2, 18, 3, 19,
					     4, 20, 5, 21, 6, 22, 7, 23);
	x += '0' + ((x > 9) & ('a' - '0' - 10));
	memcpy(buf, &x, 16);
}

#ifdef __SSE2__
#include <emmintrin.h>

/* Which of the bytes are from `first` on, `n` of them. */
static inline __m128i mk_bytes_in(__m128i bytes, char first, char n)
{
	const __m128i from = _mm_sub_epi8(bytes, _mm_set1_epi8(first));

	return _mm_cmpeq_epi8(from, _mm_min_epu8(from, _mm_set1_epi8((char)(n - 1))));
}

/* Hex digits in lower case at `p`, at most 16 of them: returns how many there are, and
 * their value. 16 bytes at p are read, whatever they are. */
static inline unsigned mk_read_hex(const char *p, uint64_t *ret)
{
	const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
	const __m128i letters = mk_bytes_in(bytes, 'a', 6);
	const __m128i digits = _mm_or_si128(letters, mk_bytes_in(bytes, '0', 10));
	const unsigned n = (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(digits));
	__m128i x = _mm_add_epi8(_mm_and_si128(bytes, _mm_set1_epi8(15)),
				 _mm_and_si128(letters, _mm_set1_epi8(9)));

	x = _mm_and_si128(_mm_or_si128(_mm_slli_epi16(x, 4), _mm_srli_epi16(x, 8)),
			  _mm_set1_epi16(255));
	x = _mm_packus_epi16(x, x);
	*ret = n ? be64toh((uint64_t)_mm_cvtsi128_si64(x)) >> 4 * (16 - n) : 0;
	return n;
}
#else
/* Up to eight hex digits at once, a byte of x each: bit 7 of a byte of `digit` and
 * `letter` says that it is from '0' to '9', or 'a' to 'f'. */
static inline unsigned mk_read_eight_hex(const char *p, uint64_t *ret)
{
	const uint64_t ones = 0x0101010101010101u, high = ones << 7;
	uint64_t x, low, digit, letter, other;
	unsigned n;

	memcpy(&x, p, 8);
	x = le64toh(x);
	low = x & ~high;
	digit = (low + ones * (0x80 - '0')) & ~(low + ones * (0x7f - '9'));
	letter = (low + ones * (0x80 - 'a')) & ~(low + ones * (0x7f - 'f'));
	other = ((digit | letter) & ~x & high) ^ high;
	n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	*ret = 0;
	if (!n)
		return 0;
	x = (x & ones * 15) + (x >> 6 & ones) * 9;
	/* The digits to the end, the first one highest; then the nibbles together. */
	x = __builtin_bswap64(x << 8 * (8 - n));
	x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
	x = (x | x >> 8) & 0x0000ffff0000ffffu;
	*ret = (uint32_t)(x | x >> 16);
	return n;
}

static inline unsigned mk_read_hex(const char *p, uint64_t *ret)
{
	uint64_t more;
	unsigned n = mk_read_eight_hex(p, ret);

	if (n < 8)
		return n;
	n = mk_read_eight_hex(p + 8, &more);
	*ret = *ret << 4 * n | more;
	return 8 + n;
}
#endif

/* 0x and 16 hex digits. */
static inline size_t mk_fmt_addr(char buf[FMT_MAX], uint64_t v)
{
	memcpy(buf, "0x", 2);
	mk_put_sixteen(buf + 2, v);
	return 18;
}

/* 0x and as many hex digits as needed, lower case. */
static inline size_t mk_fmt_hex(char buf[FMT_MAX], uint64_t v)
{
	const unsigned zeros = (unsigned)__builtin_clzll(v | 1) / 4;

	memcpy(buf, "0x", 2);
	mk_put_sixteen(buf + 2, v << 4 * zeros);
	return 18 - zeros;
}

#endif
