/*
 * Finding markup in bytes: see scan.h.
 *
 * A block of 64 bytes becomes one 64-bit mask per wanted byte (bit i: byte i is
 * it); "{{{" is m & m << 1 & m << 2, with the two bits that run into the next
 * block carried over. A block without a single brace, the usual case of plain
 * text, costs four loads and a dozen operations with SSE2, which every x86-64 has,
 * and half of it with AVX2, which is asked for at run time; elsewhere plain loops
 * do, for the compiler to vectorize.
 */
#include "libmarkup/bytes/scan.h"

#include <stdbool.h>
#include <string.h>

/* Bits at which three in a row end, where `before` holds the two bits that
 * precede bit 0. */
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

static inline size_t block_len(const char *p, const char *end)
{
	return end - p < 64 ? (size_t)(end - p) : 64;
}

/* ---- what every processor has ------------------------------------------------- */

#ifdef __SSE2__
#include <emmintrin.h>

struct base_block {
	__m128i v[4];
};

static inline struct base_block base_load(const char *p)
{
	struct base_block b;
	for (int i = 0; i < 4; i++)
		b.v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
	return b;
}

static inline uint64_t base_mask_of(const struct base_block *b, char c)
{
	const __m128i want = _mm_set1_epi8(c);
	uint64_t m = 0;
	for (int i = 0; i < 4; i++) {
		uint32_t part = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(b->v[i], want));
		m |= (uint64_t)part << (16 * i);
	}
	return m;
}

static inline int base_has(const struct base_block *b, char c)
{
	const __m128i want = _mm_set1_epi8(c);
	__m128i any = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(b->v[0], want),
						_mm_cmpeq_epi8(b->v[1], want)),
				   _mm_or_si128(_mm_cmpeq_epi8(b->v[2], want),
						_mm_cmpeq_epi8(b->v[3], want)));
	return _mm_movemask_epi8(any);
}

/* How many bytes are `c`: without popcnt, which plain x86-64 lacks. */
static inline uint64_t base_count_of(const struct base_block *b, char c)
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

struct base_block {
	char bytes[64];
};

static inline struct base_block base_load(const char *p)
{
	struct base_block b;
	memcpy(b.bytes, p, sizeof(b.bytes));
	return b;
}

static inline uint64_t base_mask_of(const struct base_block *b, char c)
{
	uint64_t m = 0;
	for (int i = 0; i < 64; i++)
		m |= (uint64_t)(b->bytes[i] == c) << i;
	return m;
}

static inline int base_has(const struct base_block *b, char c)
{
	return memchr(b->bytes, c, sizeof(b->bytes)) != NULL;
}

static inline uint64_t base_count_of(const struct base_block *b, char c)
{
	uint64_t n = 0;
	for (int i = 0; i < 64; i++)
		n += b->bytes[i] == c;
	return n;
}

#endif

#define KIND(name) base_##name
#define TARGET
#include "libmarkup/bytes/scan_passes.h"

/* ---- AVX2 --------------------------------------------------------------------- */

#ifdef __x86_64__
#include <immintrin.h>

#define KIND(name) avx2_##name
#define TARGET __attribute__((target("avx2,popcnt,bmi")))

struct avx2_block {
	__m256i v[2];
};

TARGET static inline struct avx2_block avx2_load(const char *p)
{
	return (struct avx2_block){ {
		_mm256_loadu_si256((const __m256i *)(const void *)p),
		_mm256_loadu_si256((const __m256i *)(const void *)(p + 32)),
	} };
}

TARGET static inline uint64_t avx2_mask_of(const struct avx2_block *b, char c)
{
	const __m256i want = _mm256_set1_epi8(c);
	uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b->v[0], want));
	uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b->v[1], want));

	return low | (uint64_t)high << 32;
}

TARGET static inline int avx2_has(const struct avx2_block *b, char c)
{
	const __m256i want = _mm256_set1_epi8(c);

	return _mm256_movemask_epi8(_mm256_or_si256(_mm256_cmpeq_epi8(b->v[0], want),
						    _mm256_cmpeq_epi8(b->v[1], want)));
}

TARGET static inline uint64_t avx2_count_of(const struct avx2_block *b, char c)
{
	return (uint64_t)__builtin_popcountll(avx2_mask_of(b, c));
}

#include "libmarkup/bytes/scan_passes.h"
#endif

/* ---- which of them ------------------------------------------------------------ */

struct passes {
	size_t (*scan)(const char **from, const char *end, enum mk_scan_for what,
		       uint64_t *newlines, struct mk_hit hits[], size_t max);
	uint64_t (*count_newlines)(const char *p, const char *end);
};

static const struct passes base_passes = { base_scan, base_count_newlines };
#ifdef __x86_64__
static const struct passes avx2_passes = { avx2_scan, avx2_count_newlines };

bool mk_has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("popcnt");
}
#endif

static const struct passes *passes(void)
{
#ifdef __x86_64__
	if (mk_has_avx2())
		return &avx2_passes;
#endif
	return &base_passes;
}

size_t mk_scan_hits(const char **p, const char *end, enum mk_scan_for what,
			uint64_t *newlines, struct mk_hit hits[], size_t max)
{
	return passes()->scan(p, end, what, newlines, hits, max);
}

const char *mk_scan(const char *p, const char *end, enum mk_scan_for what,
			uint64_t *newlines)
{
	struct mk_hit hit;

	return mk_scan_hits(&p, end, what, newlines, &hit, 1) ? hit.at : NULL;
}

uint64_t mk_count_newlines(const char *p, const char *end)
{
	return passes()->count_newlines(p, end);
}

/* ---- in short texts ----------------------------------------------------------- */

const char *mk_scan_special(const char *p, const char *end)
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

const char *mk_find3(const char *p, const char *end, char c)
{
	/* Elements are short: look at the next bytes one by one first. */
	for (int i = 0; i < 64 && end - p >= 3; i++, p++)
		if (p[2] == c && p[1] == c && p[0] == c)
			return p;
	if (end - p < 3)
		return NULL;
	unsigned before = 0;
	for (size_t len; p < end; p += len) {
		const struct base_block b = base_load_some(p, len = block_len(p, end));
		uint64_t m = base_mask_of(&b, c);
		uint64_t hit = triples(m, before);
		if (hit)
			return p + __builtin_ctzll(hit) - 2;
		before = carry(m);
	}
	return NULL;
}

const char *mk_rfind3(const char *p, const char *end, char c)
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
