/*
 * Where the cache of a module comes from: the store, else a debug file, else a server:
 * see caches.h. Everything here runs under the caches' lock: of two threads
 * that want the same module one makes its cache, the other waits for it.
 */
#include "libsymcache/symbolize/module.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/index/content.h"

static void publish(struct symcache_module *m, const struct symcache *cache, uint64_t snapshot)
{
	m->snapshot = snapshot;
	atomic_store_explicit(&m->cache, cache, memory_order_release);
}

/* ---- from the store ------------------------------------------------------------ */

/* A stripped program may have an entry with unwind information alone. */
static bool will_do(const struct symcache_module *m, const struct symcache *cache)
{
	return m->caches->options.without_symbols || cache->header->num_ranges ||
	       cache->num_data_symbols || !cache->unwind.facts;
}

static int read_cache(struct symcache_module *m, struct sc_error *err)
{
	struct symcache_caches *s = m->caches;
	const struct symcache before = m->stored;
	const uint64_t identity = m->guard.identity;
	int rc = symstore_get_guarded(s->reader, m->id, m->id_len, &m->guard, &m->stored, err);

	if (rc == SC_ENOTFOUND && s->options.store_name)
		sc_error_set(err, rc, "not in store %s", s->options.store_name);
	if (rc)
		return rc;
	if (!will_do(m, &m->stored))
		return sc_error_set(err, SC_ENOTFOUND,
				    "the store's entry has unwind information, but no "
				    "symbols: index its debug file, too");
	if (before.data != m->stored.data || before.size != m->stored.size ||
	    identity != m->guard.identity)
		m->generation++;
	symstore_mark_used(s->store, m->id, m->id_len, &m->marked_used);
	publish(m, &m->stored, s->snapshot);
	return 0;
}

static void notice_damage(struct symcache_module *m, const char *file, const char *message)
{
	if (!m->damage_noticed)
		sc_notify(m->caches, SYMCACHE_NOTICE_DAMAGED, file, message);
	m->damage_noticed = true;
}

/* ---- from a file ------------------------------------------------------------------ */

void sc_made_deinit(struct sc_made *made)
{
	symcache_map_close(&made->map);
	if (!made->fetched.cache)
		free(made->bytes);
	symbundle_fetched_deinit(&made->fetched);
	free(made->path);
	free(made->debug_path);
	free(made->names);
	*made = (struct sc_made){ 0 };
}

/* What the store is to know of it. False: out of memory. */
static bool set_entry(struct symcache_module *m, const struct symcache_build *b, const char *path)
{
	const struct symcache_build_info *info = symcache_build_info(b);
	struct sc_made *made = &m->made;

	made->path = realpath(path, NULL);
	if (!made->path)
		made->path = strdup(path);
	made->debug_path = info->debug_path ? strdup(info->debug_path) : NULL;
	made->names = made->path ? symstore_names_of(made->path, info->soname, info->debug_link) : NULL;
	if (!made->names || (info->debug_path && !made->debug_path))
		return false;
	made->entry = sc_entry_of_build(b, m->id, m->id_len, time(NULL));
	made->entry.source_path = made->path;
	made->entry.debug_path = made->debug_path;
	made->entry.names = made->names;
	sc_content_hash_file(made->path, &made->entry.source_hash, &made->entry.source_size);
	made->to_store = m->caches->to_store = true;
	return true;
}

/* Takes what `b` has laid out. */
static int keep_build(struct symcache_module *m, const struct symcache_build *b, const char *path,
		      bool to_store, struct sc_error *err)
{
	const struct symcache_build_info *info = symcache_build_info(b);
	struct sc_made *made = &m->made;
	int rc;

	sc_made_deinit(made);
	made->size = symcache_build_size(b);
	made->bytes = malloc(made->size);
	if (!made->bytes || (to_store && !set_entry(m, b, path))) {
		sc_made_deinit(made);
		return sc_no_memory(err);
	}
	symcache_build_write(b, made->bytes);
	sc_notice_gaps(m, to_store ? made->path : path, info);
	rc = symcache_open(&made->cache, made->bytes, made->size, err);
	if (!rc && !will_do(m, &made->cache))
		rc = sc_error_set(err, SC_ENOSYMBOLS, "%s: no debug information and no symbols",
				  path);
	if (!rc)
		publish(m, &made->cache, 0);
	return rc;
}

