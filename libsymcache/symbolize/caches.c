/* Modules, each found again by its name: see caches.h. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "libsymcache/symbolize/module.h"

enum { FAILED_MAX = 1 << 16 }; /* modules without a cache that are remembered */

struct symcache_caches *symcache_caches_create(const struct symcache_caches_options *options)
{
	struct symcache_caches *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (options)
		s->options = *options;
	s->snapshot = 1;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

static void module_destroy(struct symcache_module *m)
{
	symcache_guard_deinit(&m->guard);
	sc_made_deinit(&m->made);
	sc_first_destroy(m->first);
	symcache_symbol_table_close(m->own);
	free(m->name);
	free(m);
}

void symcache_caches_destroy(struct symcache_caches *s)
{
	if (!s)
		return;
	symcache_caches_update(s);
	if (s->store != s->options.borrowed)
		symstore_close(s->store);
	for (size_t i = 0; i < SC_CHAINS; i++) {
		for (struct symcache_module *m = s->chains[i], *next; m; m = next) {
			next = m->next;
			module_destroy(m);
		}
	}
	sc_name_list_deinit(&s->named);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void symcache_caches_release_pages(struct symcache_caches *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->store)
		symstore_release_pages(s->store);
	pthread_mutex_unlock(&s->lock);
}

/* ---- modules ------------------------------------------------------------------ */

static struct symcache_module *new_module(struct symcache_caches *s, unsigned kind,
					  const void *name, size_t len)
{
	struct symcache_module *m = calloc(1, sizeof(*m));

	if (m)
		m->name = malloc(len + 1);
	if (!m || !m->name) {
		free(m);
		sc_memory_refused();
		return NULL;
	}
	memcpy(m->name, name, len);
	m->name[len] = 0;
	m->name_len = len;
	m->caches = s;
	m->kind = kind;
	m->open = sc_module_open;
	m->outline = sc_first_outline;
	m->find_own = symcache_symbol_table_find;
	m->number = s->num_modules++;
	return m;
}

static struct symcache_module *find(struct symcache_caches *s, unsigned kind, const void *name,
				    size_t len)
{
	struct symcache_module **chain, *m;

	pthread_mutex_lock(&s->lock);
	chain = &s->chains[XXH3_64bits_withSeed(name, len, kind) % SC_CHAINS];
	for (m = *chain; m; m = m->next)
		if (m->kind == kind && m->name_len == len && !memcmp(m->name, name, len))
			break;
	if (!m && s->num_failed < FAILED_MAX && (m = new_module(s, kind, name, len))) {
		m->next = *chain;
		*chain = m;
	}
	pthread_mutex_unlock(&s->lock);
	return m;
}

struct symcache_module *symcache_caches_module(struct symcache_caches *s,
					       enum symcache_module_kind kind, const char *name)
{
	return find(s, kind, name, strlen(name));
}

struct symcache_module *symcache_caches_module_of_id(struct symcache_caches *s,
						     const uint8_t *build_id, size_t len)
{
	return len > SYMCACHE_BUILD_ID_MAX ? NULL : find(s, SC_MODULE_OF_ID, build_id, len);
}

int symcache_module_cache(struct symcache_module *m, const struct symcache **ret, bool *reported,
			  struct sc_error *err)
{
	int rc = 0;

	if (reported)
		*reported = false;
	if (!symcache_module_is_open(m))
		rc = m->open(m, reported, err);
	*ret = rc ? NULL : atomic_load_explicit(&m->cache, memory_order_acquire);
	return rc;
}

int symcache_module_cache_at(struct symcache_module *m, const uint64_t vaddrs[], size_t n,
			     const struct symcache **ret, bool *reported, struct sc_error *err)
{
	int rc = 0;

	if (reported)
		*reported = false;
	*ret = NULL;
	if (!symcache_module_is_open(m))
		rc = sc_module_open_at(m, vaddrs, n, reported, err);
	if (!rc && (n || symcache_module_is_open(m)))
		*ret = sc_module_cache_at(m, n ? *vaddrs : 0);
	return rc;
}

/* Those that are not empty. */
static void name_files(const char *ret[3], const char *first, const char *second)
{
	size_t n = 0;

	if (first && *first)
		ret[n++] = first;
	if (second && *second)
		ret[n++] = second;
	ret[n] = NULL;
}

void symcache_module_files(struct symcache_module *m, const char *ret[3])
{
	struct symcache_caches *s = m->caches;
	struct symstore_entry entry;

	name_files(ret, NULL, NULL);
	pthread_mutex_lock(&s->lock);
	if (m->kind == SYMCACHE_MODULE_FILE)
		name_files(ret, m->name, NULL);
	else if (m->made.bytes)
		name_files(ret, m->made.entry.source_path, m->made.entry.debug_path);
	else if (m->id_len && s->reader &&
		 !symstore_entry(s->reader, m->id, m->id_len, &entry, NULL))
		name_files(ret, entry.source_path, entry.debug_path);
	pthread_mutex_unlock(&s->lock);
}

/* ---- by name ------------------------------------------------------------------ */

/* The names of this snapshot. Under the lock. */
static int read_names(struct symcache_caches *s, struct sc_error *ret)
{
	struct sc_error ignored, *err = ret ? ret : &ignored;
	int rc = sc_caches_read(s, err);

	if (!rc && s->named_snapshot != s->snapshot) {
		sc_name_list_deinit(&s->named);
		s->named_snapshot = s->snapshot;
	}
	return rc ? rc : sc_name_list_read(&s->named, s->reader, err);
}

int symcache_caches_find_name(struct symcache_caches *s, const char *name, const char *tag,
			      uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = read_names(s, err);
	if (!rc)
		rc = sc_name_list_find(&s->named, name, tag, id, len, err);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

size_t symcache_caches_nameless(struct symcache_caches *s, struct symstore_id *ret)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = read_names(s, NULL) ? 0 : s->named.nameless;
	*ret = s->named.nameless_id;
	pthread_mutex_unlock(&s->lock);
	return n;
}

bool symcache_caches_have_tag(struct symcache_caches *s, const char *tag)
{
	bool found;

	pthread_mutex_lock(&s->lock);
	found = read_names(s, NULL) != 0;
	for (size_t i = 0; !found && i < s->named.all.len; i++)
		found = symstore_tags_have(s->named.all.data[i].tags, tag);
	pthread_mutex_unlock(&s->lock);
	return found;
}

int symcache_caches_find_kernel(struct symcache_caches *s, const char *name, const char *release,
				uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len,
				struct sc_error *err)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = read_names(s, err);
	if (!rc)
		rc = sc_name_list_kernel(&s->named, name, release, id, len, err);
	pthread_mutex_unlock(&s->lock);
	return rc;
}
