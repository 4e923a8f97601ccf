/* The options that change what is written: see transforms.h. */
#include "cmd/index/transforms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "cmd/cli/memory.h"
#include "symcache/symcache.h"

enum { MAP_FILE_MAX = 1 << 30 };

/* ---- places ------------------------------------------------------------------- */

static struct symcache_str str(const char *s)
{
	return (struct symcache_str){ s, s ? (uint32_t)strlen(s) : 0 };
}

bool place_path(const struct symcache_place *place, char *buf, size_t size)
{
	struct symcache_file file = {
		.comp_dir = str(place->comp_dir), .directory = str(place->dir),
		.name = str(place->name),
	};
	size_t len = symcache_path(&file, SYMCACHE_PATH_RAW, buf, size);

	return len && len < size;
}

void place_set_path(struct symcache_place *place, char *path)
{
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	place->comp_dir = place->dir = NULL;
	place->name = path;
	if (!slash || slash == path || !*name)
		return;
	*slash = 0;
	place->dir = path;
	place->name = name;
}

/* ---- files ---------------------------------------------------------------------- */

static void free_text(char **text)
{
	free(*text);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* The whole file, on the heap, with a NUL behind it. */
static int read_file(const char *path, char **ret, size_t *size, struct sc_error *err)
{
	int fd __attribute__((cleanup(close_fd))) = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text __attribute__((cleanup(free_text))) = NULL;
	struct stat st;
	ssize_t n = 1;

	*size = 0;
	if (fd < 0 || fstat(fd, &st))
		return sc_error_sys(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return sc_error_set(err, SC_EINVAL, "%s: not a regular file", path);
	if (st.st_size > MAP_FILE_MAX)
		return sc_error_set(err, SC_ELIMIT, "%s: larger than 1 GiB", path);
	text = must_realloc(NULL, (size_t)st.st_size + 1);
	while (*size < (size_t)st.st_size && n) {
		n = read(fd, text + *size, (size_t)st.st_size - *size);
		if (n < 0)
			return sc_error_sys(err, "%s", path);
		*size += (size_t)n;
	}
	text[*size] = 0;
	*ret = text;
	text = NULL;
	return 0;
}

/* ---- all of them ------------------------------------------------------------------ */

static const char *symbol_name(void *ctx, const char *name)
{
	return symbol_map_name(ctx, name);
}

static bool symbol_place(void *ctx, struct symcache_place *place)
{
	return symbol_map_place(ctx, place);
}

static bool line_place(void *ctx, struct symcache_place *place)
{
	return line_map_place(ctx, place);
}

static bool path_place(void *ctx, struct symcache_place *place)
{
	return path_map_place(ctx, place);
}

static void add_text(struct transforms *t, const char *line)
{
	char *both = must_asprintf("%s%s%s", t->text, *t->text ? "\n" : "", line);

	free(t->text);
	t->text = both;
}

/* What a map was counts, not where it lay. */
static void add_file_text(struct transforms *t, const char *option, const char *path,
			  const char *bytes, size_t size)
{
	const char *slash = strrchr(path, '/');
	char *line = must_asprintf("%s %s %016llx", option, slash ? slash + 1 : path,
				   (unsigned long long)XXH3_64bits(bytes, size));

	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = '?';
	add_text(t, line);
	free(line);
}

static int add_symbol_map(struct transforms *t, const char *path, struct sc_error *err)
{
	char *text __attribute__((cleanup(free_text))) = NULL;
	struct symbol_map *map;
	size_t size;
	int rc = read_file(path, &text, &size, err);

	if (rc)
		return rc;
	rc = symbol_map_create(text, size, &map, err);
	if (rc) {
		sc_error_prefix(err, "%s: ", path);
		return rc;
	}
	t->list[t->n++] = (struct symcache_transform){ symbol_name, symbol_place, map };
	add_file_text(t, "symbol-map", path, text, size);
	return 0;
}

static int add_line_map(struct transforms *t, const char *path, struct sc_error *err)
{
	char *text __attribute__((cleanup(free_text))) = NULL;
	struct line_map *map;
	size_t size;
	int rc = read_file(path, &text, &size, err);

	if (rc)
		return rc;
	rc = line_map_create(text, size, &map, err);
	if (rc) {
		sc_error_prefix(err, "%s: ", path);
		return rc;
	}
	t->list[t->n++] = (struct symcache_transform){ NULL, line_place, map };
	add_file_text(t, "line-map", path, text, size);
	return 0;
}

static int add_path_maps(struct transforms *t, const struct opt_list *rules, struct sc_error *err)
{
	struct path_map *map;
	int rc = path_map_create(rules->items, rules->len, &map, err);

	if (rc)
		return rc;
	t->list[t->n++] = (struct symcache_transform){ NULL, path_place, map };
	for (size_t i = 0; i < rules->len; i++) {
		char *line = must_asprintf("map-path %s", rules->items[i]);

		add_text(t, line);
		free(line);
	}
	return 0;
}

int transforms_init(struct transforms *t, const struct transform_options *o, struct sc_error *err)
{
	int rc = 0;

	*t = (struct transforms){
		.list = must_calloc(o->symbol_maps.len + o->line_maps.len + 1, sizeof(*t->list)),
		.text = must_asprintf("%s", ""),
	};
	for (size_t i = 0; i < o->symbol_maps.len && !rc; i++)
		rc = add_symbol_map(t, o->symbol_maps.items[i], err);
	for (size_t i = 0; i < o->line_maps.len && !rc; i++)
		rc = add_line_map(t, o->line_maps.items[i], err);
	if (!rc && o->path_maps.len)
		rc = add_path_maps(t, &o->path_maps, err);
	if (rc)
		transforms_deinit(t);
	return rc;
}

void transforms_deinit(struct transforms *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].name)
			symbol_map_destroy(t->list[i].ctx);
		else if (t->list[i].place == line_place)
			line_map_destroy(t->list[i].ctx);
		else
			path_map_destroy(t->list[i].ctx);
	}
	free(t->list);
	free(t->text);
	*t = (struct transforms){ 0 };
}
