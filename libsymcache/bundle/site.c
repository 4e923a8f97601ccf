/* A cache from a tree on a web server: see site.h. */
#include "libsymcache/bundle/site.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libsymcache/packed/packed.h"

enum {
	KEPT_ENTRIES = 1 << 16, /* of parts, in memory */
	OLD_DEPTH = 8,          /* caches of a tree, each written against the next */
};

static void forget_parts(struct site *site)
{
	while (site->parts.len)
		manifest_deinit(&site->parts.data[--site->parts.len].manifest);
	site->entries = 0;
}

void site_close(struct site *site)
{
	forget_parts(site);
	vec_deinit(&site->parts);
	vec_deinit(&site->text);
	tree_top_deinit(&site->top);
	tree_web_close(&site->web);
}

void symbundle_fetched_deinit(struct symbundle_fetched *f)
{
	struct manifest *strings = f->strings;

	if (strings)
		manifest_deinit(strings);
	free(strings);
	free(f->cache);
	*f = (struct symbundle_fetched){ 0 };
}

/* What went wrong was one file, or all of the tree. */
enum fault { ONE_FILE, WHOLE_TREE };

/* Reads the manifest, or reads it again. SC_ENOTFOUND: it is as before. */
static int read_top(struct site *site, struct sc_error *err)
{
	const struct tree_source from = { tree_read_web, &site->web };
	struct bundle_file text = { 0 };
	struct tree_top top = { 0 };
	int rc = tree_read_web(&site->web, SYMBUNDLE_MANIFEST, MANIFEST_MAX, &text, err);

	if (!rc && text.len && site->text.len == text.len &&
	    !memcmp(site->text.data, text.data, text.len)) {
		vec_deinit(&text);
		return SC_ENOTFOUND;
	}
	if (!rc && !tree_begins(text.data, text.len))
		rc = sc_error_set(err, SC_EFORMAT, "%.120s: no tree of 'symcache export' is there",
				  site->web.shown);
	else if (!rc &&
		 (rc = tree_top_take(&from, site->verify_key, text.data, text.len, &top, err)) &&
		 (rc == SC_EFORMAT || rc == SC_EUNSUPPORTED))
		sc_error_prefix(err, "%.120s: ", site->web.shown);
	if (rc) {
		vec_deinit(&text);
		return rc == SC_ENOTFOUND ? SC_ESYS : rc;
	}
	vec_deinit(&site->text);
	tree_top_deinit(&site->top);
	site->text = text;
	site->top = top;
	return 0;
}

static int read_part(struct site *site, const struct tree_part *part, const struct manifest **ret,
		     struct sc_error *err)
{
	const struct tree_source from = { tree_read_web, &site->web };
	const struct symbundle_reader reader = { .verify_key = site->verify_key };
	struct bundle_reading b = { .r = &reader };
	struct bundle_file text = { 0 };
	struct kept_part *kept;
	char name[TREE_NAME];
	int rc;

	for (size_t i = 0; i < site->parts.len; i++) {
		*ret = &site->parts.data[i].manifest;
		if (!memcmp(&site->parts.data[i].part, part, sizeof(*part)))
			return 0;
	}
	if (!(rc = tree_read_part(&from, part, &text, err)))
		rc = bundle_list(&b, text.data, text.len, err);
	if (rc == SC_EFORMAT || rc == SC_EUNSUPPORTED)
		sc_error_prefix(err, "%.120s/%s: ", site->web.shown, tree_part_name(part, name));
	vec_deinit(&text);
	free(b.seen);
	if (site->entries + b.manifest.len > KEPT_ENTRIES)
		forget_parts(site);
	if (rc || !(kept = vec_push(&site->parts))) {
		manifest_deinit(&b.manifest);
		return rc ? rc : sc_no_memory(err);
	}
	*kept = (struct kept_part){ *part, b.manifest };
	site->entries += b.manifest.len;
	*ret = &kept->manifest;
	return 0;
}

/* The entry as it goes into a store: what is pinned is the user's to say. */
static int take_entry(const struct manifest_entry *e, const struct symstore_entry *checked,
		      struct symbundle_fetched *ret, struct sc_error *err)
{
	struct manifest *own = ret->strings = calloc(1, sizeof(*own));
	const int64_t now = time(NULL);
	char *tags;

	if (!own || manifest_add_copy(own, e, err) ||
	    !(tags = symstore_tags_without(own->data->entry.tags, SYMSTORE_PINNED)))
		return sc_no_memory(err);
	free((char *)own->data->entry.tags);
	own->data->entry.tags = tags;
	ret->entry = own->data->entry;
	ret->entry.sources = checked->sources;
	ret->entry.bad_units = checked->bad_units;
	ret->entry.build_id_derived = checked->build_id_derived;
	ret->entry.time = e->entry.time < now ? e->entry.time : now;
	return 0;
}

static int find_entry(const struct asking *a, const struct symstore_id *id, struct manifest *own,
		      struct sc_error *err)
{
	const struct tree_part *part = tree_part_of(&a->site->top, id->bytes, id->len);
	const struct manifest_entry *e = NULL;
	const struct manifest *m = NULL;
	int rc = part ? read_part(a->site, part, &m, err) : 0;

