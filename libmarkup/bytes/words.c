/*
 * Finding words: see words.h. The method is Teddy's, of Hyperscan: for each of three positions
 * two tables of 16 bytes, asked by the nibbles of 32 bytes of text at once, give the groups of
 * words that have this byte there; where all three agree is a candidate, which is compared.
 * Words that are alike share one of the eight groups. Without AVX2 it is a loop with a table
 * of first bytes.
 */
#include "libmarkup/bytes/words.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "libmarkup/bytes/fields.h"

#define SUM_MAX 512u /* bytes */

/* About how often plain text has a byte of a high nibble, for each of its low ones. */
static const unsigned char frequency[16] = { 1, 1, 4, 4, 2, 2, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1 };

/* How much plain text looks like the group, and is compared without being it. */
static uint64_t weight(const struct mk_word_group *g)
{
	uint64_t product = 1;

	for (unsigned k = 0; k < MK_WORD_SCAN; k++) {
		uint64_t sum = 0;
		for (unsigned n = 0; n < 16; n++)
			sum += g->high[k] >> n & 1 ? frequency[n] : 0u;
		product *= sum * (unsigned)__builtin_popcount(g->low[k]);
	}
	return product;
}

static struct mk_word_group united(const struct mk_word_group *a, const struct mk_word_group *b)
{
	struct mk_word_group g;

	for (unsigned k = 0; k < MK_WORD_SCAN; k++) {
		g.low[k] = a->low[k] | b->low[k];
		g.high[k] = a->high[k] | b->high[k];
	}
	return g;
}

/* Makes one group of the two that cost least together. */
static void unite(struct mk_words *w)
{
	unsigned best_a = 0, best_b = 1;
	uint64_t best = UINT64_MAX;

	for (unsigned a = 0; a < w->num_groups; a++) {
		for (unsigned b = a + 1; b < w->num_groups; b++) {
			const struct mk_word_group g = united(&w->groups[a], &w->groups[b]);
			const uint64_t more = weight(&g) - weight(&w->groups[a]);
			if (more < best) {
				best = more;
				best_a = a;
				best_b = b;
			}
		}
	}
	w->groups[best_a] = united(&w->groups[best_a], &w->groups[best_b]);
	w->groups[best_b] = w->groups[--w->num_groups];
}

static void make_tables(struct mk_words *w)
{
	memset(w->low, 0, sizeof(w->low));
	memset(w->high, 0, sizeof(w->high));
	for (unsigned g = 0; g < w->num_groups; g++) {
		for (unsigned k = 0; k < MK_WORD_SCAN; k++) {
			for (unsigned n = 0; n < 16; n++) {
				const unsigned low = w->groups[g].low[k] >> n & 1u;
				const unsigned high = w->groups[g].high[k] >> n & 1u;
				w->low[k][n] |= (unsigned char)(low << g);
				w->high[k][n] |= (unsigned char)(high << g);
			}
		}
	}
}

void mk_words_add(struct mk_words *w, const char *word)
{
	const size_t whole = strlen(word), len = whole < MK_WORD_LEN ? whole : MK_WORD_LEN;
	struct mk_word_group *g = &w->groups[w->num_groups];
	uint32_t bytes = 0, mask = 0;

	memcpy(&bytes, word, len);
	memset(&mask, 0xff, len);
	for (unsigned i = 0; i < w->num; i++)
		if (w->words[i] == bytes && w->masks[i] == mask)
			return;
	assert(w->num < MK_WORDS_MAX);
	w->words[w->num] = bytes;
	w->masks[w->num] = mask;
	w->first[(unsigned char)word[0]] |= 1ull << w->num;
	if (whole == 3 && (!strcmp(word, " 0x") || !strcmp(word, "(0x")))
		w->guarded |= 1ull << w->num;
	w->num++;
	for (size_t k = 0; k < MK_WORD_SCAN; k++) {
		const unsigned char byte = k < len ? (unsigned char)word[k] : 0;
		g->low[k] = k < len ? (uint16_t)(1u << (byte & 15)) : 0xffff;
		g->high[k] = k < len ? (uint16_t)(1u << (byte >> 4)) : 0xffff;
	}
	if (++w->num_groups > MK_WORD_GROUPS)
		unite(w);
	make_tables(w);
}

static bool is_hex(const char *p, const char *end, size_t n)
{
	for (; n; n--, p++)
		if (p >= end || mk_digit(*p) >= 16)
			return false;
	return true;
}

/* Does " + " stand behind it in the line, not too far? */
static bool sum_follows(const char *p, const char *end)
{
	const size_t most = (size_t)(end - p) < SUM_MAX ? (size_t)(end - p) : SUM_MAX;
	const char *eol = memchr(p, '\n', most);

	return memmem(p, eol ? (size_t)(eol - p) : most, " + ", 3);
}

/*
 * The words " 0x" and "(0x" are common in plain text. They count only where a frame can be meant:
 * " 0x" behind a digit, a colon, a blank or many hex digits, or in front of 8, 12 or 16 digits;
 * "(0x" in front of digits and then '+', or ')' or a blank and a '['. `begin`: what is before it is
 * not known, and may be anything.
 */
