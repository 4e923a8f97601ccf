/* source_lines.h: the lines around a place in the sources. */
#ifndef CMD_SOURCE_LINES_H
#define CMD_SOURCE_LINES_H

#include "cmd/cli/text.h"
#include "symcache/debug_files.h"

/* Appends `n` lines of the file at `path`, which the module names, around `line`, as
 * llvm-symbolizer lays them out; nothing, if the file is not there or shorter. */
void source_lines_put(struct symcache_source_files *s, struct symcache_module *m,
		      struct symcache_str path, uint32_t line, uint64_t n, struct text *to);

#endif
