/*
 * plan_file.h: the files of a plan: what is to be done, in tasks that any machine can do.
 * format/plan.md describes them.
 */
#ifndef CMD_PLAN_FILE_H
#define CMD_PLAN_FILE_H

#include "cmd/filter/form.h"
#include "cmd/plan/rows.h"

#define PLAN_VERSION 1
#define PLAN_TASKS_MAX 1000000u

enum log_kind { LOG_PLAIN, LOG_GZIP, LOG_XZ, LOG_ZSTD };
extern const char *const log_kinds[]; /* ends with NULL */

struct plan_log {
	uint64_t number;
	char *path;     /* relative to the root of the inputs, or absolute */
	char *output;   /* relative to the folder of the outputs */
	uint64_t size;  /* bytes */
	int64_t mtime;  /* nanoseconds since 1970 */
	enum log_kind kind;
};

/* A log, or bytes [from, to) of a plain one. */
struct plan_shard {
	uint64_t number, task, log; /* log: its number */
	uint64_t from, to, line;    /* line: lines before it */
	bool last;                  /* its log ends with it */
	bool has_contexts;
	char contexts_hash[HASH_TEXT];
};

static inline bool plan_shard_is_whole(const struct plan_shard *s)
{
	return !s->from && s->last;
}

struct plan {
	char *dir;
	struct form form;           /* its texts are `row`'s and `modules`' */
	char *store_name;           /* the store's path, as messages have it; on the heap */
	char store[HASH_TEXT];      /* what the store holds */
	uint64_t task_size;         /* bytes of text, about */
	uint64_t logs, shards, tasks, bytes;
	uint64_t left_out;          /* logs that have no output of their own */
	char logs_hash[HASH_TEXT], shards_hash[HASH_TEXT];
	char hash[HASH_TEXT];       /* of plan.json: which plan it is */
	struct row row;
	char *modules;
};

/* Reads plan.json. SC_ENOTFOUND, SC_ESYS; SC_EFORMAT: damaged; SC_EUNSUPPORTED: of another
 * version. */
int plan_open(const char *dir, struct plan *ret, struct sc_error *err);
void plan_close(struct plan *p); /* all zero is fine */

/* Writes plan.json into `dir`, and sets p->hash. */
int plan_write(struct plan *p, const char *dir, struct sc_error *err);

struct plan_shards {
	struct plan_shard *data;
	size_t len, cap;
};

struct plan_logs {
	struct plan_log *data;
	size_t len, cap;
};

#define PLAN_ALL UINT64_MAX

/* The shards of a task, or PLAN_ALL, ascending by number. The files are read to their ends,
 * and what is wrong with them is SC_EFORMAT. */
int plan_read_shards(const struct plan *p, uint64_t task, struct plan_shards *ret,
		     struct sc_error *err);

/* The logs of ascending shards, or all if that is NULL, ascending by number. */
int plan_read_logs(const struct plan *p, const struct plan_shards *of, struct plan_logs *ret,
		   struct sc_error *err);
/* The log of a shard that was read so. */
const struct plan_log *plan_log_of(const struct plan_logs *logs, const struct plan_shard *s);
void plan_logs_deinit(struct plan_logs *logs);

void plan_put_shard(struct rows_out *w, const struct plan_shard *s);
void plan_put_log(struct rows_out *w, const struct plan_log *l);

/* A file whole, with a NUL behind it, on the heap. */
int plan_read_file(const char *path, char **ret, size_t *len, struct sc_error *err);

/* What is known where a shard begins, on the heap. */
int plan_read_contexts(const struct plan *p, const struct plan_shard *s, char **ret, size_t *len,
		       struct sc_error *err);

/* The path of a file of the plan, on the heap. */
char *plan_path(const char *dir, const char *name);
char *plan_contexts_path(const char *dir, uint64_t shard);

#endif
