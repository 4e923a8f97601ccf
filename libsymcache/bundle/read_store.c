/*
 * A store as a bundle, read from a private copy: its manifest and signature, if it has them,
 * are notes, which go when its entries change.
 */
#include <xxhash.h>

#include "libsymcache/base/fault.h"
#include "libsymcache/bundle/reading.h"

struct store_reading {
	struct bundle_reading *b;
	struct symstore_reader *reader;
	struct sc_error *err;
	int rc;
};

/* The bytes of an entry, if they are those that were written. */
static int get_cache(struct symstore_reader *reader, const struct symstore_entry *entry,
		     const void **data, size_t *size, struct sc_error *err)
{
	int rc = symstore_get(reader, entry->build_id, entry->build_id_len, data, size, err);

	if (!rc && XXH3_64bits(*data, *size) != entry->cache_hash)
		rc = symstore_damaged(entry->build_id, entry->build_id_len, err);
	return rc;
}

static bool give_entry(void *ctx, const struct symstore_entry *entry)
{
	struct store_reading *s = ctx;
	struct bundle_reading *b = s->b;
	const struct manifest_entry *e = manifest_find(&b->manifest, entry->build_id,
						       entry->build_id_len);
	char name[BUNDLE_NAME];
	struct sc_error why;
	const void *data;
	size_t size;

	bundle_name(entry, name);
	if (e)
		b->seen[e - b->manifest.data] = true;
	if (b->has_manifest && !e)
		bundle_fault(b, name, "the manifest does not have it");
	else if (get_cache(s->reader, entry, &data, &size, &why))
		s->rc = bundle_unread(b, name, &why, s->err);
	else
		s->rc = bundle_give(b, e, e ? &e->entry : entry, name,
				    (struct bundle_bytes){ data, size }, s->err);
	symstore_let_go(s->reader);
	return !s->rc;
}

static int read_snapshot(struct bundle_reading *b, struct symstore_reader *reader,
			 struct sc_error *err)
{
	struct store_reading s = { .b = b, .reader = reader, .err = err };
	const void *text = NULL, *signature = NULL;
	size_t size = 0, signature_size = 0;
	struct sc_error why;
	const ssize_t faults = symstore_check(reader, sc_first_fault, &why);
	int rc;

	if (faults < 0)
		return faults == SC_ESYS ? sc_error_set(err, SC_ESYS, "%s", why.msg) : sc_no_memory(err);
	if (faults)
		return sc_error_set(err, SC_EFORMAT, "damaged: %s", why.msg);
	symstore_get_note(reader, SYMBUNDLE_MANIFEST, &text, &size, NULL);
	symstore_get_note(reader, SIGNATURE_NAME, &signature, &signature_size, NULL);
	if ((rc = bundle_begin(b, text, size, signature, signature_size, err)))
		return rc;
	rc = symstore_each(reader, NULL, 0, give_entry, &s, err);
	b->named |= rc != 0;
	if (rc || (rc = s.rc))
		return rc;
	bundle_name_missing(b);
	return 0;
}

int bundle_read_store(struct bundle_reading *b, const char *path, struct sc_error *err)
{
	struct symstore_reader *reader = NULL;
	struct symstore *store;
	int rc = symstore_open_copy(path, &store, err);

	if (!rc)
		rc = symstore_read_begin(store, &reader, err);
	b->named = rc;
	if (!rc)
		rc = read_snapshot(b, reader, err);
	symstore_read_end(reader);
	symstore_close(store);
	return rc;
}