	if (rc)
		return rc == SC_ENOTFOUND ? err->code = SC_EFORMAT : rc;
	if (m)
		e = manifest_find(m, id->bytes, id->len);
	if (!e)
		return sc_error_set(err, SC_ENOTFOUND, "%.120s does not list it", a->site->web.shown);
	return manifest_add_copy(own, e, err); /* parts may go meanwhile */
}

static int read_cache(const struct asking *a, const struct manifest_entry *e,
		      struct symbundle_fetched *ret, struct sc_error *err);

/* What it is written against: the store's, else the tree's. */
static int read_old(const struct asking *a, const struct manifest_entry *e,
		    struct bundle_cache *ret, struct sc_error *err)
{
	struct asking deeper = *a;
	struct symbundle_fetched fetched = { 0 };
	struct manifest own = { 0 };
	struct sc_error why;
	int rc = bundle_find_old(a->reader, e, ret, err);

	deeper.depth++;
	if (rc == SC_ENOTFOUND && a->depth < OLD_DEPTH && !find_entry(a, &e->old, &own, &why) &&
	    sc_hash_same(own.data->hash, e->old_hash) &&
	    !read_cache(&deeper, own.data, &fetched, &why)) {
		*ret = (struct bundle_cache){ fetched.cache, fetched.entry.cache_size,
					      fetched.cache };
		fetched.cache = NULL;
		rc = 0;
	}
	symbundle_fetched_deinit(&fetched);
	manifest_deinit(&own);
	return rc == SC_ENOTFOUND ? err->code = SC_EFORMAT : rc;
}

static int check(const struct manifest_entry *e, const char *name, struct packed_caches *caches,
		 struct symbundle_fetched *ret, struct sc_error *err)
{
	struct bundle_checked checked;

	if (caches->num != 1)
		return sc_error_set(err, SC_EFORMAT, "%zu caches in the place of one", caches->num);
	bundle_check(e, name, (struct bundle_bytes){ caches->caches->data, caches->caches->size },
		     &checked);
	if (checked.why.code) {
		*err = checked.why;
		return err->code;
	}
	if (!(ret->cache = malloc(caches->caches->size)))
		return sc_no_memory(err);
	memcpy(ret->cache, caches->caches->data, caches->caches->size);
	return take_entry(e, &checked.entry, ret, err);
}

static int unpack(const struct asking *a, const struct manifest_entry *e,
		  const struct bundle_file *f, struct symbundle_fetched *ret, struct sc_error *err)
{
	struct packed_caches caches = { 0 };
	struct bundle_cache old = { 0 };
	struct packed_old wanted;
	char name[BUNDLE_NAME];
	int rc = 0;

	if (!packed_begins(f->data, f->len) || packed_total(f->data, f->len) != e->entry.cache_size)
		return sc_error_set(err, SC_EFORMAT, "not the packed cache of which the manifest speaks");
	if (packed_is_delta(f->data, f->len, &wanted))
		rc = e->old.len ? read_old(a, e, &old, err) :
			sc_error_set(err, SC_EFORMAT, "a delta against a cache that the manifest does not name");
	if (!rc)
		rc = packed_unpack_delta(f->data, f->len,
					 (struct packed_bytes){ old.data, old.size }, &caches, err);
	free(old.made);
	if (!rc)
		rc = check(e, bundle_hashed_name(e, name), &caches, ret, err);
	packed_caches_deinit(&caches);
	return rc;
}

static int read_cache(const struct asking *a, const struct manifest_entry *e,
		      struct symbundle_fetched *ret, struct sc_error *err)
{
	struct bundle_file f = { 0 };
	char name[BUNDLE_NAME];
	int rc = tree_read_web(&a->site->web, bundle_hashed_name(e, name), tree_cache_max(e), &f,
			       err);

	if (rc == SC_ENOTFOUND)
		rc = err->code = SC_EFORMAT;
	else if (!rc && (rc = unpack(a, e, &f, ret, err)) && rc != SC_ENOMEM)
		sc_error_prefix(err, "%.120s/%s: ", a->site->web.shown, name);
	vec_deinit(&f);
	return rc;
}

/* By the manifest that was read last. *what: whether an error is of one file or of the tree. */
static int ask_once(const struct asking *a, const struct symstore_id *id,
		    struct symbundle_fetched *ret, enum fault *what, struct sc_error *err)
{
	struct manifest own = { 0 };
	int rc = find_entry(a, id, &own, err);

	*what = rc ? WHOLE_TREE : ONE_FILE;
	if (!rc)
		rc = read_cache(a, own.data, ret, err);
	manifest_deinit(&own);
	return rc;
}

/* The tree may have become another one since its manifest was read. */
int site_ask(const struct asking *a, const struct symstore_id *id, struct symbundle_fetched *ret,
	     struct sc_error *err)
{
	struct site *site = a->site;
	const bool fresh = !site->text.len;
	enum fault what = WHOLE_TREE;
	struct sc_error why;
	int rc = fresh ? read_top(site, err) : 0;

	if (!rc)
		rc = ask_once(a, id, ret, &what, err);
	if (rc == SC_EFORMAT && !fresh && !read_top(site, &why))
		rc = ask_once(a, id, ret, &what, err);
	if (!rc || rc == SC_ENOTFOUND || rc == SC_ENOMEM || (rc == SC_EFORMAT && what == ONE_FILE))
		return rc;
	site->failed = true;
	why = *err;
	return sc_error_set(err, rc, "%.400s; it is not asked again", why.msg);
}
