/* filtering.h: what the filter of logs (symcache/logs.h) says, and many logs at once. */
#ifndef CMD_FILTERING_H
#define CMD_FILTERING_H

#include "symcache/logs.h"

/* The options of a filter of one thread, whose complaints go to standard error. */
struct symlog_filter_options filter_options(const struct markup_options *markup,
					    const struct symlog_sources *from,
					    struct markup_tally *tally);

/* If nothing was: which formats are understood, to standard error. */
void hint_at_formats(const struct markup_tally *tally);

/* What was resolved, to standard error. */
void print_summary(const struct markup_tally *tally);

/* ---- many logs, each into a file of its own ----------------------------------- */

struct batch_options {
	struct markup_options markup;
	const char *output_dir;
	unsigned jobs;    /* logs at once */
	bool quiet;       /* no complaints, no progress, no counts at the end */
};

/* Filters each log into output_dir; those that are there already and not older
 * than their log are left. Returns the exit status. */
int filter_batch(struct symlog_list *logs, const struct batch_options *options,
		 const struct symlog_sources *from, struct markup_tally *tally);

#endif
