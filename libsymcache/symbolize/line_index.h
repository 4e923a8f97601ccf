/*
 * line_index.h: source locations of a cache by file and line, files by the last part of their path,
 * and inlined calls by the call that they are in. A cache has no such index; the first question
 * makes one in memory. What belongs together stands together, so that its records can be fetched at
 * once: the locations whose lines share a bucket of hashes, and those of a call. Files are chained.
 * Cost: two passes over the locations, 8 to 12 bytes for each.
 */
#ifndef SC_LINE_INDEX_H
#define SC_LINE_INDEX_H

#include "libsymcache/read/read.h"

struct sc_line_index {
	const struct symcache *cache;
	unsigned generation;  /* of the module */
	uint32_t file_mask, line_mask;
	uint32_t *files, *next_file;      /* numbers + 1; 0: the end */
	uint32_t *line_starts, *lines;    /* lines[line_starts[hash]] … are locations */
	uint32_t *call_starts, *called;   /* called[call_starts[location]] …: those inlined into it */
	uint32_t tables[];
};

/* NULL: out of memory, damaged, or more than numbers reach. */
struct sc_line_index *sc_line_index_create(const struct symcache *c, unsigned generation);
void sc_line_index_destroy(struct sc_line_index *x); /* NULL is fine */

/* The first of the chain that has all files with this last part, and others, + 1; or 0. */
uint32_t sc_line_index_file(const struct sc_line_index *x, struct sc_str basename);

/* The locations of a line, and of others, until *end. */
const uint32_t *sc_line_index_line(const struct sc_line_index *x, uint32_t file, uint32_t line,
				   const uint32_t **end);

/* The locations that are inlined into the one of a call, until *end. */
static inline const uint32_t *sc_line_index_called(const struct sc_line_index *x, uint32_t call,
						   const uint32_t **end)
{
	*end = x->called + x->call_starts[call + 1];
	return x->called + x->call_starts[call];
}

#endif
