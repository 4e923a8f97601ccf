/* text.h: text that gathers before it is written out. */
#ifndef CMD_TEXT_H
#define CMD_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/number.h"

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

static inline void text_number(struct text *t, uint64_t number, unsigned base)
{
	char digits[64], *p;

	p = format_number(digits + sizeof(digits), number, base);
	text_put(t, p, (size_t)(digits + sizeof(digits) - p));
}

/* "0x1f" */
static inline void text_hex(struct text *t, uint64_t number)
{
	text_put(t, "0x", 2);
	text_number(t, number, 16);
}

/* Writes it out, and begins anew. */
static inline void text_flush(struct text *t, FILE *to)
{
	if (t->len)
		fwrite(t->bytes, 1, t->len, to);
	t->len = 0;
}

#endif
