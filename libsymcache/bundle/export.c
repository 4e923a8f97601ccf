/*
 * Entries of a store → a bundle: see bundle.h.
 *
 * What is chosen is gathered with its hashes as the manifest; then the bundle is
 * written from the same snapshot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "libsymcache/base/text.h"
#include "libsymcache/bundle/deltas.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/bundle/sign.h"
#include "libsymcache/bundle/tree.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/write/only_names.h"

struct exporting {
	const struct symbundle_export_options *o;
	struct symstore_reader *reader;
	struct manifest manifest, earlier;
	struct deltas old;        /* that entries are packed against */
	bool in_parts;            /* a tree of packed caches, which is added to: */
	struct tree_state tree;
	uint64_t total, looked;
	struct symbundle_exported *done;
	struct sc_error *err;
	int rc;
};

/* Has the tree that is added to this one already? */
static bool is_there(struct exporting *x, const struct symstore_entry *entry)
{
	const bool there = x->in_parts && tree_state_has(&x->tree, entry);

	x->done->as_before += there;
	return there;
}

/* In the manifest, unless the bundle before has it. */
static int list(struct exporting *x, const struct symstore_entry *entry, const void *cache)
{
	int rc;

	if (x->o->names_only && is_there(x, entry))
		return 0;
	rc = manifest_add(&x->manifest, entry, cache, x->o->sign_key || x->in_parts, x->err);
	if (!rc && manifest_has(&x->earlier, &x->manifest.data[x->manifest.len - 1])) {
		manifest_drop_last(&x->manifest);
		x->done->as_before++;
	}
	return rc;
}

static int take(struct exporting *x, const struct symstore_entry *entry)
{
	const struct symbundle_export_options *o = x->o;
	struct symstore_entry given = *entry;
	struct bundle_cache cache;
	struct sc_error why;
	int rc;

	if (o->hashing)
		o->hashing(o->ctx, x->looked, x->total, entry->source_path);
	x->looked++;
	if (o->choose && !symstore_selected(o->choose, entry))
		return 0;
	if (!o->names_only && is_there(x, entry))
		return 0;
	rc = bundle_get_cache(x->reader, entry, false, &cache, x->err);
	if (rc && (rc != SC_EFORMAT || !entry->packed_size))
		return rc;
	if (rc || XXH3_64bits(cache.data, cache.size) != entry->cache_hash) {
		symstore_damaged(entry->build_id, entry->build_id_len, &why);
		x->done->damaged++;
		if (o->damaged)
			o->damaged(o->ctx, why.msg);
		return 0;
	}
	if (o->names_only)
		rc = bundle_get_cache(x->reader, entry, true, &cache, x->err);
	if (!rc && cache.made) {
		given.sources = symcache_only_names_sources(entry->sources);
		given.cache_size = cache.size;
		given.cache_hash = XXH3_64bits(cache.data, cache.size);
	}
	if (!rc)
		rc = list(x, &given, cache.data);
	free(cache.made);
	symstore_let_go(x->reader);
	return rc;
}

static bool take_entry(void *ctx, const struct symstore_entry *entry)
{
	struct exporting *x = ctx;

	x->rc = take(x, entry);
	return !x->rc;
}

static int choose_all(struct exporting *x)
{
	struct symstore_info info;
	int rc = symstore_info(x->reader, &info, x->err);

	if (rc)
		return rc;
	x->total = info.entries;
	rc = symstore_each(x->reader, NULL, 0, take_entry, x, x->err);
	return rc ? rc : x->rc;
}

static int choose_by_id(struct exporting *x)
{
	struct symstore_entry entry;
	int rc = 0;

	for (size_t i = 0; i < x->o->num_ids && !rc; i++) {
		const struct symstore_id *id = &x->o->ids[i];

		rc = symstore_entry(x->reader, id->bytes, id->len, &entry, x->err);
		if (rc == SC_ENOTFOUND) {
			x->done->missing++;
			if (x->o->missing)
				x->o->missing(x->o->ctx, id);
			rc = 0;
		} else if (!rc) {
			rc = take(x, &entry);
		}
	}
	return rc;
}

static int count_file(void *ctx, const char *name, const void *data, size_t size, int64_t time,
		      struct sc_error *err)
{
	(void)name, (void)data, (void)time, (void)err;
	*(uint64_t *)ctx += size;
	return 0;
}

/* Caches are packed, and thrown away; what is not packed has the size that it has. */
static int estimate(struct exporting *x, enum symbundle_shape shape,
		    const struct bundle_source *source)
{
	const struct packed_bytes text = { source->text, source->text_len };
	const struct manifest *m = &x->manifest;
	uint64_t *bytes = &x->done->bundle_bytes;
	size_t text_len = source->text_len;
	void *packed;

	/* In an archive the manifest is compressed, too. */
	if (shape == SYMBUNDLE_ARCHIVE) {
		if (packed_pack(&text, 1, PACKED_LEVEL, &packed, &text_len, x->err))
			return x->err->code;
		free(packed);
	}
	*bytes = text_len + (source->signature ? SIGNATURE_SIZE : 0);
	for (size_t i = 0; i < m->len && !m->packed; i++)
		*bytes += m->data[i].entry.cache_size;
	return m->packed ? groups_write(source, count_file, bytes, x->err) : 0;
}

