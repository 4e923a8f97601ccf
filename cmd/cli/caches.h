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
	  "ask again for what the servers did not have this long ago: 1d (default), 12h, 0s" }

/* *ret is NULL if it was not asked for. Errors as symcache_debuginfod_create() has them;
 * SC_EINVAL: no age. */
int fetch_create(const struct fetch_options *options, struct symcache_debuginfod **ret,
		 struct sc_error *err);

#endif
