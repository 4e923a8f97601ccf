/*
 * A folder as a bundle: SymCache files by their build IDs, with a manifest or without.
 * With one, what it does not list is not looked at.
 */
#include <errno.h>
#include <fts.h>
#include <string.h>

#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/bundle/tree.h"
#include "libsymcache/packed/packed.h"

/* A file, if it is a SymCache file, or a packed one. */
static int read_cache(const char *path, struct bundle_file *f, bool *packed, struct sc_error *err)
{
	struct symcache cache;
	int rc = bundle_read_file(path, MAX_CACHE, f, err);

	*packed = !rc && packed_begins(f->data, f->len);
	return rc || *packed ? rc : symcache_open(&cache, f->data, f->len, err);
}

/* A file of which the entry is the first, or only one. */
static int give_file(struct bundle_reading *b, const char *folder, const struct manifest_entry *e,
		     struct bundle_file *f, struct sc_error *err)
{
	char name[BUNDLE_NAME];
	char *path __attribute__((cleanup(sc_free_text))) = sc_text("%s/%s", folder, e->file.len ?
		bundle_packed_name(&e->file, name) : bundle_name(&e->entry, name));
	struct sc_error why;
	bool packed;

	if (!path)
		return sc_no_memory(err);
	if (read_cache(path, f, &packed, &why))
		return bundle_unread(b, name, &why, err);
	if (packed != (e->file.len > 0))
		bundle_fault(b, name, "packed, or not, otherwise than the manifest says");
	else if (packed)
		return groups_give(b, name, f, e, err);
	else
		return bundle_give(b, e, &e->entry, name, (struct bundle_bytes){ f->data, f->len },
				   err);
	return 0;
}

static int give_listed(struct bundle_reading *b, const char *folder, struct bundle_file *f,
		       struct sc_error *err)
{
	char name[BUNDLE_NAME];
	int rc = 0;

	for (size_t i = 0, n; i < b->manifest.len && !rc; i += n ? n : 1) {
		const struct manifest_entry *e = &b->manifest.data[i];

		n = e->file.len ? groups_at(&b->manifest, i) : 1;
		if (n == 1 && !bundle_wanted(b, &e->entry))
			continue;
		if (n)
			rc = give_file(b, folder, e, f, err);
		else
			bundle_fault(b, bundle_name(&e->entry, name), "the manifest has it in another file");
	}
	return rc;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* All files *.symcache and *.packed below; links are not followed. */
static int give_all(struct bundle_reading *b, const char *folder, struct bundle_file *f,
		    struct sc_error *err)
{
	FTS *fts = fts_open((char *[]){ (char *)folder, NULL }, FTS_PHYSICAL | FTS_NOCHDIR,
			    by_name);
	struct sc_error why;
	bool packed;
	int rc = 0;
	FTSENT *at;

	if (!fts)
		return sc_error_sys(err, "cannot read");
	while (!rc && (at = fts_read(fts))) {
		const char *end = strrchr(at->fts_name, '.');

		if (at->fts_info != FTS_F || !end || (strcmp(end, ".symcache") && strcmp(end, ".packed")))
			continue;
		if (read_cache(at->fts_path, f, &packed, &why))
			rc = bundle_unread(b, at->fts_path, &why, err);
		else if (packed)
			rc = groups_give(b, at->fts_path, f, NULL, err);
		else
			rc = bundle_give_unlisted(b, at->fts_path, f->data, f->len, err);
	}
	fts_close(fts);
	return rc;
}

/* A small file of the tree; *f is empty if there is none. */
static int read_part(const char *folder, const char *name, size_t max, struct bundle_file *f,
		     struct sc_error *err)
{
	char *path __attribute__((cleanup(sc_free_text))) = sc_text("%s/%s", folder, name);
	int rc;

	if (!path)
		return sc_no_memory(err);
	rc = bundle_read_file(path, max, f, err);
	if (rc == SC_ESYS && errno == ENOENT)
		return 0;
	return rc ? sc_error_prefix(err, "%s: ", path) : 0;
}

int bundle_read_tree(struct bundle_reading *b, const char *path, struct sc_error *err)
{
	const struct tree_source from = { tree_read_file, (void *)path };
	struct bundle_file manifest = { 0 }, f = { 0 };
	int rc = read_part(path, SYMBUNDLE_MANIFEST, MANIFEST_MAX, &manifest, err);

	if (!rc && tree_begins(manifest.data, manifest.len)) {
		rc = tree_give(b, &from, &manifest, err);
	} else if (!rc && !(rc = read_part(path, SIGNATURE_NAME, MAX_SIGNATURE, &f, err))) {
		rc = bundle_begin(b, manifest.data, manifest.len, f.data, f.len, err);
		if (!rc)
			rc = b->has_manifest ? give_listed(b, path, &f, err) :
					       give_all(b, path, &f, err);
	}
	vec_deinit(&manifest);
	vec_deinit(&f);
	return rc;
}
