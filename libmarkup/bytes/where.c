/* Complaints with their place: see where.h. */
#include "libmarkup/bytes/where.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mk_complain_text(const struct mk_where *w, const char *text, size_t len)
{
	if (!w->silent && w->sink.complain)
		w->sink.complain(w->sink.ctx, text, len);
}

void mk_complain(const struct mk_where *w, const char *fmt, ...)
{
	char text[1024];
	size_t len = 0;
	va_list ap;

	if (w->silent || !w->sink.complain)
		return;
	if (w->input)
		len = (size_t)snprintf(text, sizeof(text) / 2, "%s:", w->input);
	else
		len = (size_t)snprintf(text, sizeof(text), "line ");
	if (len >= sizeof(text) / 2)
		len = sizeof(text) / 2 - 1;
	len += (size_t)snprintf(text + len, sizeof(text) - len, "%llu: ",
				(unsigned long long)w->line_no + 1);
	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len - 1, fmt, ap);
	va_end(ap);
	len = strlen(text);
	text[len++] = '\n';
	mk_complain_text(w, text, len);
}

struct sc_str mk_shortened(struct sc_str s, char buf[], size_t size)
{
	size_t len = s.len <= size ? s.len : size - 3;

	while (len && len < s.len && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
		len--; /* within a character */
	for (size_t i = 0; i < len; i++)
		buf[i] = s.ptr[i] ? s.ptr[i] : '?';
	if (len < s.len)
		memcpy(buf + len, "...", 3);
	return (struct sc_str){ buf, len < s.len ? len + 3 : len };
}
