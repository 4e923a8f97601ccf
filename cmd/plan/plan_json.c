/* plan.json, which ends with its own hash and has those of the other files: see plan_file.h. */
#include <stdlib.h>
#include <string.h>

#include "cmd/plan/plan_file.h"
#include "symcache/build.h"

static const char hash_key[] = ",\"xxh128\":\"";

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
	json_gen_bytes(j, "store", p->store_name, strlen(p->store_name));
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
	hash_text(XXH3_128bits(t.bytes, t.len), p->hash);
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
	hash_text(XXH3_128bits(json, len - tail), hash);
	return !memcmp(end - tail + strlen(hash_key), hash, HASH_TEXT - 1);
}

static void read_form(struct plan *p)
{
	struct row *row = &p->row;
	size_t len;

	p->form.dialect = row_choice(row, "dialect", form_dialects);
	p->form.format = row_choice(row, "format", markup_format_names);
	p->form.color = row_choice(row, "color", form_colors);
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
	size_t name_len;

	if (!is_sound(json, len, p->hash))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one", path);
	if (!row_parse(row, json, len))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	if (row_number(row, "plan") != PLAN_VERSION)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s: a plan of version %llu; this symcache knows "
				    "version %u", path, (unsigned long long)row_number(row, "plan"),
				    PLAN_VERSION);
	read_form(p);
	p->store_name = row_bytes(row, "store", &name_len);
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
	rc = plan_read_file(path, &json, &len, err);
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
	free(p->store_name);
	free(p->dir);
	*p = (struct plan){ 0 };
}
