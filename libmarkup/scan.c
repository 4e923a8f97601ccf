/*
 * Finding markup in bytes: see scan.h.
 *
 * A block of 64 bytes becomes one 64-bit mask per wanted byte (bit i: byte i is
 * it); "{{{" is m & m >> 1 & m >> 2, with the two bits that run into the next
 * block carried over. A block without a single brace, the usual case, costs
 * four loads and a dozen operations. SSE2 is what every x86-64 has; elsewhere
 * plain loops do, for the compiler to vectorize.
 */
#include "libmarkup/scan.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

struct block {
	__m128i v[4];
};

static inline struct block load(const char *p)
{
	struct block b;
	for (int i = 0; i < 4; i++)
		b.v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
	return b;
}

static inline uint64_t mask_of(const struct block *b, char c)
{
	const __m128i want = _mm_set1_epi8(c);
	uint64_t m = 0;
	for (int i = 0; i < 4; i++) {
		uint32_t part = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(b->v[i], want));
		m |= (uint64_t)part << (16 * i);
	}
	return m;
}

static inline int has(const struct block *b, char c)
{
	const __m128i want = _mm_set1_epi8(c);
	__m128i any = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(b->v[0], want),
						_mm_cmpeq_epi8(b->v[1], want)),
				   _mm_or_si128(_mm_cmpeq_epi8(b->v[2], want),
						_mm_cmpeq_epi8(b->v[3], want)));
	return _mm_movemask_epi8(any);
}

/* How many bytes are `c`: without popcnt, which plain x86-64 lacks. */
static inline uint64_t count_of(const struct block *b, char c)
{
	const __m128i want = _mm_set1_epi8(c), zero = _mm_setzero_si128();
	__m128i sum = _mm_add_epi8(_mm_add_epi8(_mm_cmpeq_epi8(b->v[0], want),
						_mm_cmpeq_epi8(b->v[1], want)),
				   _mm_add_epi8(_mm_cmpeq_epi8(b->v[2], want),
						_mm_cmpeq_epi8(b->v[3], want)));
	sum = _mm_sad_epu8(_mm_sub_epi8(zero, sum), zero);
	return (uint64_t)_mm_cvtsi128_si64(sum) +
	       (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sum, sum));
}

#else

struct block {
	char bytes[64];
};

static inline struct block load(const char *p)
{
	struct block b;
	memcpy(b.bytes, p, sizeof(b.bytes));
	return b;
}

static inline uint64_t mask_of(const struct block *b, char c)
{
	uint64_t m = 0;
	for (int i = 0; i < 64; i++)
		m |= (uint64_t)(b->bytes[i] == c) << i;
	return m;
}

static inline int has(const struct block *b, char c)
{
	return memchr(b->bytes, c, sizeof(b->bytes)) != NULL;
}

static inline uint64_t count_of(const struct block *b, char c)
{
	uint64_t n = 0;
	for (int i = 0; i < 64; i++)
		n += b->bytes[i] == c;
	return n;
}

#endif

/* The block at p, of which `left` < 64 bytes exist; the others are 0. */
static inline struct block load_part(const char *p, size_t left)
{
	char bytes[64] = { 0 };
	memcpy(bytes, p, left);
	return load(bytes);
}

/* Bits at which three in a row begin, where `before` holds the two bits that
 * precede bit 0; bit i of the result belongs to position i − 2. */
static inline uint64_t triples(uint64_t m, unsigned before)
{
	uint64_t one = m << 1 | (before >> 1 & 1);
	uint64_t two = m << 2 | (before & 3);
	return m & one & two;
}

/* Bits 62 and 63 of a mask, as triples() wants them. */
static inline unsigned carry(uint64_t m)
{
	return (unsigned)(m >> 62);
}

const char *markup_scan(const char *p, const char *end, enum markup_scan_for what,
			uint64_t *newlines)
{
	unsigned before = 0;

	while (p < end) {
		size_t left = (size_t)(end - p);
		struct block b = left >= 64 ? load(p) : load_part(p, left);
		const char *first = NULL;

		if (__builtin_expect(has(&b, '{'), 0)) {
			uint64_t m = mask_of(&b, '{'), hit = triples(m, before);
			/* A triple that ends at bit i began at i - 2. */
			if (hit)
				first = p + __builtin_ctzll(hit) - 2;
			before = carry(m);
		} else {
			before = 0;
		}
		if (what == MARKUP_SCAN_ESC && has(&b, '\033')) {
			const char *esc = p + __builtin_ctzll(mask_of(&b, '\033'));
			if (!first || esc < first)
				first = esc;
		}
		if (first) {
			if (first > p) /* else it began in the block before */
				*newlines += markup_count_newlines(p, first);
			return first;
		}
		*newlines += count_of(&b, '\n');
		p += left >= 64 ? 64 : left;
	}
	return NULL;
}

const char *markup_scan_context(const char *p, const char *end)
{
	unsigned before = 0;

	while (p < end) {
		size_t left = (size_t)(end - p);
		struct block b = left >= 64 ? load(p) : load_part(p, left);

		if (__builtin_expect(has(&b, '{') || before, 0)) {
			uint64_t m = mask_of(&b, '{');
			uint64_t hit = triples(m, before);
			/* Those with their letter in this block, or just behind it. */
			hit &= (mask_of(&b, 'm') | mask_of(&b, 'r')) >> 1 | 1ull << 63;
			for (; hit; hit &= hit - 1) {
				const char *letter = p + __builtin_ctzll(hit) + 1;
				if (letter < end && (*letter == 'm' || *letter == 'r'))
					return letter - 3;
			}
			before = carry(m);
		}
		p += left >= 64 ? 64 : left;
	}
	return NULL;
}

uint64_t markup_count_newlines(const char *p, const char *end)
{
	uint64_t lines = 0;

	while (p < end) {
		size_t left = (size_t)(end - p);
		struct block b = left >= 64 ? load(p) : load_part(p, left);
		lines += count_of(&b, '\n');
		p += left >= 64 ? 64 : left;
	}
	return lines;
}

const char *markup_scan_special(const char *p, const char *end)
{
#ifdef __SSE2__
	while (end - p >= 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(':')),
					   _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('{')),
							_mm_cmpeq_epi8(v, _mm_set1_epi8('}'))));
		unsigned m = (unsigned)_mm_movemask_epi8(hit);
		if (m)
			return p + __builtin_ctz(m);
		p += 16;
	}
#endif
	while (p < end && *p != ':' && *p != '{' && *p != '}')
		p++;
	return p;
}

const char *markup_find3(const char *p, const char *end, char c)
{
	/* Elements are short: look at the next bytes one by one first. */
	for (int i = 0; i < 64 && end - p >= 3; i++, p++)
		if (p[2] == c && p[1] == c && p[0] == c)
			return p;
	if (end - p < 3)
		return NULL;
	for (unsigned before = 0; p < end;) {
		size_t left = (size_t)(end - p);
		struct block b = left >= 64 ? load(p) : load_part(p, left);
		uint64_t m = mask_of(&b, c);
		uint64_t hit = triples(m, before);
		if (hit)
			return p + __builtin_ctzll(hit) - 2;
		before = carry(m);
		p += left >= 64 ? 64 : left;
	}
	return NULL;
}

const char *markup_rfind3(const char *p, const char *end, char c)
{
	while (end - p >= 3) {
		const char *last = memrchr(p, c, (size_t)(end - p));
		if (!last || last - p < 2)
			return NULL;
		if (last[-1] == c && last[-2] == c)
			return last - 2;
		end = last;
	}
	return NULL;
}
