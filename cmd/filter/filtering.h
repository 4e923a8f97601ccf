/*
 * filtering.h: a filter of logs (symcache/logs.h) of the program: its output goes to files,
 * what it complains of to standard error. One for each thread that filters logs.
 */
#ifndef CMD_FILTERING_H
#define CMD_FILTERING_H

#include "symcache/logs.h"

struct filtering;

enum complaints {
	COMPLAINTS_NAMED, /* with "symcache filter: " in front */
	COMPLAINTS_LLVM,  /* to the byte, unless a terminal shows them */
	COMPLAINTS_NONE,
};

/*
 * `threads` may work on one log. `tally` knows what others warned of already. SC_ENOMEM,
 * or SC_EINVAL for options->demux. The options are borrowed.
 */
int filtering_create(const struct markup_options *options, const struct symlog_sources *from,
		     unsigned threads, enum complaints complaints, struct markup_tally *tally,
		     struct filtering **ret);
void filtering_destroy(struct filtering *f); /* NULL is fine */

/* Filters it to `fd`, which `name` names in messages; what is wrong is reported. A filter that
 * goes on behind a cut has filtered nothing yet. */
enum symlog_result filtering_run(struct filtering *f, struct symlog *log, int fd,
				    const char *name);

/* What is said of logs goes to `say` from now on, in lines as standard error would have them,
 * in their order; `warns_of` is the module, if that it has no symbols is what they say. */
typedef void filtering_say_fn(void *ctx, const struct markup_module *warns_of, const char *text,
			      size_t len);
void filtering_report_to(struct filtering *f, filtering_say_fn *say, void *ctx);

/* Begins with a new log of which nothing was counted, and no module warned of. *hash, which
 * may be NULL, gets the bytes of the output. */
struct XXH3_state_s;
void filtering_begin(struct filtering *f, struct XXH3_state_s *hash);

/* After the last log: what closes the output. */
enum symlog_result filtering_end(struct filtering *f);

struct markup_filter *filtering_filter(const struct filtering *f);

/* If nothing was: which formats are understood, to standard error. */
void hint_at_formats(const struct markup_tally *tally);

/* What was resolved, to standard error. */
void print_summary(const struct markup_tally *tally);

/* ---- many logs, each into a file of its own ----------------------------------- */

struct symlog_list;

struct batch_options {
	struct markup_options markup;
	const char *output_dir;
	unsigned jobs;    /* logs at once */
	enum complaints complaints;
	bool quiet;       /* no progress, no counts at the end */
};

/* Filters each log into output_dir; those that are there already and not older
 * than their log are left. Returns the exit status. */
int filter_batch(struct symlog_list *logs, const struct batch_options *options,
		 const struct symlog_sources *from, struct markup_tally *tally);

#endif
