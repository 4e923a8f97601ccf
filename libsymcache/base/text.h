/* text.h: strings. */
#ifndef SC_TEXT_H
#define SC_TEXT_H

#include <stdarg.h>

#include "libsymcache/base/cleanup.h"

/* A printf text. NULL: out of memory. */
char *sc_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *sc_vtext(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* The value of a hex digit; -1: another character. */
static inline int sc_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
