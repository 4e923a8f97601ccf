/* plan.json, which ends with its own hash and has those of the other files: see plan_file.h. */
#include <stdlib.h>

#include "libmarkup/plan/plan_file.h"
#include "symcache/build.h"

static const char hash_key[] = ",\"xxh128\":\"";
static const char *const dialects[] = { "default", "llvm", "fuchsia", NULL };
static const char *const colors[] = { "auto", "never", "always", NULL };

/* The fields but for the hash; modules with a newline behind each. */
static void put_fields(const struct mk_plan *p, struct mk_out *o)
{
	const struct markup_options *options = &p->form.options;

	mk_out_lit(o, "{\"plan\":");
	mk_out_dec(o, MK_PLAN_VERSION);
	mk_json_text(o, "symcache", symcache_version);
	mk_json_text(o, "dialect", dialects[options->dialect]);
	mk_json_text(o, "format", markup_format_names[options->format]);
	mk_json_text(o, "color", colors[options->color]);
	mk_json_bool(o, "demuxed", options->demux);
	mk_json_text(o, "demux", options->demux);
	mk_json_text(o, "input", options->inputs);
	mk_json_key(o, "modules");
	mk_out_char(o, '"');
	for (size_t i = 0; i < p->form.num_modules; i++) {
		const char *module = p->form.modules[i];

		mk_json_escaped(o, (struct markup_str){ module, strlen(module) });
		mk_out_lit(o, "\\n");
	}
	mk_out_char(o, '"');
	mk_json_bool(o, "raw", p->form.raw);
	mk_json_bool(o, "omit_module_lines", options->omit_module_lines);
	mk_json_bytes(o, "store", p->store_name, strlen(p->store_name));
	mk_json_text(o, "store_xxh128", p->store);
	mk_json_number(o, "task_size", p->task_size);
	mk_json_number(o, "logs", p->logs);
	mk_json_number(o, "left_out", p->left_out);
	mk_json_number(o, "shards", p->shards);
	mk_json_number(o, "tasks", p->tasks);
	mk_json_number(o, "bytes", p->bytes);
	mk_json_text(o, "inputs_xxh128", p->logs_hash);
	mk_json_text(o, "shards_xxh128", p->shards_hash);
}

int mk_plan_write(struct mk_plan *p, const char *dir, struct sc_error *err)
{
	const struct mk_path path = mk_path("%s/plan.json", dir);
	struct mk_out o;
	int rc;

	if (mk_out_init(&o, 4096, NULL, NULL))
		return sc_no_memory(err);
	put_fields(p, &o);
	mk_hash_text(XXH3_128bits(o.buf, o.len), p->hash);
	mk_out_lit(&o, hash_key);
	mk_out_put(&o, p->hash, strlen(p->hash));
	mk_out_lit(&o, "\"}\n");
	rc = o.error ? sc_no_memory(err) : sc_replace_file(path.text, o.buf, o.len, err);
	mk_out_deinit(&o);
	return rc;
}

/* Is it what it was when it was written? */
static bool is_sound(const char *json, size_t len, char hash[MARKUP_HASH_TEXT])
{
	const size_t tail = strlen(hash_key) + MARKUP_HASH_TEXT - 1 + strlen("\"}\n");
	const char *end = json + len;

	if (len < tail || memcmp(end - tail, hash_key, strlen(hash_key)) ||
	    memcmp(end - 3, "\"}\n", 3))
		return false;
	mk_hash_text(XXH3_128bits(json, len - tail), hash);
	return !memcmp(end - tail + strlen(hash_key), hash, MARKUP_HASH_TEXT - 1);
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

/* False: out of memory. */
static bool read_form(struct mk_plan *p)
{
	struct markup_options *options = &p->form.options;
	struct mk_object *row = &p->row;

	options->dialect = (enum markup_dialect)mk_object_choice(row, "dialect", dialects);
	options->format = (enum markup_format)mk_object_choice(row, "format", markup_format_names);
	options->color = (enum markup_color)mk_object_choice(row, "color", colors);
	options->demux = mk_object_text(row, "demux");
	if (!mk_object_bool(row, "demuxed"))
		options->demux = NULL;
	options->inputs = mk_object_text(row, "input");
	if (!*options->inputs)
		options->inputs = NULL;
	p->form.raw = mk_object_bool(row, "raw");
	options->omit_module_lines = mk_object_bool(row, "omit_module_lines");
	return split(mk_object_text(row, "modules"), p);
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
	struct mk_object *row = &p->row;

	if (!is_sound(json, len, p->hash))
		return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one",
				    path);
	switch (mk_object_parse(row, json, len)) {
	case 0:
		break;
	case SC_ENOMEM:
		return sc_no_memory(err);
	default:
		return sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	}
	if (mk_object_number(row, "plan") != MK_PLAN_VERSION)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s: a plan of version %llu; this symcache knows "
				    "version %u", path,
				    (unsigned long long)mk_object_number(row, "plan"), MK_PLAN_VERSION);
	if (!read_form(p))
		return sc_no_memory(err);
	p->store_name = mk_object_bytes(row, "store").ptr;
	mk_object_hash(row, "store_xxh128", p->store);
	p->task_size = mk_object_number(row, "task_size");
	p->logs = mk_object_number(row, "logs");
	p->left_out = mk_object_number(row, "left_out");
	p->shards = mk_object_number(row, "shards");
	p->tasks = mk_object_number(row, "tasks");
	p->bytes = mk_object_number(row, "bytes");
	mk_object_hash(row, "inputs_xxh128", p->logs_hash);
	mk_object_hash(row, "shards_xxh128", p->shards_hash);
	if (row->bad || p->tasks > MARKUP_TASKS_MAX || p->tasks > p->shards || p->logs > p->shards)
		return sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	if (strcmp(mk_object_text(row, "symcache"), symcache_version))
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "%s: a plan of symcache %.40s, and this is %s: "
				    "plan again",
				    path, mk_object_text(row, "symcache"), symcache_version);
	if (!makes_sense(&p->form))
		return sc_error_set(err, SC_EFORMAT, "%s: its options make no sense", path);
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
