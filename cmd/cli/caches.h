/* caches.h: where a subcommand's caches come from, with the words for what it hears of them. */
#ifndef CMD_CACHES_H
#define CMD_CACHES_H

#include <stdatomic.h>

#include "cmd/cli/opt.h"
#include "libsymcache/symbolize/symbolize.h"

struct cmd_caches {
	struct symcache_caches *caches;
	const char *store; /* the option --store or NULL */
	bool store_noticed;
	atomic_bool failed; /* the store, or an entry of it, cannot be read */
	bool quiet;        /* nothing is said of what it hears */
	bool brief;        /* messages of many modules: without advice */
};

/* `options`: all but the store and notices. Out of memory ends the program. `c` stays where
 * it is. */
void cmd_caches_init(struct cmd_caches *c, const char *store,
		     struct symcache_caches_options options);
void cmd_caches_deinit(struct cmd_caches *c); /* all zero is fine */

/* ---- --debuginfod -------------------------------------------------------------------- */

struct fetch_options {
	bool on;
	struct opt_age retry;
};

#define OPT_FETCH(where, what) \
	{ "debuginfod", 0, OPT_FLAG, &(where)->on, NULL, what }, \
	{ "debuginfod-retry", 0, OPT_AGE, &(where)->retry, "AGE", \
	  "ask the servers again for what they lacked after this time: 1d (default), 12h, 0s" }
#define OPT_FETCH_LACKING(where) \
	OPT_FETCH(where, "ask the servers in $DEBUGINFOD_URLS for what is not found on this " \
		  "machine, and index it")

/* *ret is NULL if it was not asked for. Errors as symcache_debuginfod_create() has them;
 * SC_EINVAL: no age. */
int fetch_create(const struct fetch_options *options, struct symcache_debuginfod **ret,
		 struct sc_error *err);

/* ---- --url --------------------------------------------------------------------------- */

struct sites_options {
	struct opt_list urls;
	const char *verify_key;
	struct opt_age retry;
};

#define OPTS_SITES(where) \
	{ "url", 0, OPT_LIST, &(where)->urls, "URL", \
	  "fetch what the store lacks from this tree on a web server ('symcache export --shape tree'), " \
	  "and store it; may be repeated, and $SYMCACHE_URLS can have more" }, \
	{ "url-retry", 0, OPT_AGE, &(where)->retry, "AGE", \
	  "ask these trees again for what they lacked after this time: 1d (default), 12h, 0s" }, \
	{ "verify-key", 0, OPT_STRING, &(where)->verify_key, "KEY", \
	  "accept only what this Ed25519 public key (PEM) signed" }

/* Both kinds of servers, into to->debuginfod and to->sites. After an error there are none. */
int servers_create(const struct fetch_options *fetch, const struct sites_options *sites,
		   struct symcache_caches_options *to, struct sc_error *err);
void servers_destroy(const struct symcache_caches_options *from);

/* Is any tree named? Then a store that is not there is made. */
bool sites_named(const struct sites_options *options);

/* How long servers may take, of the environment. */
struct symbundle_web web_limits(void);

#endif
