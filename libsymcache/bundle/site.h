/* site.h: a tree in parts on a web server, of which caches are taken one by one; see sites.h. */
#ifndef BUNDLE_SITE_H
#define BUNDLE_SITE_H

#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/sites.h"
#include "libsymcache/bundle/tree.h"

struct kept_part {
	struct tree_part part;
	struct manifest manifest;
};

struct site {
	const char *verify_key;      /* or NULL; borrowed */
	struct tree_web web;
	bool failed;
	struct bundle_file text;     /* of the manifest; empty: not asked for yet */
	struct tree_top top;
	VEC(struct kept_part) parts;
	size_t entries;              /* in them */
};

/* What a cache is asked for with. */
struct asking {
	struct site *site;
	struct symstore_reader *reader; /* of caches that others are written against; or NULL */
	int depth;                      /* of such ones in this tree; 0 at first */
};

/* Errors as symbundle_sites_get() has them; site->failed: the server is not to be asked again. */
int site_ask(const struct asking *a, const struct symstore_id *id, struct symbundle_fetched *ret,
	     struct sc_error *err);

/* Frees what it has, but for site->web.web. */
void site_close(struct site *site);

#endif
