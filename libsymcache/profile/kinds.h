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

/* By its bytes, unpacked; *looks_like: what an unknown one is, in a few words. Reads as far as
 * it needs to. */
enum prof_kind prof_kind_of(const uint8_t *bytes, size_t size, const char **looks_like);

/* Where the stack of a line of folded stacks ends, in front of the last blank; NULL: it is none. */
const char *prof_stack_end(const char *line, const char *end);

#endif
