/* Strings on the heap: see text.h. */
#include "libsymcache/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool sc_text_list_copy(const char *const *list, char ***ret)
{
	size_t n = 0;

	*ret = NULL;
	while (list && list[n])
		n++;
	if (list && !(*ret = calloc(n + 1, sizeof(**ret))))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((*ret)[i] = strdup(list[i])))
			return false;
	return true;
}

void sc_text_list_free(char **list)
{
	for (char **text = list; text && *text; text++)
		free(*text);
	free(list);
}
