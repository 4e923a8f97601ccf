/* debug_files.h: what debug files have and caches lack: local variables, sources. */
#ifndef CMD_DEBUG_FILES_H
#define CMD_DEBUG_FILES_H

#include "cmd/cli/text.h"
#include "symcache/locals.h"
#include "symcache/sources.h"
#include "symcache/symbolize.h"

/* The debug files that were asked, some of them kept open; for any number of threads. Out of
 * memory ends the program. */
struct debug_files;

/* Both may be NULL, and are borrowed: as in struct symcache_build_options. */
struct debug_files *debug_files_create(const char *const *debug_dirs, const char *package);
void debug_files_destroy(struct debug_files *f); /* NULL is fine */

/* The local variables of a module, or NULL: until debug_files_end(), which is always called. */
struct symcache_locals *debug_files_locals(struct debug_files *f, struct symcache_module *m);
void debug_files_end(struct debug_files *f);

/* The source of a file that stands in the debug information: a copy on the heap of *size bytes;
 * NULL: there is none. */
char *debug_files_source(struct debug_files *f, struct symcache_module *m,
			 struct symcache_str path, size_t *size);

/* Has the symbol there a tag in its value (HWASan), so that the address is not what it says? */
bool debug_files_tagged(struct debug_files *f, struct symcache_module *m, uint64_t vaddr);

#endif
