/*
 * The one entry of the store with a name: by the last part of the path of the file that was
 * indexed, without ".debug". All entries are read once for each snapshot, when the first
 * name is asked for; a look-up is a binary search then.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/symbolize/module.h"
#include "symcache/build_id.h"

static int by_name(const void *a, const void *b)
{
	const struct sc_named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The last part of a path, on the heap; behind a '!' it is in an archive. */
static char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/'), *bang = strrchr(path, '!');
	size_t len;

	if (bang && (!slash || bang > slash))
		slash = bang;
	path = slash ? slash + 1 : path;
	len = strlen(path);
	if (len > 6 && !strcmp(path + len - 6, ".debug"))
		len -= 6;
	return strndup(path, len);
}

struct gathering {
	struct symcache_caches *caches;
	size_t cap;
	bool no_memory;
};

static bool add_entry(void *ctx, const struct symstore_entry *entry)
{
	struct gathering *g = ctx;
	struct symcache_caches *s = g->caches;
	struct sc_named *n;

	if (s->num_named == g->cap) {
		g->cap = 2 * g->cap + 64;
		n = realloc(s->named, g->cap * sizeof(*n));
		if (!n) {
			g->no_memory = true;
			return false;
		}
		s->named = n;
	}
	n = &s->named[s->num_named];
	n->name = last_part(entry->source_path ? entry->source_path : "");
	g->no_memory = !n->name;
	if (!n->name)
		return false;
	memcpy(n->id, entry->build_id, entry->build_id_len);
	n->id_len = entry->build_id_len;
	s->num_named++;
	return true;
}

void sc_named_deinit(struct symcache_caches *s)
{
	for (size_t i = 0; i < s->num_named; i++)
		free(s->named[i].name);
	free(s->named);
	s->named = NULL;
	s->num_named = 0;
	s->named_snapshot = 0;
}

static int gather(struct symcache_caches *s, struct sc_error *err)
{
	struct gathering g = { .caches = s };
	int rc = sc_caches_read(s, err);

	if (rc || s->named_snapshot == s->snapshot)
		return rc;
	sc_named_deinit(s);
	rc = symstore_each(s->reader, NULL, 0, add_entry, &g, err);
	if (!rc && g.no_memory)
		rc = sc_error_set(err, SC_ENOMEM, "out of memory");
	if (rc)
		return rc;
	if (s->num_named)
		qsort(s->named, s->num_named, sizeof(*s->named), by_name);
	s->named_snapshot = s->snapshot;
	return 0;
}

/* Several have that name: names the first of them. */
static int several(const struct sc_named *first, size_t n, struct sc_error *err)
{
	enum { SHOWN = 3 };
	char ids[SHOWN * (2 * SYMCACHE_BUILD_ID_MAX + 2)] = "", hex[2 * SYMCACHE_BUILD_ID_MAX + 1];

	for (size_t i = 0; i < n && i < SHOWN; i++) {
		symcache_build_id_text(hex, first[i].id, first[i].id_len);
		strcat(ids, i ? ", " : "");
		strcat(ids, hex);
	}
	return sc_error_set(err, SC_EINVAL, "the store has %zu builds of that name: %s%s", n, ids,
			    n > SHOWN ? ", ..." : "");
}

int symcache_caches_find_name(struct symcache_caches *s, const char *name,
			      uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	const struct sc_named key = { .name = (char *)name };
	const struct sc_named *found, *end;
	size_t n = 1;
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = gather(s, err);
	found = rc || !s->num_named ? NULL
		: bsearch(&key, s->named, s->num_named, sizeof(*s->named), by_name);
	if (!rc && !found)
		rc = sc_error_set(err, SC_ENOTFOUND, "the store has no file of that name");
	if (!rc) {
		end = s->named + s->num_named;
		while (found > s->named && !by_name(&found[-1], &key))
			found--;
		while (found + n < end && !by_name(&found[n], &key))
			n++;
		if (n > 1) {
			rc = several(found, n, err);
		} else {
			memcpy(id, found->id, found->id_len);
			*len = found->id_len;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}
