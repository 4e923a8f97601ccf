/* kinds.h: what the bytes of a profile are. */
#ifndef SC_PROFILE_KINDS_H
#define SC_PROFILE_KINDS_H

#include <stddef.h>
#include <stdint.h>

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

/* Where the stack in a line of folded stacks ends: at the last blank. NULL: it is not such a
 * line. */
const char *prof_stack_end(const char *line, const char *end);

#endif
