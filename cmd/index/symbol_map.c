/*
 * --symbol-map: obfuscated names → real ones: see transforms.h.
 *
 * Two forms, told by the first line:
 *
 *   BCSymbolMap Version: 2.0      Apple's: the name __hidden#N_ is line N behind this
 *   -[SentryMessage serialize]    one, counted from 0; parts of paths are hidden so, too
 *
 *   a1  shop::Money::operator*    obfuscated name, blanks, the real name to the end of
 *   # …                           the line; of two lines with one name the last counts
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/index/transforms.h"

static const char header[] = "BCSymbolMap Version: ";
static const char hidden[] = "__hidden#";

struct pair {
	const char *name, *real;
};

struct symbol_map {
	char *text;         /* of the file; its lines and columns end with NULs */
	bool bitcode;       /* Apple's: pairs[N].real, no names */
	struct pair *pairs; /* else ascending by name, each once */
	size_t n, cap;
};

static void push(struct symbol_map *m, const char *name, const char *real)
{
	m->pairs = must_grow(m->pairs, m->n, &m->cap, sizeof(*m->pairs));
	m->pairs[m->n++] = (struct pair){ name, real };
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
	size_t number = 0, kept = 0;
	char *line;

	while ((line = next_line(&at))) {
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
		push(m, line, line + len + strspn(line + len, " \t"));
	}
	if (m->n)
		qsort(m->pairs, m->n, sizeof(*m->pairs), compare);
	for (size_t i = 0; i < m->n; i++)
		if (i + 1 == m->n || strcmp(m->pairs[i].name, m->pairs[i + 1].name))
			m->pairs[kept++] = m->pairs[i];
	m->n = kept;
	return 0;
}

int symbol_map_create(const char *text, size_t size, struct symbol_map **ret,
		      struct sc_error *err)
{
	struct symbol_map *m = must_calloc(1, sizeof(*m));
	char *at, *line;
	int rc = 0;

	*ret = NULL;
	m->text = at = must_realloc(NULL, size + 1);
	memcpy(m->text, text, size);
	m->text[size] = 0;
	m->bitcode = !strncmp(m->text, header, sizeof(header) - 1);
	if (memchr(text, 0, size)) {
		rc = sc_error_set(err, SC_EFORMAT, "not a text: there is a NUL in it");
	} else if (!m->bitcode) {
		rc = read_columns(m, at, err);
	} else {
		line = next_line(&at);
		if (strcmp(line + sizeof(header) - 1, "2.0"))
			rc = sc_error_set(err, SC_EFORMAT, "a BCSymbolMap of version %.20s, not 2.0",
					  line + sizeof(header) - 1);
		while (!rc && (line = next_line(&at)))
			push(m, NULL, line);
	}
	if (rc)
		symbol_map_destroy(m);
	else
		*ret = m;
	return rc;
}

void symbol_map_destroy(struct symbol_map *m)
{
	if (!m)
		return;
	free(m->pairs);
	free(m->text);
	free(m);
}

/* N of __hidden#N_; SIZE_MAX: it is none. */
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

const char *symbol_map_name(const struct symbol_map *m, const char *name)
{
	size_t lo = 0, hi = m->n, n;

	if (m->bitcode) {
		n = hidden_number(name);
		return n < m->n && *m->pairs[n].real ? m->pairs[n].real : name;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(m->pairs[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->n && !strcmp(m->pairs[lo].name, name) ? m->pairs[lo].real : name;
}

bool symbol_map_place(const struct symbol_map *m, struct symcache_place *place)
{
	const char **parts[] = { &place->comp_dir, &place->dir, &place->name };
	bool changed = false;

	for (int i = 0; i < 3 && m->bitcode; i++) {
		const char *real = *parts[i] ? symbol_map_name(m, *parts[i]) : NULL;

		changed |= real != *parts[i];
		*parts[i] = real;
	}
	return changed;
}
