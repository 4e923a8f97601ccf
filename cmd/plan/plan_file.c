/*
 * Logs, shards and contexts of a plan: see plan_file.h. They are made by `symcache plan` alone,
 * and checked as if they were anyone's: no output leaves its folder.
 */
#include "cmd/plan/plan_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/base/cleanup.h"

const char *const log_kinds[] = { "plain", "gzip", "xz", "zstd", NULL };

char *plan_path(const char *dir, const char *name)
{
	return must_asprintf("%s/%s", dir, name);
}

char *plan_contexts_path(const char *dir, uint64_t shard)
{
	return must_asprintf("%s/contexts/%06llu", dir, (unsigned long long)shard);
}

int plan_read_file(const char *path, char **ret, size_t *len, struct sc_error *err)
{
	__attribute__((cleanup(rows_end))) struct rows_in r = { 0 };
	int rc = rows_read(&r, path, err);
	struct stat st;

	*ret = NULL;
	if (rc)
		return rc;
	if (fstat(fileno(r.file), &st))
		return sc_error_sys(err, "%s", path);
	*ret = must_calloc(1, (size_t)st.st_size + 1);
	*len = fread(*ret, 1, (size_t)st.st_size, r.file);
	return ferror(r.file) ? sc_error_sys(err, "%s", path) : 0;
}

/* ---- shards.jsonl ---------------------------------------------------------------- */

void plan_put_shard(struct rows_out *w, const struct plan_shard *s)
{
	struct json_gen *j = rows_open(w);

	json_gen_number(j, "task", s->task); /* first: see is_of() */
	json_gen_number(j, "shard", s->number);
	json_gen_number(j, "input", s->log);
	json_gen_number(j, "from", s->from);
	json_gen_number(j, "to", s->to);
	json_gen_number(j, "line", s->line);
	json_gen_bool(j, "last", s->last);
	if (s->has_contexts)
		json_gen_text(j, "contexts_xxh128", s->contexts_hash);
}

/* Of this task? Others need not be parsed. */
static bool is_of(const struct rows_in *r, uint64_t task)
{
	char begin[48];

	snprintf(begin, sizeof(begin), "{\"task\":%llu,", (unsigned long long)task);
	return task == PLAN_ALL || !strncmp(r->line, begin, strlen(begin));
}

static int take_shard(const struct plan *p, struct rows_in *r, struct plan_shards *ret,
		      struct sc_error *err)
{
	struct row *row = &r->row;
	struct plan_shard *s;
	int rc = rows_parse(r, err);

	if (rc)
		return rc;
	ret->data = must_grow(ret->data, ret->len, &ret->cap, sizeof(*ret->data));
	s = &ret->data[ret->len];
	*s = (struct plan_shard){
		.task = row_number(row, "task"), .number = row_number(row, "shard"),
		.log = row_number(row, "input"), .from = row_number(row, "from"),
		.to = row_number(row, "to"), .line = row_number(row, "line"),
		.last = row_bool(row, "last"), .has_contexts = row_has(row, "contexts_xxh128"),
	};
	if (s->has_contexts)
		row_hash(row, "contexts_xxh128", s->contexts_hash);
	if (row->bad || s->task >= p->tasks || s->number >= p->shards || s->log >= p->logs ||
	    s->from > s->to || s->has_contexts != (s->from > 0))
		return rows_damaged(r, err);
	ret->len++;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct plan_shard *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Ascending, each once, in the order of their logs and in these. */
static bool in_order(const struct plan_shards *s)
{
	for (size_t i = 1; i < s->len; i++)
		if (s->data[i].number <= s->data[i - 1].number || s->data[i].log < s->data[i - 1].log)
			return false;
	return true;
}

int plan_read_shards(const struct plan *p, uint64_t task, struct plan_shards *ret,
		     struct sc_error *err)
{
	__attribute__((cleanup(rows_end))) struct rows_in r = { 0 };
	__attribute__((cleanup(sc_free_text))) char *path = plan_path(p->dir, "shards.jsonl");
	int rc = rows_read(&r, path, err);

