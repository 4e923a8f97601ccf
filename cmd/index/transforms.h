/* transforms.h: --symbol-map, --line-map and --map-path, for index and build. */
#ifndef CMD_TRANSFORMS_H
#define CMD_TRANSFORMS_H

#include "cmd/cli/opt.h"
#include "libsymcache/transforms/transforms.h"

struct transform_options {
	struct opt_list symbol_maps, line_maps, path_maps;
};

#define OPT_TRANSFORMS(where) \
	{ "map-path", 0, OPT_LIST, &(where)->path_maps, "FROM=TO", \
	  "write source paths in the folder FROM as paths in TO; may be repeated, the first " \
	  "match counts" }, \
	{ "symbol-map", 0, OPT_LIST, &(where)->symbol_maps, "FILE", \
	  "replace obfuscated symbol names by the real ones: Apple's BCSymbolMap, or lines with an " \
	  "obfuscated name, blanks and the real name; may be repeated" }, \
	{ "line-map", 0, OPT_LIST, &(where)->line_maps, "FILE", \
	  "give generated C++ code its C# files and lines: il2cpp's LineNumberMappings.json; may " \
	  "be repeated" }

/* Reads them: as symcache_transforms_init(). */
static inline int read_transforms(const struct transform_options *o,
				  struct symcache_transforms *ret, struct sc_error *err)
{
	const struct symcache_maps maps = {
		o->symbol_maps.items, o->line_maps.items, o->path_maps.items,
	};

	return symcache_transforms_init(ret, &maps, err);
}

#endif
