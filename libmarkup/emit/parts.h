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

/* Text in bytes of the caller; what has no room is left out. */
struct text {
	char *buf;
	size_t len, cap;
};

/* Enough for any line but the modules'. */
#define NEW_LINE { (char[256]){ 0 }, 0, 256 }

static inline void add_char(struct text *t, char c)
{
	if (t->len < t->cap)
		t->buf[t->len++] = c;
}

static inline void add(struct text *t, const char *text)
{
	while (*text)
		add_char(t, *text++);
}

static inline void add_number(struct text *t, uint64_t v, unsigned base)
{
	char rev[20];
	size_t n = 0;

	do
		rev[n++] = "0123456789abcdef"[v % base];
	while (v /= base);
	add(t, base == 16 ? "0x" : "");
	while (n)
		add_char(t, rev[--n]);
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
