/* Bytes of a line against a pattern: see match.h. */
#include "libmarkup/input/match.h"

#include <stdarg.h>

/* The digits of the base at *p, at most `most` of them, which it moves behind. */
static bool take_number(const char **p, const char *end, unsigned base, int most, uint64_t *ret)
{
	const char *at = *p;
	uint64_t v = 0;
	unsigned digit;

	for (; at < end && (digit = mk_digit(*at)) < base; at++)
		v = v * base + digit;
	if (at == *p || at - *p > most)
		return false;
	*ret = v;
	*p = at;
	return true;
}

bool mk_match(const char **p, const char *end, const char *pattern, ...)
{
	const char *at = *p, *stop;
	bool ok = true;
	va_list args;

	va_start(args, pattern);
	for (; ok && *pattern; pattern++) {
		if (*pattern != '%') {
			ok = at < end && *at++ == *pattern;
			continue;
		}
		switch (*++pattern) {
		case 'd':
			ok = take_number(&at, end, 10, 9, va_arg(args, uint64_t *));
			break;
		case 'x':
			ok = take_number(&at, end, 16, 16, va_arg(args, uint64_t *));
			break;
		case 'b':
			for (stop = at; stop < end && mk_digit(*stop) < 16;)
				stop++;
			*va_arg(args, struct sc_str *) = sc_span(at, stop);
			ok = stop > at && (stop - at) % 2 == 0;
			at = stop;
			break;
		case 's':
			stop = memchr(at, pattern[1], (size_t)(end - at));
			*va_arg(args, struct sc_str *) = sc_span(at, stop ? stop : end);
			ok = stop;
			at = stop;
			break;
		default: /* %_ */
			while (at < end && *at == ' ')
				at++;
		}
	}
	va_end(args);
	if (ok)
		*p = at;
	return ok;
}
