/*
 * parts.h: writing without stdio, for the files of this folder. Programs take these files
 * as they are, so that nothing here needs a flag of the compiler.
 */
#ifndef MARKUP_EMIT_PARTS_H
#define MARKUP_EMIT_PARTS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

struct line {
	size_t len;
	char buf[256]; /* enough for any line but the modules' */
};

static inline void add(struct line *l, const char *text)
{
	while (*text && l->len < sizeof(l->buf))
		l->buf[l->len++] = *text++;
}

static inline size_t to_digits(char buf[20], uint64_t v, unsigned base)
{
	char rev[20];
	size_t n = 0;

	do
		rev[n++] = "0123456789abcdef"[v % base];
	while (v /= base);
	for (size_t i = 0; i < n; i++)
		buf[i] = rev[n - 1 - i];
	return n;
}

static inline void add_number(struct line *l, uint64_t v, unsigned base)
{
	char buf[21];
	buf[to_digits(buf, v, base)] = 0;
	if (base == 16)
		add(l, "0x");
	add(l, buf);
}

static inline void write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

#endif
