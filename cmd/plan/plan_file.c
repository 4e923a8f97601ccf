/*
 * The files of a plan: see plan_file.h. plan.json ends with its own hash and has those of the
 * others. All are made by `symcache plan` alone, and checked as if they were anyone's: what a
 * task does with them is bounded by what they say, and no output leaves its folder.
 */
#include "cmd/plan/plan_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/base/cleanup.h"
#include "symcache/build.h"

const char *const log_kinds[] = { "plain", "gzip", "xz", "zstd", NULL };

static const char hash_key[] = ",\"xxh128\":\"";

char *plan_path(const char *dir, const char *name)
{
	return must_asprintf("%s/%s", dir, name);
}

char *plan_contexts_path(const char *dir, uint64_t shard)
{
	return must_asprintf("%s/contexts/%06llu", dir, (unsigned long long)shard);
}

/* Reads a file whole, with a NUL behind it. */
static int read_file(const char *path, char **ret, size_t *len, struct sc_error *err)
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

static void hash_bytes(const void *bytes, size_t len, char ret[HASH_TEXT])
{
	hash_text(XXH3_128bits(bytes, len), ret);
}

/* The index of a text in a list; it may not be there. */
static int choice(struct row *row, const char *key, const char *const *of)
{
	const char *text = row_text(row, key);

	for (int i = 0; of[i]; i++)
		if (!strcmp(of[i], text))
			return i;
	row->bad = true;
	return 0;
}

/* ---- plan.json ------------------------------------------------------------------ */

/* The modules as one text, a newline behind each. */
static char *join(const struct opt_list *list)
{
	struct text t = { 0 };

	for (size_t i = 0; i < list->len; i++) {
		text_str(&t, list->items[i]);
		text_char(&t, '\n');
	}
	text_char(&t, 0);
	return t.bytes;
}

static void split(char *text, struct opt_list *ret)
{
	size_t cap = 0;

	for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = 0;
		ret->items = must_grow(ret->items, ret->len + 1, &cap, sizeof(*ret->items));
		ret->items[ret->len++] = at;
		ret->items[ret->len] = NULL;
	}
}

int plan_write(struct plan *p, const char *dir, struct sc_error *err)
{
	struct text t = { 0 };
	struct json_gen *j = json_gen_create_text(false, &t);
	char *path = plan_path(dir, "plan.json"), *modules = join(&p->form.modules);
	int rc;

	json_gen_open_map(j, NULL);
	json_gen_number(j, "plan", PLAN_VERSION);
	json_gen_text(j, "symcache", symcache_version);
	json_gen_text(j, "dialect", form_dialects[p->form.dialect]);
	json_gen_text(j, "format", markup_format_names[p->form.format]);
	json_gen_text(j, "color", form_colors[p->form.color]);
	json_gen_bool(j, "demuxed", p->form.demux);
	json_gen_text(j, "demux", p->form.demux);
	json_gen_text(j, "input", p->form.input);
	json_gen_text(j, "modules", modules);
	json_gen_bool(j, "raw", p->form.raw);
	json_gen_bool(j, "omit_module_lines", p->form.omit_module_lines);
	json_gen_text(j, "store_xxh128", p->store);
	json_gen_number(j, "task_size", p->task_size);
	json_gen_number(j, "logs", p->logs);
	json_gen_number(j, "left_out", p->left_out);
	json_gen_number(j, "shards", p->shards);
	json_gen_number(j, "tasks", p->tasks);
	json_gen_number(j, "bytes", p->bytes);
	json_gen_text(j, "inputs_xxh128", p->logs_hash);
	json_gen_text(j, "shards_xxh128", p->shards_hash);
	json_gen_destroy(j);
	hash_bytes(t.bytes, t.len, p->hash);
	text_str(&t, hash_key);
	text_str(&t, p->hash);
	text_str(&t, "\"}\n");
	rc = sc_replace_file(path, t.bytes, t.len, err);
	free(t.bytes);
	free(modules);
	free(path);
	return rc;
}

/* Is it what it was when it was written? */
static bool is_sound(const char *json, size_t len, char hash[HASH_TEXT])
{
	const size_t tail = strlen(hash_key) + HASH_TEXT - 1 + strlen("\"}\n");
	const char *end = json + len;

	if (len < tail || memcmp(end - tail, hash_key, strlen(hash_key)) || memcmp(end - 3, "\"}\n", 3))
		return false;
	hash_bytes(json, len - tail, hash);
	return !memcmp(end - tail + strlen(hash_key), hash, HASH_TEXT - 1);
}

static void read_form(struct plan *p)
{
	struct row *row = &p->row;
	size_t len;

	p->form.dialect = choice(row, "dialect", form_dialects);
	p->form.format = choice(row, "format", markup_format_names);
	p->form.color = choice(row, "color", form_colors);
	p->form.demux = row_text(row, "demux");
	if (!row_bool(row, "demuxed"))
		p->form.demux = NULL;
	p->form.input = row_text(row, "input");
	if (!*p->form.input)
		p->form.input = NULL;
	p->form.raw = row_bool(row, "raw");
	p->form.omit_module_lines = row_bool(row, "omit_module_lines");
	p->modules = row_bytes(row, "modules", &len);
	split(p->modules, &p->form.modules);
}

static int read_plan(struct plan *p, const char *path, const char *json, size_t len,
		     struct sc_error *err)
{
	struct row *row = &p->row;

	if (!is_sound(json, len, p->hash))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one", path);
	if (!row_parse(row, json, len))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	if (row_number(row, "plan") != PLAN_VERSION)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s: a plan of version %llu; this symcache knows "
				    "version %u", path, (unsigned long long)row_number(row, "plan"),
				    PLAN_VERSION);
	read_form(p);
	row_hash(row, "store_xxh128", p->store);
	p->task_size = row_number(row, "task_size");
	p->logs = row_number(row, "logs");
	p->left_out = row_number(row, "left_out");
	p->shards = row_number(row, "shards");
	p->tasks = row_number(row, "tasks");
	p->bytes = row_number(row, "bytes");
	row_hash(row, "inputs_xxh128", p->logs_hash);
	row_hash(row, "shards_xxh128", p->shards_hash);
	if (row->bad || p->tasks > PLAN_TASKS_MAX || p->tasks > p->shards || p->logs > p->shards)
		return sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	if (strcmp(row_text(row, "symcache"), symcache_version))
		return sc_error_set(err, SC_EUNSUPPORTED, "%s: a plan of symcache %.40s, and this is %s: "
				    "plan again", path, row_text(row, "symcache"), symcache_version);
	return 0;
}

int plan_open(const char *dir, struct plan *ret, struct sc_error *err)
{
	char *path = plan_path(dir, "plan.json"), *json;
	size_t len;
	int rc;

	*ret = (struct plan){ .dir = must_asprintf("%s", dir) };
	rc = read_file(path, &json, &len, err);
	if (!rc)
		rc = read_plan(ret, path, json, len, err);
	free(json);
	free(path);
	return rc;
}

void plan_close(struct plan *p)
{
	row_deinit(&p->row);
	free(p->form.modules.items);
	free(p->modules);
	free(p->dir);
	*p = (struct plan){ 0 };
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
		.mtime = row_signed(row, "mtime"), .kind = (enum log_kind)choice(row, "kind", log_kinds),
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
	rc = read_file(path, ret, len, err);
	if (rc)
		return rc;
	hash_bytes(*ret, *len, hash);
	if (!strcmp(hash, s->contexts_hash))
		return 0;
	free(*ret);
	*ret = NULL;
	return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one", path);
}
