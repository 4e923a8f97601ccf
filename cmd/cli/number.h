/* number.h: numbers as text, for inner loops. */
#ifndef CMD_NUMBER_H
#define CMD_NUMBER_H

#include <stdint.h>

/* Writes `value` in base 10 or 16 right before `end`, without a NUL; returns where it
 * begins, 20 bytes before at most. */
static inline char *format_number(char *end, uint64_t value, unsigned base)
{
	do {
		*--end = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return end;
}

#endif
