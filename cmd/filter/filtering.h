/* filtering.h: what the filter of logs (libsymcache/logs/logs.h) says. */
#ifndef CMD_FILTERING_H
#define CMD_FILTERING_H

#include "libsymcache/logs/logs.h"

/* The options of a filter of one thread, whose complaints go to standard error. */
struct symlog_filter_options filter_options(const struct markup_options *markup,
					    const struct symlog_sources *from,
					    struct markup_tally *tally);

/* If nothing was: which formats are understood, to standard error. */
void hint_at_formats(const struct markup_tally *tally);

/* What was resolved, to standard error. */
void print_summary(const struct markup_tally *tally);

/* Was a module of another build than that of the log? */
bool other_builds(const struct markup_tally *tally);

/* What to do about modules that are not in the store, to standard error; `log`: the only one that
 * was read, or NULL: an archive's, so that 'symcache merge' says the same. Nothing if there are
 * none. */
void hint_at_missing(const struct markup_tally *tally, const char *log, bool listed);

/* Writes their build IDs and names into a file. Errors as out_write() has them. */
int write_missing(const struct markup_tally *tally, const char *path, struct sc_error *err);

#endif
