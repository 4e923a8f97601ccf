/* str.h: bytes that belong to someone else, with their number; not NUL-terminated. */
#ifndef SC_STR_H
#define SC_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ptr NULL: absent, which is not the same as empty. */
struct sc_str {
	const char *ptr;
	size_t len;
};

/* Of a NUL-terminated string, which may be NULL. */
static inline struct sc_str sc_str_of(const char *text)
{
	return (struct sc_str){ text, text ? strlen(text) : 0 };
}

/* [from, to) */
static inline struct sc_str sc_span(const char *from, const char *to)
{
	return (struct sc_str){ from, (size_t)(to - from) };
}

static inline bool sc_str_is(struct sc_str s, const char *text)
{
	const size_t len = strlen(text);

	return s.len == len && !memcmp(s.ptr, text, len);
}

/* Absent ones are the same as empty ones. */
static inline bool sc_str_same(struct sc_str a, struct sc_str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}

#endif
