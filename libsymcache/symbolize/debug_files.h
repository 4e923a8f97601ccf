/*
 * debug_files.h: what debug files have and most caches lack: local variables (a cache has them only
 * with --locals) and embedded sources; and source files.
 */
#ifndef SYMCACHE_DEBUG_FILES_H
#define SYMCACHE_DEBUG_FILES_H

#include "libsymcache/symbolize/symbolize.h"
#include "libsymcache/transforms/transforms.h"
#include "libsymcache/write/locals.h"

/* Debug files, some of which are kept open; for any number of threads. */
struct symcache_debug_files;

/* Both may be NULL, and are borrowed: as in struct symcache_build_options. NULL: out of memory. */
struct symcache_debug_files *symcache_debug_files_create(const char *const *debug_dirs,
							 const char *package);
void symcache_debug_files_destroy(struct symcache_debug_files *f); /* NULL is fine */

/* The local variables of a module, or NULL; valid until symcache_debug_files_end(), which must be
 * called in any case. *why: why there are none; code 0: there is no debug file. */
struct symcache_locals *symcache_debug_files_locals(struct symcache_debug_files *f,
						    struct symcache_module *m, struct sc_error *why);
void symcache_debug_files_end(struct symcache_debug_files *f);

/* A source file that is embedded in the debug information: a copy on the heap of *size bytes; NULL:
 * there is none. */
char *symcache_debug_files_source(struct symcache_debug_files *f, struct symcache_module *m,
				  struct sc_str path, size_t *size);

/* Does the value of the symbol at `vaddr` have a tag (HWASan), so that it is not the address? */
bool symcache_debug_files_tagged(struct symcache_debug_files *f, struct symcache_module *m,
				 uint64_t vaddr);

/* What names addresses as binutils does (write/build.h), of a module that is a file; valid as
 * long as the debug file is kept open. NULL: there is none. */
const struct symcache_nearest *symcache_debug_files_nearest(struct symcache_debug_files *f,
							    struct symcache_module *m);

/* ---- sources ------------------------------------------------------------------------- */

/* Where they are. */
struct symcache_source_search {
	struct symcache_debug_files
		*files; /* in the debug information; NULL: not looked for there */
	struct symcache_transforms maps; /* of paths: where they are tried first */
	const char *const *folders;      /* ends with NULL, or NULL: with the end of the path, the
					  * longest one that is there, if not at the path itself */
};

enum {
	SYMCACHE_SOURCES_KEPT = 32,
	SYMCACHE_SOURCE_MAX = 64 << 20,       /* bytes of a file that is read */
	SYMCACHE_SOURCES_KEPT_MAX = 64 << 20, /* bytes of all that are kept, or one file */
};

struct symcache_source_file {
	const struct symcache_module *module;
	char *path;     /* NULL: no file */
	char *bytes;    /* NULL: it cannot be read */
	bool refused;   /* it is there, but has not the name of a source */
	size_t size;
};

/* The files that were asked about last. All zero but `search`: none. For one thread. */
struct symcache_source_files {
	const struct symcache_source_search *search;
	struct symcache_source_file kept[SYMCACHE_SOURCES_KEPT];
	unsigned next;  /* to be replaced */
	size_t bytes;   /* of all */
	struct { char *data; size_t len, cap; } text; /* of symcache_source_lines() */
};

/* The source of that path, which `m` (or NULL) names: its bytes, if any, with a NUL behind them; path
 * NULL: out of memory. Valid until the next call. */
const struct symcache_source_file *symcache_source_files_get(struct symcache_source_files *s,
							     struct symcache_module *m,
							     struct sc_str path);

/* `n` lines around `line` of the source of that path, which `m` names, each with its number and a
 * newline, as llvm-symbolizer lays them out; len 0: the file is not there, or shorter. Valid until
 * the next call. */
struct sc_str symcache_source_lines(struct symcache_source_files *s,
				    struct symcache_module *m, struct sc_str path,
				    uint32_t line, uint64_t n);
void symcache_source_files_deinit(struct symcache_source_files *s);

#endif
