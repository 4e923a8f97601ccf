/*
 * Single caches from trees on web servers: see sites.h. A miss is what the manifest of a server does
 * not list; it is remembered for each server by itself.
 */
#include "libsymcache/bundle/sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/tree.h"
#include "libsymcache/bundle/web.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/write/build.h"

enum { KEPT_ENTRIES = 1 << 16 }; /* of parts, in memory */

struct kept_part {
	struct tree_part part;
	struct manifest manifest;
};

struct site {
	struct tree_web web;
	bool failed;
	struct bundle_file text;     /* of the manifest; empty: not asked for yet */
	struct tree_top top;
	VEC(struct kept_part) parts;
	size_t entries;              /* in them */
};

struct miss {
	struct symstore_hash key;
	struct symstore_id id;
};

struct symbundle_sites {
	struct symbundle_sites_options options;
	pthread_mutex_t lock;        /* a client does one thing at a time */
	struct web *web;             /* NULL: not loaded yet */
	VEC(struct site) list;
	VEC(struct miss) misses;     /* of this run */
	struct sc_error unsaid;      /* a server that failed while another had the cache */
};

int symbundle_sites_create(const struct symbundle_sites_options *options, struct symbundle_sites **ret,
			   struct sc_error *err)
{
	struct symbundle_sites *s = calloc(1, sizeof(*s));
	int rc = s ? 0 : sc_no_memory(err);

	*ret = NULL;
	if (rc)
		return rc;
	pthread_mutex_init(&s->lock, NULL);
	s->options = *options;
	for (const char *const *url = options->urls; url && *url && !rc; url++) {
		struct site *site = symbundle_is_url(*url) ? vec_push(&s->list) : NULL;

		rc = site ? tree_web_open(*url, &site->web, err) : symbundle_is_url(*url) ? sc_no_memory(err) :
			sc_error_set(err, SC_EINVAL, "%.120s is not the http:// or https:// of a tree", *url);
	}
	if (!rc && !s->list.len)
		rc = sc_error_set(err, SC_EINVAL, "no URL is given");
	if (rc)
		symbundle_sites_destroy(s);
	else
		*ret = s;
	return rc;
}

static void forget_parts(struct site *site)
{
	while (site->parts.len)
		manifest_deinit(&site->parts.data[--site->parts.len].manifest);
	site->entries = 0;
}

void symbundle_sites_destroy(struct symbundle_sites *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->list.len; i++) {
		struct site *site = &s->list.data[i];

		forget_parts(site);
		vec_deinit(&site->parts);
		vec_deinit(&site->text);
		tree_top_deinit(&site->top);
		tree_web_close(&site->web);
	}
	vec_deinit(&s->list);
	vec_deinit(&s->misses);
	web_destroy(s->web);
	pthread_mutex_destroy(&s->lock);
	free(s);
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

/* ---- a tree ------------------------------------------------------------------------ */

/* What went wrong was one file, or all of the tree. */
enum fault { ONE_FILE, WHOLE_TREE };

