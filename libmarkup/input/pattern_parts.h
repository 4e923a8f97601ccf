/* pattern_parts.h: what both directions of patterns take and keep; for pattern*.c. */
#ifndef MARKUP_PATTERN_PARTS_H
#define MARKUP_PATTERN_PARTS_H

#include "libmarkup/input/match.h"
#include "libmarkup/input/pattern.h"

#define MK_SYMBOL_MAX 4096u
#define MK_MODULE_MAX 1024u
#define MK_TRIES_MAX  64u /* places where a symbol may end */

/* Takes from the budget; false: it is used up. */
static inline bool mk_spend(struct mk_matcher *m, size_t steps)
{
	const bool enough = m->budget >= steps;

	m->budget = enough ? m->budget - steps : 0;
	return enough;
}

static inline bool mk_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Does a byte of a pattern stand for itself, and can no colour end with it? */
static inline bool mk_is_plain(char c)
{
	return c != '%' && c != ' ' && c != '"' && c != 'm' && c != 'K' && c;
}

/* What the letter of a number means. */
struct mk_number {
	bool decimal;
	uint8_t len, or_len; /* digits it must have; 0: any number */
	uint8_t value;       /* enum mk_value, and 1; 0: it is not kept */
};

extern const struct mk_number mk_numbers[128];

/* Is it a digit of the number that the letter of a pattern means? */
static inline bool mk_is_digit_of(char letter, char c)
{
	return mk_digit(c) < (mk_numbers[letter & 127].decimal ? 10u : 16u);
}

/* Keeps the number, the digits [p, end), if there are as many as the letter wants. */
bool mk_keep_number(struct mk_matcher *m, char letter, const char *p, const char *end);

/* Keeps the name or path, if it can be one. */
bool mk_keep_module(struct mk_matcher *m, const char *p, const char *end);

/* Behind the colours at p; behind those and blanks; where the colours begin that end at p. */
const char *mk_skip_colours(const char *p, const char *end);
const char *mk_skip_blanks(const char *p, const char *end);
const char *mk_skip_colours_back(const char *begin, const char *p);

#endif
