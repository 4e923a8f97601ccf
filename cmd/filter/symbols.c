/*
 * Build ID → SymCache: see symbols.h.
 *
 * What has to be built is built in memory and used from there; only
 * symbols_settle() writes to the store, because a store that grows must have no
 * reader, and because no line of a log should wait for a disk. A store that
 * cannot be written costs a second build next time, nothing else: that is told
 * once, as a remark.
 */
#include "cmd/filter/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "libsymcache/index/content.h"
#include "libsymcache/index/entry.h"
#include "cmd/index/fetch.h"
#include "cmd/store/entry.h"
#include "symcache/build.h"
#include "symcache/build_id.h"
#include "symcache/store.h"
#include "symcache/symcache.h"

enum {
	CHAINS = 1 << 12,
	MISSING_MAX = 1 << 16, /* IDs without symbols that are remembered */
};

/* A cache that was made here. */
struct built {
	void *bytes;
	struct symstore_entry entry;
	char *path;
	bool to_store;
};

struct symbols {
	const struct symbols_options *options;
	pthread_mutex_t lock;
	struct symstore *store;          /* NULL: not open */
	struct symstore_reader *reader;
	bool store_failed;               /* and it was told */
	_Atomic unsigned snapshot;
	unsigned num_missing;
	bool to_store;                   /* some module has to be */
	struct symbols_module *chains[CHAINS];
};

struct symbols *symbols_create(const struct symbols_options *options)
{
	struct symbols *s = must_calloc(1, sizeof(*s));

