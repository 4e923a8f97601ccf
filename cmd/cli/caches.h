/* caches.h: where a subcommand's caches come from, with the words for what it hears of them. */
#ifndef CMD_CACHES_H
#define CMD_CACHES_H

#include <stdatomic.h>

#include "symcache/symbolize.h"

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

#endif
