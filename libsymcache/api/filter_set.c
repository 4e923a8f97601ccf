/* Settings of filters, and what they found: see <symcache-filter.h>. */
#include <stdlib.h>
#include <string.h>
#include <symcache-filter.h>

#include "libsymcache/api/filter.h"
#include "libsymcache/base/build_id.h"

static void texts_deinit(struct api_texts *t)
{
	for (size_t i = 0; i < t->list.len; i++)
		free(t->list.data[i]);
	vec_deinit(&t->list);
}

void api_filter_settings_deinit(struct symcache_filter *f)
{
	texts_deinit(&f->modules);
	texts_deinit(&f->path_maps);
	free(f->inputs);
	free(f->demux);
	free(f->link);
	markup_groups_destroy(f->groups);
}

static int keep(char **to, const char *value)
{
	free(*to);
	*to = strdup(value);
	return *to ? 0 : SC_ENOMEM;
}

/* Adds a text, with a NULL behind the last. */
static int add(struct api_texts *to, const char *value)
{
	char *copy = strdup(value);

	if (!copy || !vec_reserve(&to->list, 2)) {
		free(copy);
		return SC_ENOMEM;
	}
	to->list.data[to->list.len++] = copy;
	to->list.data[to->list.len] = NULL;
	return 0;
}

/* ---- a function for each setting: 0, SC_EINVAL or SC_ENOMEM ------------------------------- */

static int set_dialect(struct symcache_filter *f, const char *value)
{
	static const char *const names[] = {
		[MARKUP_DEFAULT] = "default", [MARKUP_LLVM] = "llvm", [MARKUP_FUCHSIA] = "fuchsia",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(value, names[i]) || (i && f->how.format)) /* which have text alone */
			continue;
		f->how.dialect = (enum markup_dialect)i;
		return 0;
	}
	return SC_EINVAL;
}

static int set_input(struct symcache_filter *f, const char *value)
{
	int rc = markup_inputs_valid(value) ? keep(&f->inputs, value) : SC_EINVAL;

	f->how.inputs = f->inputs;
	return rc;
}

static int set_demux(struct symcache_filter *f, const char *value)
{
	int rc = markup_demux_valid(value) ? keep(&f->demux, value) : SC_EINVAL;

	f->how.demux = f->demux;
	return rc;
}

static int set_module(struct symcache_filter *f, const char *value)
{
	const char *id = strrchr(value, '=');
	uint8_t bytes[SYMCACHE_BUILD_ID_MAX];
	size_t len;

	if (!id || id == value || !symcache_build_id_read(id + 1, bytes, &len))
		return SC_EINVAL;
	return add(&f->modules, value);
}

static int set_map_path(struct symcache_filter *f, const char *value)
{
	int rc = strchr(value, '=') ? add(&f->path_maps, value) : SC_EINVAL;

	f->how.path_maps = (const char *const *)f->path_maps.list.data;
	return rc;
}

static int set_link(struct symcache_filter *f, const char *value)
{
	int rc = keep(&f->link, value);

	f->how.link = f->link;
	return rc;
}

static int set_group(struct symcache_filter *f, const char *value)
{
	if (strcmp(value, "yes"))
		return SC_EINVAL;
	f->how.group = true;
	return f->groups || !markup_groups_create(&f->groups) ? 0 : SC_ENOMEM;
}

static const struct setting {
	const char *name;
	int (*set)(struct symcache_filter *f, const char *value);
} settings[] = {
	{ "dialect", set_dialect }, { "input", set_input }, { "demux", set_demux },
	{ "module", set_module }, { "map-path", set_map_path }, { "link", set_link },
	{ "group", set_group },
};

int symcache_filter_set(struct symcache_filter *f, const char *name, const char *value,
			struct symcache_error *err)
{
	int rc = SC_EINVAL;

	if (f->filter)
		return api_error(err, rc, "settings come before the first log");
	for (size_t i = 0; name && value && i < sizeof(settings) / sizeof(*settings); i++)
		if (!strcmp(name, settings[i].name))
			rc = settings[i].set(f, value);
	return !rc ? 0 : api_error(err, rc, rc == SC_ENOMEM ? "out of memory" :
				   "%s: no such setting, or it has no value '%.100s'", name ? name : "",
				   value ? value : "");
}

/* ---- what was found ------------------------------------------------------------------------ */

int symcache_filter_get_stats(const struct symcache_filter *f, struct symcache_filter_stats *ret,
			      struct symcache_error *err)
{
	const struct markup_stats none = { 0 }, *s = f->filter ? markup_filter_stats(f->filter) : &none;

	if (ret->size != sizeof(*ret))
		return api_error(err, SC_EINVAL, "the size is not set");
	*ret = (struct symcache_filter_stats){
		.size = sizeof(*ret), .bytes = s->bytes, .frames = s->frames,
		.found = s->frames_resolved, .outside = s->frames_outside,
		.understood = s->understood, .guessed = s->guessed,
	};
	return 0;
}

struct each {
	void (*fn)(void *ctx, const struct symcache_missing *m);
	void *ctx;
};

static void on_missing(void *ctx, const struct markup_module *m)
{
	const struct each *each = ctx;
	const struct symcache_missing missing = {
		.name = m->name.ptr, .name_len = m->name.len, .build_id = m->build_id,
		.build_id_len = m->build_id_len, .frames = m->frames,
		.flags = (m->no_symbols ? SYMCACHE_MISSING_MODULE : 0) |
			 (m->table_only ? SYMCACHE_MISSING_LINES : 0) |
			 (m->other_build ? SYMCACHE_MISSING_BUILD : 0),
	};

	each->fn(each->ctx, &missing);
}

int symcache_filter_each_missing(const struct symcache_filter *f,
				 void (*fn)(void *ctx, const struct symcache_missing *m), void *ctx,
				 struct symcache_error *err)
{
	struct each each = { fn, ctx };

	if (!fn)
		return api_error(err, SC_EINVAL, "there is no function");
	return !f->filter || !markup_filter_missing(f->filter, on_missing, &each) ? 0 :
		api_error(err, SC_ENOMEM, "out of memory");
}
