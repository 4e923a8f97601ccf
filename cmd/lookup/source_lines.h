/* source_lines.h: the lines around a place in the sources. */
#ifndef CMD_SOURCE_LINES_H
#define CMD_SOURCE_LINES_H

#include "cmd/cli/text.h"
#include "cmd/lookup/debug_files.h"
#include "symcache/transforms.h"

enum {
	SOURCE_FILES = 32,            /* kept by each thread */
	SOURCE_FILE_MAX = 64 << 20,   /* bytes of a file that is read */
	SOURCE_KEPT_MAX = 64 << 20,   /* bytes of all that are kept, or one file */
};

/* Where sources are. */
struct source_search {
	struct debug_files *files;       /* in the debug information; NULL: not looked for there */
	struct symcache_transforms maps; /* of --map-path: where they are tried first */
	const char *const *folders;      /* ends with NULL, or NULL: with the end of the path, the
					  * longest one that is there, if not at the path itself */
};

/* The files that were asked about last; all zero: none. For one thread. */
struct source_lines {
	const struct source_search *search;
	struct source_file {
		const struct symcache_module *module;
		char *path, *bytes; /* path NULL: no file; bytes NULL: it cannot be read */
		size_t size;
	} kept[SOURCE_FILES];
	unsigned next;     /* to be replaced */
	size_t bytes;      /* of all */
};

/* Appends `n` lines of the file at `path`, which the module names, around `line`, as
 * llvm-symbolizer lays them out; nothing, if the file is not there or shorter. */
void source_lines_put(struct source_lines *s, struct symcache_module *m, struct symcache_str path,
		      uint32_t line, uint64_t n, struct text *to);
void source_lines_deinit(struct source_lines *s);

#endif
