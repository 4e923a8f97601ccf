/*
 * Logs, shards and contexts of a plan: see plan_file.h. They are made by `symcache plan` alone,
 * and checked as if they were anyone's: no output leaves its folder.
 */
#include "libsymcache/plan/plan_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"

const char *const markup_log_kinds[] = { "plain", "gzip", "xz", "zstd", NULL };

struct mk_path mk_contexts_path(const char *dir, uint64_t shard)
{
	return mk_path("%s/contexts/%06llu", dir, (unsigned long long)shard);
}

struct mk_path mk_tables_path(const char *dir, uint64_t log)
{
	return mk_path("%s/contexts/tables.%llu", dir, (unsigned long long)log);
}

int mk_read_file(const char *path, char **ret, size_t *len, struct sc_error *err)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	int rc = 0;

	*ret = NULL;
	if (!f && errno == ENOENT)
		return sc_error_set(err, SC_ENOTFOUND, "there is no %s", path);
	if (!f || fstat(fileno(f), &st))
		rc = sc_error_sys(err, "%s", path);
	else if (!(*ret = calloc(1, (size_t)st.st_size + 1)))
		rc = sc_no_memory(err);
	else
		*len = fread(*ret, 1, (size_t)st.st_size, f);
	if (!rc && ferror(f))
		rc = sc_error_sys(err, "%s", path);
	if (f)
		fclose(f);
	if (rc) {
		free(*ret);
		*ret = NULL;
	}
	return rc;
}

/* ---- shards.jsonl ---------------------------------------------------------------- */

const struct mk_column mk_shard_columns[] = {
	{ "task", MK_NUMBER, offsetof(struct mk_shard, task), NULL }, /* first: see is_of() */
	{ "shard", MK_NUMBER, offsetof(struct mk_shard, number), NULL },
	{ "input", MK_NUMBER, offsetof(struct mk_shard, log), NULL },
	{ "from", MK_NUMBER, offsetof(struct mk_shard, from), NULL },
	{ "to", MK_NUMBER, offsetof(struct mk_shard, to), NULL },
	{ "line", MK_NUMBER, offsetof(struct mk_shard, line), NULL },
	{ "last", MK_BOOL, offsetof(struct mk_shard, last), NULL },
	{ "contexts_xxh128", MK_HASH_OR_NONE, offsetof(struct mk_shard, contexts_hash), NULL },
	{ 0 },
};

/* Of this task? Others need not be parsed. */
static bool is_of(const struct mk_rows_in *r, uint64_t task)
{
	char begin[48];

	snprintf(begin, sizeof(begin), "{\"task\":%llu,", (unsigned long long)task);
	return task == MK_PLAN_ALL || !strncmp(r->line, begin, strlen(begin));
}

static int take_shard(const struct mk_plan *p, struct mk_rows_in *r, struct mk_shards *ret,
		      struct sc_error *err)
{
	struct mk_shard *s = vec_push(ret);
	int rc = s ? mk_rows_parse(r, mk_shard_columns, s, err) : sc_no_memory(err);

	if (!rc && (s->task >= p->tasks || s->number >= p->shards || s->log >= p->logs ||
		    s->from > s->to || !*s->contexts_hash != !s->from))
		rc = mk_rows_damaged(r, err);
	return rc;
}

static inline bool shard_before(const struct mk_shard *a, const struct mk_shard *b)
{
	return a->number < b->number;
}

SC_SORT(sort_shards, struct mk_shard, shard_before)

/* Ascending, each once, in the order of their logs and in these. */
static bool in_order(const struct mk_shards *s)
{
	for (size_t i = 1; i < s->len; i++)
		if (s->data[i].number <= s->data[i - 1].number ||
		    s->data[i].log < s->data[i - 1].log)
			return false;
	return true;
}

int mk_plan_read_shards(const struct mk_plan *p, uint64_t task, struct mk_shards *ret,
		     struct sc_error *err)
{
	__attribute__((cleanup(mk_rows_end))) struct mk_rows_in r = { 0 };
	const struct mk_path path = mk_path("%s/%s", p->dir, "shards.jsonl");
	int rc = mk_rows_read(&r, path.text, 0, err);

