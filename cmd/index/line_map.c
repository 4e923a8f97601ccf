/*
 * --line-map: lines of the C++ that il2cpp generates → lines of C#: see transforms.h.
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

#include <yajl/yajl_parse.h>

#include "cmd/cli/memory.h"
#include "cmd/index/transforms.h"

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
	struct source *sources; /* ascending by path, each once */
	size_t num_sources, cap_sources;
	struct row *rows;    /* of each source ascending by line, each once */
	size_t num_rows, cap_rows;
	char **names;        /* of C# files */
	size_t num_names, cap_names;
};

struct reading {
	struct line_map *m;
	unsigned depth;      /* maps and arrays around */
	unsigned skip;       /* depth from which on nothing counts; 0: all does */
	uint32_t from;       /* the key at hand */
	struct sc_error *err;
};

void line_map_destroy(struct line_map *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->num_sources; i++)
		free(m->sources[i].path);
	for (size_t i = 0; i < m->num_names; i++)
		free(m->names[i]);
	free(m->sources);
	free(m->names);
	free(m->rows);
	free(m);
}

/* Stops the parser. */
static int bad(struct reading *r, const char *what)
{
	sc_error_set(r->err, SC_EFORMAT, "%s", what);
	return 0;
}

/* A value that is no number and no map. */
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

	if (r->depth != 3 || r->skip)
		return r->depth ? 1 : on_other(r);
	if (value < 0 || value > UINT32_MAX)
		return bad(r, "the C# line is out of range");
	m->rows = must_grow(m->rows, m->num_rows, &m->cap_rows, sizeof(*m->rows));
	m->rows[m->num_rows] = (struct row){
		r->from, (uint32_t)value, m->num_names - 1, m->num_rows
	};
	m->num_rows++;
	m->sources[m->num_sources - 1].num++;
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
	return must_asprintf("%.*s", len > INT_MAX ? INT_MAX : (int)len, (const char *)text);
}

static int on_key(void *ctx, const unsigned char *text, size_t len)
{
	struct reading *r = ctx;
	struct line_map *m = r->m;

	if (r->skip)
		return 1;
	if (r->depth == 1) {
		m->sources = must_grow(m->sources, m->num_sources, &m->cap_sources,
				       sizeof(*m->sources));
		m->sources[m->num_sources] = (struct source){
			copy(text, len), m->num_rows, 0, m->num_sources
		};
		m->num_sources++;
	} else if (r->depth == 2) {
		m->names = must_grow(m->names, m->num_names, &m->cap_names, sizeof(*m->names));
		m->names[m->num_names++] = copy(text, len);
	} else if (r->depth == 3) {
		return add_line(r, (const char *)text, len);
	}
	return 1;
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
	size_t kept = 0;

	if (m->num_sources)
		qsort(m->sources, m->num_sources, sizeof(*m->sources), compare_sources);
	for (size_t i = 0; i < m->num_sources; i++) {
		struct source *s = &m->sources[i];

		/* Of two with one path the last counts. */
		if (i + 1 < m->num_sources && !strcmp(s->path, m->sources[i + 1].path)) {
			free(s->path);
			continue;
		}
		if (s->num)
			qsort(&m->rows[s->first], s->num, sizeof(*m->rows), compare_rows);
		m->sources[kept++] = *s;
	}
	m->num_sources = kept;
}

int line_map_create(const char *text, size_t size, struct line_map **ret, struct sc_error *err)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_integer = on_integer,
		.yajl_double = on_double, .yajl_string = on_string, .yajl_start_map = on_map,
		.yajl_map_key = on_key, .yajl_end_map = on_end, .yajl_start_array = on_array,
		.yajl_end_array = on_end,
	};
	struct sc_error first = { 0 };
	struct reading r = { .m = must_calloc(1, sizeof(*r.m)), .err = &first };
	yajl_handle parser = yajl_alloc(&callbacks, NULL, &r);
	int rc = 0;

	*ret = NULL;
	if (!parser) {
		rc = sc_error_set(err, SC_ENOMEM, "out of memory");
	} else if (yajl_parse(parser, (const unsigned char *)text, size) != yajl_status_ok ||
		   yajl_complete_parse(parser) != yajl_status_ok) {
		rc = sc_error_set(err, SC_EFORMAT, "byte %zu: %s", yajl_get_bytes_consumed(parser),
				  first.code ? first.msg : "not a JSON text");
	}
	if (parser)
		yajl_free(parser);
	sort(r.m);
	if (rc)
		line_map_destroy(r.m);
	else
		*ret = r.m;
	return rc;
}

static const struct source *find_source(const struct line_map *m, const char *path)
{
	size_t lo = 0, hi = m->num_sources;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(m->sources[mid].path, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->num_sources && !strcmp(m->sources[lo].path, path) ? &m->sources[lo] : NULL;
}

bool line_map_place(const struct line_map *m, struct symcache_place *place)
{
	static _Thread_local char path[PATH_MAX];
	const struct source *s;
	const struct row *rows;
	size_t lo = 0, hi;

	if (!place_path(place, path, sizeof(path)) || !(s = find_source(m, path)) || !s->num)
		return false;
	rows = &m->rows[s->first];
	for (hi = s->num; lo < hi; ) {
		size_t mid = lo + (hi - lo) / 2;

		if (rows[mid].from <= place->line)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || strlen(m->names[rows[lo - 1].file]) >= sizeof(path))
		return false;
	place->line = rows[lo - 1].to;
	place->no_column = true;
	place_set_path(place, strcpy(path, m->names[rows[lo - 1].file]));
	return true;
}
