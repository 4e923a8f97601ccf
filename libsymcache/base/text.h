/* text.h: strings on the heap. */
#ifndef SC_TEXT_H
#define SC_TEXT_H

#include <stdlib.h>

/* A printf text. NULL: out of memory. */
char *sc_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For __attribute__((cleanup)). */
static inline void sc_free_text(char **text)
{
	free(*text);
}

#endif