	while (!rc && (rc = rows_next(&r, err)) > 0)
		rc = is_of(&r, task) ? take_shard(p, &r, ret, err) : 0;
	if (rc)
		return rc;
	if (ret->len)
		qsort(ret->data, ret->len, sizeof(*ret->data), by_number);
	if (strcmp(r.hash, p->shards_hash) || !in_order(ret) ||
	    (task == PLAN_ALL && ret->len != p->shards))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged, or of another plan", path);
	return 0;
}

/* ---- inputs.jsonl ---------------------------------------------------------------- */

void plan_put_log(struct rows_out *w, const struct plan_log *l)
{
	struct json_gen *j = rows_open(w);

	json_gen_number(j, "input", l->number);
	json_gen_bytes(j, "path", l->path, strlen(l->path));
	json_gen_bytes(j, "output", l->output, strlen(l->output));
	json_gen_number(j, "size", l->size);
	json_gen_signed(j, "mtime", l->mtime);
	json_gen_text(j, "kind", log_kinds[l->kind]);
}

/* Does it stay within the folder that it is relative to, and leave ours there alone? */
static bool stays_within(const char *path, size_t len)
{
	if (!len || strlen(path) != len || !strncmp(path, ".symcache/", 10))
		return false;
	for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
		const size_t n = strcspn(at, "/");

		if (!n || (n == 1 && *at == '.') || (n == 2 && !memcmp(at, "..", 2)))
			return false;
	}
	return true;
}

static int take_log(struct rows_in *r, uint64_t number, struct plan_logs *ret, struct sc_error *err)
{
	size_t path_len, output_len;
	struct row *row = &r->row;
	struct plan_log *l;
	int rc = rows_parse(r, err);

	if (rc)
		return rc;
	ret->data = must_grow(ret->data, ret->len, &ret->cap, sizeof(*ret->data));
	l = &ret->data[ret->len++];
	*l = (struct plan_log){
		.number = row_number(row, "input"), .path = row_bytes(row, "path", &path_len),
		.output = row_bytes(row, "output", &output_len), .size = row_number(row, "size"),
		.mtime = row_signed(row, "mtime"), .kind = (enum log_kind)row_choice(row, "kind", log_kinds),
	};
	if (row->bad || l->number != number || !path_len || strlen(l->path) != path_len ||
	    !stays_within(l->output, output_len))
		return rows_damaged(r, err);
	return 0;
}

int plan_read_logs(const struct plan *p, const struct plan_shards *of, struct plan_logs *ret,
		   struct sc_error *err)
{
	__attribute__((cleanup(rows_end))) struct rows_in r = { 0 };
	__attribute__((cleanup(sc_free_text))) char *path = plan_path(p->dir, "inputs.jsonl");
	int rc = rows_read(&r, path, err);
	uint64_t number = 0;
	size_t next = 0;

	for (; !rc && (rc = rows_next(&r, err)) > 0; number++) {
		const bool wanted = !of || (next < of->len && of->data[next].log == number);

		rc = wanted ? take_log(&r, number, ret, err) : 0;
		while (of && next < of->len && of->data[next].log == number)
			next++;
	}
	if (rc)
		return rc;
	if (strcmp(r.hash, p->logs_hash) || number != p->logs || (of && next < of->len))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged, or of another plan", path);
	return 0;
}

static int of_number(const void *number, const void *log)
{
	const uint64_t n = *(const uint64_t *)number;
	const struct plan_log *l = log;

	return (n > l->number) - (n < l->number);
}

const struct plan_log *plan_log_of(const struct plan_logs *logs, const struct plan_shard *s)
{
	return bsearch(&s->log, logs->data, logs->len, sizeof(*logs->data), of_number);
}

void plan_logs_deinit(struct plan_logs *logs)
{
	for (size_t i = 0; i < logs->len; i++) {
		free(logs->data[i].path);
		free(logs->data[i].output);
	}
	free(logs->data);
	*logs = (struct plan_logs){ 0 };
}

/* ---- contexts ---------------------------------------------------------------------- */

int plan_read_contexts(const struct plan *p, const struct plan_shard *s, char **ret, size_t *len,
		       struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = plan_contexts_path(p->dir, s->number);
	char hash[HASH_TEXT];
	int rc;

	*ret = NULL;
	*len = 0;
	if (!s->has_contexts)
		return 0;
	rc = plan_read_file(path, ret, len, err);
	if (rc)
		return rc;
	hash_text(XXH3_128bits(*ret, *len), hash);
	if (!strcmp(hash, s->contexts_hash))
		return 0;
	free(*ret);
	*ret = NULL;
	return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one", path);
}
