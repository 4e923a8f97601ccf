/* Choosing among entries, and counting them: see upkeep.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/store/upkeep.h"

bool symstore_name_matches(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch(pattern, strchr(pattern, '/') || !slash ? path : slash + 1, 0);
}

/* Has a file of the entry a name that matches? */
static bool named(const char *pattern, const struct symstore_entry *e)
{
	bool matches = symstore_name_matches(pattern, e->source_path);
	char name[SYMSTORE_TAG_MAX + 1];
	const char *at = e->names, *one;
	size_t len;

	while (!matches && (len = symstore_tags_next(&at, &one))) {
		snprintf(name, sizeof(name), "%.*s", (int)len, one);
		matches = symstore_name_matches(pattern, name);
	}
	return matches;
}

bool symstore_selected(const struct symstore_selection *s, const struct symstore_entry *e)
{
	bool tagged = !s->tags;

	for (const char *const *tag = s->tags; tag && *tag && !tagged; tag++)
		tagged = symstore_tags_have(e->tags, *tag);
	return tagged && e->time < s->before && e->time >= s->after &&
	       (!s->larger || e->cache_size > s->larger) && e->cache_size < s->smaller &&
	       (s->kind < 0 || symstore_kinds_shown(e->sources) & symstore_kind_bit(s->kind)) &&
	       (!s->name || named(s->name, e));
}

void symstore_ids_deinit(struct symstore_ids *ids)
{
	vec_deinit(ids);
}

int symstore_ids_add(struct symstore_ids *ids, const struct symstore_id *id, struct sc_error *err)
{
	struct symstore_id *added = vec_push(ids);

	if (!added)
		return sc_no_memory(err);
	*added = *id;
	return 0;
}

static int add_line(struct symstore_ids *to, char *line, struct sc_error *err)
{
	char *word = line + strspn(line, " \t");
	struct symstore_id id = { 0 };
	size_t nibbles;
	int rc;

	word[strcspn(word, " \t\r\n")] = 0; /* as `symcache list` prints it */
	if (!*word || *word == '#')
		return 0;
	if ((rc = symcache_build_id_parse(word, id.bytes, &nibbles, err)))
		return rc;
	if (nibbles % 2)
		return sc_error_set(err, SC_EINVAL, "'%s' is not a whole build ID", word);
	id.len = nibbles / 2;
	return symstore_ids_add(to, &id, err);
}

int symstore_keep_read(const char *path, struct symstore_ids *ret, struct sc_error *err)
{
	FILE *f = !strcmp(path, "-") ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	int rc = 0;

	*ret = (struct symstore_ids){ 0 };
	if (!f)
		return sc_error_sys(err, "cannot open %s", path);
	for (unsigned n = 1; !rc && getline(&line, &cap, f) > 0; n++)
		if ((rc = add_line(ret, line, err)))
			sc_error_prefix(err, "%s:%u: ", path, n);
	if (!rc && ferror(f))
		rc = sc_error_sys(err, "cannot read %s", path);
	if (!rc && !ret->len)
		rc = sc_error_set(err, SC_EINVAL, 
				  "%s names no build ID: that would remove everything", path);
	free(line);
	if (f != stdin)
		fclose(f);
	ret->len = symstore_ids_sort(ret->data, ret->len);
	return rc;
}

static bool count(void *ctx, const struct symstore_entry *e)
{
	const uint32_t sources = symstore_kinds_shown(e->sources);
	struct symstore_totals *t = ctx;
	int kind = 0;

	while (kind < SYMSTORE_KINDS - 1 && !(sources & symstore_kind_bit(kind)))
		kind++;
	t->kinds[kind].entries++;
	t->kinds[kind].bytes += e->cache_size;
	t->bytes += e->cache_size;
	if (e->packed_size) {
		t->packed.entries++;
		t->packed.bytes += e->cache_size;
		t->packed.stored += e->packed_size;
	}
	t->tagged += *e->tags != 0;
	t->broken += e->bad_units > 0;
	t->oldest = e->time < t->oldest ? e->time : t->oldest;
	t->newest = e->time > t->newest ? e->time : t->newest;
	return true;
}

int symstore_count(struct symstore_reader *reader, struct symstore_totals *ret,
		   struct sc_error *err)
{
	*ret = (struct symstore_totals){ .oldest = INT64_MAX, .newest = INT64_MIN };
	return symstore_each(reader, NULL, 0, count, ret, err);
}