/* Reads the manifest, or reads it again. SC_ENOTFOUND: it is as before. */
static int read_top(struct symbundle_sites *s, struct site *site, struct sc_error *err)
{
	const struct tree_source from = { tree_read_web, &site->web };
	struct bundle_file text = { 0 };
	struct tree_top top = { 0 };
	int rc = tree_read_web(&site->web, SYMBUNDLE_MANIFEST, MANIFEST_MAX, &text, err);

	if (!rc && site->text.len == text.len && !memcmp(site->text.data, text.data, text.len)) {
		vec_deinit(&text);
		return SC_ENOTFOUND;
	}
	if (!rc && !tree_begins(text.data, text.len))
		rc = sc_error_set(err, SC_EFORMAT, "%.120s: there is no tree that 'symcache export' wrote",
				  site->web.shown);
	else if (!rc && (rc = tree_top_take(&from, s->options.verify_key, text.data, text.len, &top, err)) &&
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

static int read_part(struct symbundle_sites *s, struct site *site, const struct tree_part *part,
		     const struct manifest **ret, struct sc_error *err)
{
	const struct tree_source from = { tree_read_web, &site->web };
	struct bundle_reading b = { .r = &(struct symbundle_reader){ .verify_key = s->options.verify_key } };
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

static int unpack(const struct manifest_entry *e, const char *name, const struct bundle_file *f,
		  struct symbundle_fetched *ret, struct sc_error *err)
{
	struct packed_caches caches = { 0 };
	struct bundle_checked checked;
	int rc;

	if (!packed_begins(f->data, f->len) || packed_total(f->data, f->len) != e->entry.cache_size)
		return sc_error_set(err, SC_EFORMAT, "not the packed cache of which the manifest speaks");
	if ((rc = packed_unpack(f->data, f->len, &caches, err)))
		return rc;
	if (caches.num != 1) {
		rc = sc_error_set(err, SC_EFORMAT, "%zu caches in the place of one", caches.num);
	} else {
		bundle_check(e, name, (struct bundle_bytes){ caches.caches->data, caches.caches->size }, &checked);
		rc = checked.why.code;
		if (rc && err)
			*err = checked.why;
	}
	if (!rc && caches.caches->data == caches.bytes) {
		ret->cache = caches.bytes;
		caches.bytes = NULL;
	} else if (!rc) {
		ret->cache = malloc(caches.caches->size);
		rc = ret->cache ? 0 : sc_no_memory(err);
		if (!rc)
			memcpy(ret->cache, caches.caches->data, caches.caches->size);
	}
	packed_caches_deinit(&caches);
	return rc ? rc : take_entry(e, &checked.entry, ret, err);
}

static int read_cache(struct site *site, const struct manifest_entry *e, struct symbundle_fetched *ret,
		      struct sc_error *err)
{
	struct bundle_file f = { 0 };
	char name[BUNDLE_NAME];
	int rc = tree_read_web(&site->web, bundle_hashed_name(e, name), tree_cache_max(e), &f, err);

	if (rc == SC_ENOTFOUND)
		rc = err->code = SC_EFORMAT;
	else if (!rc && (rc = unpack(e, name, &f, ret, err)) && rc != SC_ENOMEM)
		sc_error_prefix(err, "%.120s/%s: ", site->web.shown, name);
	vec_deinit(&f);
	return rc;
}

/* As the manifest is that is at hand. *what is of an error that is of the files. */
static int ask_once(struct symbundle_sites *s, struct site *site, const struct symstore_id *id,
		    struct symbundle_fetched *ret, enum fault *what, struct sc_error *err)
{
	const struct tree_part *part = tree_part_of(&site->top, id->bytes, id->len);
	const struct manifest_entry *e = NULL;
	const struct manifest *m = NULL;
	int rc = part ? read_part(s, site, part, &m, err) : 0;

	*what = WHOLE_TREE;
	if (rc)
		return rc == SC_ENOTFOUND ? err->code = SC_EFORMAT : rc;
	if (m)
		e = manifest_find(m, id->bytes, id->len);
	if (!e)
		return sc_error_set(err, SC_ENOTFOUND, "%.120s does not list it", site->web.shown);
	*what = ONE_FILE;
	return read_cache(site, e, ret, err);
}

/* The tree may have become another one since its manifest was read. */
static int ask(struct symbundle_sites *s, struct site *site, const struct symstore_id *id,
	       struct symbundle_fetched *ret, struct sc_error *err)
{
	const bool fresh = !site->text.len;
	enum fault what = WHOLE_TREE;
	struct sc_error why;
	int rc = fresh ? read_top(s, site, err) : 0;

	if (!rc)
		rc = ask_once(s, site, id, ret, &what, err);
	if (rc == SC_EFORMAT && !fresh && !read_top(s, site, &why))
		rc = ask_once(s, site, id, ret, &what, err);
	if (!rc || rc == SC_ENOTFOUND || rc == SC_ENOMEM || (rc == SC_EFORMAT && what == ONE_FILE))
		return rc;
	site->failed = true;
	why = *err;
	return sc_error_set(err, rc, "%.400s; it is not asked again", why.msg);
}

/* ---- all of them ------------------------------------------------------------------- */

static struct symstore_hash miss_key(const struct site *site, const uint8_t *id, size_t len)
{
	return symstore_miss_key("tree", site->web.url, id, len);
}

/* Did the server say so in this run? */
static bool missed_now(const struct symbundle_sites *s, const struct site *site,
		       const struct symstore_id *id)
{
	const struct symstore_hash key = miss_key(site, id->bytes, id->len);

	for (size_t i = 0; i < s->misses.len; i++)
		if (s->misses.data[i].key.low64 == key.low64 && s->misses.data[i].key.high64 == key.high64)
			return true;
	return false;
}

static int load(struct symbundle_sites *s, struct sc_error *err)
{
	const bool loaded = s->web;
	int rc = loaded ? 0 : web_create(&s->options.web, &s->web, err);

	for (size_t i = 0; i < s->list.len && !loaded; i++) {
		s->list.data[i].web.web = s->web;
		s->list.data[i].failed = rc;
	}
	return rc;
}

static bool all_failed(const struct symbundle_sites *s)
{
	size_t failed = 0;

	for (size_t i = 0; i < s->list.len; i++)
		failed += s->list.data[i].failed;
	return failed == s->list.len;
}

/* One server after the other. */
static int ask_all(struct symbundle_sites *s, const struct symstore_id *id, struct symbundle_fetched *ret,
		   struct sc_error *err)
{
	struct sc_error why = { 0 }, bad = { 0 };
	char hex[SYMCACHE_BUILD_ID_TEXT];
	int rc = all_failed(s) ? SC_ENOTFOUND : load(s, err);

	if (rc && rc != SC_ENOTFOUND)
		return rc;
	for (size_t i = 0; i < s->list.len; i++) {
		struct site *site = &s->list.data[i];
		struct miss *miss;

		if (site->failed || missed_now(s, site, id))
			continue;
		rc = ask(s, site, id, ret, &why);
		if (!rc || rc == SC_ENOMEM)
			return rc ? sc_no_memory(err) : 0;
		symbundle_fetched_deinit(ret);
		if (rc == SC_ENOTFOUND && (miss = vec_push(&s->misses)))
			*miss = (struct miss){ miss_key(site, id->bytes, id->len), *id };
		else if (site->failed && !s->unsaid.code)
			s->unsaid = why;
		else if (rc == SC_EFORMAT)
			bad = why;
	}
	symcache_build_id_text(hex, id->bytes, id->len);
	why = s->unsaid.code ? s->unsaid : bad;
	s->unsaid.code = 0;
	return why.code ? sc_error_set(err, why.code, "%s", why.msg) :
		sc_error_set(err, SC_ENOTFOUND, "no server that answers has %s", hex);
}

int symbundle_sites_get(struct symbundle_sites *s, const uint8_t *build_id, size_t len,
			struct symbundle_fetched *ret, struct sc_error *err)
{
	struct symstore_id id = { .len = len };
	int rc;

	*ret = (struct symbundle_fetched){ 0 };
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_ENOTFOUND, "no build ID");
	memcpy(id.bytes, build_id, len);
	pthread_mutex_lock(&s->lock);
	rc = ask_all(s, &id, ret, err);
	pthread_mutex_unlock(&s->lock);
	if (rc)
		symbundle_fetched_deinit(ret);
	return rc;
}

bool symbundle_sites_missed(const struct symbundle_sites *s, struct symstore_reader *reader,
			    const uint8_t *build_id, size_t len)
{
	for (size_t i = 0; i < s->list.len; i++) {
		const struct symstore_hash key = miss_key(&s->list.data[i], build_id, len);

		if (!symstore_missed(reader, &key, symcache_version, s->options.retry))
			return false;
	}
	return true;
}

int symbundle_sites_remember(struct symbundle_sites *s, struct symstore_writer *writer,
			     const uint8_t *build_id, size_t len, struct sc_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->misses.len && !rc; i++) {
		const struct miss *miss = &s->misses.data[i];

		if (miss->id.len == len && !memcmp(miss->id.bytes, build_id, len))
			rc = symstore_remember_miss(writer, &miss->key, symcache_version, err);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}
