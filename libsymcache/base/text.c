/* Strings on the heap: see text.h. */
#include "libsymcache/base/text.h"

#include <stdarg.h>
#include <stdio.h>

char *sc_text(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	return len < 0 ? NULL : text;
}
