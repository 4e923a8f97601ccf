/* Modules and their caches: see modules.h. */
#include "cmd/lookup/modules.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "symcache/build.h"
#include "symcache/build_id.h"
#include "symcache/store.h"
#include "symcache/symcache.h"

struct module {
	enum module_kind kind;
	char *name;
	int failed;              /* an SC_E… code that `err` explains, or 0 */
	struct sc_error err;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t id_len;           /* not 0: the store has it under `id` */
	void *bytes;             /* else: the cache, built or mapped */
	size_t size;
	bool mapped;
	struct symcache cache;   /* of the store: good for one snapshot */
	struct symcache_guard guard;
	bool told_damaged;
	uint32_t marked_used;    /* see symstore_mark_used() */
};

struct modules {
	const char *store_option;
	struct symcache_build_options build;
	struct symcache_debuginfod *fetcher; /* or NULL */
	struct symstore *store;  /* opened when it is first needed */
	struct symstore_reader *reader;
	void *tree;              /* of struct module */
};

struct modules *modules_create(const char *store, const char *const *debug_dirs)
{
	struct modules *m = must_calloc(1, sizeof(*m));

	m->store_option = store;
	m->build.debug_dirs = debug_dirs;
	return m;
}

void modules_fetch(struct modules *m, struct symcache_debuginfod *fetcher)
{
	m->fetcher = fetcher;
}

static void module_destroy(void *p)
{
	struct module *mod = p;

	symcache_guard_deinit(&mod->guard);
	if (mod->mapped)
		munmap(mod->bytes, mod->size);
	else if (mod->kind == MODULE_FILE)
		free(mod->bytes);
	free(mod->name);
	free(mod);
}

void modules_destroy(struct modules *m)
{
	if (!m)
		return;
	tdestroy(m->tree, module_destroy);
	modules_release(m);
	symstore_close(m->store);
	free(m);
}

void modules_release(struct modules *m)
{
	symstore_read_end(m->reader);
	m->reader = NULL;
}

