/*
 * take.h: small pieces of lines. Each takes what it is named after from *p, which moves
 * behind it; false: it is not there, and *p stays.
 */
#ifndef MARKUP_TAKE_H
#define MARKUP_TAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libmarkup/markup.h"

static inline bool mk_take_text(const char **p, const char *end, const char *text)
{
	const size_t len = strlen(text);

	if ((size_t)(end - *p) < len || memcmp(*p, text, len))
		return false;
	*p += len;
	return true;
}

/* Decimal digits, at most nine of them. */
static inline bool mk_take_decimal(const char **p, const char *end, uint64_t *ret)
{
	const char *at = *p;
	uint64_t v = 0;

	for (; at < end && *at >= '0' && *at <= '9' && at - *p < 9; at++)
		v = v * 10 + (uint64_t)(*at - '0');
	if (at == *p || (at < end && *at >= '0' && *at <= '9'))
		return false;
	*ret = v;
	*p = at;
	return true;
}

/* Hex digits, at most 16 of them, without 0x. */
static inline bool mk_take_digits(const char **p, const char *end, uint64_t *ret)
{
	const char *at = *p;
	uint64_t v = 0;

	for (; at < end; at++) {
		const unsigned d = *at >= '0' && *at <= '9' ? (unsigned)(*at - '0') :
				   (*at | 0x20) >= 'a' && (*at | 0x20) <= 'f'
					   ? (unsigned)((*at | 0x20) - 'a') + 10 : 16;
		if (d == 16)
			break;
		v = v << 4 | d;
	}
	if (at == *p || at - *p > 16)
		return false;
	*ret = v;
	*p = at;
	return true;
}

/* The same with 0x in front. */
static inline bool mk_take_hex(const char **p, const char *end, uint64_t *ret)
{
	const char *at = *p;

	if (!mk_take_text(&at, end, "0x") || !mk_take_digits(&at, end, ret))
		return false;
	*p = at;
	return true;
}

/* Is p, in a line that begins at `line`, not in the middle of a word? What an escape of JSON
 * or of a terminal ends with is not a part of the next word. */
static inline bool mk_begins_word(const char *line, const char *p)
{
	const char before = p > line ? p[-1] : ' ';
	const bool letter = (before | 0x20) >= 'a' && (before | 0x20) <= 'z';

	if (letter && p - line >= 2 && p[-2] == '\\' && (before == 'n' || before == 't'))
		return true;
	if (before == 'm' && p - line >= 3 && memchr(p - (p - line < 8 ? p - line : 8), '\033',
						     (size_t)(p - line < 8 ? p - line : 8)))
		return true;
	return !letter && !(before >= '0' && before <= '9');
}

/* Where a text ends that begins at p: at `end`, or before that at an escaped newline. */
static inline const char *mk_end_of_text(const char *p, const char *end)
{
	const char *escaped = memmem(p, (size_t)(end - p), "\\n", 2);

	return escaped ? escaped : end;
}

/* The end of [p, end) without blanks and the newline. */
static inline const char *mk_trimmed(const char *p, const char *end)
{
	while (end > p && strchr(" \t\r\n", end[-1]))
		end--;
	return end;
}

/* The first `text` in [p, end), or `end`. *found is NULL at first, then the answer to p before:
 * as long as p ascends, all calls together read a line once. */
static inline const char *mk_find_next(const char **found, const char *p, const char *end,
				       const char *text)
{
	if (!*found || *found < p) {
		*found = memmem(p, (size_t)(end - p), text, strlen(text));
		*found = *found ? *found : end;
	}
	return *found;
}

/* The last `text` in [p, end), or NULL. */
static inline const char *mk_find_back(const char *p, const char *end, const char *text)
{
	const size_t len = strlen(text);

	for (const char *at = end - len; (size_t)(end - p) >= len && at >= p; at--)
		if (!memcmp(at, text, len))
			return at;
	return NULL;
}

#endif
