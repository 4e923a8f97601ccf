/*
 * Stores, their snapshots and entries: see <symcache.h>.
 *
 * A handle begins a snapshot when it is first asked, and keeps it until it is refreshed. The
 * snapshot has the caches that were asked for, so that the same question gives the same cache,
 * with what was remembered of it; all of them go together, with the last reference to one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/api/api.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/base/file.h"

static int open_store(struct symcache_store *s, const char *path, struct sc_error *err)
{
	int rc = 0;

	if (path && !(s->path = strdup(path)))
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	if (!path && (rc = symstore_default_path(&s->path, err)))
		return rc;
	if (!path && s->write)
		rc = sc_make_parents(s->path, err);
	if (rc)
		return rc;
	return s->write ? symstore_open(s->path, SYMSTORE_WRITE, &s->file, err) :
		symstore_open_for_all(s->path, &s->file, err);
}

int symcache_store_open(const char *path, uint32_t flags, struct symcache_store **ret,
			struct symcache_error *err)
{
	struct symcache_store *s;
	struct sc_error e;

	*ret = NULL;
	if (flags & ~SYMCACHE_STORE_WRITE)
		return api_error(err, SC_EINVAL, "unknown flags 0x%x", flags);
	s = calloc(1, sizeof(*s));
	if (!s)
		return api_error(err, SC_ENOMEM, "out of memory");
	s->users = 1;
	s->write = flags & SYMCACHE_STORE_WRITE;
	pthread_mutex_init(&s->lock, NULL);
	if (open_store(s, path, &e)) {
		free(s->path);
		free(s);
		return api_fail(err, &e);
	}
	*ret = s;
	return 0;
}

struct symcache_store *symcache_store_ref(struct symcache_store *s)
{
	atomic_fetch_add(&s->users, 1);
	return s;
}

void symcache_store_close(struct symcache_store *s)
{
	if (!s || atomic_fetch_sub(&s->users, 1) > 1)
		return;
	if (s->current)
		api_snapshot_leave(s->current);
	if (symstore_is_ours(s->file))
		symstore_close(s->file);
	free(s->path);
	free(s);
}

const char *symcache_store_path(const struct symcache_store *s)
{
	return s->path;
}

/* ---- snapshots ---------------------------------------------------------------------------- */

/* The current snapshot, which is begun if there is none. Under the lock. */
static int current(struct symcache_store *s, struct api_snapshot **ret, struct sc_error *err)
{
	struct api_snapshot *snapshot = s->current;
	int rc;

	if (!symstore_is_ours(s->file))
		return sc_error_set(err, SC_EINVAL,
				    "store %s was opened before fork(): open it anew", s->path);
	*ret = snapshot;
	if (snapshot)
		return 0;
	snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	rc = symstore_read_begin(s->file, &snapshot->reader, err);
	if (rc) {
		free(snapshot);
		return rc;
	}
	snapshot->file = symstore_share(s->file);
	snapshot->users = 1;
	*ret = s->current = snapshot;
	return 0;
}

/* Under the lock. */
static void drop_current(struct symcache_store *s)
{
	if (s->current)
		api_snapshot_leave(s->current);
	s->current = NULL;
}

void symcache_store_refresh(struct symcache_store *s)
{
	pthread_mutex_lock(&s->lock);
	drop_current(s);
	pthread_mutex_unlock(&s->lock);
}

