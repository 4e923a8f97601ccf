/* Strings on the heap: see text.h. */
#include "libsymcache/base/text.h"

#include <stdio.h>

char *sc_vtext(const char *fmt, va_list ap)
{
	char *text;

	return vasprintf(&text, fmt, ap) < 0 ? NULL : text;
}

char *sc_text(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sc_vtext(fmt, ap);
	va_end(ap);
	return text;
}
