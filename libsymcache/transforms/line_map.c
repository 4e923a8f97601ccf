/*
 * --line-map: lines of the C++ that il2cpp generates → lines of C#: see maps.h.
 *
 *   { "/out/Il2CppOutputProject/Game.cpp": {
 *       "/src/Assets/Game.cs": { "20": 17, "24": 18 } } }
 *
 * C++ file, C# file, C++ line → C# line. A line that is not there is that of the
 * nearest one before it, whatever its C# file; before the first there is none.
 * What has another type at the first two levels ("__debug-id__") is skipped.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/json_text.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/transforms/maps.h"

struct row {
	uint32_t from, to;
	size_t file;     /* in names */
	size_t order;    /* of two rows for one line the last counts */
};

struct source {
	char *path;          /* of the C++ file */
	size_t first, num;   /* its rows */
	size_t order;
};

struct line_map {
	VEC(struct source) sources; /* ascending by path, each once */
	VEC(struct row) rows;       /* of each source ascending by line, each once */
	VEC(char *) names;          /* of C# files */
};

struct reading {
	struct line_map *m;
	unsigned depth;      /* maps and arrays around */
	unsigned skip;       /* depth from which on nothing counts; 0: all does */
	uint32_t from;       /* the current key */
	struct sc_error *err;
};

static void destroy(void *ctx)
{
	struct line_map *m = ctx;

	for (size_t i = 0; i < m->sources.len; i++)
		free(m->sources.data[i].path);
	for (size_t i = 0; i < m->names.len; i++)
		free(m->names.data[i]);
	vec_deinit(&m->sources);
	vec_deinit(&m->names);
	vec_deinit(&m->rows);
	free(m);
}

/* Stops the parser. */
static int bad(struct reading *r, const char *what)
{
	sc_error_set(r->err, SC_EFORMAT, "%s", what);
	return 0;
}

static int no_memory(struct reading *r)
{
	sc_no_memory(r->err);
	return 0;
}

/* A value that is neither a number nor a map. */
static int on_other(struct reading *r)
{
	if (!r->depth)
		return bad(r, "not a JSON object");
	return r->depth != 3 || r->skip ? 1 : bad(r, "the C# line is not a number");
}

static int on_null(void *ctx)
{
	return on_other(ctx);
}

static int on_boolean(void *ctx, int value)
{
	(void)value;
	return on_other(ctx);
}

static int on_double(void *ctx, double value)
{
	(void)value;
	return on_other(ctx);
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	(void)text;
	(void)len;
	return on_other(ctx);
}

static int on_integer(void *ctx, long long value)
{
	struct reading *r = ctx;
	struct line_map *m = r->m;
	struct row *row;

	if (r->depth != 3 || r->skip)
		return r->depth ? 1 : on_other(r);
	if (value < 0 || value > UINT32_MAX)
		return bad(r, "the C# line is out of range");
	row = vec_push(&m->rows);
	if (!row)
		return no_memory(r);
	*row = (struct row){ r->from, (uint32_t)value, m->names.len - 1, m->rows.len - 1 };
	m->sources.data[m->sources.len - 1].num++;
	return 1;
}

static int on_map(void *ctx)
{
	struct reading *r = ctx;

	if (++r->depth == 4 && !r->skip)
		return bad(r, "the C# line is not a number");
	return 1;
}

static int on_array(void *ctx)
{
	struct reading *r = ctx;

	if (!on_other(r))
		return 0;
	if (!r->skip)
		r->skip = r->depth + 1;
	r->depth++;
	return 1;
}

static int on_end(void *ctx)
{
	struct reading *r = ctx;

	if (r->skip == r->depth)
		r->skip = 0;
	r->depth--;
	return 1;
}

static int add_line(struct reading *r, const char *text, size_t len)
{
	uint64_t line = 0;

	if (!len)
		return bad(r, "a C++ line is not a number");
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return bad(r, "a C++ line is not a number");
		line = line * 10 + (uint64_t)(text[i] - '0');
		if (line > UINT32_MAX)
			return bad(r, "a C++ line is out of range");
	}
	r->from = (uint32_t)line;
	return 1;
}

