/* text.h: strings. */
#ifndef SC_TEXT_H
#define SC_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "libsymcache/base/cleanup.h"

/* A printf text. NULL: out of memory. */
char *sc_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *sc_vtext(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* A copy of a list that ends with NULL, in *ret; of NULL: NULL. False: out of memory; *ret may have
 * a part of it. */
bool sc_text_list_copy(const char *const *list, char ***ret);
void sc_text_list_free(char **list); /* NULL is fine */

/* The value of a hex digit; -1: another character. */
static inline int sc_hex_digit(char c)
{
	const uint64_t digits = 0x7e0000007e03ff; /* from '0' on; which kind it is, is not asked */
	const unsigned at = (unsigned char)c - (unsigned)'0';

	return at < 64 && digits >> at & 1 ? (c & 15) + 9 * (c >> 6) : -1;
}

#endif