static bool word_counts(const char *begin, const char *at, const char *end)
{
	const char *digits = at + 3, *p = digits;
	char before;

	while (p < end && p - digits <= 16 && is_hex(p, end, 1))
		p++;
	if (end - p < 3 || at == begin || *p == '\033')
		return true;
	if (*at == '(') {
		const char *next = p + (*p == ')');

		while (next < end && (*next == ' ' || *next == '\t'))
			next++;
		return *p == '+' || next == end || *next == '[' || *next == '\033';
	}
	before = at[-1];
	if (p - digits == 8 && *p == ' ' && !sum_follows(p, end)) /* of 32 bits: rarely a frame */
		return before == ':' || before == ' ' || (before >= '0' && before <= '9');
	return (before >= '0' && before <= '9') || before == ':' || before == ' ' || before == '\t' ||
	       before == 'm' || p - digits == 8 || p - digits == 12 || p - digits == 16 ||
	       (at - begin >= 16 && is_hex(at - 16, at, 16)) || !memcmp(p, " in ", 3);
}

/* Does a word begin at `at`, with these four bytes, in a text that begins at `begin`? */
static inline bool is_word(const struct mk_words *w, const char *begin, const char *at,
			   const char *end, uint32_t bytes)
{
	for (uint64_t m = w->first[(unsigned char)*at]; m; m &= m - 1) {
		const int i = __builtin_ctzll(m);
		if ((bytes & w->masks[i]) == w->words[i] &&
		    (!(w->guarded >> i & 1) || word_counts(begin, at, end)))
			return true;
	}
	return false;
}

/* The next four bytes, zeros behind the end. */
static inline uint32_t four_bytes(const char *p, const char *end)
{
	uint32_t bytes = 0;

	memcpy(&bytes, p, end - p < 4 ? (size_t)(end - p) : 4);
	return bytes;
}

/* What a pass has found so far. */
struct found {
	const char *next; /* no hit begins before it */
	struct mk_hit *hits;
	size_t n, max;
};

/* Takes a candidate; true: that is enough. */
static inline bool take(struct found *f, const char *at, uint64_t line_no)
{
	if (at < f->next)
		return false;
	f->next = at + (*at == '{' ? 3 : 1); /* of five braces the first three are one */
	f->hits[f->n++] = (struct mk_hit){ at, line_no };
	return f->n == f->max;
}

static size_t plain_hits(const struct mk_words *w, const char **from, const char *end,
			 uint64_t *newlines, struct found *f)
{
	for (const char *p = *from; p < end; p++) {
		if (w->first[(unsigned char)*p] &&
		    is_word(w, *from, p, end, four_bytes(p, end)) && take(f, p, *newlines)) {
			*from = f->next;
			return f->n;
		}
		*newlines += *p == '\n';
	}
	*from = end;
	return f->n;
}

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,popcnt,bmi")))

/* Bit i: no candidate begins at p[i]; 34 bytes are read. */
AVX2 static inline uint32_t no_candidates(const __m256i tables[2 * MK_WORD_SCAN], const char *p)
{
	const __m256i nibble = _mm256_set1_epi8(15);
	__m256i both = _mm256_set1_epi8(-1);

#pragma GCC unroll 8 /* so that the tables stay in registers */
	for (unsigned k = 0; k < MK_WORD_SCAN; k++) {
		const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + k));
		const __m256i low = _mm256_and_si256(v, nibble);
		const __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble);
		both = _mm256_and_si256(both, _mm256_and_si256(
			_mm256_shuffle_epi8(tables[2 * k], low),
			_mm256_shuffle_epi8(tables[2 * k + 1], high)));
	}
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(both, _mm256_setzero_si256()));
}

AVX2 static inline uint32_t newline_mask(const char *p)
{
	const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n')));
}

AVX2 static size_t avx2_hits(const struct mk_words *w, const char **from, const char *end,
			     uint64_t *newlines, struct found *f)
{
	__m256i tables[2 * MK_WORD_SCAN];
	const char *p = *from, *const begin = p;
	uint64_t line_no = *newlines;

	for (unsigned k = 0; k < MK_WORD_SCAN; k++) {
		tables[2 * k] = _mm256_broadcastsi128_si256(
			_mm_loadu_si128((const __m128i *)(const void *)w->low[k]));
		tables[2 * k + 1] = _mm256_broadcastsi128_si256(
			_mm_loadu_si128((const __m128i *)(const void *)w->high[k]));
	}
	for (; end - p >= 68; p += 64) {
		const uint64_t lines = newline_mask(p) | (uint64_t)newline_mask(p + 32) << 32;
		uint64_t hit = ~(no_candidates(tables, p) |
				 (uint64_t)no_candidates(tables, p + 32) << 32);

		for (; __builtin_expect(hit != 0, 0); hit &= hit - 1) {
			const char *at = p + __builtin_ctzll(hit);
			uint32_t bytes;

			memcpy(&bytes, at, sizeof(bytes));
			if (!is_word(w, begin, at, end, bytes))
				continue;
			/* The lines up to the lowest bit of `hit`. */
			*newlines = line_no + (uint64_t)__builtin_popcountll(lines & ~hit & (hit - 1));
			if (take(f, at, *newlines)) {
				*from = f->next; /* no word has a newline */
				return f->n;
			}
		}
		line_no += (uint64_t)__builtin_popcountll(lines);
	}
	*from = p;
	*newlines = line_no;
	return plain_hits(w, from, end, newlines, f);
}
#endif

size_t mk_words_hits(const struct mk_words *w, const char **p, const char *end,
		     uint64_t *newlines, struct mk_hit hits[], size_t max)
{
	struct found f = { *p, hits, 0, max };

#ifdef __x86_64__
	if (mk_has_avx2())
		return avx2_hits(w, p, end, newlines, &f);
#endif
	return plain_hits(w, p, end, newlines, &f);
}

const char *mk_words_find(const struct mk_words *w, const char *p, const char *end,
			  uint64_t *newlines)
{
	struct mk_hit hit;

	return mk_words_hits(w, &p, end, newlines, &hit, 1) ? hit.at : NULL;
}
