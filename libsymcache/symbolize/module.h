/*
 * module.h: a module and its cache, as the room sees it.
 *
 * A module has two places for a cache, the store's and one that was made here, so that
 * threads that still look into the one are not disturbed when the other takes over.
 */
#ifndef SC_MODULE_H
#define SC_MODULE_H

#include <pthread.h>
#include <stdatomic.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/name_list.h"
#include "libsymcache/symbolize/symbolize.h"

enum {
	SC_MODULE_OF_ID = SYMCACHE_MODULE_CACHE + 1, /* by bytes instead of hex digits */
	SC_CHAINS = 1 << 12,                         /* of modules */
};

/* A cache that was made here, out of a file. */
struct sc_made {
	struct symcache_map map; /* of a SymCache file; bytes NULL: it is none */
	void *bytes;             /* else what was built; NULL: nothing */
	size_t size;
	struct symcache cache;
	bool to_store;           /* what was built, with this entry: */
	struct symstore_entry entry;
	char *path, *debug_path, *names; /* of the entry */
	struct symbundle_fetched fetched; /* where bytes and entry come from; cache NULL: not from there */
};

struct symcache_module {
	struct symcache_caches *caches;
	unsigned kind;       /* enum symcache_module_kind or SC_MODULE_OF_ID */
	char *name;          /* name_len bytes and a NUL */
	size_t name_len;
	uint32_t number;     /* of all modules */
	_Atomic(const struct symcache *) cache; /* NULL: not opened, or there is none */
	_Atomic uint64_t snapshot;              /* that it was read from; 0: not the store's */
	unsigned generation; /* another one: other bytes in the place of the cache */

	/* Finds or makes its cache, where there is none that can be used now: sc_module_open(). */
	int (*open)(struct symcache_module *m, bool *reported, struct sc_error *err);
	/* sc_first_outline(), where there are first answers. */
	const struct symcache *(*outline)(struct symcache_module *m);

	struct symcache_symbol_table *own; /* in place of the cache's; NULL: there is none */
	/* Asks it: symcache_symbol_table_find(). */
	bool (*find_own)(const struct symcache_symbol_table *t, uint64_t vaddr,
			 struct symcache_named_symbol *ret);

	/* Under the lock of the caches. */
	struct sc_error failed; /* code 0: it is not */
	uint64_t tried;         /* the snapshot when it failed */
	bool damage_noticed;
	bool asked_servers, missed; /* missed: to be remembered in the store */
	bool asked_sites, sites_missed;
	bool gaps_noticed;
	bool to_be_built;       /* a file that was not found in the store, nor on servers */
	bool storable;          /* what is built of it is to be stored */
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t id_len;          /* 0: not known, or not of use */
	struct symcache stored;
	struct symcache_guard guard; /* of it */
	uint32_t marked_used;   /* see symstore_mark_used() */
	struct sc_made made;
	_Atomic(struct sc_first *) first; /* NULL: there are none */
	struct symcache_module *next; /* in its hash chain */
};

struct symcache_caches {
	struct symcache_caches_options options;
	pthread_mutex_t lock;
	struct symstore *store;          /* NULL: not open */
	struct symstore_reader *reader;
	struct sc_error store_failed;    /* to be read in this snapshot; code 0: it did not */
	_Atomic uint64_t snapshot;       /* its number, from 1 */
	bool to_store;                   /* something is */
	bool to_complete;                /* something that is to be stored has first answers */
	uint32_t num_modules, num_failed;
	struct symcache_module *chains[SC_CHAINS];
	struct sc_name_list named;
	uint64_t named_snapshot;         /* that this is of; 0: none yet */
};

/* Makes sure of a snapshot of the store: s->reader. Under the lock. */
int sc_caches_read(struct symcache_caches *s, struct sc_error *err);

/* The `open` of modules that the store, files and servers give caches to. */
int sc_module_open(struct symcache_module *m, bool *reported, struct sc_error *err);

/* The same of a cache for these addresses of code alone, which may be a first
 * answer: m->first. */
int sc_module_open_at(struct symcache_module *m, const uint64_t vaddrs[], size_t n,
		      bool *reported, struct sc_error *err);

void sc_made_deinit(struct sc_made *made);

/* Says once that something of a file is left out. */
void sc_notice_gaps(struct symcache_module *m, const char *path,
		    const struct symcache_build_info *info);

/* First answers of a module: first.c. */
struct sc_first;
void sc_first_destroy(struct sc_first *f); /* NULL is fine */

/* A cache that holds for this address; NULL: there is none. Needs no lock. */
const struct symcache *sc_first_find(const struct sc_first *f, uint64_t vaddr);

/* Makes m->first hold these addresses. Fails where the whole cache is to be asked: for too many,
 * at last, where nothing is known there, or as symcache_build_create() does. Under the lock. */
int sc_first_make(struct symcache_module *m, const uint64_t vaddrs[], size_t n);

/* Its image and segments, once there may be first answers; NULL: out of memory, or the file is not
 * what it was. Under the lock. */
const struct symcache *sc_first_outline(struct symcache_module *m);

static inline void sc_notify(const struct symcache_caches *s, enum symcache_notice_kind kind,
			     const char *file, const char *message)
{
	const struct symcache_notice notice = { kind, file, message, NULL };

	if (s->options.notify)
		s->options.notify(s->options.ctx, &notice);
}

/* The cache of a module, if it can be used now, without a search; else NULL. */
static inline const struct symcache *sc_module_usable(const struct symcache_module *m)
{
	const struct symcache *cache = atomic_load_explicit(&m->cache, memory_order_acquire);

	return cache && !symcache_damaged(cache) &&
	       (!m->snapshot || m->snapshot == m->caches->snapshot) ? cache : NULL;
}

/* The cache of a module; NULL: there is none. */
static inline const struct symcache *sc_module_cache(struct symcache_module *m)
{
	const struct symcache *cache = sc_module_usable(m);

	if (__builtin_expect(!cache, 0))
		return m->open(m, NULL, NULL) ? NULL :
		       atomic_load_explicit(&m->cache, memory_order_acquire);
	return cache;
}

/* A cache for this address of code: that of the module, if it has one by now, or a first answer
 * that was made of it. */
static inline const struct symcache *sc_module_cache_at(struct symcache_module *m, uint64_t vaddr)
{
	const struct sc_first *first = atomic_load_explicit(&m->first, memory_order_acquire);
	const struct symcache *cache = NULL;

	if (__builtin_expect(first && !atomic_load_explicit(&m->cache, memory_order_acquire), 0))
		cache = sc_first_find(first, vaddr);
	return cache ? cache : sc_module_cache(m);
}

#endif