/* What the tree has whole stays so, also with other tags. */
static void leave_whole(struct exporting *x)
{
	for (size_t i = 0; i < x->manifest.len; i++) {
		struct manifest_entry *e = &x->manifest.data[i];
		const struct manifest_entry *there =
			manifest_find(&x->tree.entries, e->entry.build_id, e->entry.build_id_len);

		if (there && !there->old.len && sc_hash_same(there->hash, e->hash))
			e->old.len = 0;
	}
}

/* A tree gets what it does not have; with the hash in its name it is another one each time. */
static int write_parts(struct exporting *x, const char *path)
{
	const struct symbundle_export_options *o = x->o;
	const struct bundle_source how = {
		.reader = x->reader, .level = o->level ? o->level : PACKED_LEVEL,
		.names_only = o->names_only, .old = x->old.reader, .sign_key = o->sign_key,
		.progress = o->writing, .ctx = o->ctx,
	};
	char *part __attribute__((cleanup(sc_free_text))) = o->name_hash ? sc_text("%s.part", path) : NULL;
	char *named __attribute__((cleanup(sc_free_text))) = NULL;
	struct tree_written written = { 0 };
	int rc;

	leave_whole(x);
	groups_make(&x->manifest, 0);
	if (o->estimate || !o->name_hash) {
		rc = tree_write(o->estimate ? NULL : path, &x->tree, &x->manifest, &how, &written,
				x->err);
	} else if (!part) {
		rc = sc_no_memory(x->err);
	} else {
		bundle_remove_part(part);
		rc = tree_write(part, &x->tree, &x->manifest, &how, &written, x->err);
		if (!rc && !(named = bundle_name_with(path, written.hash)))
			rc = sc_no_memory(x->err);
		if (!rc && rename(part, named))
			rc = sc_error_sys(x->err, "cannot rename %s to %s", part, named);
		if (rc)
			bundle_remove_part(part);
	}
	x->done->bundle_bytes = written.bytes;
	memcpy(x->done->hash, written.hash, sizeof(written.hash));
	return rc;
}

static int write_chosen(struct exporting *x, const char *path, enum symbundle_shape shape)
{
	char *text __attribute__((cleanup(sc_free_text))) = NULL;
	char *named __attribute__((cleanup(sc_free_text))) = NULL;
	const char *key = x->o->sign_key;
	uint8_t signature[SIGNATURE_SIZE];
	struct bundle_source source = {
		.reader = x->reader, .names_only = x->o->names_only, .old = x->old.reader,
		.manifest = &x->manifest, .signature = key ? signature : NULL,
		.level = x->o->level ? x->o->level : PACKED_LEVEL,
		.progress = x->o->writing, .ctx = x->o->ctx,
	};
	int rc;

	if (shape == SYMBUNDLE_ARCHIVE && x->o->format != MANIFEST_PLAIN)
		groups_make(&x->manifest, GROUP_BYTES);
	rc = manifest_write(&x->manifest, &text, &source.text_len, x->err);

	source.text = text;
	if (!rc && x->o->estimate)
		return estimate(x, shape, &source);
	if (!rc) {
		const struct sc_hash hash = sc_hash_of(text, source.text_len);

		sc_hash_text(hash, x->done->hash);
		named = bundle_name_with(path, x->done->hash);
		rc = named ? 0 : sc_no_memory(x->err);
	}
	if (!rc && key)
		rc = sign_bytes(key, text, source.text_len, signature, x->err);
	return rc ? rc : bundle_write(x->o->name_hash ? named : path, shape, &source, x->err);
}

int symbundle_export(struct symstore_reader *reader, const char *path, enum symbundle_shape shape,
		     const struct symbundle_export_options *options,
		     struct symbundle_exported *ret, struct sc_error *err)
{
	struct exporting x = { .o = options, .reader = reader, .done = ret, .err = err };
	int rc = options->since ? bundle_read_manifest(options->since, &x.earlier, err) : 0;

	*ret = (struct symbundle_exported){ 0 };
	x.tree.dir = -1;
	x.in_parts = shape == SYMBUNDLE_TREE && options->format != MANIFEST_PLAIN;
	if (options->delta_from && !x.in_parts &&
	    (shape != SYMBUNDLE_ARCHIVE || options->format == MANIFEST_PLAIN))
		rc = sc_error_set(err, SC_EINVAL, "deltas are for archives and trees of packed caches");
	if (!rc && options->delta_from)
		rc = deltas_open(&x.old, options->delta_from, reader, options->damaged,
				 options->ctx, err);
	if (!rc && x.in_parts && path && !options->name_hash)
		rc = tree_state_read(path, &x.tree, err);
	x.tree.deltas = options->delta_from;
	if (!rc)
		rc = options->ids ? choose_by_id(&x) : choose_all(&x);
	if (!rc && !x.manifest.len && !ret->as_before)
		rc = sc_error_set(err, SC_ENOTFOUND, "no entry is chosen, so no bundle is written");
	ret->exported = x.manifest.len;
	for (size_t i = 0; i < x.manifest.len; i++)
		ret->bytes += x.manifest.data[i].entry.cache_size;
	if (!rc)
		rc = deltas_choose(&x.old, reader, &x.manifest, &x.tree.entries, err);
	for (size_t i = 0; i < x.manifest.len && !rc; i++)
		ret->deltas += x.manifest.data[i].old.len > 0;
	if (!rc)
		rc = x.in_parts ? write_parts(&x, path) : write_chosen(&x, path, shape);
	manifest_deinit(&x.manifest);
	manifest_deinit(&x.earlier);
	tree_state_deinit(&x.tree);
	deltas_close(&x.old);
	return rc;
}
