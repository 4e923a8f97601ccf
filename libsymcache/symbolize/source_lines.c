/*
 * The lines around a place in the sources: see symcache/debug_files.h. Costs a look through the
 * file up to the place. Control characters but tabs are left out, so that none reaches a terminal.
 */
#include <stdio.h>
#include <string.h>

#include "libsymcache/base/vec.h"
#include "symcache/debug_files.h"

enum { TEXT_MAX = 1 << 20 }; /* bytes of the lines, about */

static int digits_of(uint64_t number)
{
	int n = 1;

	while (number /= 10)
		n++;
	return n;
}

/* False: out of memory. */
static bool put_line(struct symcache_source_files *s, uint64_t number, int width, bool here,
		     const char *line, size_t len)
{
	const size_t room = len + 32;
	char *to;

	if (!vec_reserve(&s->text, room))
		return false;
	to = s->text.data + s->text.len;
	to += snprintf(to, 32, "%-*llu %s: ", width, (unsigned long long)number, here ? ">" : " ");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] >= ' ' || line[i] == '\t')
			*to++ = line[i];
	*to++ = '\n';
	s->text.len = (size_t)(to - s->text.data);
	return true;
}

struct symcache_str symcache_source_lines(struct symcache_source_files *s,
					  struct symcache_module *m, struct symcache_str path,
					  uint32_t line, uint64_t n)
{
	const uint64_t first = line > n / 2 ? line - n / 2 : 1;
	const int width = digits_of(first + n - 2); /* as LLVM counts them */
	const struct symcache_source_file *f;
	const char *at, *end, *newline;
	bool ok = true;

	vec_clear(&s->text);
	if (!path.ptr || !line || !n || n > UINT32_MAX)
		return (struct symcache_str){ NULL, 0 };
	f = symcache_source_file(s, m, path);
	at = f->bytes;
	end = f->bytes + f->size;
	for (uint64_t i = 1; ok && f->bytes && at < end && i < first + n && s->text.len < TEXT_MAX;
	     i++, at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		if (i >= first)
			ok = put_line(s, i, width, i == line, at, (size_t)(newline - at));
	}
	return (struct symcache_str){ s->text.data, s->text.len };
}
