/*
 * Single caches from trees on web servers: see sites.h. A miss is what the manifest of a server
 * does not list; it is remembered for each server by itself.
 */
#include "libsymcache/bundle/sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/bundle/site.h"
#include "libsymcache/bundle/web.h"
#include "libsymcache/store/misses.h"
#include "libsymcache/write/build.h"

struct symbundle_sites {
	struct symbundle_sites_options options;
	pthread_mutex_t lock;        /* a client does one thing at a time */
	struct web *web;             /* NULL: not loaded yet */
	VEC(struct site) list;
	struct symstore_misses misses;
	struct sc_error unsaid;      /* a server that failed while another had the cache */
};

int symbundle_sites_create(const struct symbundle_sites_options *options,
			   struct symbundle_sites **ret, struct sc_error *err)
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

		if (site)
			site->verify_key = options->verify_key;
		rc = site ? tree_web_open(*url, &site->web, err) :
		     symbundle_is_url(*url) ? sc_no_memory(err) :
		     sc_error_set(err, SC_EINVAL,
				  "%.120s is not the http:// or https:// of a tree", *url);
	}
	if (!rc && !s->list.len)
		rc = sc_error_set(err, SC_EINVAL, "no URL is given");
	if (rc)
		symbundle_sites_destroy(s);
	else
		*ret = s;
	return rc;
}

void symbundle_sites_destroy(struct symbundle_sites *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->list.len; i++)
		site_close(&s->list.data[i]);
	vec_deinit(&s->list);
	symstore_misses_deinit(&s->misses);
	web_destroy(s->web);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- all of them ------------------------------------------------------------------- */

static struct sc_hash miss_key(const struct site *site, const uint8_t *id, size_t len)
{
	return symstore_miss_key("tree", site->web.url, id, len);
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
static int ask_all(struct symbundle_sites *s, struct symstore_reader *reader,
		   const struct symstore_id *id, struct symbundle_fetched *ret,
		   struct sc_error *err)
{
	struct sc_error why = { 0 }, bad = { 0 };
	char hex[SYMCACHE_BUILD_ID_TEXT];
	int rc = all_failed(s) ? SC_ENOTFOUND : load(s, err);

	if (rc && rc != SC_ENOTFOUND)
		return rc;
	for (size_t i = 0; i < s->list.len; i++) {
		struct site *site = &s->list.data[i];
		const struct sc_hash key = miss_key(site, id->bytes, id->len);

		if (site->failed || symstore_misses_have(&s->misses, &key))
			continue;
		rc = site_ask(&(struct asking){ site, reader }, id, ret, &why);
		if (!rc || rc == SC_ENOMEM)
			return rc ? sc_no_memory(err) : 0;
		symbundle_fetched_deinit(ret);
		if (rc == SC_ENOTFOUND)
			symstore_misses_add(&s->misses, &key);
		else if (site->failed && !s->unsaid.code)
			s->unsaid = why;
		else if (rc == SC_EFORMAT)
			bad = why;
	}
	why = s->unsaid.code ? s->unsaid : bad;
	s->unsaid.code = 0;
	return why.code ? sc_error_set(err, why.code, "%s", why.msg) :
		sc_error_set(err, SC_ENOTFOUND, "no server that answered has %s",
			     symcache_build_id_text(hex, id->bytes, id->len));
}

int symbundle_sites_get(struct symbundle_sites *s, struct symstore_reader *reader,
			const uint8_t *build_id, size_t len, struct symbundle_fetched *ret,
			struct sc_error *err)
{
	struct symstore_id id = { .len = len };
	int rc;

	*ret = (struct symbundle_fetched){ 0 };
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_ENOTFOUND, "no build ID");
	memcpy(id.bytes, build_id, len);
	pthread_mutex_lock(&s->lock);
	rc = ask_all(s, reader, &id, ret, err);
	pthread_mutex_unlock(&s->lock);
	if (rc)
		symbundle_fetched_deinit(ret);
	return rc;
}

bool symbundle_sites_missed(const struct symbundle_sites *s, struct symstore_reader *reader,
			    const uint8_t *build_id, size_t len)
{
	for (size_t i = 0; i < s->list.len; i++) {
		const struct sc_hash key = miss_key(&s->list.data[i], build_id, len);

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
	for (size_t i = 0; i < s->list.len && !rc; i++) {
		const struct sc_hash key = miss_key(&s->list.data[i], build_id, len);

		if (symstore_misses_have(&s->misses, &key))
			rc = symstore_remember_miss(writer, &key, symcache_version, err);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}
