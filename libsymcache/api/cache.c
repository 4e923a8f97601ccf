/*
 * Caches, and their frames as numbers: see <symcache.h>.
 *
 * Symbolizers remember modules by their number. Numbers are small, so those of caches that are
 * gone are given again; the generation shows that it is another one.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/api/api.h"

/* What modules belong to that have a cache from the start. */
struct symcache_caches api_no_caches = { .lock = PTHREAD_MUTEX_INITIALIZER, .snapshot = 1 };

static pthread_mutex_t numbers_lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(uint32_t) numbers_free;
static uint32_t numbers_used;
static unsigned generations;

/* The cache is damaged. */
static int open_again(struct symcache_module *m, bool *reported, struct sc_error *err)
{
	(void)m;
	if (reported)
		*reported = true;
	return sc_error_set(err, SC_EFORMAT, "the cache is damaged");
}

void api_cache_init(struct symcache_cache *c)
{
	c->module.caches = &api_no_caches;
	c->module.open = open_again;
	c->module.cache = &c->cache;
	memcpy(c->module.id, c->id, c->id_len);
	c->module.id_len = c->id_len;
	pthread_mutex_lock(&numbers_lock);
	c->module.number = numbers_free.len ? numbers_free.data[--numbers_free.len] :
					      numbers_used++;
	c->module.generation = ++generations;
	pthread_mutex_unlock(&numbers_lock);
	c->users = 1;
}

void api_cache_destroy(struct symcache_cache *c)
{
	uint32_t *number;

	pthread_mutex_lock(&numbers_lock);
	number = vec_push(&numbers_free);
	if (number) /* else it is not given again */
		*number = c->module.number;
	if (numbers_free.len == numbers_used) {
		vec_deinit(&numbers_free);
		numbers_used = 0;
	}
	pthread_mutex_unlock(&numbers_lock);
	symcache_guard_deinit(&c->guard);
	symcache_map_close(&c->map);
	if (c->release)
		c->release(c->ctx);
	free(c);
}

/* Of a file, or with `path` NULL of bytes. */
static int open_cache(const char *path, const void *data, size_t size, struct symcache_cache **ret,
		      struct symcache_error *err)
{
	struct symcache_cache *c = calloc(1, sizeof(*c));
	struct sc_error e;

	*ret = NULL;
	if (!c)
		return api_error(err, SC_ENOMEM, "out of memory");
	if (path ? symcache_map_open(path, &c->map, &e) : symcache_open(&c->cache, data, size, &e)) {
		free(c);
		return api_fail(err, &e);
	}
	if (path)
		c->cache = c->map.cache;
	api_cache_init(c);
	*ret = c;
	return 0;
}

int symcache_cache_open(const char *path, struct symcache_cache **ret, struct symcache_error *err)
{
	return open_cache(path, NULL, 0, ret, err);
}

int symcache_cache_open_memory(const void *data, size_t size, void (*release)(void *ctx), void *ctx,
			       struct symcache_cache **ret, struct symcache_error *err)
{
	int rc = open_cache(NULL, data, size, ret, err);

	if (!rc) {
		(*ret)->release = release;
		(*ret)->ctx = ctx;
	}
	return rc;
}

const void *symcache_cache_bytes(const struct symcache_cache *c, size_t *size)
{
	*size = c->cache.size;
	return c->cache.data;
}

const uint8_t *symcache_cache_build_id(const struct symcache_cache *c, size_t *len)
{
	*len = c->id_len;
	return c->id;
}

uint64_t symcache_cache_load_base(const struct symcache_cache *c)
{
	return symcache_load_base(&c->cache);
}

uint32_t symcache_cache_num_functions(const struct symcache_cache *c)
{
	return c->cache.header->num_functions;
}

uint32_t symcache_cache_num_files(const struct symcache_cache *c)
{
	return c->cache.header->num_files;
}

int symcache_cache_damaged(const struct symcache_cache *c)
{
	return symcache_damaged(&c->cache);
}

