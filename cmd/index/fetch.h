/* fetch.h: --debuginfod: its options, and what it fetches into the store. */
#ifndef CMD_FETCH_H
#define CMD_FETCH_H

#include "cmd/cli/opt.h"
#include "symcache/build.h"
#include "symcache/debuginfod.h"
#include "symcache/store.h"

struct fetch_options {
	bool on;
	const char *retry;
};

#define OPT_FETCH(where, what) \
	{ "debuginfod", 0, OPT_FLAG, &(where)->on, NULL, what }, \
	{ "debuginfod-retry", 0, OPT_STRING, &(where)->retry, "AGE", \
	  "ask again for what the servers did not have so long ago: 1d (default), 12h, 0s" }

/* *ret is NULL if it was not asked for. Errors as symcache_debuginfod_create() has them;
 * SC_EINVAL: no age. */
int fetch_create(const struct fetch_options *options, struct symcache_debuginfod **ret,
		 struct sc_error *err);

#endif