	s->options = options;
	s->snapshot = 1;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

static void close_store(struct symbols *s)
{
	symstore_read_end(s->reader);
	symstore_close(s->store);
	s->reader = NULL;
	s->store = NULL;
}

void symbols_destroy(struct symbols *s)
{
	if (!s)
		return;
	symbols_settle(s);
	close_store(s);
	for (size_t i = 0; i < CHAINS; i++) {
		for (struct symbols_module *m = s->chains[i], *next; m; m = next) {
			next = m->next;
			symcache_guard_deinit(&m->guard);
			if (m->built) {
				free(m->built->bytes);
				free(m->built->path);
				free(m->built);
			}
			free(m);
		}
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

unsigned symbols_snapshot(const struct symbols *s)
{
	return s->snapshot;
}

/* ---- from the store -------------------------------------------------------- */

/* Makes sure of a snapshot. A store that is not there is empty. */
static int begin_read(struct symbols *s, struct sc_error *err)
{
	int rc;

	if (s->reader)
		return 0;
	if (s->store_failed)
		return sc_error_set(err, SC_ENOTFOUND, "the store cannot be read");
	rc = s->store ? 0 : open_store(s->options->store, SYMSTORE_READ, &s->store, err);
	if (!rc)
		rc = symstore_read_begin(s->store, &s->reader, err);
	if (rc && rc != SC_ENOTFOUND) {
		s->store_failed = true;
		cmd_error("%s", err->msg);
	}
	return rc;
}

static int read_cache(struct symbols *s, struct symbols_module *m, struct sc_error *err)
{
	int rc = begin_read(s, err);

	if (!rc)
		rc = symstore_get_guarded(s->reader, m->id, m->id_len, &m->guard, &m->cache, err);
	if (rc)
		return rc;
	symstore_mark_used(s->store, m->id, m->id_len, &m->marked_used);
	m->snapshot = s->snapshot;
	m->load_base = symcache_load_base(&m->cache);
	return 0;
}

void symbols_tell_damaged(struct symbols *s, struct symbols_module *m)
{
	struct sc_error err;

	pthread_mutex_lock(&s->lock);
	if (!m->told_damaged) {
		symstore_damaged(m->id, m->id_len, &err);
		cmd_error("%s", err.msg);
	}
	m->told_damaged = true;
	pthread_mutex_unlock(&s->lock);
}

bool symbols_refresh(struct symbols *s, struct symbols_module *m)
{
	struct sc_error ignored;
	bool ok;

	pthread_mutex_lock(&s->lock);
	ok = m->snapshot == s->snapshot || !read_cache(s, m, &ignored);
	pthread_mutex_unlock(&s->lock);
	return ok;
}

/* ---- from a debug file ------------------------------------------------------ */

/* The path of the module's debug file, on the heap, or NULL. */
static char *find_debug_file(const struct symbols *s, const struct symbols_module *m)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];

	symcache_build_id_text(hex, m->id, m->id_len);
	for (const char *const *dir = s->options->debug_dirs; *dir; dir++) {
		char *path = must_asprintf("%s/.build-id/%.2s/%s.debug", *dir, hex, hex + 2);
		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* Takes what `b` has laid out; `path` is given away. */
static int keep_built(struct symbols_module *m, struct symcache_build *b, char *path,
		      struct sc_error *err)
{
	const struct symcache_build_info *info = symcache_build_info(b);
	struct built *built = must_calloc(1, sizeof(*built));
	char *absolute = realpath(path, NULL);

	m->built = built;
	built->path = absolute ? absolute : path;
	if (absolute)
		free(path);
	built->entry = sc_entry_of_build(b, m->id, m->id_len, time(NULL));
	built->entry.source_path = built->path;
	sc_content_hash_file(built->path, &built->entry.source_hash, &built->entry.source_size);
	built->bytes = must_realloc(NULL, built->entry.cache_size);
	symcache_build_write(b, built->bytes);
	if (info->bad_units)
		cmd_error("%s: %llu of %llu units of debug information are broken: %s",
			  built->path, (unsigned long long)info->bad_units,
			  (unsigned long long)info->units, info->first_fault);
	m->load_base = info->load_base;
	return symcache_open(&m->cache, built->bytes, built->entry.cache_size, err);
}

/* From the servers. What they do not have is noted for the store. */
static int fetch_file(struct symbols *s, struct symbols_module *m, char **path,
		      struct sc_error *err)
{
	struct sc_error why;
	int rc;

	if (s->reader && symcache_debuginfod_missed(s->options->fetcher, s->reader, m->id, m->id_len))
		return SC_ENOTFOUND;
	rc = symcache_debuginfod_get(s->options->fetcher, m->id, m->id_len, path, &why);
	if (rc == SC_ENOTFOUND)
		m->missed = s->to_store = true;
	else if (rc)
		*err = why;
	return rc;
}

static int build_module(struct symbols *s, struct symbols_module *m, struct sc_error *err)
{
	struct symcache_build_options options = { .debug_dirs = s->options->debug_dirs };
	char *path = m->id_len > 1 ? find_debug_file(s, m) : NULL;
	struct symcache_files files;
	const struct symcache_build_info *info;
	struct symcache_build *b;
	int rc;

	if (!path && s->options->fetcher) {
		rc = fetch_file(s, m, &path, err);
		if (rc)
			return rc;
		files = symcache_debuginfod_files(s->options->fetcher);
		options.files = &files;
	}
	if (!path)
		return SC_ENOTFOUND;
	rc = symcache_build_create(path, &options, &b, err);
	if (rc) {
		free(path);
		return rc;
	}
	info = symcache_build_info(b);
	if (!s->options->any_build_id && !info->build_id_derived && info->build_id_len &&
	    (info->build_id_len != m->id_len || memcmp(info->build_id, m->id, m->id_len))) {
		rc = sc_error_set(err, SC_EINVAL, "%s has another build ID", path);
		free(path);
	} else {
		rc = keep_built(m, b, path, err);
		m->built->to_store = s->to_store = !rc;
	}
	symcache_build_destroy(b);
	return rc;
}

/* ---- finding ---------------------------------------------------------------- */

static void open_module(struct symbols *s, struct symbols_module *m)
{
	struct sc_error err = { .msg = "" };
	int rc = read_cache(s, m, &err);

	if (rc == SC_EFORMAT && !s->store_failed) {
		cmd_error("%s", err.msg);
		m->told_damaged = true;
	}
	/* A damaged entry is as good as none. */
	if (rc)
		rc = build_module(s, m, &m->why_not);
	if (rc == SC_ENOTFOUND)
		m->why_not = (struct sc_error){ .code = rc };
}

struct symbols_module *symbols_find(struct symbols *s, const uint8_t *id, size_t len)
{
	struct symbols_module **chain, *m;

	if (len > SYMCACHE_BUILD_ID_MAX)
		return NULL;
	pthread_mutex_lock(&s->lock);
	chain = &s->chains[XXH3_64bits(id, len) % CHAINS];
	for (m = *chain; m; m = m->next)
		if (m->id_len == len && !memcmp(m->id, id, len))
			break;
	if (!m && s->num_missing < MISSING_MAX) {
		m = must_calloc(1, sizeof(*m));
		memcpy(m->id, id, len);
		m->id_len = len;
		open_module(s, m);
		s->num_missing += m->why_not.code != 0;
		m->next = *chain;
		*chain = m;
	}
	pthread_mutex_unlock(&s->lock);
	return m;
}

/* ---- storing ---------------------------------------------------------------- */

static void fill(void *ctx, void *dst)
{
	const struct built *built = ctx;
	memcpy(dst, built->bytes, built->entry.cache_size);
}

static int store_built(struct symbols *s, struct sc_error *err)
{
	struct symstore *store;
	struct symstore_writer *writer;
	int rc = open_store(s->options->store, SYMSTORE_WRITE, &store, err);

	if (rc)
		return rc;
	rc = symstore_write_begin(store, &writer, err);
	for (size_t i = 0; i < CHAINS && !rc; i++) {
		for (struct symbols_module *m = s->chains[i]; m && !rc; m = m->next) {
			if (m->missed)
				rc = symcache_debuginfod_remember(writer, m->id, m->id_len, err);
			else if (m->built && m->built->to_store)
				rc = symstore_put(writer, &m->built->entry, fill, m->built, NULL,
						  err);
			m->missed = false;
			if (m->built)
				m->built->to_store = false;
			if (rc)
				symstore_abort(writer);
		}
	}
	if (!rc)
		rc = symstore_commit(writer, err);
	symstore_close(store);
	return rc;
}

void symbols_settle(struct symbols *s)
{
	struct sc_error err;

	symstore_read_end(s->reader);
	s->reader = NULL;
	s->snapshot++;
	if (!s->to_store)
		return;
	s->to_store = false;
	close_store(s);
	if (store_built(s, &err))
		cmd_error("what was indexed is not kept for the next time: %s", err.msg);
}