int api_store_may_use(struct symcache_store *s, bool write, struct sc_error *err)
{
	if (write && !s->write)
		return sc_error_set(err, SC_EINVAL, "store %s was not opened for writing", s->path);
	if (!symstore_is_ours(s->file))
		return sc_error_set(err, SC_EINVAL,
				    "store %s was opened before fork(): open it anew", s->path);
	if (write)
		symcache_store_refresh(s);
	return 0;
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* A damaged entry is kept as well, so that it is read once. */
static int get_locked(struct symcache_store *s, const uint8_t *id, size_t len,
		      struct symcache_cache **ret, struct sc_error *err)
{
	struct api_snapshot *snapshot;
	struct symcache_cache *c;
	int rc = current(s, &snapshot, err);

	if (rc)
		return rc;
	for (c = snapshot->caches; c; c = c->next) {
		if (c->id_len == len && !memcmp(c->id, id, len)) {
			*ret = symcache_cache_ref(c);
			return 0;
		}
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	rc = symstore_get_guarded(snapshot->reader, id, len, &c->guard, &c->cache, err);
	if (rc) {
		symcache_guard_deinit(&c->guard);
		free(c);
		return rc;
	}
	memcpy(c->id, id, len);
	c->id_len = len;
	c->snapshot = snapshot;
	api_cache_init(c);
	c->next = snapshot->caches;
	snapshot->caches = c;
	symstore_mark_used(s->file, id, len, &c->module.marked_used);
	*ret = symcache_cache_ref(c);
	return 0;
}

int symcache_store_get(struct symcache_store *s, const uint8_t *build_id, size_t len,
		       struct symcache_cache **ret, struct symcache_error *err)
{
	struct sc_error e;
	int rc;

	*ret = NULL;
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return api_error(err, SC_EINVAL, "a build ID has 1 to %d bytes",
				 SYMCACHE_BUILD_ID_MAX);
	pthread_mutex_lock(&s->lock);
	rc = get_locked(s, build_id, len, ret, &e);
	pthread_mutex_unlock(&s->lock);
	return rc ? api_fail(err, &e) : 0;
}

static int find_locked(struct symcache_store *s, enum api_by by, const char *text,
		       struct symcache_cache **ret, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct api_snapshot *snapshot;
	size_t len;
	int rc = current(s, &snapshot, err), by_id = SC_ENOTFOUND;

	if (rc)
		return rc;
	if (by != API_BY_NAME)
		by_id = rc = symstore_find_id(snapshot->reader, text, id, &len, err);
	if (by == API_BY_NAME || (by == API_BY_EITHER &&
	    (rc == SC_ENOTFOUND ||
	     (rc == SC_EINVAL && text[strspn(text, "0123456789abcdefABCDEF")])))) {
		struct sc_error why;

		rc = symstore_find_name(snapshot->reader, text, id, &len, &why);
		if (rc && (rc != SC_ENOTFOUND || by_id != SC_ENOTFOUND || by == API_BY_NAME))
			*err = why;
	}
	return rc ? rc : get_locked(s, id, len, ret, err);
}

int api_store_find(struct symcache_store *s, enum api_by by, const char *text,
		   struct symcache_cache **ret, struct symcache_error *err)
{
	struct sc_error e;
	int rc;

	*ret = NULL;
	if (!text)
		return api_error(err, SC_EINVAL, "NULL in place of a build ID or a name");
	pthread_mutex_lock(&s->lock);
	rc = find_locked(s, by, text, ret, &e);
	pthread_mutex_unlock(&s->lock);
	return rc ? api_fail(err, &e) : 0;
}

static int find_kernel_locked(struct symcache_store *s, const char *name, const char *release,
			      struct symcache_cache **ret, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct api_snapshot *snapshot;
	size_t len;
	int rc = current(s, &snapshot, err);

	if (!rc)
		rc = sc_name_list_read(&snapshot->names, snapshot->reader, err);
	if (!rc)
		rc = sc_name_list_kernel(&snapshot->names, name, release, id, &len, err);
	return rc ? rc : get_locked(s, id, len, ret, err);
}

int api_store_find_kernel(struct symcache_store *s, const char *name, const char *release,
			  struct symcache_cache **ret, struct symcache_error *err)
{
	struct sc_error e;
	int rc;

	*ret = NULL;
	pthread_mutex_lock(&s->lock);
	rc = find_kernel_locked(s, name, release, ret, &e);
	pthread_mutex_unlock(&s->lock);
	return rc ? api_fail(err, &e) : 0;
}

int symcache_store_find(struct symcache_store *s, const char *text, struct symcache_cache **ret,
			struct symcache_error *err)
{
	return api_store_find(s, API_BY_EITHER, text, ret, err);
}

int symcache_store_find_build_id(struct symcache_store *s, const char *hex,
				 struct symcache_cache **ret, struct symcache_error *err)
{
	return api_store_find(s, API_BY_BUILD_ID, hex, ret, err);
}

int symcache_store_find_name(struct symcache_store *s, const char *name,
			     struct symcache_cache **ret, struct symcache_error *err)
{
	return api_store_find(s, API_BY_NAME, name, ret, err);
}

/* ---- entries ---------------------------------------------------------------------------- */

struct each {
	symcache_entry_fn *fn;
	void *ctx;
	int result;
};

static bool on_entry(void *ctx, const struct symstore_entry *entry)
{
	struct each *each = ctx;
	const struct symcache_entry e = { *entry };

	each->result = each->fn(each->ctx, &e);
	return !each->result;
}

int symcache_store_each(struct symcache_store *s, const char *prefix, symcache_entry_fn *fn,
			void *ctx, struct symcache_error *err)
{
	struct each each = { fn, ctx, 0 };
	uint8_t id[SYMCACHE_BUILD_ID_MAX] = { 0 };
	struct api_snapshot *snapshot;
	struct sc_error e;
	size_t nibbles = 0;
	int rc = prefix && *prefix ? symcache_build_id_parse(prefix, id, &nibbles, &e) : 0;

	if (!fn)
		return api_error(err, SC_EINVAL, "there is no function");
	if (rc)
		return api_fail(err, &e);
	pthread_mutex_lock(&s->lock);
	rc = current(s, &snapshot, &e);
	if (!rc)
		atomic_fetch_add(&snapshot->users, 1);
	pthread_mutex_unlock(&s->lock);
	if (rc)
		return api_fail(err, &e);
	rc = symstore_each(snapshot->reader, id, nibbles, on_entry, &each, &e);
	api_snapshot_leave(snapshot);
	return rc ? api_fail(err, &e) : each.result;
}

const uint8_t *symcache_entry_build_id(const struct symcache_entry *e, size_t *len)
{
	*len = e->e.build_id_len;
	return e->e.build_id;
}

const char *symcache_entry_source_path(const struct symcache_entry *e)
{
	return e->e.source_path;
}

const char *symcache_entry_debug_path(const struct symcache_entry *e)
{
	return e->e.debug_path;
}

const char *symcache_entry_tags(const struct symcache_entry *e)
{
	return e->e.tags;
}

uint64_t symcache_entry_size(const struct symcache_entry *e)
{
	return e->e.cache_size;
}

int64_t symcache_entry_time(const struct symcache_entry *e)
{
	return e->e.time;
}

uint32_t symcache_entry_sources(const struct symcache_entry *e)
{
	return e->e.sources;
}
