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

#include "cmd/query.h"
#include "libsymcache/symcache.h"

struct modules;

/* Both are borrowed: the option --store or NULL, and directories for separate
 * debug files (NULL-terminated) or NULL. */
struct modules *modules_create(const char *store, const char *const *debug_dirs);
void modules_destroy(struct modules *m); /* NULL is fine */

/*
 * The cache of a module; valid until modules_release(). SC_ENOTFOUND: the store
 * does not have the build ID; else what opening and building can give; messages
 * name the module. `*again`: this module failed before.
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

/* Lets go of the store's snapshot, so that a program that waits for input for
 * hours neither holds back the store's pages nor misses what is indexed. */
void modules_release(struct modules *m);

#endif
