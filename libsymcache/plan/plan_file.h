/*
 * plan_file.h: the files of a plan: what is to be done, in tasks that any machine can do.
 * format/plan.md describes them.
 */
#ifndef MARKUP_PLAN_FILE_H
#define MARKUP_PLAN_FILE_H

#include "libsymcache/base/vec.h"
#include "libsymcache/plan/rows.h"

#define MK_PLAN_VERSION 2

/* A log, or bytes [from, to) of a plain one. */
struct mk_shard {
	uint64_t number, task, log; /* log: its number */
	uint64_t from, to, line;    /* line: lines before it */
	bool last;                  /* its log ends with it */
	char contexts_hash[SC_HASH_TEXT]; /* "": there are none */
};

struct mk_shards {
	struct mk_shard *data;
	size_t len, cap;
};

static inline bool mk_shard_is_whole(const struct mk_shard *s)
{
	return !s->from && s->last;
}

struct mk_log {
	uint64_t number;
	struct markup_log log;      /* of one that was read, its texts are on the heap */
	char tables_hash[SC_HASH_TEXT]; /* "": there are none */
};

struct mk_logs {
	struct mk_log *data;
	size_t len, cap;
};

struct mk_plan {
	const char *dir;            /* borrowed, as all texts where it is written */
	uint64_t version;
	const char *made_by;        /* the version of symcache */
	struct markup_plan_form form;
	bool demuxed;               /* there is a form.options.demux */
	char *module_lines;         /* form.modules, a newline behind each, */
	const char **modules;       /* and where they are in it in one that was read */
	const char *store_name;     /* the store's path, as messages have it */
	char store[SC_HASH_TEXT];  /* what the store holds */
	uint64_t task_size;         /* bytes of text, about */
	uint64_t logs, shards, tasks, bytes;
	uint64_t left_out;          /* logs that have no output of their own */
	char logs_hash[SC_HASH_TEXT], shards_hash[SC_HASH_TEXT];
	char hash[SC_HASH_TEXT];   /* of plan.json: which plan it is */
	struct mk_object row;       /* of one that was read: has its texts */
};

/* Reads plan.json. SC_ENOTFOUND, SC_ESYS, SC_ENOMEM; SC_EFORMAT: damaged; SC_EUNSUPPORTED: of
 * another version. */
int mk_plan_open(const char *dir, struct mk_plan *ret, struct sc_error *err);
void mk_plan_close(struct mk_plan *p); /* all zero is fine */

/* Writes plan.json into `dir`, and sets p->hash. */
int mk_plan_write(struct mk_plan *p, const char *dir, struct sc_error *err);

#define MK_PLAN_ALL UINT64_MAX

/* The shards of a task, or MK_PLAN_ALL, ascending by number. The files are read to their ends,
 * and what is wrong with them is SC_EFORMAT. */
int mk_plan_read_shards(const struct mk_plan *p, uint64_t task, struct mk_shards *ret,
			struct sc_error *err);

/* The logs of ascending shards, or all if that is NULL, ascending by number. */
int mk_plan_read_logs(const struct mk_plan *p, const struct mk_shards *of, struct mk_logs *ret,
		      struct sc_error *err);
/* The log of a shard that was read so. */
const struct mk_log *mk_log_of(const struct mk_logs *logs, const struct mk_shard *s);
void mk_logs_deinit(struct mk_logs *logs);

/* Of struct mk_shard and struct mk_log. */
extern const struct mk_column mk_shard_columns[], mk_log_columns[];

/* A file of what was saved, on the heap; NULL: `hash` is "", there is none. SC_EFORMAT: it has
 * another hash. */
int mk_read_saved(const char *path, const char *hash, char **ret, size_t *len,
		  struct sc_error *err);

/* What is known where a shard begins, and the lines of a log's tables. */
struct mk_path mk_contexts_path(const char *dir, uint64_t shard);
struct mk_path mk_tables_path(const char *dir, uint64_t log);

/* A file whole, with a NUL behind it, on the heap. */
int mk_read_file(const char *path, char **ret, size_t *len, struct sc_error *err);

#endif