/* ---- frames as numbers ------------------------------------------------------------------ */

/* They are handed on as they are. */
_Static_assert(sizeof(struct symcache_ids) == sizeof(struct symcache_frame_ids) &&
	       offsetof(struct symcache_ids, function) == offsetof(struct symcache_frame_ids, function) &&
	       offsetof(struct symcache_ids, file) == offsetof(struct symcache_frame_ids, file) &&
	       offsetof(struct symcache_ids, line) == offsetof(struct symcache_frame_ids, line) &&
	       offsetof(struct symcache_ids, column) == offsetof(struct symcache_frame_ids, column) &&
	       SYMCACHE_UNKNOWN == SYMCACHE_NONE, "");

/* What lies below the base is nowhere: it must not wrap around. */
static uint64_t relative(uint64_t base, uint64_t vaddr)
{
	return vaddr < base ? UINT64_MAX : vaddr - base;
}

/* Writes what is still to come behind the `n` frames that were there; how many there are. */
static size_t rest(struct symcache_frames *frames, size_t n, struct symcache_ids ret[], size_t max)
{
	struct symcache_frame_ids ids;

	for (; symcache_next_ids(frames, &ids); n++)
		if (n < max)
			memcpy(&ret[n], &ids, sizeof(ids));
	return n;
}

size_t symcache_frame_ids(const struct symcache_cache *c, uint64_t vaddr, struct symcache_ids ret[],
		    size_t max)
{
	struct symcache_frames frames;

	if (!symcache_lookup(&c->cache, relative(symcache_load_base(&c->cache), vaddr), &frames))
		return 0;
	return rest(&frames, 0, ret, max);
}

size_t symcache_frame_ids_batch(const struct symcache_cache *c, const uint64_t vaddr[], size_t n,
			  uint64_t first[], struct symcache_ids ret[], size_t max)
{
	enum { MOST = 8, READS = 4 }; /* of each address: index, ranges, location, column */
	const uint64_t base = symcache_load_base(&c->cache);
	struct symcache_frame_ids ids[SYMCACHE_BATCH][MOST];
	struct symcache_query queries[SYMCACHE_BATCH];
	size_t total = 0;

	if (c->cache.guard)
		symcache_guard_expect(c->cache.guard, n * READS);
	for (size_t i = 0; i < n; i += SYMCACHE_BATCH) {
		const size_t m = n - i < SYMCACHE_BATCH ? n - i : SYMCACHE_BATCH;

		for (size_t k = 0; k < m; k++) {
			queries[k].cache = &c->cache;
			queries[k].rel_pc = relative(base, vaddr[i + k]);
		}
		symcache_lookup_batch(queries, m);
		symcache_ids_batch(queries, m, ids[0], MOST);
		for (size_t k = 0; k < m; k++) {
			const size_t known = queries[k].num_frames;
			const size_t room = total < max ? max - total : 0;

			first[i + k] = total;
			memcpy(&ret[total], ids[k], (known < room ? known : room) * sizeof(*ret));
			total = rest(&queries[k].frames, total + known, ret, max);
		}
	}
	first[n] = total;
	return total;
}

const char *symcache_linkage_name(const struct symcache_cache *c, uint32_t function, size_t *len)
{
	const struct symcache_function *f = &c->cache.functions[function];
	struct sc_str name = { NULL, 0 };

	if (function < c->cache.header->num_functions && symcache_valid(&c->cache, f, sizeof(*f)))
		name = symcache_string(&c->cache, f->name);
	*len = name.len;
	return name.ptr;
}

uint64_t symcache_function_entry(const struct symcache_cache *c, uint32_t function)
{
	const struct symcache_function *f = &c->cache.functions[function];

	if (function >= c->cache.header->num_functions ||
	    !symcache_valid(&c->cache, f, sizeof(*f)) || f->entry_pc == SYMCACHE_NONE)
		return UINT64_MAX;
	return symcache_load_base(&c->cache) + f->entry_pc;
}
