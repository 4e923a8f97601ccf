/*
 * logs.h: logs, plain or compressed, from files, folders, pipes, through the filter that gives
 * their addresses functions, files and lines, by a store and debug files.
 *
 *   struct symlog_filter *f;
 *   struct symlog log = { .path = "crash.log.zst" };
 *   if (!symlog_filter_create(&options, &f, &err) && symlog_filter_run(f, &log, &err) … )
 *           … symlog_filter_end(f, &err) …
 *
 * Nothing here prints: output goes to callers' files, complaints and faults to their functions.
 */
#ifndef SYMCACHE_LOGS_H
#define SYMCACHE_LOGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmarkup/markup.h"
#include "libsymcache/store/store.h"
#include "libsymcache/symbolize/debug_files.h"
#include "libsymcache/symbolize/finder.h"
#include "libsymcache/symbolize/symbolize.h"

/* ---- the logs in files and folders ---------------------------------------------------- */

/* In order of their names. All zero but `except` and what reports: none yet. */
struct symlog_list {
	struct symlog_file {
		const char *path;
		const char *rest; /* of the path: what its output's keeps */
		uint64_t size;    /* bytes */
		int64_t mtime;    /* nanoseconds since 1970 */
		int error;        /* errno: why it is no log, while they are looked at */
	} *logs;
	size_t num, cap;
	struct symlog_text *texts; /* paths and outputs */
	const char *except; /* a folder whose files are no logs, or NULL */
	const char *suffix; /* behind the whole names of outputs; NULL: that of their form, in place
	                     * of that of compressed files */
	void (*fault)(void *ctx, const char *message); /* one line; or NULL */
	void *ctx;
	bool failed;        /* something could not be read: that was reported */
};

/* Adds a file, or the files below a folder but for links and what tasks and batches keep in
 * folders named .symcache. `alone`: no other is added, so that
 * names need not keep their folders. No file is opened; `threads` ask for sizes and dates.
 * SC_ENOMEM. */
int symlog_list_add(struct symlog_list *l, const char *path, bool alone, unsigned threads,
		    struct sc_error *err);
void symlog_list_deinit(struct symlog_list *l);

/* The paths of the outputs of all logs, below `dir` (NULL: relative to it): an array on the
 * heap of texts that are the list's. No two logs may go into one file: of those that would, all
 * but the first one's are NULL, which is reported and counted. SC_ENOMEM. */
int symlog_outputs(struct symlog_list *l, const char *dir, enum markup_format format,
		   char ***ret, size_t *left_out, struct sc_error *err);

/* ---- the filter ------------------------------------------------------------------------ */

/* Where symbols come from. All is borrowed. */
struct symlog_sources {
	struct symcache_finder find; /* which module is meant */
	const struct symcache_names_options *names; /* how they are shown, but for `bytes`; NULL: as the
	                             * dialect has it */
	bool raw;                   /* names as they are, byte for byte, also on a terminal */
	const struct symcache_source_search *search; /* for sources; NULL: none are wanted */
	uint64_t source_lines;      /* of them around each place; 0: none are wanted */
};

struct symlog_filter_options {
	const struct markup_options *markup;
	struct symlog_sources from;
	unsigned threads;           /* for one log */
	struct markup_tally *tally; /* knows what others warned of already; or NULL */
	bool quiet;                 /* nothing is complained of but for faults */
	bool no_output;             /* none is wanted: as in struct markup_sink */
	const char *name;           /* in front of faults and, but for LLVM's, of complaints:
	                             * "symcache filter"; NULL: nothing */
	bool terminal;              /* LLVM's complaints are shown on one; else to the byte */
	bool each;                  /* complaints are said one by one; else when they are many, when
	                             * the log has no more for now, and at its end */
	/* Takes complaints and faults, whole lines; `warns_of` is the module, if that it has no
	 * symbols is the complaint, and each is said by itself; `ctx` is the log's say_ctx. */
	void (*say)(void *ctx, const struct markup_module *warns_of, const char *text, size_t len);
};

/* Where the output of a log goes, and what is said of it. */
struct symlog_output {
	int fd;
	const char *name;    /* in messages */
	struct XXH3_state_s *hash; /* gets its bytes; or NULL */
	void *say_ctx;
};

/* A log, or a part of a plain one: what stands between two places where it can be cut. */
struct symlog {
	const char *path;    /* "-": standard input */
	struct symlog_output output;
	const char *shown;   /* its name in messages and outputs; NULL: `path` */
	bool alone;          /* no one else uses the caches, they may be settled when it pauses */
	bool part, goes_on;  /* of it [from, to); and that is not its end */
	uint64_t from, to, lines; /* bytes; lines before them */
	const char *saved;   /* what is known there, or NULL */
	size_t saved_len;
	const char *tables;  /* of a part: the tables of the log, see markup_filter_give_tables() */
	size_t tables_len;
	int error;           /* result: why it could not be read, an SC_E… code; a fault, too */
	bool opened;         /* result: what came before the error is written */
	uint64_t read;       /* result: bytes of text */
	struct XXH3_state_s *hash; /* gets the bytes of the file, compressed or not; or NULL */
	uint64_t taken;      /* result: how many */
};

struct symlog_filter;

/* What the options point to is borrowed, options->markup until it returns. SC_ENOMEM; SC_EINVAL:
 * options->markup->demux. */
