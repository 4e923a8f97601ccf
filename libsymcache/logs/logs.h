/*
 * logs.h: reads logs (plain or compressed files, folders, pipes) and writes them symbolized:
 * addresses get functions, files and lines from a store and from debug files.
 *
 *   struct symlog_filter *f;
 *   struct symlog log = { .path = "crash.log.zst" };
 *   if (!symlog_filter_create(&options, &f, &err) && symlog_filter_run(f, &log, &err) … )
 *           … symlog_filter_end(f, &err) …
 *
 * Nothing here prints. Output goes to the caller's files. Two kinds of messages go to the
 * caller's functions: complaints, about what a log says (a module without symbols, malformed
 * markup), and faults, about files that cannot be read or written.
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
#include "libsymcache/symbolize/process.h"
#include "libsymcache/symbolize/symbolize.h"

/* ---- the logs in files and folders ---------------------------------------------------- */

/* Sorted by path. To begin with, all zero but `except`, `suffix`, `fault` and `ctx`. */
struct symlog_list {
	struct symlog_file {
		const char *path;
		const char *rest; /* the end of `path` that the path of its output keeps */
		uint64_t size;    /* bytes */
		int64_t mtime;    /* nanoseconds since 1970 */
		int error;        /* errno: why it cannot be a log; used while the list is made */
	} *logs;
	size_t num, cap;
	struct symlog_text *texts; /* paths and outputs */
	const char *except; /* a folder whose files are no logs, or NULL */
	const char *suffix; /* is added to the names of outputs; NULL: that of their form, which
	                     * replaces the suffix of compressed files */
	void (*fault)(void *ctx, const char *message); /* one line; or NULL */
	void *ctx;
	bool failed;        /* something could not be read: that was reported */
};

/* Adds a file, or all files below a folder, except links and what is in folders named
 * .symcache, where tasks and batches keep their records. `alone`: this is the only call, so
 * outputs need not keep the folder in their paths. No file is opened; sizes and dates are read by
 * `threads` threads. SC_ENOMEM. */
int symlog_list_add(struct symlog_list *l, const char *path, bool alone, unsigned threads,
		    struct sc_error *err);
void symlog_list_deinit(struct symlog_list *l);

/* The paths of the outputs of all logs, below `dir` (NULL: relative to it). *ret is an array on the
 * heap; its texts belong to the list. Of logs that would have the same output, all but the first
 * get NULL; they are reported as faults and counted in *left_out. SC_ENOMEM. */
int symlog_outputs(struct symlog_list *l, const char *dir, enum markup_format format,
		   char ***ret, size_t *left_out, struct sc_error *err);

/* ---- the filter ------------------------------------------------------------------------ */

/* Where symbols come from. All is borrowed. */
struct symlog_sources {
	struct symcache_finder find; /* finds the modules that a log names */
	const struct symcache_names_options *names; /* how names are shown; its `bytes` is not used.
	                             * NULL: as the dialect shows them */
	bool raw;                   /* names as they are, byte for byte, also on a terminal */
	const struct symcache_source_search *search; /* for sources; NULL: none are wanted */
	uint64_t source_lines;      /* of them around each place; 0: none are wanted */
};

struct symlog_filter_options {
	const struct markup_options *markup;
	struct symlog_sources from;
	unsigned threads;           /* for one log */
	struct markup_tally *tally; /* shared by filters, so that each warning comes once; or NULL */
	const struct markup_page *pages; /* of options->group: of markup_groups_pages() */
	bool quiet;                 /* faults only, no complaints */
	bool no_output;             /* as in struct markup_sink: nothing is written */
	const char *name;           /* in front of faults and, but for LLVM's, of complaints:
	                             * "symcache filter"; NULL: nothing */
	bool terminal;              /* LLVM's complaints are shown on one; else to the byte */
	bool each;                  /* each complaint is a call of `say`; else they are collected until
	                             * there are many, the log pauses, or it ends */
	/* Gets complaints and faults, whole lines. `ctx` is the log's say_ctx. `warns_of`: the
	 * module without symbols that this complaint is about (only with `each`), else NULL. */
	void (*say)(void *ctx, const struct markup_module *warns_of, const char *text, size_t len);
};

/* Where the output of a log goes, and its messages. */
struct symlog_output {
	int fd;
	const char *name;    /* in messages */
	struct XXH3_state_s *hash; /* gets its bytes; or NULL */
	void *say_ctx;
};

/* A log, or a part of a plain one between two places where it can be cut. */
struct symlog {
	const char *path;    /* "-": standard input */
	struct symlog_output output;
	const char *shown;   /* its name in messages and outputs; NULL: `path` */
	bool alone;          /* nothing else uses the caches: when the log pauses they may be updated,
	                      * see symcache_caches_update() */
	bool part, goes_on;  /* only the bytes [from, to); and more of the log follows */
	uint64_t from, to, lines; /* bytes; number of lines before them */
	const char *saved;   /* the state of the filter at `from`, or NULL */
	size_t saved_len;
	const char *tables;  /* of a part: the tables of the log, see markup_filter_give_tables() */
	size_t tables_len;
	struct sc_error error; /* result: why it could not be read; a fault, too; code 0: it could */
	bool opened;         /* result: it could be opened; what was read before an error is written */
	uint64_t read;       /* result: bytes of text */
	struct XXH3_state_s *hash; /* gets the bytes of the file, compressed or not; or NULL */
	uint64_t taken;      /* result: how many bytes went into `hash` */
};

