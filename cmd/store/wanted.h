/* wanted.h: the build IDs that logs and core files need, for commands that export or import
 * them. */
#ifndef CMD_WANTED_H
#define CMD_WANTED_H

#include "cmd/cli/opt.h"
#include "libmarkup/bytes/json.h"
#include "libsymcache/logs/logs.h"
#include "libsymcache/store/upkeep.h"

struct wanted_options {
	struct opt_list logs, cores;
};

#define OPTS_WANTED(where) \
	{ "for-log", 0, OPT_LIST, &(where)->logs, "FILE", \
	  "entries of the modules in this log, in markup or in frames of any format, by build ID, " \
	  "or by name if only one entry has it; \"-\" is standard input; may be repeated" }, \
	{ "for-core", 0, OPT_LIST, &(where)->cores, "FILE", \
	  "entries of the modules in this core file; may be repeated" }

struct wanted {
	struct symstore_ids ids, missing;
	struct symcache_process *modules; /* its images: of logs and core files */
	bool nameless;                    /* a name has no entry, or several */
};

/* Is there a log or a core file? */
bool wanted_asked(const struct wanted_options *o);

/* Adds what they need to w->ids; names are those of the store at `store` (the option, or NULL).
 * What has none is reported. Errors as of symlog_modules_of_logs() and symlog_modules_of_core(). */
int wanted_read(struct wanted *w, const struct wanted_options *o, const char *store,
		struct sc_error *err);
void wanted_deinit(struct wanted *w);

/* Reports one that is not there ("the store has no symbols of"), and keeps it for
 * wanted_missing_json(). */
void wanted_missing(struct wanted *w, const char *lacks, const struct symstore_id *id);
void wanted_missing_json(struct mk_gen *j, const struct wanted *w);

#endif