	while (!rc && (rc = mk_rows_next(&r, err)) > 0)
		rc = is_of(&r, task) ? take_shard(p, &r, ret, err) : 0;
	if (rc)
		return rc;
	if (!sort_shards(ret->data, ret->len))
		return sc_no_memory(err);
	if (strcmp(r.hash, p->shards_hash) || !in_order(ret) ||
	    (task == MK_PLAN_ALL && ret->len != p->shards))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged, or of another plan",
				    path.text);
	return 0;
}

/* ---- inputs.jsonl ---------------------------------------------------------------- */

const struct mk_column mk_log_columns[] = {
	{ "input", MK_NUMBER, offsetof(struct mk_log, number), NULL },
	{ "path", MK_PATH, offsetof(struct mk_log, log.path), NULL },
	{ "output", MK_PATH, offsetof(struct mk_log, log.output), NULL },
	{ "size", MK_NUMBER, offsetof(struct mk_log, log.size), NULL },
	{ "mtime", MK_SIGNED, offsetof(struct mk_log, log.mtime), NULL },
	{ "kind", MK_CHOICE, offsetof(struct mk_log, log.kind), markup_log_kinds },
	{ "tables_xxh128", MK_HASH_OR_NONE, offsetof(struct mk_log, tables_hash), NULL },
	{ 0 },
};

/* Does it stay within the folder that it is relative to, and leave ours there alone? */
static bool stays_within(const char *path)
{
	if (!strncmp(path, ".symcache/", 10))
		return false;
	for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
		const size_t n = strcspn(at, "/");

		if (!n || (n == 1 && *at == '.') || (n == 2 && !memcmp(at, "..", 2)))
			return false;
	}
	return true;
}

static int take_log(struct mk_rows_in *r, uint64_t number, struct mk_logs *ret,
		    struct sc_error *err)
{
	struct mk_log l = { 0 }, *added;
	int rc = mk_rows_parse(r, mk_log_columns, &l, err);

	if (!rc && (l.number != number || !*l.log.path || !stays_within(l.log.output)))
		rc = mk_rows_damaged(r, err);
	if (rc)
		return rc;
	added = vec_push(ret);
	if (!added)
		return sc_no_memory(err);
	*added = l;
	added->log.path = strdup(l.log.path);
	added->log.output = strdup(l.log.output);
	return added->log.path && added->log.output ? 0 : sc_no_memory(err);
}

int mk_plan_read_logs(const struct mk_plan *p, const struct mk_shards *of, struct mk_logs *ret,
		   struct sc_error *err)
{
	__attribute__((cleanup(mk_rows_end))) struct mk_rows_in r = { 0 };
	const struct mk_path path = mk_path("%s/%s", p->dir, "inputs.jsonl");
	int rc = mk_rows_read(&r, path.text, 0, err);
	uint64_t number = 0;
	size_t next = 0;

	for (; !rc && (rc = mk_rows_next(&r, err)) > 0; number++) {
		const bool wanted = !of || (next < of->len && of->data[next].log == number);

		rc = wanted ? take_log(&r, number, ret, err) : 0;
		while (of && next < of->len && of->data[next].log == number)
			next++;
	}
	if (rc)
		return rc;
	if (strcmp(r.hash, p->logs_hash) || number != p->logs || (of && next < of->len))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged, or of another plan",
				    path.text);
	return 0;
}

const struct mk_log *mk_log_of(const struct mk_logs *logs, const struct mk_shard *s)
{
	return &logs->data[SC_SEARCH(i, logs->len, logs->data[i].number < s->log)];
}

void mk_logs_deinit(struct mk_logs *logs)
{
	for (size_t i = 0; i < logs->len; i++) {
		free((char *)logs->data[i].log.path);
		free((char *)logs->data[i].log.output);
	}
	vec_deinit(logs);
}

/* ---- contexts and tables ------------------------------------------------------------- */

int mk_read_saved(const char *path, const char *hash, char **ret, size_t *len,
		  struct sc_error *err)
{
	char have[SC_HASH_TEXT];
	int rc;

	*ret = NULL;
	*len = 0;
	if (!*hash)
		return 0;
	rc = mk_read_file(path, ret, len, err);
	if (rc)
		return rc;
	sc_hash_text(sc_hash_of(*ret, *len), have);
	if (!strcmp(have, hash))
		return 0;
	free(*ret);
	*ret = NULL;
	return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one", path);
}
