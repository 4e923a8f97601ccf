/*
 * --map-path: folders of sources → other folders: see maps.h.
 *
 * FROM fits whole components: /build does not fit /builder. Where it fits within the
 * first part of a path (most often the compilation folder), only that part changes,
 * and the others stay as the compiler wrote them.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/transforms/maps.h"

struct rule {
	char *from; /* without a slash at its end, but for "/" itself: "" */
	char *to;
	size_t len; /* of from */
};

struct path_map {
	struct rule *rules;
	size_t n;
};

static void cut_slashes(char *path)
{
	size_t len = strlen(path);

	while (len && path[len - 1] == '/')
		path[--len] = 0;
}

static void destroy(void *ctx)
{
	struct path_map *m = ctx;

	for (size_t i = 0; i < m->n; i++)
		free(m->rules[i].from);
	free(m->rules);
	free(m);
}

static int add_rule(struct path_map *m, const char *text, struct sc_error *err)
{
	const char *equals = strchr(text, '=');
	struct rule *r = &m->rules[m->n];

	if (!equals || equals == text || strchr(text, '\n'))
		return sc_error_set(err, SC_EINVAL, "'%s' is not FROM=TO", text);
	r->from = strdup(text);
	if (!r->from)
		return sc_no_memory(err);
	r->from[equals - text] = 0;
	r->to = r->from + (equals - text) + 1;
	cut_slashes(r->from);
	if (strcmp(r->to, "/"))
		cut_slashes(r->to);
	r->len = strlen(r->from);
	m->n++;
	return 0;
}

static const struct rule *rule_of(const struct path_map *m, const char *path)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct rule *r = &m->rules[i];

		if (!strncmp(path, r->from, r->len) && (!path[r->len] || path[r->len] == '/'))
			return r;
	}
	return NULL;
}

/* Writes `path`, which fits the rule, as it is in TO. False: too long. */
static bool put(const struct rule *r, const char *path, char buf[PATH_MAX])
{
	const char *rest = path + r->len;
	int n;

	/* "" and "/" bring their slash along, or shall have none. */
	if (!*r->to || (r->to[0] == '/' && !r->to[1]))
		rest += *rest == '/';
	n = snprintf(buf, PATH_MAX, "%s%s", r->to, rest);
	return n > 0 && n < PATH_MAX;
}

/* The part that the joined path begins with: the last absolute one, else the first. */
static const char **first_part(struct symcache_place *place)
{
	const char **parts[] = { &place->comp_dir, &place->dir, &place->name }, **first = NULL;

	for (int i = 2; i >= 0; i--) {
		const char *part = *parts[i];

		if (!part || !*part)
			continue;
		first = parts[i];
		if (part[0] == '/' || part[1] == ':')
			break;
	}
	return first;
}

static bool map_place(void *ctx, struct symcache_place *place)
{
	static _Thread_local char joined[PATH_MAX], mapped[PATH_MAX];
	const char **first = first_part(place);
	const struct path_map *m = ctx;
	const struct rule *r;

	if (!first || !sc_place_path(place, joined, sizeof(joined)))
		return false;
	r = rule_of(m, joined);
	if (!r || !put(r, joined, mapped))
		return false;
	if (!*r->to || strncmp(joined, *first, strlen(*first)) || rule_of(m, *first) != r) {
		sc_place_set_path(place, mapped);
		return true;
	}
	put(r, *first, mapped);
	*first = mapped;
	if (first != &place->comp_dir)
		place->comp_dir = NULL;
	if (first == &place->name)
		place->dir = NULL;
	return true;
}

int sc_path_map(const char *const *rules, struct sc_map *ret, struct sc_error *err)
{
	struct path_map *m = calloc(1, sizeof(*m));
	size_t n = 0;
	int rc = 0;

	while (rules[n])
		n++;
	if (m)
		m->rules = calloc(n + 1, sizeof(*m->rules));
	if (!m || !m->rules)
		rc = sc_no_memory(err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = add_rule(m, rules[i], err);
	if (rc && m)
		destroy(m);
	*ret = (struct sc_map){ { NULL, map_place, m }, destroy };
	return rc;
}