int symlog_filter_create(const struct symlog_filter_options *options, struct symlog_filter **ret,
			 struct sc_error *err);
void symlog_filter_destroy(struct symlog_filter *f); /* NULL is fine */

enum symlog_result {
	SYMLOG_OK,
	SYMLOG_CUT,      /* it could not be read to its end: what came is written */
	SYMLOG_NO_INPUT, /* it could not be read */
	SYMLOG_FAILED,   /* there is no output, or no memory */
};

/* Filters a log; what keeps it from being read is a fault, which was said. SYMLOG_FAILED with an
 * error: SC_ESYS: the output failed; SC_EFORMAT: log->saved is damaged; SC_ENOMEM; the filter is
 * of no more use. */
enum symlog_result symlog_filter_run(struct symlog_filter *f, struct symlog *log,
				     struct sc_error *err);

/* After the last log: what closes its output. SC_ESYS, SC_ENOMEM. */
int symlog_filter_end(struct symlog_filter *f, struct sc_error *err);

struct markup_filter *symlog_filter_markup(const struct symlog_filter *f);

/* ---- many logs, each into a file of its own ------------------------------------------- */

struct symlog_batch_options {
	const char *output_dir;
	enum markup_format format;
	unsigned jobs;    /* logs at once, at most */
	/* Each of the threads has a filter by it, with the title of the log; its tally gets what
	 * they counted. */
	const struct symlog_filter_options *how;
	/* In place of that, if not NULL: filters a log to `fd`, the file that will be `output`;
	 * `worker` is below `jobs`, and busy with one log at a time. After SYMLOG_FAILED no other
	 * is begun. */
	enum symlog_result (*filter)(void *ctx, unsigned worker, const struct symlog_file *log,
				     int fd, const char *output);
	/* Work on a log begins: bytes of logs behind it. One call at a time. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total, const char *path);
	void (*fault)(void *ctx, const char *message); /* of an output, one line; any thread */
	void *ctx;
};

struct symlog_batch {
	size_t filtered, skipped, failed;
	bool broken;      /* there was SYMLOG_FAILED */
};

/* Filters each log to its output in output_dir, which is there when it is whole; those that
 * .symcache/finished.jsonl there says to be made of the log as it is, and that are as they were
 * made, are skipped. No link in output_dir is followed. SC_ENOMEM, SC_ESYS, SC_EFULL, SC_EINVAL. */
int symlog_batch(struct symlog_list *logs, const struct symlog_batch_options *options,
		 struct symlog_batch *ret, struct sc_error *err);

/* ---- plans (libsymcache/plan/plan.h) ------------------------------------------------------------- */

struct markup_log;
struct markup_planning;

/* Sets p->logs, num_logs and left_out: the logs of the list that have an output of their own, for
 * p->form and p->task_size. *ret is to be freed, also on an error; its texts are the list's. How a
 * log is compressed is what its name says, and of those above an eighth of a task their first
 * bytes. SC_ESYS, SC_ENOMEM. */
int symlog_plan_logs(struct symlog_list *list, struct markup_planning *p, struct markup_log **ret,
		     struct sc_error *err);

struct markup_task;
struct markup_task_plan;
struct markup_task_sums;

struct symlog_task_options {
	struct symcache_caches *caches;
	const atomic_bool *damaged; /* a cache is: what was written is given up */
	const char *name;           /* in front of complaints */
	void (*fault)(void *ctx, const char *message); /* of an output, one line; any thread */
	void *ctx;
};

/* Filters the shards of the task, with symbols of the caches alone, and records that. As
 * markup_task_run(). */
int symlog_task(struct markup_task *t, const struct markup_task_plan *plan,
		const struct symlog_task_options *options, struct markup_task_sums *sums,
		struct sc_error *err);

/* ---- the modules of logs and core files -------------------------------------------------- */

/* All zero: none. */
struct symlog_modules {
	struct symlog_module {
		struct symstore_id id;
		char *name; /* the log's, or the core file's path */
	} *data;
	size_t len, cap;
};

struct symlog_modules_options {
	struct symcache_caches *caches; /* find those that logs name without a build ID */
	/* Of this name there is no entry, or there are several (SC_EINVAL), or the store cannot be
	 * read. */
	void (*unknown)(void *ctx, const char *name, const struct sc_error *why);
	void (*fault)(void *ctx,
		      const char *message); /* of a log that could be read all the same */
	void *ctx;
};

/* Appends the modules in n logs, as the filter understands them, but for the kernel's own.
 * Errors of logs: SC_ESYS; SC_EINVAL: a directory; SC_EFORMAT: damaged. SC_ENOMEM. */
int symlog_modules_of_logs(const char *const *paths, size_t n,
			   const struct symlog_modules_options *options, struct symlog_modules *ret,
			   struct sc_error *err);

/* Appends those of a core file, but for the kernel's own (vDSO), of which there is no file. As
 * symcache_core_open(). */
int symlog_modules_of_core(const char *path, struct symlog_modules *ret, struct sc_error *err);

/* What the first log calls it; NULL: it is not in the list. */
const char *symlog_module_name(const struct symlog_modules *list, const struct symstore_id *id);
void symlog_modules_deinit(struct symlog_modules *list);

#endif