/* Makes a cache out of the ELF file at `path`. `for_id`: it is that of m->id, under
 * which the cache is to be stored. `fetched`: files that it refers to are fetched, too. */
static int build(struct symcache_module *m, const char *path, bool for_id, bool fetched,
		 struct sc_error *err)
{
	const struct symcache_caches_options *o = &m->caches->options;
	struct symcache_build_options options = { .debug_dirs = o->debug_dirs,
						.package = o->package };
	const struct symcache_build_info *info;
	struct symcache_files files;
	struct symcache_build *b;
	int rc;

	if (fetched) {
		files = symcache_debuginfod_files(o->debuginfod);
		files.programs = o->without_symbols; /* it is asked for unwind information */
		options.files = &files;
	}
	rc = symcache_build_create(path, &options, &b, err);
	if (rc)
		return rc;
	info = symcache_build_info(b);
	if (for_id && !o->any_build_id && !info->build_id_derived && info->build_id_len &&
	    (info->build_id_len != m->id_len || memcmp(info->build_id, m->id, m->id_len)))
		rc = sc_error_set(err, SC_EINVAL, "%s has another build ID", path);
	else
		rc = keep_build(m, b, path, for_id, err);
	symcache_build_destroy(b);
	return rc;
}

/* The path of the debug file of m->id in the debug directories, on the heap, or NULL. */
static char *find_debug_file(const struct symcache_module *m)
{
	const struct symcache_caches_options *o = &m->caches->options;
	char path[PATH_MAX];

	for (const char *const *dir = o->debug_dirs; o->search_debug_dirs && *dir; dir++)
		if (symcache_build_id_path(path, sizeof(path), *dir, m->id, m->id_len) &&
		    !access(path, F_OK))
			return strdup(path);
	return NULL;
}

/* Its cache, as it is, from a web server. Errors as of build_fetched(). */
static int fetch_cache(struct symcache_module *m, struct sc_error *err)
{
	struct symcache_caches *s = m->caches;
	struct symbundle_sites *sites = s->options.sites;
	struct sc_made *made = &m->made;
	int rc;

	if (!sites || m->asked_sites ||
	    (s->reader && symbundle_sites_missed(sites, s->reader, m->id, m->id_len)))
		return SC_ENOTFOUND;
	m->asked_sites = true;
	sc_made_deinit(made);
	rc = symbundle_sites_get(sites, s->reader, m->id, m->id_len, &made->fetched, err);
	if (rc == SC_ENOTFOUND)
		m->sites_missed = s->to_store = true;
	if (rc)
		return rc;
	made->bytes = made->fetched.cache;
	made->size = made->fetched.entry.cache_size;
	made->entry = made->fetched.entry;
	made->to_store = s->to_store = true;
	rc = symcache_open(&made->cache, made->bytes, made->size, err);
	if (!rc && !will_do(m, &made->cache))
		return SC_ENOTFOUND;
	if (!rc)
		publish(m, &made->cache, 0);
	return rc;
}

/* From the servers; what they do not have is noted for the store. SC_ENOTFOUND: it is
 * nowhere, or asked for too early. */
static int build_fetched(struct symcache_module *m, struct sc_error *err)
{
	struct symcache_caches *s = m->caches;
	struct symcache_debuginfod *d = s->options.debuginfod;
	char *path;
	int rc = fetch_cache(m, err);

	if (!rc)
		return 0;
	if (rc != SC_ENOTFOUND && d)
		sc_notify(s, SYMCACHE_NOTICE_FETCH, NULL, err->msg);
	else if (rc != SC_ENOTFOUND)
		return rc;
	if (!d || m->asked_servers ||
	    (s->reader && symcache_debuginfod_missed(d, s->reader, m->id, m->id_len)))
		return SC_ENOTFOUND;
	m->asked_servers = true;
	rc = symcache_debuginfod_get(d, m->id, m->id_len, false, &path, err);
	if (rc == SC_ENOTFOUND)
		m->missed = s->to_store = true;
	if (rc)
		return rc;
	rc = build(m, path, true, true, err);
	free(path);
	return rc;
}

