/*
 * filtering.h: the machine of `symcache filter`: logs in, text out, complaints to
 * standard error. One for each thread that filters logs; the caches are shared.
 */
#ifndef CMD_FILTERING_H
#define CMD_FILTERING_H

#include "libmarkup/markup.h"
#include "symcache/symbolize.h"

struct filtering;

enum complaints {
	COMPLAINTS_NAMED, /* with "symcache filter: " in front */
	COMPLAINTS_LLVM,  /* to the byte, unless a terminal shows them */
	COMPLAINTS_NONE,
};

/* Where symbols come from. */
struct filtering_sources {
	struct symcache_caches *caches;
	const char *const *modules; /* NAME=BUILDID or NAME=FILE */
	size_t num_modules;
	bool raw;                   /* names as they are, byte for byte, also on a terminal */
};

/*
 * `threads` may work on one log. `tally` knows what others warned of already. 0, -ENOMEM,
 * or -EINVAL for options->demux. The options are borrowed.
 */
int filtering_create(const struct markup_options *options, const struct filtering_sources *from,
		     unsigned threads, enum complaints complaints, struct markup_tally *tally,
		     struct filtering **ret);
void filtering_destroy(struct filtering *f); /* NULL is fine */

enum filtering_result {
	FILTERING_OK,
	FILTERING_CUT,      /* it could not be read to its end: reported, what came is written */
	FILTERING_NO_INPUT, /* it could not be read: that was reported */
	FILTERING_FAILED,   /* no output, or no memory: reported; `f` is of no more use */
};

/*
 * Filters the log at `path` ("-": standard input) to `fd`, which `name` names in
 * messages. `alone`: no one else uses the caches, they may be settled when the
 * input pauses.
 */
enum filtering_result filtering_run(struct filtering *f, const char *path, int fd,
				    const char *name, bool alone);

/* After the last log: what closes the output. */
enum filtering_result filtering_end(struct filtering *f);

const struct markup_filter *filtering_filter(const struct filtering *f);

/* What was resolved, to standard error. */
void print_summary(const struct markup_tally *tally);

/* ---- many logs, each into a file of its own ----------------------------------- */

/* The logs in files and folders, in order of their names. */
struct log_list {
	struct log_file {
		char *path;
		const char *rest; /* of the path: what its output's keeps */
		uint64_t size;    /* bytes */
	} *logs;
	size_t num, cap;
	const char *except; /* a folder whose files are no logs, or NULL */
	bool failed;      /* something could not be read: that was reported */
};

/* A file, or the files below a folder but for links. `alone`: no other is added, so that
 * names need not keep their folders. */
void log_list_add(struct log_list *l, const char *path, bool alone);
void log_list_deinit(struct log_list *l);

struct batch_options {
	struct markup_options markup;
	const char *output_dir;
	unsigned jobs;    /* logs at once */
	enum complaints complaints;
	bool quiet;       /* no progress, no counts at the end */
};

/* Filters each log into output_dir; those that are there already and not older
 * than their log are left. Returns the exit status. */
int filter_batch(const struct log_list *logs, const struct batch_options *options,
		 const struct filtering_sources *from, struct markup_tally *tally);

#endif
