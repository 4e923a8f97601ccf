/*
 * symbols.h: build ID → SymCache for the filter: from the store, else built
 * from a separate debug file and, at a good moment, put into the store.
 *
 * A module, once found, stays, and may be used by any number of threads; the
 * caches of the store are read in place from one snapshot. When a live input
 * pauses, symbols_settle() lets go of the snapshot and stores what was built.
 */
#ifndef CMD_SYMBOLS_H
#define CMD_SYMBOLS_H

#include "symcache/symcache.h"

struct symbols;

struct symbols_options {
	const char *store;             /* the option --store or NULL */
	const char *const *debug_dirs; /* hold .build-id/xx/rest.debug; ends with NULL */
	bool any_build_id;             /* take debug files with another build ID, too */
	struct symcache_debuginfod *fetcher;       /* for what is nowhere here; or NULL */
};

struct symbols_module {
	struct symcache cache; /* see symbols_cache() */
	struct symcache_guard guard; /* of a cache in the store */
	bool told_damaged;
	uint32_t marked_used;  /* see symstore_mark_used() */
	uint64_t load_base;
	_Atomic unsigned snapshot; /* that `cache` was read from; 0: it is in memory */
	struct sc_error why_not; /* code 0: there are symbols */
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t id_len;
	struct built *built;   /* made here; NULL: from the store */
	bool missed;           /* no server had it: to be remembered */
	struct symbols_module *next; /* in its hash chain */
};

/* Never fails for want of a store. `options` is borrowed. */
struct symbols *symbols_create(const struct symbols_options *options);
/* Stores what was built. NULL is fine. */
void symbols_destroy(struct symbols *s);

/*
 * The module with this build ID: always the same for the same ID; with
 * why_not.code != 0 if it has no symbols. NULL: more IDs without symbols than
 * anybody needs. Thread-safe. A debug file that is found is indexed now.
 */
struct symbols_module *symbols_find(struct symbols *s, const uint8_t *id, size_t len);

/* Number of the snapshot at hand. */
unsigned symbols_snapshot(const struct symbols *s);

/* What symbols_cache() does when the snapshot has changed. Thread-safe. */
bool symbols_refresh(struct symbols *s, struct symbols_module *m);

/* Says once that a module's cache turned out damaged; from then on it has no symbols.
 * Thread-safe. */
void symbols_tell_damaged(struct symbols *s, struct symbols_module *m);

/* After look-ups in a module's cache: may what they found be used? */
static inline bool symbols_sound(struct symbols *s, struct symbols_module *m)
{
	if (!symcache_damaged(&m->cache))
		return true;
	symbols_tell_damaged(s, m);
	return false;
}

/* The cache of a module that has one; NULL: the store has lost it. */
static inline const struct symcache *symbols_cache(struct symbols *s, struct symbols_module *m)
{
	if (m->snapshot && m->snapshot != symbols_snapshot(s) && !symbols_refresh(s, m))
		return NULL;
	return &m->cache;
}

/* Stores what was built and ends the snapshot. Nobody may be using `s`. */
void symbols_settle(struct symbols *s);

#endif
