/* utf8.h: bytes that may be UTF-8. */
#ifndef SC_UTF8_H
#define SC_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the character at s[0, len), len > 0. Negative: that many bytes are the
 * malformed beginning of one (also overlong forms and surrogates). */
int sc_utf8_len(const char *s, size_t len);

/* How many bytes at the beginning are UTF-8? */
size_t sc_utf8_valid(const char *s, size_t len);

/* A control character of ASCII? */
static inline bool sc_is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* The length of the character at s[0, len), len > 0, that may be shown on a terminal; negative:
 * that many bytes may not, being a control character or not UTF-8. */
int sc_printable_len(const char *s, size_t len);

/* May it be shown on a terminal, within a line? Control characters and what is not UTF-8
 * may not. */
bool sc_printable(const char *s, size_t len);

/* Writes it with "\x1b" for each byte that may not be shown, to ret[0, 4 * len). Returns
 * the length. */
size_t sc_make_printable(const char *s, size_t len, char *ret);

/* Writes it with "%E9" for each malformed byte, to ret[0, 3 * len). Returns the length. */
size_t sc_utf8_escape(const char *s, size_t len, char *ret);

/* The way back: what sc_utf8_escape() was given, to ret[0, len); what it cannot have written
 * stays as it is. Returns the length. */
size_t sc_utf8_unescape(const char *s, size_t len, char *ret);

#endif