static int compare_modules(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

/* Makes sure of a snapshot of the store. One that is not there is looked for
 * again the next time. */
static int begin_read(struct modules *m, struct sc_error *err)
{
	int rc = m->store ? 0 : open_store(m->store_option, SYMSTORE_READ, &m->store, err);

	return rc || m->reader ? rc : symstore_read_begin(m->store, &m->reader, err);
}

static int open_cache_file(struct module *mod, struct sc_error *err)
{
	struct symcache_map file;
	int rc = symcache_map_open(mod->name, &file, err);

	mod->bytes = file.bytes;
	mod->size = file.size;
	mod->mapped = file.bytes;
	mod->cache = file.cache;
	return rc;
}

static int build_cache(struct modules *m, struct module *mod, struct sc_error *err)
{
	const struct symcache_build_info *info;
	struct symcache_build *build;
	int rc = symcache_build_create(mod->name, &m->build, &build, err);

	if (rc)
		return rc;
	info = symcache_build_info(build);
	warn_of_gaps(mod->name, info);
	mod->size = symcache_build_size(build);
	mod->bytes = must_realloc(NULL, mod->size);
	symcache_build_write(build, mod->bytes);
	symcache_build_destroy(build);
	return symcache_open(&mod->cache, mod->bytes, mod->size, err);
}

/* Fetches what the store lacks, and begins to read again. SC_ENOTFOUND: it is not to be
 * had. */
static int fetch(struct modules *m, const uint8_t *id, size_t len, struct sc_error *err)
{
	struct sc_error why;
	int rc;

	if (!m->fetcher || !len || (m->reader && symcache_debuginfod_missed(m->fetcher, m->reader, id, len)))
		return SC_ENOTFOUND;
	modules_release(m);
	symstore_close(m->store);
	m->store = NULL;
	rc = fetch_into_store(m->fetcher, m->store_option, id, len, &why);
	if (rc && rc != SC_ENOTFOUND)
		cmd_error("%s", why.msg);
	return rc ? SC_ENOTFOUND : begin_read(m, err);
}

static int open_elf_file(struct modules *m, struct module *mod, struct sc_error *err)
{
	struct sc_error store_err;
	bool derived;
	int rc = symcache_elf_build_id(mod->name, mod->id, &mod->id_len, &derived, err);

	if (rc)
		return rc;
	if (mod->id_len) {
		rc = begin_read(m, &store_err);
		if (!rc)
			rc = symstore_get_guarded(m->reader, mod->id, mod->id_len, &mod->guard,
						  &mod->cache, &store_err);
		if (rc == SC_ENOTFOUND && !derived)
			rc = fetch(m, mod->id, mod->id_len, &store_err);
		if (!rc)
			return 0;
		if (rc != SC_ENOTFOUND)
			cmd_error("%s: does without the store: %s", mod->name, store_err.msg);
	}
	mod->id_len = 0;
	return build_cache(m, mod, err);
}

static int open_build_id(struct modules *m, struct module *mod, struct sc_error *err)
{
	struct sc_error ignored;
	size_t nibbles;
	int rc = symcache_build_id_parse(mod->name, mod->id, &nibbles, err);

	if (rc)
		return rc;
	rc = begin_read(m, err);
	if (!rc)
		rc = symstore_find_id(m->reader, mod->name, mod->id, &mod->id_len, err);
	/* Servers want the whole of it. */
	if (rc == SC_ENOTFOUND && nibbles % 2 == 0 && !fetch(m, mod->id, nibbles / 2, &ignored))
		rc = symstore_find_id(m->reader, mod->name, mod->id, &mod->id_len, err);
	return rc;
}

static int module_open(struct modules *m, struct module *mod, struct sc_error *err)
{
	switch (mod->kind) {
	case MODULE_CACHE:
		return open_cache_file(mod, err);
	case MODULE_FILE:
		return open_elf_file(m, mod, err);
	default:
		return open_build_id(m, mod, err);
	}
}

/* Brings the cache of the store to the snapshot at hand. A damaged one is as good as
 * none: where there is a file, it is built from that. *again: it was told. */
static int module_refresh(struct modules *m, struct module *mod, bool *again,
			  struct sc_error *err)
{
	int rc = begin_read(m, err);

	if (!rc)
		rc = symstore_get_guarded(m->reader, mod->id, mod->id_len, &mod->guard,
					  &mod->cache, err);
	if (!rc)
		symstore_mark_used(m->store, mod->id, mod->id_len, &mod->marked_used);
	if (rc != SC_EFORMAT)
		return rc;
	*again = mod->told_damaged;
	mod->told_damaged = true;
	if (mod->kind != MODULE_FILE)
		return err->code = SC_ENOTFOUND;
	if (!*again)
		cmd_error("%s", err->msg);
	mod->id_len = 0;
	mod->failed = build_cache(m, mod, &mod->err);
	if (mod->failed)
		*err = mod->err;
	return mod->failed;
}

bool modules_sound(const struct symcache *cache)
{
	struct module *mod = (struct module *)((char *)cache - offsetof(struct module, cache));
	struct sc_error err;

	if (!symcache_damaged(cache))
		return true;
	if (!mod->told_damaged) {
		symstore_damaged(mod->id, mod->id_len, &err);
		cmd_error("%s", err.msg);
	}
	mod->told_damaged = true;
	return false;
}

void modules_sources(struct modules *m, enum module_kind kind, const char *name,
		     const char *ret[3])
{
	struct module key = { .kind = kind, .name = (char *)name };
	struct module *const *node = tfind(&key, &m->tree, compare_modules);
	struct symstore_entry entry;
	size_t n = 0;

	if (kind == MODULE_FILE) {
		ret[n++] = name;
	} else if (kind == MODULE_BUILD_ID && node &&
		   !symstore_entry(m->reader, (*node)->id, (*node)->id_len, &entry, NULL)) {
		if (*entry.source_path)
			ret[n++] = entry.source_path;
		if (*entry.debug_path)
			ret[n++] = entry.debug_path;
	}
	ret[n] = NULL;
}

int modules_get(struct modules *m, enum module_kind kind, const char *name,
		const struct symcache **ret, bool *again, struct sc_error *err)
{
	struct module key = { .kind = kind, .name = (char *)name }, *mod;
	struct module **node = tsearch(&key, &m->tree, compare_modules);
	int rc;

	*ret = NULL;
	*again = node && *node != &key;
	if (!node)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	if (!*again) {
		*node = must_calloc(1, sizeof(**node));
		(*node)->kind = kind;
		(*node)->name = must_asprintf("%s", name);
	}
	mod = *node;
	if (!*again || (mod->failed && kind == MODULE_BUILD_ID))
		mod->failed = module_open(m, mod, &mod->err);
	if (mod->failed) {
		*err = mod->err;
		return mod->failed;
	}
	if (mod->id_len && (rc = module_refresh(m, mod, again, err)))
		return rc;
	*ret = &mod->cache;
	return 0;
}