/* By m->id, from wherever there is a debug file. */
static int build_by_id(struct symcache_module *m, struct sc_error *err)
{
	char *path = find_debug_file(m);
	int rc;

	if (!path)
		return build_fetched(m, err);
	rc = build(m, path, true, false, err);
	free(path);
	return rc;
}

/* ---- by kind -------------------------------------------------------------------------- */

static int open_cache_file(struct symcache_module *m, struct sc_error *err)
{
	int rc = symcache_map_open(m->name, &m->made.map, err);

	if (!rc)
		publish(m, &m->made.map.cache, 0);
	return rc;
}

/* The file's own symbols, if they are others than those of its debug file. */
static void read_own_symbols(struct symcache_module *m)
{
	if (symcache_symbol_table_open_dynamic(m->name, &m->own, NULL) || !m->own ||
	    symcache_symbol_table_is_dynamic(m->own))
		return;
	symcache_symbol_table_close(m->own);
	m->own = NULL;
}

/* Looks for its cache wherever that can be without being built. 0: it has one, or
 * m->to_be_built. */
static int find_elf_file(struct symcache_module *m, struct sc_error *err)
{
	struct symcache_caches *s = m->caches;
	struct sc_error why;
	bool derived;
	int rc = symcache_elf_build_id(m->name, m->id, &m->id_len, &derived, err);

	if (rc)
		return rc;
	if (s->options.own_symbols && !m->own)
		read_own_symbols(m);
	if (m->id_len) {
		rc = sc_caches_read(s, &why);
		if (rc && rc != SC_ENOTFOUND)
			sc_notify(s, SYMCACHE_NOTICE_STORE, m->name, why.msg);
		if (!rc && (rc = read_cache(m, &why)) == SC_EFORMAT)
			notice_damage(m, m->name, why.msg);
		if (!rc)
			return 0;
		if (rc == SC_ENOTFOUND && !derived) {
			rc = build_fetched(m, &why);
			if (!rc)
				return 0;
			if (rc != SC_ENOTFOUND)
				sc_notify(s, SYMCACHE_NOTICE_FETCH, m->name, why.msg);
		}
	}
	m->to_be_built = true;
	m->storable = s->options.store_files && m->id_len && !derived;
	return 0;
}

static int open_elf_file(struct symcache_module *m, struct sc_error *err)
{
	int rc = m->to_be_built ? 0 : find_elf_file(m, err);

	return rc || !m->to_be_built ? rc : build(m, m->name, m->storable, false, err);
}

/* Reads the build ID out of the module's name; *whole: not only its beginning. */
static int parse_id(struct symcache_module *m, bool *whole, struct sc_error *err)
{
	size_t nibbles = 2 * m->name_len;
	int rc = 0;

	if (m->kind == SC_MODULE_OF_ID)
		memcpy(m->id, m->name, m->name_len);
	else
		rc = symcache_build_id_parse(m->name, m->id, &nibbles, err);
	m->id_len = nibbles / 2;
	*whole = nibbles % 2 == 0;
	return rc;
}

/* Finds out which entry of the store the module's name, the beginning of a build ID, means. */
static int find_entry(struct symcache_module *m, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;
	int rc = symstore_find_id(m->caches->reader, m->name, id, &len, err);

	if (!rc) {
		memcpy(m->id, id, len);
		m->id_len = len;
	}
	return rc;
}

