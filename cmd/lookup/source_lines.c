/*
 * The lines around a place in the sources: see source_lines.h. Costs a look through the file
 * up to the place. Control characters but tabs are left out, so that none reaches a terminal.
 */
#include "cmd/lookup/source_lines.h"

static unsigned digits_of(uint64_t number)
{
	unsigned n = 1;

	while (number /= 10)
		n++;
	return n;
}

static void put_line(struct text *to, uint64_t number, unsigned width, bool here, const char *line,
		     size_t len)
{
	text_number(to, number, 10);
	for (unsigned i = digits_of(number); i < width; i++)
		text_char(to, ' ');
	text_put(to, here ? " >: " : "  : ", 4);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] >= ' ' || line[i] == '\t')
			text_char(to, line[i]);
	text_char(to, '\n');
}

void source_lines_put(struct symcache_source_files *s, struct symcache_module *m, struct symcache_str path,
		      uint32_t line, uint64_t n, struct text *to)
{
	const uint64_t first = line > n / 2 ? line - n / 2 : 1;
	const unsigned width = digits_of(first + n - 2); /* as LLVM counts them */
	const struct symcache_source_file *f;
	const char *at, *end, *newline;

	if (!path.ptr || !line || !n || n > UINT32_MAX)
		return;
	f = symcache_source_file(s, m, path);
	at = f->bytes;
	end = f->bytes + f->size;
	for (uint64_t i = 1; f->bytes && at < end && i < first + n; i++, at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		if (i >= first)
			put_line(to, i, width, i == line, at, (size_t)(newline - at));
	}
}
