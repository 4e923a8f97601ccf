/* Groups of entries, and packing them: see groups.h. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/packed/packed.h"

static bool is_of(const struct symstore_id *id, const struct symstore_entry *e)
{
	return id->len == e->build_id_len && !memcmp(id->bytes, e->build_id, id->len);
}

void groups_make(struct manifest *m, uint64_t most)
{
	uint64_t bytes = 0;

	manifest_sort(m);
	m->packed = true;
	for (size_t i = 0; i < m->len; i++) {
		struct manifest_entry *e = &m->data[i];

		bytes += e->entry.cache_size;
		if (i && bytes <= most && !e->old.len && !e[-1].old.len) {
			e->file = e[-1].file;
			continue;
		}
		bytes = e->entry.cache_size;
		e->file.len = e->entry.build_id_len;
		memcpy(e->file.bytes, e->entry.build_id, e->file.len);
	}
}

size_t groups_at(const struct manifest *m, size_t i)
{
	const struct manifest_entry *e = &m->data[i];
	size_t n = 1;

	if (!is_of(&e->file, &e->entry))
		return 0;
	while (i + n < m->len && e[n].file.len == e->file.len &&
	       !memcmp(e[n].file.bytes, e->file.bytes, e->file.len))
		n++;
	return n;
}

struct group {
	size_t first, num;
	struct packed_bytes *caches;
	void **made;  /* by caches; each may be NULL */
	struct bundle_cache old; /* that it is packed against */
	void *packed;
	size_t size;
	struct sc_error err;
};

struct groups {
	const struct bundle_source *s;
	struct group list[GROUPS];
	size_t num;
};

static void groups_clear(struct groups *g)
{
	symstore_let_go(g->s->reader);
	if (g->s->old)
		symstore_let_go(g->s->old);
	while (g->num) {
		struct group *group = &g->list[--g->num];

		for (size_t k = 0; group->made && k < group->num; k++)
			free(group->made[k]);
		free(group->made);
		free(group->old.made);
		free(group->caches);
		free(group->packed);
	}
}

/* A cache that the store has packed goes as it is, if no other level is asked for. */
static int take_packed(const struct bundle_source *s, struct group *group, uint64_t *bytes,
		       struct sc_error *err)
{
	const struct symstore_entry *e = &s->manifest->data[group->first].entry;
	const void *file;
	int rc;

	if (s->progress)
		s->progress(s->ctx, group->first, s->manifest->len, e->source_path);
	rc = symstore_get_packed(s->reader, e->build_id, e->build_id_len, &file, &group->size, err);
	if (rc)
		return rc;
	if (!(group->packed = malloc(group->size)))
		return sc_no_memory(err);
	memcpy(group->packed, file, group->size);
	*bytes += group->size;
	return 0;
}

/* The group of entry `i` on. */
static int add(struct groups *g, size_t i, uint64_t *bytes, struct sc_error *err)
{
	const struct manifest *m = g->s->manifest;
	struct group *group = &g->list[g->num++];
	int rc = 0;

	*group = (struct group){ i, groups_at(m, i) };
	if (group->num == 1 && m->data[i].entry.packed_size && !g->s->names_only &&
	    g->s->level == PACKED_LEVEL && !m->data[i].old.len)
		return take_packed(g->s, group, bytes, err);
	group->caches = calloc(group->num, sizeof(*group->caches));
	group->made = calloc(group->num, sizeof(*group->made));
	if (!group->caches || !group->made)
		return sc_no_memory(err);
	for (size_t k = 0; k < group->num && !rc; k++) {
		struct bundle_cache cache;

		rc = bundle_source_cache(g->s, i + k, &cache, err);
		group->caches[k] = (struct packed_bytes){ cache.data, cache.size };
		group->made[k] = cache.made;
		*bytes += cache.size;
	}
	if (!rc && m->data[i].old.len)
		rc = bundle_find_old(g->s->old, &m->data[i], &group->old, err);
	*bytes += group->old.size;
	return rc;
}

static void pack(void *ctx, unsigned worker, size_t i)
{
	struct groups *g = ctx;
	struct group *group = &g->list[i];

	(void)worker;
	if (group->packed)
		return;
	if (group->old.data)
		packed_pack_delta(group->caches[0],
				  (struct packed_bytes){ group->old.data, group->old.size },
				  g->s->level, &group->packed, &group->size, &group->err);
	else
		packed_pack(group->caches, group->num, g->s->level, &group->packed, &group->size,
			    &group->err);
}

static int put_all(struct groups *g, groups_put_fn *put, void *ctx, struct sc_error *err)
{
	char name[BUNDLE_NAME];
	int rc = 0;

	sc_parallel(sc_cores(), g->num, pack, g);
	for (size_t i = 0; i < g->num && !rc; i++) {
		const struct group *group = &g->list[i];
		const struct manifest_entry *e = &g->s->manifest->data[group->first];

		rc = group->packed ? put(ctx, bundle_packed_name(&e->file, name), group->packed,
					 group->size, e->entry.time, err) :
		     sc_error_set(err, group->err.code, "%s", group->err.msg);
	}
	groups_clear(g);
	return rc;
}

int groups_write(const struct bundle_source *s, groups_put_fn *put, void *ctx, struct sc_error *err)
{
	struct groups g = { .s = s };
	uint64_t bytes = 0;
	int rc = 0;

	for (size_t i = 0; i < s->manifest->len && !rc; i += groups_at(s->manifest, i)) {
		rc = add(&g, i, &bytes, err);
		if (rc || (bytes < GROUP_BATCH && g.num < GROUPS))
			continue;
		rc = put_all(&g, put, ctx, err);
		bytes = 0;
	}
	if (!rc)
		rc = put_all(&g, put, ctx, err);
	groups_clear(&g);
	return rc;
}