static int open_build_id(struct symcache_module *m, struct sc_error *err)
{
	struct symcache_caches *s = m->caches;
	const bool was_found = m->snapshot;
	struct sc_error why;
	bool whole = true;
	int rc = was_found ? 0 : parse_id(m, &whole, err);

	if (rc)
		return rc;
	rc = sc_caches_read(s, err);
	if (rc && rc != SC_ENOTFOUND && s->options.store_optional) {
		sc_notify(s, SYMCACHE_NOTICE_STORE, NULL, err->msg);
		rc = SC_ENOTFOUND;
	}
	if (!rc && m->kind == SYMCACHE_MODULE_BUILD_ID && !was_found)
		rc = find_entry(m, err);
	if (!rc && (rc = read_cache(m, err)) == SC_EFORMAT) {
		notice_damage(m, NULL, err->msg); /* a damaged entry is as none */
		rc = sc_error_set(err, SC_ENOTFOUND, "the store's entry is damaged");
	}
	if (rc != SC_ENOTFOUND || !whole)
		return rc;
	rc = build_by_id(m, &why);
	if (rc && rc != SC_ENOTFOUND)
		*err = why;
	return rc;
}

/* The cache of the store was damaged, or may have changed; m->id is known. */
static int reopen_elf_file(struct symcache_module *m, struct sc_error *err)
{
	int rc = sc_caches_read(m->caches, err);

	if (!rc)
		rc = read_cache(m, err);
	if (rc == SC_EFORMAT)
		notice_damage(m, NULL, err->msg);
	return rc ? build(m, m->name, false, false, err) : 0;
}

static int open_module(struct symcache_module *m, struct sc_error *err)
{
	switch (m->kind) {
	case SYMCACHE_MODULE_CACHE:
		return open_cache_file(m, err);
	case SYMCACHE_MODULE_FILE:
		return m->snapshot ? reopen_elf_file(m, err) : open_elf_file(m, err);
	default:
		return open_build_id(m, err);
	}
}

static int open_locked(struct symcache_module *m, bool *reported, struct sc_error *err)
{
	struct symcache_caches *s = m->caches;
	const bool failed_before = m->failed.code;
	int rc = 0;

	if (sc_module_usable(m))
		return 0;
	if (m->failed.code && (m->failed.code != SC_ENOTFOUND || m->tried == s->snapshot)) {
		*err = m->failed;
		*reported = true;
		return err->code;
	}
	rc = open_module(m, err);
	m->failed = (struct sc_error){ 0 };
	if (rc) {
		publish(m, NULL, 0);
		err->code = rc;
		m->failed = *err;
		m->tried = s->snapshot;
		*reported = failed_before || (rc == SC_ENOTFOUND && m->damage_noticed);
	}
	s->num_failed += (rc != 0) - failed_before;
	return rc;
}

int sc_module_open(struct symcache_module *m, bool *reported, struct sc_error *err)
{
	struct sc_error own = { .msg = "" };
	bool ignored;
	int rc;

	pthread_mutex_lock(&m->caches->lock);
	rc = open_locked(m, reported ? reported : &ignored, &own);
	pthread_mutex_unlock(&m->caches->lock);
	if (rc && err)
		*err = own;
	return rc;
}

/* 0: *m has the cache, or first answers for the addresses. */
static int open_at_locked(struct symcache_module *m, const uint64_t vaddrs[], size_t n)
{
	int rc = 0;

	if (sc_module_usable(m))
		return 0;
	if (m->kind != SYMCACHE_MODULE_FILE || m->failed.code || m->snapshot ||
	    m->caches->options.without_symbols)
		return SC_ENOTFOUND;
	if (!m->to_be_built)
		rc = find_elf_file(m, NULL);
	return rc || !m->to_be_built ? rc : sc_first_make(m, vaddrs, n);
}

int sc_module_open_at(struct symcache_module *m, const uint64_t vaddrs[], size_t n,
		      bool *reported, struct sc_error *err)
{
	int rc;

	pthread_mutex_lock(&m->caches->lock);
	rc = open_at_locked(m, vaddrs, n);
	pthread_mutex_unlock(&m->caches->lock);
	return rc ? m->open(m, reported, err) : 0;
}
