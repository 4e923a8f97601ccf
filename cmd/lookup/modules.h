/*
 * modules.h: the SymCaches of the modules that queries name, each found or made
 * once.
 *
 * A module is an ELF file, a build ID or a SymCache file. The cache of an ELF
 * file comes from the store by the file's build ID, else it is built in memory
 * and kept. What failed for a file fails again without another try; the store is asked
 * again, as it may have the build ID by now.
 */
#ifndef CMD_MODULES_H
#define CMD_MODULES_H

#include "cmd/lookup/query.h"
#include "cmd/index/fetch.h"
#include "symcache/symcache.h"

struct modules;

/* Both are borrowed: the option --store or NULL, and directories for separate
 * debug files (NULL-terminated) or NULL. */
struct modules *modules_create(const char *store, const char *const *debug_dirs);
void modules_destroy(struct modules *m); /* NULL is fine */

/* What the store lacks is fetched, and stored. */
void modules_fetch(struct modules *m, struct symcache_debuginfod *fetcher);

/*
 * The cache of a module; valid until modules_release(). SC_ENOTFOUND: the store
 * does not have the build ID, or only a damaged entry; else what opening and
 * building can give; messages name the module. `*again`: this module failed before.
 */
int modules_get(struct modules *m, enum module_kind kind, const char *name,
		const struct symcache **ret, bool *again, struct sc_error *err);

/*
 * The ELF files that the cache was made of, best first, at most two, as far as it is
 * known: the file itself, or what the store's entry says. ret[] ends with NULL; the
 * strings live as long as the cache. To be called when modules_get() gave that.
 */
void modules_sources(struct modules *m, enum module_kind kind, const char *name,
		     const char *ret[3]);

/* After look-ups in a cache of modules_get(): may what they found be used? If not, its
 * entry in the store is damaged, which is said once on stderr; modules_get() then has
 * another cache for a file, and none for a build ID. */
bool modules_sound(const struct symcache *cache);

/* Lets go of the store's snapshot, so that a program that waits for input for
 * hours neither holds back the store's pages nor misses what is indexed. */
void modules_release(struct modules *m);

#endif