struct symlog_filter;

/* What the options point to is borrowed, options->markup until it returns. SC_ENOMEM; SC_EINVAL:
 * options->markup->demux. */
int symlog_filter_create(const struct symlog_filter_options *options, struct symlog_filter **ret,
			 struct sc_error *err);
void symlog_filter_destroy(struct symlog_filter *f); /* NULL is fine */

enum symlog_result {
	SYMLOG_OK,
	SYMLOG_CUT,      /* it could not be read to its end: what was read is written */
	SYMLOG_NO_INPUT, /* it could not be read */
	SYMLOG_FAILED,   /* there is no output, or no memory */
};

/* Filters a log. Why it could not be read is reported as a fault. With SYMLOG_FAILED *err is set,
 * and the filter can only be destroyed: SC_ESYS: the output failed; SC_EFORMAT: log->saved is
 * damaged; SC_ENOMEM. */
enum symlog_result symlog_filter_run(struct symlog_filter *f, struct symlog *log,
				     struct sc_error *err);

/* After the last log: writes what ends the output. SC_ESYS, SC_ENOMEM. */
int symlog_filter_end(struct symlog_filter *f, struct sc_error *err);

struct markup_filter *symlog_filter_markup(const struct symlog_filter *f);

/* ---- many logs, each into a file of its own ------------------------------------------- */

struct symlog_batch_options {
	const char *output_dir;
	enum markup_format format;
	unsigned jobs;    /* logs at once, at most */
	/* For the filter of each thread, which gets the name of the log as its title; the filters'
	 * counts are added to the tally. */
	const struct symlog_filter_options *how;
	/* If not NULL, used instead: filters a log to `fd`, the file that will be named `output`.
	 * `worker` is below `jobs`; each has one log at a time. After SYMLOG_FAILED no further log
	 * is begun. */
	enum symlog_result (*filter)(void *ctx, unsigned worker, const struct symlog_file *log,
				     int fd, const char *output);
	/* Work on a log begins; `done` bytes of logs are finished. One call at a time. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total, const char *path);
	void (*fault)(void *ctx, const char *message); /* of an output, one line; any thread */
	void *ctx;
};

struct symlog_batch {
	size_t filtered, skipped, failed;
	bool broken;      /* there was SYMLOG_FAILED */
};

/* Filters each log to its output in output_dir; an output gets its name when it is complete. A log
 * is skipped if .symcache/finished.jsonl there says that its output was made of it, and neither has
 * changed since. No link in output_dir is followed. SC_ENOMEM, SC_ESYS, SC_EFULL, SC_EINVAL. */
int symlog_batch(struct symlog_list *logs, const struct symlog_batch_options *options,
		 struct symlog_batch *ret, struct sc_error *err);

/* ---- plans (libsymcache/plan/plan.h) --------------------------------------------------------- */

struct markup_log;
struct markup_planning;

/* Sets p->logs, num_logs and left_out for p->form and p->task_size: the logs of the list that have
 * an output of their own. The caller frees *ret, also on an error; its texts belong to the list. A
 * log counts as compressed by its name, and one larger than an eighth of a task by its first
 * bytes. SC_ESYS, SC_ENOMEM. */
int symlog_plan_logs(struct symlog_list *list, struct markup_planning *p, struct markup_log **ret,
		     struct sc_error *err);

struct markup_task;
struct markup_task_plan;
struct markup_task_sums;

struct symlog_task_options {
	struct symcache_caches *caches;
	const atomic_bool *damaged; /* true: a cache is damaged, the output must not be used */
	const char *name;           /* in front of complaints */
	void (*fault)(void *ctx, const char *message); /* of an output, one line; any thread */
	void *ctx;
};

/* Filters the shards of the task with the symbols of the caches, and writes its record. Returns as
 * markup_task_run(). */
int symlog_task(struct markup_task *t, const struct markup_task_plan *plan,
		const struct symlog_task_options *options, struct markup_task_sums *sums,
		struct sc_error *err);

/* ---- the modules of logs and core files -------------------------------------------------- */

struct symlog_modules_options {
	struct symcache_caches *caches; /* find those that logs name without a build ID */
	/* A name for which the store has no entry, or several (SC_EINVAL), or that could not be
	 * looked up. */
	void (*unknown)(void *ctx, const char *name, const struct sc_error *why);
	void (*fault)(void *ctx,
		      const char *message); /* of a log that could be read all the same */
	void *ctx;
};

/* Adds the modules of n logs to `ret`, as images with a build ID and the log's name, as the filter
 * understands them, except those that the kernel maps into processes (vDSO). SC_ESYS: a log cannot
 * be read; SC_EINVAL: it is a directory; SC_EFORMAT: it is damaged; SC_ENOMEM. */
int symlog_modules_of_logs(const char *const *paths, size_t n,
			   const struct symlog_modules_options *options,
			   struct symcache_process *ret, struct sc_error *err);

/* Adds those of a core file, except the vDSO, of which there is no file. Errors as
 * symcache_core_open(). */
int symlog_modules_of_core(const char *path, struct symcache_process *ret, struct sc_error *err);

#endif
