/*
 * words.h: finding any of a few short words in bytes, all of them in one pass.
 *
 * Each format of logs has words that its lines cannot be without ("{{{", "+0x"); plain
 * text mostly has none of them. The words of all formats are looked for at once, so that
 * one more format costs plain text nothing.
 */
#ifndef MARKUP_WORDS_H
#define MARKUP_WORDS_H

#include "libmarkup/bytes/scan.h"

#define MK_WORDS_MAX 8u
#define MK_WORD_LEN  3u /* bytes of a word that are compared */

struct mk_words {
	unsigned num;
	uint32_t words[MK_WORDS_MAX], masks[MK_WORDS_MAX]; /* as they are in memory */
	/* Bit i: byte k of word i has this low, or high, nibble, or is none of it. */
	unsigned char low[MK_WORD_LEN][16], high[MK_WORD_LEN][16];
	unsigned char first[256]; /* bit i: word i begins with it */
};

/* Adds a word, of which at most MK_WORD_LEN bytes count; one that is there already is not
 * added again. There may be MK_WORDS_MAX. */
void mk_words_add(struct mk_words *w, const char *word);

/* As mk_scan_hits(), of any word. */
size_t mk_words_hits(const struct mk_words *w, const char **p, const char *end,
		     uint64_t *newlines, struct mk_hit hits[], size_t max);

/* As mk_scan(). */
const char *mk_words_find(const struct mk_words *w, const char *p, const char *end,
			  uint64_t *newlines);

#endif
