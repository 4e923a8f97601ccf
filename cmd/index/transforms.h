/*
 * transforms.h: --symbol-map, --line-map and --map-path, for index and build: what
 * is changed between the debug information and the cache (symcache_build.h).
 *
 * They apply in that order, whatever theirs on the command line: names first, then
 * lines of generated sources, then folders.
 */
#ifndef CMD_TRANSFORMS_H
#define CMD_TRANSFORMS_H

#include "cmd/cli/opt.h"
#include "symcache/build.h"
#include "symcache/error.h"

struct transform_options {
	struct opt_list symbol_maps, line_maps, path_maps;
};

#define OPT_TRANSFORMS(where) \
	{ "map-path", 0, OPT_LIST, &(where)->path_maps, "FROM=TO", \
	  "write source paths that lie in the folder FROM as in TO; may be repeated, the first " \
	  "that fits counts" }, \
	{ "symbol-map", 0, OPT_LIST, &(where)->symbol_maps, "FILE", \
	  "write the real names of obfuscated symbols: Apple's BCSymbolMap, or lines with an " \
	  "obfuscated name, blanks and the real name; may be repeated" }, \
	{ "line-map", 0, OPT_LIST, &(where)->line_maps, "FILE", \
	  "write the C# file and line of generated C++ code: il2cpp's LineNumberMappings.json; may " \
	  "be repeated" }

struct transforms {
	struct symcache_transform *list;
	size_t n;
	char *text; /* what an entry records of it: a line for each; "" if there are none */
};

/* Reads the maps. SC_ESYS; SC_EFORMAT, with file and line; SC_EINVAL: no FROM=TO. */
int transforms_init(struct transforms *ret, const struct transform_options *options,
		    struct sc_error *err);
void transforms_deinit(struct transforms *t);

/* ---- the maps; each takes the text of a file, which may be anything ------------- */

struct symbol_map;
struct line_map;
struct path_map;

int symbol_map_create(const char *text, size_t size, struct symbol_map **ret,
		      struct sc_error *err);
void symbol_map_destroy(struct symbol_map *m); /* NULL is fine, as for the others */
/* The real name, or `name`. */
const char *symbol_map_name(const struct symbol_map *m, const char *name);
/* A BCSymbolMap also hides the parts of paths. True: something was hidden. */
bool symbol_map_place(const struct symbol_map *m, struct symcache_place *place);

int line_map_create(const char *text, size_t size, struct line_map **ret, struct sc_error *err);
void line_map_destroy(struct line_map *m);
/* The nearest line at or before place->line. False: none, or another file. */
bool line_map_place(const struct line_map *m, struct symcache_place *place);

/* `rules` are FROM=TO, n of them. */
int path_map_create(const char *const *rules, size_t n, struct path_map **ret,
		    struct sc_error *err);
void path_map_destroy(struct path_map *m);
bool path_map_place(const struct path_map *m, struct symcache_place *place);

/* Takes `path`, which it writes to, apart into dir and name. */
void place_set_path(struct symcache_place *place, char *path);

/* The path of a place as it would be printed, in buf[0, size). False: no room, or none. */
bool place_path(const struct symcache_place *place, char *buf, size_t size);

#endif
