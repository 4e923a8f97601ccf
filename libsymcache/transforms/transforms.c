/* Maps on the disk → transformations of a build: see transforms.h. */
#include "libsymcache/transforms/transforms.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "libsymcache/base/text.h"
#include "libsymcache/transforms/maps.h"

enum { MAP_FILE_MAX = 1 << 30 };

/* The whole file, on the heap, with a NUL behind it. */
static int read_file(const char *path, char **ret, size_t *size, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text __attribute__((cleanup(sc_free_text))) = NULL;
	struct stat st;
	ssize_t n = 1;

	*size = 0;
	if (fd < 0 || fstat(fd, &st))
		return sc_error_sys(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return sc_error_set(err, SC_EINVAL, "%s: not a regular file", path);
	if (st.st_size > MAP_FILE_MAX)
		return sc_error_set(err, SC_ELIMIT, "%s: larger than 1 GiB", path);
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return sc_no_memory(err);
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

/* Takes `line`, which is NULL if memory is out. */
static int add_text(struct symcache_transforms *t, char *line, struct sc_error *err)
{
	char *both = line ? sc_text("%s%s%s", t->text, *t->text ? "\n" : "", line) : NULL;

	free(line);
	if (!both)
		return sc_no_memory(err);
	free(t->text);
	t->text = both;
	return 0;
}

static void add_map(struct symcache_transforms *t, const struct sc_map *map)
{
	t->maps[t->n] = *map;
	t->list[t->n++] = map->transform;
}

typedef int map_fn(const char *text, size_t size, struct sc_map *ret, struct sc_error *err);

static int add_file(struct symcache_transforms *t, const char *option, map_fn *fn,
		    const char *path, struct sc_error *err)
{
	char *text __attribute__((cleanup(sc_free_text))) = NULL;
	const char *slash = strrchr(path, '/');
	struct sc_map map;
	size_t size;
	char *line;
	int rc = read_file(path, &text, &size, err);

	if (rc)
		return rc;
	rc = fn(text, size, &map, err);
	if (rc) {
		sc_error_prefix(err, "%s: ", path);
		return rc;
	}
	add_map(t, &map);
	/* What a map was counts, not where it lay. */
	line = sc_text("%s %s %016llx", option, slash ? slash + 1 : path,
		       (unsigned long long)XXH3_64bits(text, size));
	for (char *c = line; c && (c = strchr(c, '\n')); )
		*c = '?';
	return add_text(t, line, err);
}

static int add_path_maps(struct symcache_transforms *t, const char *const *rules,
			 struct sc_error *err)
{
	struct sc_map map;
	int rc = sc_path_map(rules, &map, err);

	if (rc)
		return rc;
	add_map(t, &map);
	for (; *rules && !rc; rules++)
		rc = add_text(t, sc_text("map-path %s", *rules), err);
	return rc;
}

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

int symcache_transforms_init(struct symcache_transforms *t, const struct symcache_maps *maps,
			     struct sc_error *err)
{
	size_t symbol_maps = count(maps->symbol_maps), line_maps = count(maps->line_maps);
	size_t most = symbol_maps + line_maps + 1;
	int rc = 0;

	*t = (struct symcache_transforms){
		.list = calloc(most, sizeof(*t->list)), .maps = calloc(most, sizeof(*t->maps)),
		.text = strdup(""),
	};
	if (!t->list || !t->maps || !t->text)
		rc = sc_no_memory(err);
	for (size_t i = 0; i < symbol_maps && !rc; i++)
		rc = add_file(t, "symbol-map", sc_symbol_map, maps->symbol_maps[i], err);
	for (size_t i = 0; i < line_maps && !rc; i++)
		rc = add_file(t, "line-map", sc_line_map, maps->line_maps[i], err);
	if (!rc && count(maps->path_maps))
		rc = add_path_maps(t, maps->path_maps, err);
	if (rc)
		symcache_transforms_deinit(t);
	return rc;
}

void symcache_transforms_deinit(struct symcache_transforms *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->maps[i].destroy(t->list[i].ctx);
	free(t->maps);
	free(t->list);
	free(t->text);
	*t = (struct symcache_transforms){ 0 };
}
