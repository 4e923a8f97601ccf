/* A manifest as JSON: see manifest.h. */
#include <stdio.h>
#include <stdlib.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/bundle/manifest.h"

/* Names may hold any bytes: what is not UTF-8 is mended. */
static void put_field(struct mk_gen *g, const struct symstore_field *f)
{
	const char *at = f->text, *item;
	size_t len;

	switch (f->type) {
	case SYMSTORE_TEXT:
		mk_gen_text(g, f->key, f->text);
		return;
	case SYMSTORE_NUMBER:
		mk_gen_number(g, f->key, f->number);
		return;
	case SYMSTORE_BOOL:
		mk_gen_bool(g, f->key, f->number);
		return;
	case SYMSTORE_LIST:
		mk_gen_open_array(g, f->key);
		while ((len = symstore_tags_next(&at, &item)))
			mk_gen_string(g, NULL, item, len);
		mk_gen_close_array(g);
	}
}

static void put_entry(struct mk_gen *g, const struct manifest *m, const struct manifest_entry *e)
{
	char name[BUNDLE_NAME], hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct symstore_fields fields;

	mk_gen_open_map(g, NULL);
	mk_gen_text(g, "file", m->hashed ? bundle_hashed_name(e, name) :
			       e->file.len ? bundle_packed_name(&e->file, name) :
			       bundle_name(&e->entry, name));
	mk_gen_text(g, "cache_xxh128", sc_hash_text(e->hash, hex));
	if (e->old.len) {
		symcache_build_id_text(hex, e->old.bytes, e->old.len);
		mk_gen_text(g, "old_build_id", hex);
		mk_gen_text(g, "old_cache_xxh128", sc_hash_text(e->old_hash, hex));
	}
	if (e->has_sha256)
		mk_gen_bytes(g, "cache_sha256", e->sha256, sizeof(e->sha256));
	symstore_entry_fields(&e->entry, &fields);
	for (size_t i = 0; i < fields.len; i++)
		put_field(g, &fields.data[i]);
	mk_gen_signed(g, "time", e->entry.time);
	mk_gen_close_map(g);
}

static int version(const struct manifest *m)
{
	int version = m->packed ? MANIFEST_PACKED : MANIFEST_PLAIN;

	for (size_t i = 0; i < m->len && m->packed; i++)
		if (m->data[i].old.len)
			version = MANIFEST_DELTAS;
	return version;
}

int manifest_write(const struct manifest *m, char **ret, size_t *len, struct sc_error *err)
{
	struct mk_out out = { 0 };
	struct mk_gen *g = &(struct mk_gen){ .to = &out };

	mk_gen_open_map(g, NULL);
	mk_gen_text(g, "format", "symcache bundle");
	mk_gen_number(g, "version", version(m));
	mk_gen_open_array(g, "entries");
	for (size_t i = 0; i < m->len; i++)
		put_entry(g, m, &m->data[i]);
	mk_gen_close_array(g);
	mk_gen_close_map(g);
	return manifest_take(&out, ret, len, err);
}

int manifest_take(struct mk_out *out, char **ret, size_t *len, struct sc_error *err)
{
	*len = out->len;
	*ret = mk_out_take(out);
	if (!*ret)
		return sc_no_memory(err);
	if (*len <= MANIFEST_MAX)
		return 0;
	free(*ret);
	*ret = NULL;
	return sc_error_set(err, SC_ELIMIT, "the manifest would have %zu MB, and readers accept %d: "
			    "export parts of the store, by tags or with --since", *len >> 20,
			    MANIFEST_MAX >> 20);
}
