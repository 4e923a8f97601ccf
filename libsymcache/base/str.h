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

static inline bool sc_str_begins(struct sc_str s, const char *with)
{
	const size_t len = strlen(with);

	return s.len >= len && !memcmp(s.ptr, with, len);
}

static inline bool sc_str_ends(struct sc_str s, const char *with)
{
	const size_t len = strlen(with);

	return s.len >= len && !memcmp(s.ptr + s.len - len, with, len);
}

/* What stands behind the last slash; empty if the path ends with it. */
static inline struct sc_str sc_last_part(struct sc_str path)
{
	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;

	return slash ? sc_span(slash + 1, path.ptr + path.len) : path;
}

/* The same, but a path that ends with a slash is shown whole. */
static inline struct sc_str sc_basename(struct sc_str path)
{
	const struct sc_str last = sc_last_part(path);

	return last.len ? last : path;
}

/* The name of a file: of one in an archive, ARCHIVE!PATH, its own. */
static inline struct sc_str sc_file_name(struct sc_str path)
{
	const struct sc_str last = sc_last_part(path);
	const char *inner = last.len ? memrchr(last.ptr, '!', last.len) : NULL;

	return inner ? sc_span(inner + 1, last.ptr + last.len) : last;
}

/* The same of the file that a debug file belongs to: without ".debug". */
static inline struct sc_str sc_name_without_debug(struct sc_str path)
{
	struct sc_str name = sc_file_name(path);

	if (name.len > 6 && sc_str_ends(name, ".debug"))
		name.len -= 6;
	return name;
}

#endif
