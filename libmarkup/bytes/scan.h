/*
 * scan.h: finding markup in bytes, at the speed of memory.
 *
 * Nearly all of a log is text, so nearly all the time goes here. "{{{" is not
 * searched with memmem() (about 2 GB/s for so short a needle) nor with memchr()
 * (which stops at every brace of a JSON log), but 64 bytes at a time.
 */
#ifndef MARKUP_SCAN_H
#define MARKUP_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What ends mk_scan() other than "{{{". */
enum mk_scan_for {
	MK_SCAN_BRACES,  /* nothing */
	MK_SCAN_ESC,     /* ESC, too */
};

/* A "{{{" (or ESC). */
struct mk_hit {
	const char *at;
	uint64_t line_no; /* lines before it */
};

/* The first "{{{" (or ESC) in [*p, end), up to `max` of them, at least one; returns how
 * many there are. *p: where to go on, with *newlines the newlines added that are
 * before it. Of five braces in a row the first three are one. */
size_t mk_scan_hits(const char **p, const char *end, enum mk_scan_for what,
			uint64_t *newlines, struct mk_hit hits[], size_t max);

/* The first of them, or NULL; adds the newlines before it (or before `end`) to
 * *newlines. */
const char *mk_scan(const char *p, const char *end, enum mk_scan_for what,
			uint64_t *newlines);

/* Newlines in [p, end). */
uint64_t mk_count_newlines(const char *p, const char *end);

/* The first three of `c` in a row in [p, end), or NULL. */
const char *mk_find3(const char *p, const char *end, char c);

/* The last three of `c` in a row in [p, end), or NULL. */
const char *mk_rfind3(const char *p, const char *end, char c);

/* The first ':', '{' or '}' in [p, end), or `end`. */
const char *mk_scan_special(const char *p, const char *end);

/* Has the processor what passes that are compiled for AVX2 need? Of x86-64 alone. */
bool mk_has_avx2(void);

#endif
