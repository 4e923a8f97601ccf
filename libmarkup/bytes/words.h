/*
 * words.h: finding any of up to 64 short words in bytes, all of them in one pass.
 *
 * Each format of logs has words that its lines cannot be without ("{{{", "+0x"); plain
 * text mostly has none of them. The words of all formats are looked for at once, so that
 * one more format costs plain text little.
 */
#ifndef MARKUP_WORDS_H
#define MARKUP_WORDS_H

#include <stdbool.h>

#include "libmarkup/bytes/scan.h"

#define MK_WORDS_MAX   64u
#define MK_WORD_LEN    4u /* bytes of a word that are compared */
#define MK_WORD_SCAN   3u /* of these, those that make a candidate */
#define MK_WORD_GROUPS 8u

/* Words that are looked for together: the nibbles that their bytes have, a bit each. */
struct mk_word_group {
	uint16_t low[MK_WORD_SCAN], high[MK_WORD_SCAN];
};

struct mk_words {
	unsigned num, num_groups;
	uint32_t words[MK_WORDS_MAX], masks[MK_WORDS_MAX]; /* as they are in memory */
	uint64_t first[256]; /* bit i: word i begins with it */
	uint64_t guarded;    /* bit i: word i counts only where word_counts() says so */
	struct mk_word_group groups[MK_WORD_GROUPS + 1];
	/* Bit g: a byte k of group g has this low, or high, nibble. */
	unsigned char low[MK_WORD_SCAN][16], high[MK_WORD_SCAN][16];
};

/* Adds a word, of which at most MK_WORD_LEN bytes count; one that is there already is not
 * added again. There may be MK_WORDS_MAX. No word has a newline. */
void mk_words_add(struct mk_words *w, const char *word);

/* As mk_scan_hits(), of any word. */
size_t mk_words_hits(const struct mk_words *w, const char **p, const char *end,
		     uint64_t *newlines, struct mk_hit hits[], size_t max);

/* As mk_scan(). */
const char *mk_words_find(const struct mk_words *w, const char *p, const char *end,
			  uint64_t *newlines);

#endif
