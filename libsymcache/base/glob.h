/*
 * glob.h: does a text fit a pattern? '*' stands for any bytes, '?' for one, a backslash takes the
 * special meaning from the next one. No sets: names of C++ have brackets. Cost: the product of both
 * lengths at most.
 */
#ifndef SC_GLOB_H
#define SC_GLOB_H

#include <stdbool.h>
#include <string.h>

#include "libsymcache/base/str.h"

/* Has the pattern a '*' or '?' that stands for others? */
static inline bool sc_is_glob(struct sc_str pattern)
{
	for (size_t i = 0; i < pattern.len; i++) {
		if (pattern.ptr[i] == '*' || pattern.ptr[i] == '?')
			return true;
		i += pattern.ptr[i] == '\\';
	}
	return false;
}

static inline bool sc_glob(struct sc_str pattern, struct sc_str text)
{
	const char *p = pattern.ptr, *const end = p + pattern.len;
	size_t at = 0, retry_at = 0;
	const char *retry = NULL; /* behind the last '*', which can take one byte more */

	while (at < text.len || p < end) {
		const bool escaped = p + 1 < end && *p == '\\';

		if (p < end && *p == '*') {
			retry = ++p;
			retry_at = at;
		} else if (p < end && at < text.len &&
			   (escaped ? p[1] == text.ptr[at] : *p == '?' || *p == text.ptr[at])) {
			p += 1 + escaped;
			at++;
		} else if (retry && retry_at < text.len) {
			p = retry;
			at = ++retry_at;
		} else {
			return false;
		}
	}
	return true;
}

#endif
