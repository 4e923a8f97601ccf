/* The modules of logs and core files: see logs.h. */
#include <stdlib.h>

#include "libsymcache/base/text.h"
#include "libsymcache/core/core.h"
#include "libsymcache/logs/logs.h"

struct modules {
	const struct symlog_modules_options *options;
	struct symcache_process *found;
	struct sc_error fault; /* of the current log; code 0: none */
	bool no_memory;
};

static void add(struct modules *m, const uint8_t *build_id, size_t len, struct sc_str name)
{
	const struct symcache_file_id of = {
		.path = name, .build_id = build_id, .build_id_len = len };

	if (!symcache_process_image(m->found, &of))
		m->no_memory = true;
}

/* What the kernel puts into a process has no symbols anywhere. */
static bool is_kernels(struct sc_str name)
{
	static const char *const names[] = {
		"[vdso]", "linux-vdso.so.1", "linux-vdso32.so.1", "linux-vdso64.so.1",
		"linux-gate.so.1", "[vsyscall]",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (sc_str_is(name, names[i]))
			return true;
	return false;
}

/* A module of which the log has the name alone is what filter takes for it. */
static void find_named(struct modules *m, struct sc_str path)
{
	const struct symlog_modules_options *o = m->options;
	const struct sc_str last = sc_last_part(path);
	char *name = sc_text("%.*s", (int)last.len, last.ptr);
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error err;
	size_t len;

	if (!name)
		m->no_memory = true;
	else if (!symcache_caches_find_name(o->caches, name, NULL, id, &len, &err))
		add(m, id, len, path);
	else
		o->unknown(o->ctx, name, &err);
	free(name);
}

static void take_module(void *ctx, const struct markup_module *module)
{
	struct modules *m = ctx;

	if (is_kernels(module->name))
		return;
	if (module->build_id_len && module->build_id_len <= SYMCACHE_BUILD_ID_MAX)
		add(m, module->build_id, module->build_id_len, module->name);
	else if (!module->build_id_len && module->name.len)
		find_named(m, module->name);
}

static void report_fault(struct modules *m)
{
	if (m->fault.code)
		m->options->fault(m->options->ctx, m->fault.msg);
	m->fault.code = 0;
}

/* The last fault of a log may be why it cannot be read. */
static void on_fault(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	struct modules *m = ctx;

	(void)warns_of;
	report_fault(m);
	sc_error_set(&m->fault, SC_ESYS, "%.*s", (int)len - 1, text);
}

static int read_log(struct modules *m, struct symlog_filter *filter, const char *path,
		    struct sc_error *err)
{
	struct symlog log = { .path = path, .output.say_ctx = m };
	enum symlog_result result = symlog_filter_run(filter, &log, err);

	if (result == SYMLOG_CUT || result == SYMLOG_NO_INPUT) {
		*err = log.error;
		return err->code;
	}
	report_fault(m);
	return result ? err->code : 0;
}

int symlog_modules_of_logs(const char *const *paths, size_t n,
			   const struct symlog_modules_options *options,
			   struct symcache_process *ret, struct sc_error *err)
{
	struct modules m = { .options = options, .found = ret };
	const struct markup_options markup = { .keep_modules = true };
	const struct symlog_filter_options how = {
		.markup = &markup, .from.find.caches = options->caches, .threads = 1, .quiet = true,
		.no_output = true, .each = true, .say = on_fault,
	};
	struct symlog_filter *filter;
	int rc = symlog_filter_create(&how, &filter, err);

	for (size_t i = 0; i < n && !rc; i++)
		rc = read_log(&m, filter, paths[i], err);
	if (!rc &&
	    (markup_filter_modules(symlog_filter_markup(filter), take_module, &m) || m.no_memory))
		rc = sc_no_memory(err);
	symlog_filter_destroy(filter);
	return rc;
}

int symlog_modules_of_core(const char *path, struct symcache_process *ret, struct sc_error *err)
{
	struct modules m = { .found = ret };
	struct symcache_core *core;
	int rc = symcache_core_open(path, &core, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < core->num_modules; i++)
		if (core->modules[i] != core->vdso && core->modules[i]->build_id_len)
			add(&m, core->modules[i]->build_id, core->modules[i]->build_id_len,
			    sc_str_of(core->modules[i]->path));
	symcache_core_close(core);
	return m.no_memory ? sc_no_memory(err) : 0;
}
