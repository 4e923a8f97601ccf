/*
 * --symbol-map: obfuscated names → real ones: see maps.h.
 *
 * Two forms, which differ in the first line:
 *
 *   BCSymbolMap Version: 2.0      Apple's: the name __hidden#N_ is line N behind this
 *   -[SentryMessage serialize]    one, counted from 0; parts of paths are hidden so, too
 *
 *   a1  shop::Money::operator*    obfuscated name, blanks, the real name to the end of
 *   # …                           the line; of two lines with one name the last counts
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/transforms/maps.h"

static const char header[] = "BCSymbolMap Version: ";
static const char hidden[] = "__hidden#";

struct pair {
	const char *name, *real;
};

struct symbol_map {
	char *text;         /* of the file; its lines and columns end with NULs */
	bool bitcode;       /* Apple's: the N-th pair's real name, no others */
	VEC(struct pair) pairs; /* else ascending by name, each once */
};

static int push(struct symbol_map *m, const char *name, const char *real, struct sc_error *err)
{
	struct pair *p = vec_push(&m->pairs);

	if (!p)
		return sc_no_memory(err);
	*p = (struct pair){ name, real };
	return 0;
}

/* The next line of *at, which ends with a NUL then; NULL: no more. */
static char *next_line(char **at)
{
	char *line = *at, *end;
	size_t len;

	if (!*line)
		return NULL;
	len = strcspn(line, "\n");
	end = line + len;
	*at = *end ? end + 1 : end;
	*end = 0;
	if (len && line[len - 1] == '\r')
		line[len - 1] = 0;
	return line;
}

static int compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int rc = strcmp(x->name, y->name);

	/* Lines lie in memory in their order. */
	return rc ? rc : (x->name > y->name) - (x->name < y->name);
}

static int read_columns(struct symbol_map *m, char *at, struct sc_error *err)
{
	struct pair *pairs;
	size_t number = 0, kept = 0;
	char *line;
	int rc = 0;

	while (!rc && (line = next_line(&at))) {
		size_t len;

		number++;
		line += strspn(line, " \t");
		if (!*line || *line == '#')
			continue;
		len = strcspn(line, " \t");
		for (size_t end = strlen(line); end && strchr(" \t", line[end - 1]); )
			line[--end] = 0;
		if (!line[len])
			return sc_error_set(err, SC_EFORMAT, "line %zu: one name alone", number);
		line[len++] = 0;
		rc = push(m, line, line + len + strspn(line + len, " \t"), err);
	}
	pairs = m->pairs.data;
	if (m->pairs.len)
		qsort(pairs, m->pairs.len, sizeof(*pairs), compare);
	for (size_t i = 0; i < m->pairs.len; i++)
		if (i + 1 == m->pairs.len || strcmp(pairs[i].name, pairs[i + 1].name))
			pairs[kept++] = pairs[i];
	m->pairs.len = kept;
	return rc;
}

static int read_map(struct symbol_map *m, size_t size, struct sc_error *err)
{
	char *at = m->text, *line;
	int rc = 0;

	if (memchr(at, 0, size))
		return sc_error_set(err, SC_EFORMAT, "not a text: there is a NUL in it");
	m->bitcode = !strncmp(at, header, sizeof(header) - 1);
	if (!m->bitcode)
		return read_columns(m, at, err);
	line = next_line(&at) + sizeof(header) - 1;
	if (strcmp(line, "2.0"))
		return sc_error_set(err, SC_EFORMAT, "a BCSymbolMap of version %.20s, not 2.0",
				    line);
	while (!rc && (line = next_line(&at)))
		rc = push(m, NULL, line, err);
	return rc;
}

static void destroy(void *ctx)
{
	struct symbol_map *m = ctx;

	vec_deinit(&m->pairs);
	free(m->text);
	free(m);
}

/* N of __hidden#N_; SIZE_MAX: another text. */
static size_t hidden_number(const char *name)
{
	size_t n = 0;

	if (strncmp(name, hidden, sizeof(hidden) - 1))
		return SIZE_MAX;
	name += sizeof(hidden) - 1;
	if (*name < '0' || *name > '9')
		return SIZE_MAX;
	for (; *name >= '0' && *name <= '9'; name++) {
		if (n > UINT32_MAX)
			return SIZE_MAX;
		n = n * 10 + (size_t)(*name - '0');
	}
	return strcmp(name, "_") ? SIZE_MAX : n;
}

/* The real name, or `name`. */
static const char *map_name(void *ctx, const char *name)
{
	const struct symbol_map *m = ctx;
	const struct pair *pairs = m->pairs.data;
	size_t n;

	if (m->bitcode) {
		n = hidden_number(name);
		return n < m->pairs.len && *pairs[n].real ? pairs[n].real : name;
	}
	n = SC_SEARCH(i, m->pairs.len, strcmp(pairs[i].name, name) < 0);
	return n < m->pairs.len && !strcmp(pairs[n].name, name) ? pairs[n].real : name;
}

/* A BCSymbolMap also hides the parts of paths. */
static bool map_place(void *ctx, struct symcache_place *place)
{
	const char **parts[] = { &place->comp_dir, &place->dir, &place->name };
	const struct symbol_map *m = ctx;
	bool changed = false;

	for (int i = 0; i < 3 && m->bitcode; i++) {
		const char *real = *parts[i] ? map_name(ctx, *parts[i]) : NULL;

		changed |= real != *parts[i];
		*parts[i] = real;
	}
	return changed;
}

int sc_symbol_map(const char *text, size_t size, struct sc_map *ret, struct sc_error *err)
{
	struct symbol_map *m = calloc(1, sizeof(*m));
	int rc;

	if (m)
		m->text = malloc(size + 1);
	if (m && m->text) {
		memcpy(m->text, text, size);
		m->text[size] = 0;
		rc = read_map(m, size, err);
	} else {
		rc = sc_no_memory(err);
	}
	if (rc && m)
		destroy(m);
	*ret = (struct sc_map){ { map_name, map_place, m }, destroy };
	return rc;
}
