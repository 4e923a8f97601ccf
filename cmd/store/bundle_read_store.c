/*
 * A store as a bundle: its manifest and signature, if it has them, are notes, which go
 * when its entries change.
 */
#include "cmd/store/bundle_reading.h"

#include <xxhash.h>

static bool first_fault(void *ctx, const char *text)
{
	sc_error_set(ctx, SC_EFORMAT, "%s", text);
	return false;
}

struct store_reading {
	struct bundle_reading *b;
	struct symstore_reader *reader;
	struct sc_error *err;
	int rc;
};

static bool give_entry(void *ctx, const struct symstore_entry *entry)
{
	struct store_reading *s = ctx;
	struct bundle_reading *b = s->b;
	const struct manifest_entry *e = manifest_find(&b->manifest, entry->build_id,
						       entry->build_id_len);
	char name[BUNDLE_NAME];
	struct sc_error why = { 0 };
	const void *data;
	size_t size;

	bundle_name(entry, name);
	if (b->has_manifest && !e)
		sc_error_set(&why, SC_EFORMAT, "the manifest does not have it");
	else if (!symstore_get(s->reader, entry->build_id, entry->build_id_len, &data, &size, &why) &&
		 XXH3_64bits(data, size) != entry->cache_hash)
		symstore_damaged(entry->build_id, entry->build_id_len, &why);
	else if (!why.code)
		s->rc = bundle_give(b, e, e ? &e->entry : entry, name, data, size, s->err);
	if (why.code)
		b->r->fault(b->r->ctx, name, why.msg);
	if (e)
		b->seen[e - b->manifest.entries] = true;
	return !s->rc;
}

int bundle_read_store(struct bundle_reading *b, const char *path, struct sc_error *err)
{
	struct store_reading s = { .b = b, .err = err };
	const void *text = NULL, *signature = NULL;
	size_t size = 0, signature_size = 0;
	struct symstore *store;
	struct sc_error why = { 0 };
	int rc = symstore_open(path, SYMSTORE_READ, &store, err);

	if (!rc)
		rc = symstore_read_begin(store, &s.reader, err);
	if (!rc && symstore_check(s.reader, first_fault, &why))
		rc = sc_error_set(err, SC_EFORMAT, "damaged: %s", why.msg);
	if (!rc) {
		symstore_get_note(s.reader, MANIFEST_NAME, &text, &size, NULL);
		symstore_get_note(s.reader, SIGNATURE_NAME, &signature, &signature_size, NULL);
		rc = bundle_begin(b, text, size, signature, signature_size, err);
	}
	if (!rc)
		rc = symstore_each(s.reader, NULL, 0, give_entry, &s, err);
	if (!rc && !(rc = s.rc))
		bundle_name_missing(b);
	symstore_read_end(s.reader);
	symstore_close(store);
	return rc;
}
