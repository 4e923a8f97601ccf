/*
 * transforms.h: names and places as people know them, for a build's options: real names
 * of obfuscated symbols, sources of generated code, other folders.
 *
 * They apply in that order: names first, then lines of generated sources, then folders.
 */
#ifndef SYMCACHE_TRANSFORMS_H
#define SYMCACHE_TRANSFORMS_H

#include <stddef.h>

#include "libsymcache/base/error.h"
#include "libsymcache/write/build.h"

/* Each is a list with a NULL behind it, or NULL. */
struct symcache_maps {
	const char *const *symbol_maps; /* files: Apple's BCSymbolMap, or two columns */
	const char *const *line_maps;   /* files: il2cpp's LineNumberMappings.json */
	const char *const *path_maps;   /* FROM=TO; the first that fits counts */
};

struct symcache_transforms {
	struct symcache_transform *list; /* for struct symcache_build_options */
	size_t n;
	char *text;                      /* what an entry records of it: a line for each; ""
	                                  * if there are none */
	struct sc_map *maps;             /* its own */
};

/* Reads the maps. SC_ESYS; SC_EFORMAT, with file and line; SC_EINVAL: not FROM=TO, or not
 * a regular file; SC_ELIMIT: above 1 GiB; SC_ENOMEM. On failure *ret is all zero. */
int symcache_transforms_init(struct symcache_transforms *ret, const struct symcache_maps *maps,
			     struct sc_error *err);
void symcache_transforms_deinit(struct symcache_transforms *t); /* all zero is fine */

#endif
