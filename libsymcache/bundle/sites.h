/*
 * sites.h: caches by build ID from trees on web servers, asked one after the other.
 *
 * What is taken was compared with the hashes of the tree's manifest, which `verify_key` may have to
 * have signed, and checked by the rules of its format. That a server does not have something is
 * remembered in the store, so that it is not asked each time; one that fails is left alone until the
 * process ends. Manifests and some parts of them are kept in memory, 64 MB about.
 */
#ifndef SYMCACHE_SITES_H
#define SYMCACHE_SITES_H

#include "libsymcache/bundle/bundle.h"

struct symbundle_sites;

struct symbundle_sites_options {
	const char *const *urls;    /* of trees, http:// or https://; ends with NULL; copied */
	const char *verify_key;     /* as in struct symbundle_reader; borrowed */
	int64_t retry;              /* what none had is asked for again after so many seconds */
	struct symbundle_web web;
};

/* Asks no one yet. SC_EINVAL: not a URL, or none at all; SC_ENOMEM. */
int symbundle_sites_create(const struct symbundle_sites_options *options, struct symbundle_sites **ret,
			   struct sc_error *err);
void symbundle_sites_destroy(struct symbundle_sites *s); /* NULL is fine */

struct symbundle_fetched {
	struct symstore_entry entry; /* its strings live as long as this */
	void *cache;                 /* of malloc(), entry.cache_size bytes */
	void *strings;
};
void symbundle_fetched_deinit(struct symbundle_fetched *f); /* all zero is fine */

/*
 * Gets the cache of a build ID. One that is written against another gets that from `reader` (or
 * NULL), else from its tree. Thread-safe. SC_ENOTFOUND: no server has it, of those that have not
 * failed; SC_ESYS, SC_ELIMIT, SC_EUNSUPPORTED (no libcurl): one fails now, the message says which
 * and why, once for each; SC_EFORMAT: what came is something else.
 */
int symbundle_sites_get(struct symbundle_sites *s, struct symstore_reader *reader,
			const uint8_t *build_id, size_t len, struct symbundle_fetched *ret,
			struct sc_error *err);

/* Was it not found on each of the servers so short ago that asking again is too early? */
bool symbundle_sites_missed(const struct symbundle_sites *s, struct symstore_reader *reader,
			    const uint8_t *build_id, size_t len);

/* Remembers the servers that did not have it. Errors as symstore_remember(). */
int symbundle_sites_remember(struct symbundle_sites *s, struct symstore_writer *writer,
			     const uint8_t *build_id, size_t len, struct sc_error *err);

#endif
