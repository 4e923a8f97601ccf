/* Choosing entries by options: see select.h. */
#include "cmd/store/select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cli/memory.h"


/* A decimal number with a unit behind it: one of `units`, worth factors[]. No
 * unit: the factor is `plain`. */
static int parse_scaled(const char *what, const char *text, const char *units,
			const uint64_t *factors, uint64_t plain, uint64_t max, uint64_t *ret,
			struct sc_error *err)
{
	uint64_t number, factor = plain;
	const char *unit;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno)
		return sc_error_set(err, SC_EINVAL, "'%.60s' is not a %s", text, what);
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || end[1])
			return sc_error_set(err, SC_EINVAL,
					    "'%.60s' is not a %s: its unit is one of %s", text,
					    what, units);
		factor = factors[unit - units];
	}
	if (number > max / factor)
		return sc_error_set(err, SC_EINVAL, "'%.60s' is too much for a %s", text, what);
	*ret = number * factor;
	return 0;
}

int parse_age(const char *text, int64_t *ret, struct sc_error *err)
{
	static const uint64_t seconds[] = { 1, 60, 3600, 86400, 7 * 86400, 365 * 86400 };
	uint64_t age = 0;
	int rc = parse_scaled("time span", text, "smhdwy", seconds, 86400, INT64_MAX / 2, &age,
			      err);

	*ret = (int64_t)age;
	return rc;
}

int parse_size(const char *text, uint64_t *ret, struct sc_error *err)
{
	static const uint64_t bytes[] = { 1ull << 10, 1ull << 20, 1ull << 30, 1ull << 40 };

	return parse_scaled("size", text, "KMGT", bytes, 1, UINT64_MAX, ret, err);
}

int parse_tags(const struct opt_list *list, bool pin, char **ret, struct sc_error *err)
{
	*ret = pin ? must_asprintf("%s", SYMSTORE_PINNED) : NULL;
	for (size_t i = 0; i < list->len; i++) {
		char *all;

		if (!symstore_tag_valid(list->items[i])) {
			free(*ret);
			*ret = NULL;
			return sc_error_set(err, SC_EINVAL,
					    "'%.60s' is not a tag: it is KEY=VALUE or a "
					    "word, up to %d bytes without control characters",
					    list->items[i], SYMSTORE_TAG_MAX);
		}
		all = must_asprintf("%s\n%s", *ret ? *ret : "", list->items[i]);
		free(*ret);
		*ret = all;
	}
	return 0;
}

int selection_init(struct selection *s, struct sc_error *err)
{
	int64_t now = time(NULL), age;
	int rc = 0;

	s->before = INT64_MAX;
	s->after = INT64_MIN;
	s->least = 0;
	s->most = UINT64_MAX;
	if (s->older && !(rc = parse_age(s->older, &age, err)))
		s->before = now - age;
	if (!rc && s->newer && !(rc = parse_age(s->newer, &age, err)))
		s->after = now - age;
	if (!rc && s->larger && !(rc = parse_size(s->larger, &s->least, err)))
		s->least += s->least < UINT64_MAX;
	if (!rc && s->smaller && !(rc = parse_size(s->smaller, &s->most, err)))
		s->most -= s->most > 0;
	return rc;
}

bool name_matches(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch(pattern, strchr(pattern, '/') || !slash ? path : slash + 1, 0);
}

bool selection_has(const struct selection *s, const struct symstore_entry *e)
{
	bool tagged = !s->tags.len;

	for (size_t i = 0; i < s->tags.len && !tagged; i++)
		tagged = symstore_tags_have(e->tags, s->tags.items[i]);
	return tagged && e->time < s->before && e->time >= s->after && e->cache_size >= s->least &&
	       e->cache_size <= s->most &&
	       (s->kind < 0 || e->sources & symstore_kind_bit(s->kind)) &&
	       (!s->name || name_matches(s->name, e->source_path));
}
