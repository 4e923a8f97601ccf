/* utf8.h: bytes that may be UTF-8. */
#ifndef SC_UTF8_H
#define SC_UTF8_H

#include <stddef.h>

/* The length of the character at s[0, len), len > 0. Negative: that many bytes are the
 * malformed beginning of one (also overlong forms and surrogates). */
int sc_utf8_len(const char *s, size_t len);

/* How many bytes at the beginning are UTF-8? */
size_t sc_utf8_valid(const char *s, size_t len);

/* Writes it with U+FFFD for each maximal malformed part, as the Unicode standard
 * recommends, to ret[0, 3 * len). Returns the length. */
size_t sc_utf8_mend(const char *s, size_t len, char *ret);

#endif
