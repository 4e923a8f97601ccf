/* removal.h: what takes entries out of a store says, and its options. */
#ifndef CMD_REMOVAL_H
#define CMD_REMOVAL_H

#include "cmd/cli/opt.h"
#include "cmd/cli/store.h"
#include "libsymcache/store/upkeep.h"

struct removal_options {
	const char *store;
	bool json, quiet, dry_run;
};

#define OPTS_REMOVAL(where) \
	{ "dry-run", 'n', OPT_FLAG, &(where)->dry_run, NULL, "only say what would be removed" }, \
	{ "json", 0, OPT_FLAG, &(where)->json, NULL, "write what was removed as a JSON object" }, \
	{ "quiet", 'q', OPT_FLAG, &(where)->quiet, NULL, "do not say what was removed" }

/* Puts into `list` what shall go. */
typedef int gather_fn(struct symstore *store, void *ctx, struct symstore_removals *list,
		      struct sc_error *err);

/* Removes what `gather` chooses, all of it or, on an error, nothing, and prints a line for each
 * entry, then how many there were. Exit status, or an error. */
int remove_entries(const struct removal_options *options, gather_fn *gather, void *ctx,
		   struct sc_error *err);

#endif
