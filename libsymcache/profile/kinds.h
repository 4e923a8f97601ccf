/* kinds.h: what the bytes of a profile are. */
#ifndef SC_PROFILE_KINDS_H
#define SC_PROFILE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libsymcache/base/str.h"

enum prof_kind {
	PROF_UNKNOWN,
	PROF_PPROF,
	PROF_OTLP,
	PROF_FOLDED,
	PROF_HEAP,  /* a text of gperftools or jemalloc */
	PROF_CPU,   /* gperftools' */
	PROF_PERF,
};

/* The kind of a profile, by its unpacked bytes. PROF_UNKNOWN sets *looks_like to what they seem to
 * be, in a few words. */
enum prof_kind prof_kind_of(const uint8_t *bytes, size_t size, const char **looks_like);

/* The next line of a text [*at, end), without its newline. False: there is none. */
static inline bool prof_next_line(const char **at, const char *end, struct sc_str *ret)
{
	const char *newline;

	if (*at == end)
		return false;
	newline = memchr(*at, '\n', (size_t)(end - *at));
	*ret = sc_span(*at, newline ? newline : end);
	*at = newline ? newline + 1 : end;
	return true;
}

/* Where the stack in a line of folded stacks ends: at the last blank. NULL: it is not such a
 * line. */
const char *prof_stack_end(struct sc_str line);

#endif
