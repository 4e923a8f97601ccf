/* symcache prune: takes out of the store what is old, too much, or not wanted. */
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/store/removal.h"

static struct {
	struct opt_age older, unused;
	uint64_t to_size;
	const char *keep;
	struct removal_options how;
} o = { .to_size = UINT64_MAX };

static const struct opt opts[] = {
	OPT_STORE(&o.how.store),
	{ "older", 0, OPT_AGE, &o.older, "AGE",
	  "remove what was indexed longer ago than this: 90d, 12h, 4w (m: minutes, y: years)" },
	{ "unused", 0, OPT_AGE, &o.unused, "AGE",
	  "remove what was neither indexed nor known to be used in a look-up for this long" },
	{ "to-size", 0, OPT_SIZE, &o.to_size, "SIZE",
	  "remove what was indexed or used longest ago until the caches take no more than this in "
	  "the store: 500M, 20G" },
	{ "keep", 0, OPT_STRING, &o.keep, "FILE",
	  "remove all entries except those in this file, with a whole build ID on each line; "
	  "\"-\" is standard input; the other rules do not apply to them" },
	OPTS_REMOVAL(&o.how),
	{ 0 },
};

static int64_t time_before(struct opt_age age)
{
	return age.given ? time(NULL) - age.seconds : INT64_MIN;
}

static int gather(struct symstore *store, void *rules, struct symstore_removals *list,
		  struct sc_error *err)
{
	return symstore_condemn(store, rules, list, err);
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct symstore_ids keep __attribute__((cleanup(symstore_ids_deinit))) = { 0 };
	struct symstore_prune_rules rules = {
		.indexed_before = time_before(o.older), .used_before = time_before(o.unused),
		.to_size = o.to_size,
	};

	(void)argv;
	if (argc || (!o.older.given && !o.unused.given && o.to_size == UINT64_MAX && !o.keep))
		return sc_error_set(err, SC_EINVAL, "say what to remove: --older AGE, --unused "
				    "AGE, --to-size SIZE or --keep FILE");
	if (o.keep && symstore_keep_read(o.keep, &keep, err))
		return err->code;
	rules.keep = keep.data;
	rules.num_keep = keep.len;
	return remove_entries(&o.how, gather, &rules, err);
}

const struct command prune_command = {
	.name = "prune",
	.operands = "",
	.summary = "remove old entries or shrink the store",
	.description =
		"Removes entries by age, or until the caches have a total size (those indexed or "
		"used longest ago go first), or all that are not in a list. Rules combine, but what "
		"is in the list always stays. Use is recorded by day, and only where look-ups can "
		"write a file next to the store. The file keeps its size, and later indexing reuses "
		"the space; 'symcache compact' gives it back to the disk.\n\n"
		"Either everything is removed or, if there is an error, nothing.",
	.opts = opts,
	.examples =
		"  symcache prune --older 90d\n"
		"  symcache prune --unused 26w && symcache compact\n"
		"  symcache prune --to-size 20G --dry-run\n"
		"  symcache list --tag release | symcache prune --keep -\n",
	.see_also = "symcache-list(1) symcache-remove(1) symcache-compact(1)",
	.run = run,
};
