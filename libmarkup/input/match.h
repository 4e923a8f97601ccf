/* match.h: pieces of lines that formats share. */
#ifndef MARKUP_MATCH_H
#define MARKUP_MATCH_H

#include "libmarkup/bytes/fields.h"

/*
 * Takes what `pattern` describes from *p, which moves behind it; false: it is something else, and
 * *p stays. A byte of the pattern stands for itself, but for
 *
 *   %d   decimal digits, at most nine → uint64_t *
 *   %x   hex digits, at most 16 → uint64_t *
 *   %b   hex digits of whole bytes, a build ID → struct sc_str *
 *   %s   all up to the next byte of the pattern → struct sc_str *
 *   %_   blanks, or none
 */
bool mk_match(const char **p, const char *end, const char *pattern, ...);

/* A build ID of whole bytes? */
static inline bool mk_is_build_id(struct sc_str s)
{
	return s.len % 2 == 0 && mk_field_build_id(s, NULL);
}

/* Is p, in a line that begins at `line`, not in the middle of a word? What an escape of JSON, of
 * rsyslog (a tab is "#011") or of a terminal ends with is not a part of the next word. */
static inline bool mk_begins_word(const char *line, const char *p)
{
	const char before = p > line ? p[-1] : ' ';
	const bool letter = (before | 0x20) >= 'a' && (before | 0x20) <= 'z';

	if (before == '1' && p - line >= 4 && !memcmp(p - 4, "#011", 4))
		return true;
	if (letter && p - line >= 2 && p[-2] == '\\' && (before == 'n' || before == 't'))
		return true;
	if (before == 'm' && p - line >= 3 && memchr(p - (p - line < 8 ? p - line : 8), '\033',
						     (size_t)(p - line < 8 ? p - line : 8)))
		return true;
	return !letter && !(before >= '0' && before <= '9');
}

/* Does [p, end) end with `text`? */
static inline bool mk_ends_with(const char *p, const char *end, const char *text)
{
	const size_t len = strlen(text);

	return (size_t)(end - p) >= len && !memcmp(end - len, text, len);
}

/* The first `text` in [p, end), or NULL. */
static inline const char *mk_find(const char *p, const char *end, const char *text)
{
	return memmem(p, (size_t)(end - p), text, strlen(text));
}

/* Where a text ends that begins at p: at `end`, or before that at an escaped newline. */
static inline const char *mk_end_of_text(const char *p, const char *end)
{
	const char *escaped = mk_find(p, end, "\\n");

	return escaped ? escaped : end;
}

/* The end of [p, end) without blanks and the newline. */
static inline const char *mk_trimmed(const char *p, const char *end)
{
	while (end > p && strchr(" \t\r\n", end[-1]))
		end--;
	return end;
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
