/*
 * The one entry of a store with a name, and a tag: see name_list.h. A name is the last part of the
 * path of the file that was indexed, without ".debug", or another one of the entry's.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/symbolize/name_list.h"

static int by_name(const void *a, const void *b)
{
	const struct sc_named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Of one name, by build ID: the order in which they are listed. */
static int by_name_and_id(const void *a, const void *b)
{
	const struct sc_named *x = a, *y = b;
	const int order = by_name(x, y);

	return order ? order : memcmp(x->id, y->id, sizeof(x->id));
}

struct gathering {
	struct sc_name_list *list;
	bool no_memory;
};

static bool add_name(struct gathering *g, const struct symstore_entry *entry, char *name)
{
	struct sc_named *n = vec_push(&g->list->all);

	g->no_memory = !n || !name;
	if (!n || !name) {
		free(name);
		return false;
	}
	n->name = name;
	n->path = strdup(entry->source_path);
	n->tags = strdup(entry->tags ? entry->tags : "");
	memcpy(n->id, entry->build_id, entry->build_id_len);
	n->id_len = entry->build_id_len;
	g->no_memory = !n->path || !n->tags;
	return !g->no_memory;
}

/* Under the name of the file that it was made of, and the others. */
static bool add_entry(void *ctx, const struct symstore_entry *entry)
{
	const struct sc_str own = sc_name_without_debug(sc_str_of(entry->source_path));
	const char *at = entry->names, *one;
	bool ok = add_name(ctx, entry, strndup(own.ptr, own.len));
	struct gathering *g = ctx;
	size_t len;

	if (!*entry->names && !g->list->nameless++) {
		memcpy(g->list->nameless_id.bytes, entry->build_id, entry->build_id_len);
		g->list->nameless_id.len = entry->build_id_len;
	}
	while (ok && (len = symstore_tags_next(&at, &one)))
		if (!sc_str_same((struct sc_str){ one, len }, own))
			ok = add_name(ctx, entry, strndup(one, len));
	return ok;
}

void sc_name_list_deinit(struct sc_name_list *l)
{
	for (size_t i = 0; i < l->all.len; i++) {
		free(l->all.data[i].name);
		free(l->all.data[i].tags);
		free(l->all.data[i].path);
	}
	vec_deinit(&l->all);
	*l = (struct sc_name_list){ .read = false };
}

int sc_name_list_read(struct sc_name_list *l, struct symstore_reader *reader, struct sc_error *err)
{
	struct gathering g = { .list = l };
	int rc;

	if (l->read)
		return 0;
	rc = symstore_each(reader, NULL, 0, add_entry, &g, err);
	if (!rc && g.no_memory)
		rc = sc_no_memory(err);
	if (rc) {
		sc_name_list_deinit(l);
		return rc;
	}
	if (l->all.len)
		qsort(l->all.data, l->all.len, sizeof(*l->all.data), by_name_and_id);
	l->read = true;
	return 0;
}

/* Several of [first, end) are meant: names the first of them. */
static int several(const struct sc_named *first, const struct sc_named *end, const char *tag,
		   size_t n, struct sc_error *err)
{
	enum { SHOWN = 3 };
	char ids[SHOWN * (2 * SYMCACHE_BUILD_ID_MAX + 2)] = "", hex[SYMCACHE_BUILD_ID_TEXT];

	for (size_t shown = 0; first < end && shown < SHOWN; first++) {
		if (tag && !symstore_tags_have(first->tags, tag))
			continue;
		strcat(ids, shown++ ? ", " : "");
		strcat(ids, symcache_build_id_text(hex, first->id, first->id_len));
	}
	return sc_error_set(err, SC_EINVAL, "the store has %zu builds of that name%s%.64s: %s%s", n,
			    tag ? " with the tag " : "", tag ? tag : "", ids,
			    n > SHOWN ? ", ..." : "");
}

/* The only one that was found. `what` it was to have besides its name, if that is not NULL. */
static int take(const struct sc_named *found, const char *with, const char *what,
		uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	if (!found)
		return sc_error_set(err, SC_ENOTFOUND, "the store has no file of that name%s%.64s",
				    what ? with : "", what ? what : "");
	memcpy(id, found->id, found->id_len);
	*len = found->id_len;
	return 0;
}

int sc_name_list_find(const struct sc_name_list *l, const char *name, const char *tag,
		      uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	const struct sc_named key = { .name = (char *)name };
	const struct sc_named *first, *end, *found = NULL;
	size_t n = 0;

	first = !l->all.len ? NULL
		: bsearch(&key, l->all.data, l->all.len, sizeof(*l->all.data), by_name);
	while (first && first > l->all.data && !by_name(&first[-1], &key))
		first--;
	for (end = first; first && end < l->all.data + l->all.len && !by_name(end, &key); end++) {
		if (tag && !symstore_tags_have(end->tags, tag))
			continue;
		found = end;
		n++;
	}
	return n > 1 ? several(first, end, tag, n, err) :
		       take(n ? found : NULL, " with the tag ", tag, id, len, err);
}

/* ---- kernels ------------------------------------------------------------------------ */

/* Is [p, p + len) `text`, where a kernel has '_' for '-'? */
static bool kernel_name_is(const char *p, size_t len, const char *text)
{
	for (; len && *text && (*p == '-' ? '_' : *p) == (*text == '-' ? '_' : *text); len--, p++)
		text++;
	return !len && !*text;
}

/* Of which release is the file, as far as its path says? NULL: it does not. *len: its bytes. */
static const char *release_of(const struct sc_named *n, size_t *len)
{
	static const char folder[] = "/lib/modules/", kernel[] = "vmlinux-";
	const char *at = strstr(n->path, folder);

	if (!strncmp(n->name, kernel, strlen(kernel))) {
		*len = strlen(n->name) - strlen(kernel);
		return n->name + strlen(kernel);
	}
	*len = at ? strcspn(at + strlen(folder), "/") : 0;
	return at ? at + strlen(folder) : NULL;
}

/* 0: no; 1: perhaps of this release; 2: it is. */
static unsigned is_kernel_file(const struct sc_named *n, const char *name, const char *release)
{
	const char *suffix = strstr(n->name, ".ko"), *its;
	size_t len;

	if (suffix ? !kernel_name_is(n->name, (size_t)(suffix - n->name), name)
		   : strcmp(name, "vmlinux") || strncmp(n->name, "vmlinux", 7) ||
		     (n->name[7] && n->name[7] != '-'))
		return 0;
	its = release_of(n, &len);
	if (!release || !its)
		return 1;
	return strlen(release) == len && !memcmp(its, release, len) ? 2 : 0;
}

static bool same_build(const struct sc_named *a, const struct sc_named *b)
{
	return a->id_len == b->id_len && !memcmp(a->id, b->id, a->id_len);
}

int sc_name_list_kernel(const struct sc_name_list *l, const char *name, const char *release,
			uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	const struct sc_named *found = NULL;
	unsigned best = 1;
	size_t n = 0;

	for (size_t i = 0; i < l->all.len; i++) {
		const unsigned fits = is_kernel_file(&l->all.data[i], name, release);

		if (fits < best || (fits == best && n && same_build(found, &l->all.data[i])))
			continue;
		n = fits > best ? 1 : n + 1;
		best = fits;
		found = &l->all.data[i];
	}
	if (n <= 1)
		return take(n ? found : NULL, " and release ", release, id, len, err);
	return sc_error_set(err, SC_EINVAL, "the store has %zu builds of that name%s%.64s", n,
			    release ? " that may be of release " : "", release ? release : "");
}
