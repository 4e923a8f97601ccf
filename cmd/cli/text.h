/* text.h: text that gathers before it is written out. */
#ifndef CMD_TEXT_H
#define CMD_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "libmarkup/bytes/number.h"

/* All zero: empty. */
struct text {
	char *bytes;
	size_t len, cap;
};

/* Room for `size` more bytes: where they go. Out of memory ends the program. */
static inline char *text_room(struct text *t, size_t size)
{
	if (__builtin_expect(size > t->cap - t->len, 0)) {
		t->cap = 2 * (t->len + size) + 256;
		t->bytes = must_realloc(t->bytes, t->cap);
	}
	return t->bytes + t->len;
}

static inline void text_put(struct text *t, const void *bytes, size_t len)
{
	memcpy(text_room(t, len), bytes, len);
	t->len += len;
}

static inline void text_str(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

static inline void text_char(struct text *t, char c)
{
	*text_room(t, 1) = c;
	t->len++;
}

/* text_put() of bytes of which 32 may be read, however few they are (SYMCACHE_PADDED). */
static inline void text_put_padded(struct text *t, const char *bytes, size_t len)
{
	char *to = text_room(t, len + 32);

	memcpy(to, bytes, 32);
	if (__builtin_expect(len > 32, 0))
		memcpy(to + 32, bytes + 32, len - 32);
	t->len += len;
}

static inline void text_number(struct text *t, uint64_t number)
{
	t->len += mk_fmt_dec(text_room(t, FMT_MAX), number);
}

/* "0x1f" */
static inline void text_hex(struct text *t, uint64_t number)
{
	t->len += mk_fmt_hex(text_room(t, FMT_MAX), number);
}

/* Writes it out, and begins anew. */
static inline void text_flush(struct text *t, FILE *to)
{
	if (t->len)
		fwrite(t->bytes, 1, t->len, to);
	t->len = 0;
}

#endif