static char *copy(const unsigned char *text, size_t len)
{
	return strndup((const char *)text, len);
}

static int add_source(struct reading *r, char *path)
{
	struct line_map *m = r->m;
	struct source *s = path ? vec_push(&m->sources) : NULL;

	if (!s) {
		free(path);
		return no_memory(r);
	}
	*s = (struct source){ path, m->rows.len, 0, m->sources.len - 1 };
	return 1;
}

static int add_name(struct reading *r, char *path)
{
	char **name = path ? vec_push(&r->m->names) : NULL;

	if (!name) {
		free(path);
		return no_memory(r);
	}
	*name = path;
	return 1;
}

static int on_key(void *ctx, const unsigned char *text, size_t len)
{
	struct reading *r = ctx;

	if (r->skip)
		return 1;
	switch (r->depth) {
	case 1:
		return add_source(r, copy(text, len));
	case 2:
		return add_name(r, copy(text, len));
	case 3:
		return add_line(r, (const char *)text, len);
	default:
		return 1;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_sources(const void *a, const void *b)
{
	const struct source *x = a, *y = b;
	int rc = strcmp(x->path, y->path);

	return rc ? rc : x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct line_map *m)
{
	struct source *sources = m->sources.data;
	size_t kept = 0;

	if (m->sources.len)
		qsort(sources, m->sources.len, sizeof(*sources), compare_sources);
	for (size_t i = 0; i < m->sources.len; i++) {
		struct source *s = &sources[i];

		/* Of two with one path the last counts. */
		if (i + 1 < m->sources.len && !strcmp(s->path, sources[i + 1].path)) {
			free(s->path);
			continue;
		}
		if (s->num)
			qsort(&m->rows.data[s->first], s->num, sizeof(struct row), compare_rows);
		sources[kept++] = *s;
	}
	m->sources.len = kept;
}

static const struct source *find_source(const struct line_map *m, const char *path)
{
	const size_t at = SC_SEARCH(i, m->sources.len, strcmp(m->sources.data[i].path, path) < 0);

	return at < m->sources.len && !strcmp(m->sources.data[at].path, path) ?
		&m->sources.data[at] : NULL;
}

static bool map_place(void *ctx, struct symcache_place *place)
{
	static _Thread_local char path[PATH_MAX];
	const struct line_map *m = ctx;
	const struct source *s;
	const struct row *rows;
	size_t n;

	if (!sc_place_path(place, path, sizeof(path)) || !(s = find_source(m, path)) || !s->num)
		return false;
	rows = &m->rows.data[s->first];
	n = SC_SEARCH(i, s->num, rows[i].from <= place->line);
	if (!n || strlen(m->names.data[rows[n - 1].file]) >= sizeof(path))
		return false;
	place->line = rows[n - 1].to;
	place->no_column = true;
	sc_place_set_path(place, strcpy(path, m->names.data[rows[n - 1].file]));
	return true;
}

int sc_line_map(const char *text, size_t size, struct sc_map *ret, struct sc_error *err)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_integer = on_integer,
		.yajl_double = on_double, .yajl_string = on_string, .yajl_start_map = on_map,
		.yajl_map_key = on_key, .yajl_end_map = on_end, .yajl_start_array = on_array,
		.yajl_end_array = on_end,
	};
	struct sc_error first = { 0 };
	struct reading r = { .m = calloc(1, sizeof(*r.m)), .err = &first };
	size_t end = 0;
	int rc = r.m ? sc_json_parse(&callbacks, &r, text, size, &end) : SC_ENOMEM;

	if (rc == SC_ENOMEM || first.code == SC_ENOMEM)
		rc = sc_no_memory(err);
	else if (rc)
		sc_error_set(err, rc, "byte %zu: %s", end,
			     first.code ? first.msg : "not a JSON text");
	if (rc && r.m)
		destroy(r.m);
	else if (!rc)
		sort(r.m);
	*ret = (struct sc_map){ { NULL, map_place, r.m }, destroy };
	return rc;
}
