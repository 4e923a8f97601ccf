/* What logs and core files need: see wanted.h. */
#include "cmd/store/wanted.h"

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/shown.h"

void wanted_deinit(struct wanted *w)
{
	symstore_ids_deinit(&w->ids);
	symstore_ids_deinit(&w->missing);
	symcache_process_destroy(w->modules);
}

bool wanted_asked(const struct wanted_options *o)
{
	return o->logs.len || o->cores.len;
}

static void on_unknown(void *ctx, const char *name, const struct sc_error *why)
{
	((struct wanted *)ctx)->nameless = true;
	cmd_error("%s: %s%s", name, why->msg, why->code == SC_EINVAL
		  ? "; put it after the options" : "");
}

static int read_logs(struct wanted *w, const struct wanted_options *o, const char *store,
		     struct sc_error *err)
{
	struct symlog_modules_options how = {
		.unknown = on_unknown, .fault = cmd_complain, .ctx = w };
	struct cmd_caches c;
	int rc;

	cmd_caches_init(&c, store, (struct symcache_caches_options){ .store_optional = true });
	how.caches = c.caches;
	rc = symlog_modules_of_logs(o->logs.items, o->logs.len, &how, w->modules, err);
	cmd_caches_deinit(&c);
	return rc;
}

int wanted_read(struct wanted *w, const struct wanted_options *o, const char *store,
		struct sc_error *err)
{
	const struct symcache_image *image;
	int rc;

	w->modules = must(symcache_process_create(NULL));
	rc = o->logs.len ? read_logs(w, o, store, err) : 0;
	for (size_t i = 0; i < o->cores.len && !rc; i++)
		rc = symlog_modules_of_core(o->cores.items[i], w->modules, err);
	for (size_t i = 0; !rc && (image = symcache_process_image_at(w->modules, i)); i++) {
		struct symstore_id id = { .len = image->build_id_len };

		memcpy(id.bytes, image->build_id, id.len);
		rc = symstore_ids_add(&w->ids, &id, err);
	}
	return rc;
}

/* What the first log or core file with this module calls it; NULL: none has it. */
static const char *name_of(const struct wanted *w, const struct symstore_id *id)
{
	const struct symcache_image *image;

	for (size_t i = 0; (image = symcache_process_image_at(w->modules, i)); i++)
		if (image->build_id_len == id->len && !memcmp(image->build_id, id->bytes, id->len))
			return image->path;
	return NULL;
}

void wanted_missing(struct wanted *w, const char *lacks, const struct symstore_id *id)
{
	const char *name = name_of(w, id);

	must(symstore_ids_add(&w->missing, id, NULL) ? NULL : w);
	cmd_error("%s %s%s%s%s", lacks, shown_id(id->bytes, id->len),
		  name ? " (" : "", name ? name : "", name ? ")" : "");
}

void wanted_missing_json(struct mk_gen *j, const struct wanted *w)
{
	mk_gen_open_array(j, "missing_modules");
	for (size_t i = 0; i < w->missing.len; i++) {
		const struct symstore_id *id = &w->missing.data[i];

		mk_gen_open_map(j, NULL);
		mk_gen_bytes(j, "build_id", id->bytes, id->len);
		mk_gen_text(j, "name", name_of(w, id));
		mk_gen_close_map(j);
	}
	mk_gen_close_array(j);
}
