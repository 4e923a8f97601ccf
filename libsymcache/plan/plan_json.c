/* plan.json, which ends with its own hash and has those of the other files: see plan_file.h. */
#include <stdlib.h>

#include "libsymcache/plan/plan_file.h"
#include "libsymcache/write/build.h"

static const char hash_key[] = ",\"xxh128\":\"";

/* But for the hash. */
static const struct mk_column columns[] = {
	{ "plan", MK_NUMBER, offsetof(struct mk_plan, version), NULL },
	{ "symcache", MK_TEXT, offsetof(struct mk_plan, made_by), NULL },
	{ "dialect", MK_CHOICE, offsetof(struct mk_plan, form.options.dialect),
	  (const char *const[]){ "default", "llvm", "fuchsia", NULL } },
	{ "format", MK_CHOICE, offsetof(struct mk_plan, form.options.format), markup_format_names },
	{ "color", MK_CHOICE, offsetof(struct mk_plan, form.options.color),
	  (const char *const[]){ "auto", "never", "always", NULL } },
	{ "demuxed", MK_BOOL, offsetof(struct mk_plan, demuxed), NULL },
	{ "demux", MK_TEXT, offsetof(struct mk_plan, form.options.demux), NULL },
	{ "input", MK_TEXT, offsetof(struct mk_plan, form.options.inputs), NULL },
	{ "modules", MK_TEXT, offsetof(struct mk_plan, module_lines), NULL },
	{ "raw", MK_BOOL, offsetof(struct mk_plan, form.raw), NULL },
	{ "omit_module_lines", MK_BOOL, offsetof(struct mk_plan, form.options.omit_module_lines),
	  NULL },
	{ "store", MK_PATH, offsetof(struct mk_plan, store_name), NULL },
	{ "store_xxh128", MK_HASH, offsetof(struct mk_plan, store), NULL },
	{ "task_size", MK_NUMBER, offsetof(struct mk_plan, task_size), NULL },
	{ "logs", MK_NUMBER, offsetof(struct mk_plan, logs), NULL },
	{ "left_out", MK_NUMBER, offsetof(struct mk_plan, left_out), NULL },
	{ "shards", MK_NUMBER, offsetof(struct mk_plan, shards), NULL },
	{ "tasks", MK_NUMBER, offsetof(struct mk_plan, tasks), NULL },
	{ "bytes", MK_NUMBER, offsetof(struct mk_plan, bytes), NULL },
	{ "inputs_xxh128", MK_HASH, offsetof(struct mk_plan, logs_hash), NULL },
	{ "shards_xxh128", MK_HASH, offsetof(struct mk_plan, shards_hash), NULL },
	{ 0 },
};

int mk_plan_write(struct mk_plan *p, const char *dir, struct sc_error *err)
{
	const struct mk_path path = mk_path("%s/plan.json", dir);
	struct mk_out o = { 0 }, lines = { 0 };
	int rc;

	for (size_t i = 0; i < p->form.num_modules; i++)
		mk_put(&lines, p->form.modules[i], "\n");
	p->version = MK_PLAN_VERSION;
	p->made_by = symcache_version;
	p->demuxed = p->form.options.demux;
	p->module_lines = mk_out_take(&lines);
	mk_put_columns(&o, columns, p);
	sc_hash_text(sc_hash_of(o.buf, o.len), p->hash);
	mk_put(&o, hash_key, p->hash, "\"}\n");
	rc = o.error || !p->module_lines ? sc_no_memory(err) :
	     sc_replace_file(path.text, o.buf, o.len, err);
	free(p->module_lines);
	p->module_lines = NULL;
	mk_out_deinit(&o);
	return rc;
}

/* Is it what it was when it was written? */
static bool is_valid(const char *json, size_t len, char hash[SC_HASH_TEXT])
{
	const size_t tail = strlen(hash_key) + SC_HASH_TEXT - 1 + strlen("\"}\n");
	const char *end = json + len;

	if (len < tail || memcmp(end - tail, hash_key, strlen(hash_key)) ||
	    memcmp(end - 3, "\"}\n", 3))
		return false;
	sc_hash_text(sc_hash_of(json, len - tail), hash);
	return !memcmp(end - tail + strlen(hash_key), hash, SC_HASH_TEXT - 1);
}

/* The lines of a text, in its place. */
static bool split(char *text, struct mk_plan *p)
{
	size_t num = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		num++;
	p->modules = calloc(num + 1, sizeof(*p->modules));
	for (char *end; p->modules && (end = strchr(text, '\n')); text = end + 1) {
		*end = 0;
		p->modules[p->form.num_modules++] = text;
	}
	p->form.modules = p->modules;
	return p->modules;
}

/* Could it have been asked for? */
static bool makes_sense(const struct markup_plan_form *f)
{
	const struct markup_options *o = &f->options;

	for (size_t i = 0; i < f->num_modules; i++)
		if (!strchr(f->modules[i], '='))
			return false;
	return (!o->inputs || markup_inputs_valid(o->inputs)) &&
	       (o->dialect == MARKUP_DEFAULT || (!o->inputs && !o->format)) &&
	       (!o->demux || !*o->demux || markup_demux_valid(o->demux));
}

static int read_plan(struct mk_plan *p, const char *path, const char *json, size_t len,
		     struct sc_error *err)
{
	bool good;

	if (!is_valid(json, len, p->hash))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one",
				    path);
	switch (mk_object_parse(&p->row, json, len)) {
	case 0:
		break;
	case SC_ENOMEM:
		return sc_no_memory(err);
	default:
		return sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	}
	good = mk_object_read(&p->row, columns, p);
	if (p->version != MK_PLAN_VERSION)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s: a plan of version %llu; this symcache knows "
				    "version %u", path,
				    (unsigned long long)p->version, MK_PLAN_VERSION);
	if (!good || p->tasks > MARKUP_TASKS_MAX || p->tasks > p->shards || p->logs > p->shards)
		return sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	if (strcmp(p->made_by, symcache_version))
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "%s: a plan of symcache %.40s, and this is %s: "
				    "plan again",
				    path, p->made_by, symcache_version);
	if (!p->demuxed)
		p->form.options.demux = NULL;
	if (!*p->form.options.inputs)
		p->form.options.inputs = NULL;
	if (!split(p->module_lines, p))
		return sc_no_memory(err);
	if (!makes_sense(&p->form))
		return sc_error_set(err, SC_EFORMAT, "%s: its options are not valid", path);
	return 0;
}

int mk_plan_open(const char *dir, struct mk_plan *ret, struct sc_error *err)
{
	const struct mk_path path = mk_path("%s/plan.json", dir);
	char *json;
	size_t len;
	int rc;

	*ret = (struct mk_plan){ .dir = dir };
	rc = mk_read_file(path.text, &json, &len, err);
	if (!rc)
		rc = read_plan(ret, path.text, json, len, err);
	free(json);
	return rc;
}

void mk_plan_close(struct mk_plan *p)
{
	mk_object_deinit(&p->row);
	free(p->modules);
	*p = (struct mk_plan){ 0 };
}
