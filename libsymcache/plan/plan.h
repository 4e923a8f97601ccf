/*
 * plan.h: an archive of logs on many machines: a plan of tasks, each task, and one result.
 *
 *   markup_plan_make()    logs → the folder PLAN
 *   markup_task_run()     PLAN, number of a task → outputs and a record in the folder OUT
 *   markup_merge_run()    PLAN, OUT → logs that were cut, complaints, counts
 *
 * format/plan.md describes the files, and what is promised. Functions return 0 or a negative
 * SC_E… code with a message in *err; none prints. Texts of options and callbacks are borrowed.
 */
#ifndef SYMCACHE_PLAN_H
#define SYMCACHE_PLAN_H

#include "libmarkup/markup.h"
#include "libsymcache/base/error.h"
#include "libsymcache/base/hash.h"

#define MARKUP_TASKS_MAX 1000000u
#define MARKUP_FOLDER ".symcache" /* the folder in OUT with records and parts */

/* The options of a filter that decide what bytes come out. */
struct markup_plan_form {
	struct markup_options
		options; /* dialect, format, color, demux, inputs, omit_module_lines */
	const char *const *modules;    /* NAME=…, without newlines */
	size_t num_modules;
	bool raw;
};

/* Called for one thread at a time: `done` of `size` bytes, the last ones of `path`, or NULL. */
typedef void markup_progress_fn(void *ctx, uint64_t done, uint64_t size, const char *path);

/* ---- a plan ---------------------------------------------------------------------- */

enum markup_log_kind { MARKUP_LOG_PLAIN, MARKUP_LOG_GZIP, MARKUP_LOG_XZ, MARKUP_LOG_ZSTD };
extern const char *const markup_log_kinds[]; /* ends with NULL */

struct markup_log {
	const char *path; /* as messages name it: relative to the root of the inputs, or absolute */
	const char *output; /* relative to the folder of the outputs */
	uint64_t size;      /* bytes */
	int64_t mtime;      /* nanoseconds since 1970 */
	enum markup_log_kind kind;
};

/* About how long it takes, in bytes of text: packed logs hold eight times their size. */
uint64_t markup_log_cost(enum markup_log_kind kind, uint64_t bytes);

struct markup_planning {
	struct markup_plan_form form;
	const char *store_name;      /* as messages have it */
	const char *store;           /* symstore_identity() */
	const struct markup_log *logs;
	size_t num_logs;
	uint64_t left_out;           /* logs without an output of their own */
	uint64_t task_size;          /* about so many bytes of text; larger plain logs are cut */
	uint64_t tasks;              /* the most tasks, up to MARKUP_TASKS_MAX */
	unsigned threads;            /* logs that are cut at the same time */
	markup_progress_fn *progress;
	void *ctx;
};

struct markup_planned {
	char hash[SC_HASH_TEXT];     /* the identity of the plan */
	uint64_t bytes, shards, tasks;
};

/* Makes the folder `dir`, which must not exist: it appears when it is complete. Only logs that
 * are cut are read. SC_EINVAL: it exists; SC_ESYS, SC_EFULL, SC_ENOMEM. */
int markup_plan_make(const char *dir, const struct markup_planning *p, struct markup_planned *ret,
		     struct sc_error *err);

/* ---- a task ------------------------------------------------------------------------- */

struct markup_task;

struct markup_task_options {
	const char *plan, *out;
	uint64_t task;
	const char *input_root;      /* for relative paths of logs; NULL: the current folder */
	unsigned threads;
	markup_progress_fn *progress;
	void *ctx;
};

/* A log, or a part of a plain one, that is to be filtered. */
struct markup_shard {
	unsigned worker;             /* below task_plan.workers; each has one shard at a time */
	const char *path, *shown;    /* of the log; its name in messages and outputs */
	bool part, goes_on;          /* only the bytes [from, to); and more of the log follows */
	uint64_t from, to, lines;    /* bytes; lines before them */
	const char *saved;           /* for markup_filter_resume(), or NULL */
	size_t saved_len;
	const char *tables;          /* of a part: for markup_filter_give_tables() */
	size_t tables_len;
	int fd;                      /* for the output, */
	const char *output;          /* its name in messages, */
	struct XXH3_state_s *hash;   /* and the hash of its bytes, to be updated */
	void *complaints;            /* for markup_shard_say() */
	/* Results: */
	bool cut_off;                /* the log is damaged: what could be read was filtered */
	uint64_t read;               /* bytes of text */
	struct markup_stats stats;
};

/* Records a complaint about a shard, as standard error would show it. `warns_of`: the module
 * without symbols that it is about, or NULL. ctx: shard->complaints. */
