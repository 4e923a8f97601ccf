/* cache_file.h: a SymCache file, mapped and opened. */
#ifndef CMD_CACHE_FILE_H
#define CMD_CACHE_FILE_H

#include <stddef.h>

#include "symcache/symcache.h"

/* All zero: none. */
struct cache_file {
	void *bytes;             /* NULL: the file is empty */
	size_t size;
	struct symcache cache;
};

/* Maps and opens it. SC_ESYS, SC_EINVAL: not a regular file; SC_EFORMAT. The
 * message begins with the path. */
int cache_file_open(const char *path, struct cache_file *ret, struct sc_error *err);
void cache_file_close(struct cache_file *file);

#endif
