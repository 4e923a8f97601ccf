/*
 * api.h: what stands behind the handles of <symcache.h>.
 *
 * A file is open once in a process, whoever asks for it: symstore_open(). A handle has a
 * snapshot of it; caches belong to the snapshot that they were found in, and keep it.
 */
#ifndef SC_API_H
#define SC_API_H

#include <pthread.h>
#include <stdatomic.h>
#include <symcache.h>

#include "libsymcache/api/private.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/name_list.h"
#include "libsymcache/symbolize/symbolizer.h"

/* ---- store.c ---------------------------------------------------------------------------- */

struct api_snapshot {
	atomic_uint users;       /* its caches' references and, while it is current, the store */
	struct symstore *file;
	struct symstore_reader *reader;
	struct symcache_cache *caches; /* those asked for; under the lock of the store */
	struct sc_name_list names;     /* of kernels; the same */
};

struct symcache_store {
	atomic_uint users;
	struct symstore *file;
	char *path;
	bool write;
	pthread_mutex_t lock;
	struct api_snapshot *current;  /* NULL: none yet */
};

struct symcache_entry {
	struct symstore_entry e;
};

/* snapshot.c */
void api_snapshot_leave(struct api_snapshot *snapshot);

/* What a text is taken for. */
enum api_by {
	API_BY_EITHER,   /* as symcache_store_find() */
	API_BY_BUILD_ID, /* hex digits, the whole or the beginning */
	API_BY_NAME,     /* the last part of a path */
};
/* NULL in place of a text is SC_EINVAL. */
int api_store_find(struct symcache_store *s, enum api_by by, const char *text,
		   struct symcache_cache **ret, struct symcache_error *err);

/* A kernel or one of its modules, as symcache_caches_find_kernel(). */
int api_store_find_kernel(struct symcache_store *s, const char *name, const char *release,
			  struct symcache_cache **ret, struct symcache_error *err);

/* Is libsymcache-build of the same version? Else SC_EUNSUPPORTED. */
int api_check_version(const char *version, struct symcache_error *err);

/* SC_EINVAL: forked, or for writing and not opened so. Before writing, the snapshot goes, if
 * nothing of it is in use: it would be in the way of a commit. */
int api_store_may_use(struct symcache_store *s, bool write, struct sc_error *err);

/* ---- cache.c ------------------------------------------------------------------------------ */

struct symcache_cache {
	struct symcache cache;
	struct symcache_guard guard;
	struct symcache_module module;  /* as symbolizers see it */
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t id_len;
	struct api_snapshot *snapshot;  /* that it is of, and is counted by; or NULL: */
	atomic_uint users;
	struct symcache_map map;
	void (*release)(void *ctx);
	void *ctx;
	struct symcache_cache *next;    /* of the snapshot */
};

/* What modules belong to that have a cache from the start. */
extern struct symcache_caches api_no_caches;

/* With `cache` opened in it, ready for symbolizers. */
void api_cache_init(struct symcache_cache *c);
void api_cache_destroy(struct symcache_cache *c);

/* ---- resolver.c --------------------------------------------------------------------------- */

struct symcache_resolver {
	struct symcache_store *store;   /* NULL: not needed so far */
	VEC(struct symcache_store *) more; /* references */
	struct symcache_names *names;
	struct symcache_symbolizer *symbolizer;
	unsigned ahead_generation;      /* of the cache that addresses were announced for */
	VEC(struct symcache_frame) frames;
	VEC(char) text;                 /* copies */
	int reason;
};

/* A text that is not known. */
#define api_unknown "??"

/* Another cache may stand in the place of the one that addresses were announced for. */
static inline void api_forget_others(struct symcache_resolver *r, const struct symcache_cache *c)
{
	if (r->ahead_generation != c->module.generation)
		r->symbolizer->num_ahead = 0;
}

/* Makes r->frames of an answer, with one behind the last. False: out of memory. */
bool api_take_frames(struct symcache_resolver *r, const struct symcache_answer *a);

/* SYMCACHE_REASON_… */
int api_reason_of(enum symcache_reason reason);

/* Forgets all copies, and makes room for so many bytes of them, NULs counted. */
bool api_reserve_texts(struct symcache_resolver *r, size_t bytes);

/* A copy that ends with NUL, in that room; ptr NULL becomes api_unknown. */
const char *api_copy_text(struct symcache_resolver *r, struct sc_str s);

#endif
