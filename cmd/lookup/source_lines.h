/* source_lines.h: the lines around a place in the sources. */
#ifndef CMD_SOURCE_LINES_H
#define CMD_SOURCE_LINES_H

#include "cmd/cli/text.h"
#include "symcache/symcache.h"

/* The file that was asked about last; all zero: none. For one thread. */
struct source_lines {
	char *path, *bytes; /* bytes NULL: it cannot be read */
	size_t size;
};

/* Appends `n` lines of the file at `path` around `line`, as llvm-symbolizer lays them out;
 * nothing, if the file is not there or shorter. */
void source_lines_put(struct source_lines *s, struct symcache_str path, uint32_t line, uint64_t n,
		      struct text *to);
void source_lines_deinit(struct source_lines *s);

#endif
