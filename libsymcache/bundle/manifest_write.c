/* A manifest as JSON: see manifest.h. */
#include <stdio.h>
#include <stdlib.h>

#include "libsymcache/bundle/manifest.h"

static void put_entry(struct mk_gen *g, const struct manifest *m, const struct manifest_entry *e)
{
	char name[BUNDLE_NAME], hash[SC_HASH_TEXT];

	mk_gen_open_map(g, NULL);
	mk_gen_text(g, "file", m->hashed ? bundle_hashed_name(e, name) :
			       e->file.len ? bundle_packed_name(&e->file, name) :
			       bundle_name(&e->entry, name));
	mk_gen_text(g, "cache_xxh128", sc_hash_text(e->hash, hash));
	if (e->old.len) {
		mk_gen_bytes(g, "old_build_id", e->old.bytes, e->old.len);
		mk_gen_text(g, "old_cache_xxh128", sc_hash_text(e->old_hash, hash));
	}
	if (e->has_sha256)
		mk_gen_bytes(g, "cache_sha256", e->sha256, sizeof(e->sha256));
	symstore_entry_json(g, &e->entry);
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
