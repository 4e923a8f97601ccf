/* A tree in parts on a web server: see tree.h. */
#include <stdlib.h>

#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/tree.h"
#include "libsymcache/bundle/web.h"

int tree_web_open(const char *url, struct tree_web *ret, struct sc_error *err)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	*ret = (struct tree_web){ .url = sc_text("%.*s", (int)len, url) };
	if (ret->url)
		ret->shown = symbundle_shown(ret->url);
	return ret->shown ? 0 : sc_no_memory(err);
}

void tree_web_close(struct tree_web *w)
{
	free(w->url);
	free(w->shown);
}

int tree_read_web(void *ctx, const char *name, size_t max, struct bundle_file *f,
		  struct sc_error *err)
{
	const struct tree_web *w = ctx;
	char *url __attribute__((cleanup(sc_free_text))) = sc_text("%s/%s", w->url, name);
	int rc;

	if (!url)
		return sc_no_memory(err);
	rc = web_get(w->web, url, max, f, err);
	if (rc == SC_ENOTFOUND)
		return sc_error_set(err, rc, "%.120s does not have %s", w->shown, name);
	return rc && rc != SC_ENOMEM ? sc_error_prefix(err, "%.120s ", w->shown) : rc;
}

int bundle_read_web(struct bundle_reading *b, const char *url, struct sc_error *err)
{
	struct tree_web web = { 0 };
	const struct tree_source from = { tree_read_web, &web };
	struct bundle_file manifest = { 0 };
	int rc = tree_web_open(url, &web, err);

	b->named = true;
	if (!rc)
		rc = web_create(&b->r->web, &web.web, err);
	if (!rc)
		rc = tree_read_web(&web, SYMBUNDLE_MANIFEST, MANIFEST_MAX, &manifest, err);
	if (!rc && !tree_begins(manifest.data, manifest.len))
		rc = sc_error_set(err, SC_EFORMAT, "%.120s: no tree of 'symcache export' is there",
				  web.shown);
	if (!rc) {
		b->named = false;
		rc = tree_give(b, &from, &manifest, err);
		if (rc == SC_EFORMAT && !b->named)
			sc_error_prefix(err, "%.120s: ", web.shown);
		b->named = true;
	}
	vec_deinit(&manifest);
	web_destroy(web.web);
	tree_web_close(&web);
	return rc;
}
