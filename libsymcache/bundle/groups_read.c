/* Unpacking and checking the groups of a bundle: see groups.h. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/write.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/packed/packed.h"

struct packed_file {
	char *name;
	struct bundle_file file;
	const struct manifest_entry *first; /* NULL: there is no manifest */
	size_t num;                         /* of entries that the manifest has in it */
	struct bundle_cache old;            /* that it is packed against */
	struct packed_caches caches;
	struct bundle_checked *checked;     /* for each cache */
	struct sc_error why;
};

struct bundle_batch {
	struct packed_file list[GROUPS];
	size_t num;
	uint64_t bytes; /* of caches, as the files say, and of the files */
};

static void clear(struct bundle_batch *batch)
{
	while (batch->num) {
		struct packed_file *f = &batch->list[--batch->num];

		free(f->name);
		vec_deinit(&f->file);
		free(f->old.made);
		packed_caches_deinit(&f->caches);
		free(f->checked);
	}
	batch->bytes = 0;
}

static void unpack(void *ctx, unsigned worker, size_t i)
{
	struct packed_file *f = &((struct bundle_batch *)ctx)->list[i];

	(void)worker;
	if (f->why.code || (!f->caches.num && packed_unpack_delta(f->file.data, f->file.len,
			(struct packed_bytes){ f->old.data, f->old.size }, &f->caches, &f->why)))
		return;
	vec_deinit(&f->file);
	free(f->old.made);
	f->old = (struct bundle_cache){ 0 };
	if (f->first && f->caches.num != f->num) {
		sc_error_set(&f->why, SC_EFORMAT, "%zu caches, the manifest says %zu", f->caches.num, f->num);
		return;
	}
	if (!(f->checked = calloc(f->caches.num, sizeof(*f->checked)))) {
		sc_no_memory(&f->why);
		return;
	}
	for (size_t k = 0; k < f->caches.num; k++)
		bundle_check(f->first ? f->first + k : NULL, f->name,
			     (struct bundle_bytes){ f->caches.caches[k].data,
						    f->caches.caches[k].size },
			     &f->checked[k]);
}

/* What cannot be unpacked is a fault of each entry in it. */
static int hand_on(struct bundle_reading *b, struct packed_file *f, struct sc_error *err)
{
	char name[BUNDLE_NAME];
	int rc = 0;

	if (f->why.code && f->num <= 1)
		return bundle_unread(b, f->name, &f->why, err);
	if (f->why.code)
		sc_error_prefix(&f->why, "%.100s: ", f->name);
	else if (b->r->take && !(rc = b->r->take(b->r->ctx, f->caches.bytes, f->caches.size, err)))
		f->caches.bytes = NULL;
	b->named |= rc && rc != SC_ENOMEM;
	for (size_t k = 0; k < (f->why.code ? f->num : f->caches.num) && !rc; k++) {
		const char *shown = f->num > 1 ? bundle_name(&f->first[k].entry, name) : f->name;

		rc = f->why.code ? bundle_unread(b, shown, &f->why, err) :
				   bundle_hand_on(b, &f->checked[k], shown, err);
	}
	return rc;
}

int groups_flush(struct bundle_reading *b, struct sc_error *err)
{
	int rc = 0;

	if (!b->batch)
		return 0;
	sc_parallel(sc_cores(), b->batch->num, unpack, b->batch);
	for (size_t i = 0; i < b->batch->num && !rc; i++)
		rc = hand_on(b, &b->batch->list[i], err);
	clear(b->batch);
	return rc;
}

void groups_deinit(struct bundle_reading *b)
{
	if (b->batch)
		clear(b->batch);
	free(b->batch);
	b->batch = NULL;
}

/* The cache that an entry is packed against, copied: no snapshot may outlive what is written. */
static int copy_old(struct bundle_reading *b, const struct manifest_entry *e,
		    struct bundle_cache *ret, struct sc_error *err)
{
	struct symstore *store = b->r->old_store ? b->r->old_store(b->r->ctx) : NULL;
	struct symstore_reader *reader = NULL;
	int rc = store ? symstore_read_begin(store, &reader, err) : 0;

	*ret = (struct bundle_cache){ 0 };
	if (!rc)
		rc = bundle_find_old(reader, e, ret, err);
	if (!rc && !ret->made) {
		if ((ret->made = malloc(ret->size + 1)))
			ret->data = memcpy(ret->made, ret->data, ret->size);
		else
			rc = sc_no_memory(err);
	}
	symstore_read_end(reader);
	return rc;
}

/* Who imports may have the entry itself, and lack words of it alone: then it is not unpacked.
 * SC_ENOMEM. */
static int take_own(struct bundle_reading *b, struct packed_file *f, struct sc_error *err)
{
	const struct symstore_entry *e = &f->first->entry;
	struct manifest_entry own = { .old.len = e->build_id_len, .old_hash = f->first->hash };
	struct packed_bytes *list;
	struct bundle_cache cache;
	int rc;

	memcpy(own.old.bytes, e->build_id, e->build_id_len);
	rc = b->r->has ? copy_old(b, &own, &cache, err) : SC_ENOTFOUND;
	if (rc)
		return rc == SC_ENOMEM ? rc : 0;
	if (!(list = malloc(sizeof(*list)))) {
		free(cache.made);
		return sc_no_memory(err);
	}
	*list = (struct packed_bytes){ cache.data, cache.size };
	f->caches = (struct packed_caches){ list, 1, cache.made, cache.size };
	f->why.code = 0;
	return 0;
}

static int find_old(struct bundle_reading *b, struct packed_file *f, struct sc_error *err)
{
	struct packed_old wanted;
	int rc = 0;

	if (!packed_is_delta(f->file.data, f->file.len, &wanted))
		return 0;
	if (!f->first || !f->first->old.len)
		sc_error_set(&f->why, SC_EFORMAT, "it is a delta against another cache, and no manifest "
			     "says which");
	else if (copy_old(b, f->first, &f->old, &f->why) == SC_ENOMEM)
		return sc_no_memory(err);
	else if (f->why.code == SC_ENOTFOUND)
		rc = take_own(b, f, err);
	b->batch->bytes += f->old.size + f->caches.size;
	return rc;
}

int groups_give(struct bundle_reading *b, const char *name, struct bundle_file *file,
		const struct manifest_entry *first, struct sc_error *err)
{
	const uint64_t bytes = packed_total(file->data, file->len) + file->cap;
	struct packed_file *f;
	int rc = 0;

	if (!b->batch && !(b->batch = calloc(1, sizeof(*b->batch))))
		return sc_no_memory(err);
	if (b->batch->num == GROUPS || (b->batch->num && b->batch->bytes + bytes > GROUP_BATCH))
		rc = groups_flush(b, err);
	if (rc)
		return rc;
	f = &b->batch->list[b->batch->num++];
	*f = (struct packed_file){ .name = strdup(name), .file = *file, .first = first };
	*file = (struct bundle_file){ 0 };
	if (!f->name)
		return sc_no_memory(err);
	f->num = first ? groups_at(&b->manifest, (size_t)(first - b->manifest.data)) : 0;
	for (size_t k = 0; k < f->num; k++)
		b->seen[(size_t)(first - b->manifest.data) + k] = true;
	b->batch->bytes += bytes;
	return find_old(b, f, err);
}