void markup_shard_say(void *ctx, const struct markup_module *warns_of, const char *text,
		      size_t len);

/* Records a module with addresses for which nothing was found, in the order in which they come up.
 * ctx: shard->complaints. */
void markup_shard_miss(void *ctx, const struct markup_module *m);

/* What the plan has for a task; all of it belongs to the task. */
struct markup_task_plan {
	const struct markup_plan_form *form;
	const char *store_name, *store; /* as of markup_planning */
	unsigned workers;               /* shards that are filtered at the same time, */
	unsigned threads;               /* and threads for each of them */
	bool done;                      /* the task has a record already */
};

/* Reads the plan and marks OUT as belonging to it. SC_EFORMAT, SC_EUNSUPPORTED, SC_EINVAL: it will
 * never work; SC_ESYS, SC_EFULL, SC_ENOMEM, SC_ENOTFOUND: it may work later, or on another machine.
 * Close *ret in any case. */
int markup_task_open(const struct markup_task_options *o, struct markup_task **ret,
		     struct markup_task_plan *plan, struct sc_error *err);
void markup_task_close(struct markup_task *t); /* NULL is fine */

struct markup_task_sums {
	uint64_t shards, read, written; /* bytes */
	double seconds;
};

/* Filters the shards with `filter`, which several threads call, and writes the record. Errors as
 * markup_task_open(), and those of `filter`. */
int markup_task_run(struct markup_task *t,
		    int (*filter)(void *ctx, struct markup_shard *s, struct sc_error *err),
		    void *ctx, struct markup_task_sums *ret, struct sc_error *err);

/* ---- outputs without a plan ---------------------------------------------------------------- */

/* OUT/.symcache/finished.jsonl: which outputs are whole, and of what they were made. */
struct markup_finished;

struct markup_finished_log {
	const char *output;          /* relative to OUT */
	uint64_t size;               /* of the log: bytes */
	int64_t mtime;               /* nanoseconds since 1970 */
	char hash[SC_HASH_TEXT];     /* XXH3-128 of its bytes */
	uint64_t written;            /* of the output: bytes */
	int64_t written_at;          /* nanoseconds since 1970 */
	const char *version;         /* of symcache */
};

/* Reads what this version recorded; makes OUT and the file if they do not exist. SC_ESYS,
 * SC_EFULL, SC_ENOMEM; SC_EINVAL: a folder of OUT is a link. */
int markup_finished_open(const char *out, struct markup_finished **ret, struct sc_error *err);
void markup_finished_close(struct markup_finished *f); /* NULL is fine */

/* What is recorded of an output; false: nothing, or the file is no longer what was written. Any
 * thread. */
bool markup_finished_find(const struct markup_finished *f, const char *output,
			  struct markup_finished_log *ret);

/* Records an output that has its name already; sets written, written_at and version. Any thread.
 * It is found only after the next opening. SC_ESYS, SC_EFULL, SC_ENOMEM. */
int markup_finished_add(struct markup_finished *f, struct markup_finished_log *log,
			struct sc_error *err);

/* ---- the merge ------------------------------------------------------------------------ */

struct markup_merge;

struct markup_merge_options {
	const char *plan, *out;
	unsigned threads;            /* logs that are joined at the same time */
	bool keep_parts;
	markup_progress_fn *progress;
	/* Gets what is wrong with a record or a part, and what to do; one thread at a time. */
	void (*fault)(void *ctx, const char *message);
	/* Gets the complaints that one run of the filter would make. */
	void (*say)(void *ctx, const char *text, size_t len);
	void *ctx;
};

/* SC_EINVAL: OUT is of another plan; else as markup_task_open(). */
int markup_merge_open(const struct markup_merge_options *o, struct markup_merge **ret,
		      struct sc_error *err);
void markup_merge_close(struct markup_merge *m); /* NULL is fine */

struct markup_merge_status {
	uint64_t tasks, done, read, written;
	int64_t begun, ended;        /* milliseconds since 1970, by the clocks of the machines */
	char *missing;               /* tasks without a record, "3,7,12-15"; on the heap */
};

int markup_merge_status(const struct markup_merge *m, struct markup_merge_status *ret,
			struct sc_error *err);

struct markup_merged {
	uint64_t logs, left_out, damaged;
	enum markup_dialect dialect;
	const struct markup_tally *tally; /* the merge's */
};

/* SC_EFORMAT: tasks are missing, or a record or a part is damaged, which was reported. */
int markup_merge_run(struct markup_merge *m, struct markup_merged *ret, struct sc_error *err);

#endif
