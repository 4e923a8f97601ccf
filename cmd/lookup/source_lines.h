/* source_lines.h: the lines around a place in the sources. */
#ifndef CMD_SOURCE_LINES_H
#define CMD_SOURCE_LINES_H

#include "cmd/cli/text.h"
#include "symcache/symcache.h"
#include "symcache/transforms.h"

/* Where sources are, if not at their paths. */
struct source_search {
	struct symcache_transforms maps; /* of --map-path: where they are tried first */
	const char *const *folders;      /* ends with NULL, or NULL: with the end of the path, the
					  * longest one that is there */
};

/* The file that was asked about last; all zero: none. For one thread. */
struct source_lines {
	const struct source_search *search; /* NULL: at their paths alone */
	char *path, *bytes; /* bytes NULL: it cannot be read */
	size_t size;
};

/* Appends `n` lines of the file at `path` around `line`, as llvm-symbolizer lays them out;
 * nothing, if the file is not there or shorter. */
void source_lines_put(struct source_lines *s, struct symcache_str path, uint32_t line, uint64_t n,
		      struct text *to);
void source_lines_deinit(struct source_lines *s);

#endif
