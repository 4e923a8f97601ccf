/*
 * modules.c: see modules.h. The store is opened when the first module is added and
 * read through one snapshot, so that all caches are from the same moment.
 */
#include "cmd/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/symcache_build.h"
#include "libsymcache/symcache_store.h"

struct modules {
	const char *store_option;
	bool store_tried;
	struct symstore *store;
	struct symstore_reader *reader; /* NULL: there is no store */
	VEC(struct module) list;
};

struct modules *modules_create(const char *store)
{
	struct modules *m = must_calloc(1, sizeof(*m));

	m->store_option = store;
	return m;
}

static void module_deinit(struct module *module)
{
	free(module->name);
	free(module->bytes);
}

void modules_destroy(struct modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->list.len; i++)
		module_deinit(&m->list.data[i]);
	vec_deinit(&m->list);
	symstore_read_end(m->reader);
	symstore_close(m->store);
	free(m);
}

/* A store that is not there is none, unless it was asked for by name. */
static int open_store(struct modules *m, struct sc_error *err)
{
	char *path;
	int rc;

	if (m->store_tried)
		return 0;
	m->store_tried = true;
	rc = store_path(m->store_option, &path, err);
	if (rc)
		return m->store_option ? rc : 0;
	rc = symstore_open(path, SYMSTORE_READ, &m->store, err);
	if (rc == SC_ENOTFOUND && !m->store_option)
		rc = 0;
	else if (rc == 0)
		rc = symstore_read_begin(m->store, &m->reader, err);
	free(path);
	return rc;
}

/* ---- from the store ------------------------------------------------------------- */

static int get(struct modules *m, const uint8_t *id, size_t len, struct symcache *ret,
	       struct sc_error *err)
{
	const void *data;
	size_t size;
	int rc;

	if (!m->reader)
		return sc_error_set(err, SC_ENOTFOUND, "there is no store");
	rc = symstore_get(m->reader, id, len, &data, &size, err);
	return rc ? rc : symcache_open(ret, data, size, err);
}

struct matches {
	size_t count;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;
};

static bool on_match(void *ctx, const struct symstore_entry *entry)
{
	struct matches *matches = ctx;

	memcpy(matches->id, entry->build_id, entry->build_id_len);
	matches->len = entry->build_id_len;
	return ++matches->count < 2;
}

static int open_build_id(struct modules *m, const char *text, struct module *module,
			 struct sc_error *err)
{
	uint8_t prefix[SYMCACHE_BUILD_ID_MAX];
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct matches matches = { 0 };
	size_t nibbles;
	int rc = parse_build_id(text, prefix, &nibbles, err);

	if (rc)
		return sc_error_set(err, SC_EINVAL, "module '%.180s' is neither a file nor a build ID",
				    text);
	if (m->reader)
		rc = symstore_each(m->reader, prefix, nibbles, on_match, &matches, err);
	if (rc)
		return rc;
	if (matches.count != 1)
		return sc_error_set(err, SC_ENOTFOUND, "build ID %.140s: %s", text,
				    matches.count ? "several in the store begin like this" :
				    "not in the store");
	format_build_id(hex, matches.id, matches.len);
	module->name = must_asprintf("%s", hex);
	return get(m, matches.id, matches.len, &module->cache, err);
}

/* ---- from a file ----------------------------------------------------------------- */

static int build(const char *path, struct module *module, struct sc_error *err)
{
	struct symcache_build *b;
	size_t size;
	int rc = symcache_build_create(path, NULL, &b, err);

	if (rc)
		return rc;
	size = symcache_build_size(b);
	module->bytes = must_calloc(1, size);
	symcache_build_write(b, module->bytes);
	symcache_build_destroy(b);
	return symcache_open(&module->cache, module->bytes, size, err);
}

static int open_file(struct modules *m, const char *path, struct module *module,
		     struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	const char *slash = strrchr(path, '/');
	size_t len;
	bool derived;
	int rc = symcache_elf_build_id(path, id, &len, &derived, err);

	module->name = must_asprintf("%s", slash ? slash + 1 : path);
	if (rc)
		return rc;
	/* A damaged entry is as good as none where there is a file to build from. */
	return get(m, id, len, &module->cache, NULL) ? build(path, module, err) : 0;
}

/* ---- adding and finding ------------------------------------------------------------ */

/* Cuts "@BIAS" off `spec`, unless that is a file's name. */
static int cut_bias(char *spec, uint64_t *bias, struct sc_error *err)
{
	char *at = strrchr(spec, '@'), *end;

	*bias = 0;
	if (!at || access(spec, F_OK) == 0)
		return 0;
	*bias = strtoull(at + 1, &end, 16);
	if (end == at + 1 || *end)
		return sc_error_set(err, SC_EINVAL, "module '%.180s': the bias is not a hex number",
				    spec);
	*at = '\0';
	return 0;
}

int modules_add(struct modules *m, const char *spec, struct sc_error *err)
{
	char *path = must_asprintf("%s", spec);
	struct module module = { 0 }, *slot;
	int rc = cut_bias(path, &module.bias, err);

	if (rc == 0)
		rc = open_store(m, err);
	if (rc == 0)
		rc = access(path, F_OK) == 0 ? open_file(m, path, &module, err) :
		     open_build_id(m, path, &module, err);
	free(path);
	if (rc) {
		module_deinit(&module);
		return rc;
	}
	module.begin = module.bias + symcache_load_base(&module.cache);
	module.end = module.begin + (module.cache.image ? module.cache.image->image_size :
				     UINT32_MAX);
	if (module.end < module.begin) /* reaches around the end of the address space */
		module.end = UINT64_MAX;
	slot = vec_push(&m->list);
	if (!slot) {
		module_deinit(&module);
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	}
	*slot = module;
	return 0;
}

const struct module *modules_find(const struct modules *m, uint64_t runtime_pc, uint64_t *rel)
{
	const struct module *best = NULL;

	for (size_t i = 0; i < m->list.len; i++) {
		const struct module *module = &m->list.data[i];

		if (runtime_pc >= module->begin && runtime_pc < module->end &&
		    (!best || module->begin > best->begin))
			best = module;
	}
	*rel = best ? runtime_pc - best->begin : 0;
	return best;
}

const struct module *modules_get(const struct modules *m, size_t i)
{
	return i < m->list.len ? &m->list.data[i] : NULL;
}
