/*
 * sites.h: build ID → a cache from trees on web servers, which are asked one after the other.
 *
 * Caches are compared with the hashes in the tree's manifest, which must be signed if there is a
 * `verify_key`, and checked by the rules of their format. That a server does not have a build ID is
 * remembered in the store, so that it is not asked each time; a server that fails is not asked
 * again until the process ends. Manifests and some of their parts are kept in memory, about 64 MB.
 */
#ifndef SYMCACHE_SITES_H
#define SYMCACHE_SITES_H

#include "libsymcache/bundle/bundle.h"

struct symbundle_sites;

struct symbundle_sites_options {
	const char *const *urls;    /* of trees, http:// or https://; ends with NULL; copied */
	const char *verify_key;     /* as in struct symbundle_reader; borrowed */
	int64_t retry;              /* seconds after which a build ID that no server had is
	                             * asked for again */
	struct symbundle_web web;
};

/* Does not ask any server yet. SC_EINVAL: not a URL, or there are none; SC_ENOMEM. */
int symbundle_sites_create(const struct symbundle_sites_options *options,
			   struct symbundle_sites **ret, struct sc_error *err);
void symbundle_sites_destroy(struct symbundle_sites *s); /* NULL is fine */

struct symbundle_fetched {
	struct symstore_entry entry; /* its strings live as long as this */
	void *cache;                 /* of malloc(), entry.cache_size bytes */
	void *strings;
};
void symbundle_fetched_deinit(struct symbundle_fetched *f); /* all zero is fine */

/*
 * Gets the cache of a build ID. The old cache for a delta comes from `reader` (may be NULL), else
 * from the same tree. Thread-safe. SC_ENOTFOUND: none of the servers that have not failed has it;
 * SC_ESYS, SC_ELIMIT, SC_EUNSUPPORTED (no libcurl): a server fails, for the first time; the message
 * says which and why; SC_EFORMAT: what it sent is not what it should be.
 */
int symbundle_sites_get(struct symbundle_sites *s, struct symstore_reader *reader,
			const uint8_t *build_id, size_t len, struct symbundle_fetched *ret,
			struct sc_error *err);

/* Did all of the servers lack it less than `retry` seconds ago, so that it is too early to ask
 * again? */
bool symbundle_sites_missed(const struct symbundle_sites *s, struct symstore_reader *reader,
			    const uint8_t *build_id, size_t len);

/* Remembers which servers did not have it. Errors as symstore_remember(). */
int symbundle_sites_remember(struct symbundle_sites *s, struct symstore_writer *writer,
			     const uint8_t *build_id, size_t len, struct sc_error *err);

#endif
