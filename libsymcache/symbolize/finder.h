/*
 * finder.h: what is said of a file (its build ID, its path, the name of a kernel) → the module
 * of the source of caches that is meant.
 *
 * By a build ID that is one alone, in the store, debug directories, servers; where it is nowhere,
 * the file of that ID at the path, if there is one. Without a build ID by the last part of the
 * path: what an option binds that name to, else the only entry of the store that is called so.
 * A build ID that is nowhere is never replaced by a name.
 *
 * A finder is not changed by what is asked, so threads may share it.
 */
#ifndef SC_FINDER_H
#define SC_FINDER_H

#include "libsymcache/symbolize/symbolize.h"

struct symcache_file_id;

/* All is borrowed. */
struct symcache_finder {
	/* How it finds: symcache_find_module, or something else with `ctx`, which need not know
	 * caches. NULL: it finds nothing. */
	int (*find)(const struct symcache_finder *f, const struct symcache_file_id *of,
		    struct symcache_module **ret, struct sc_error *err);
	void *ctx;
	struct symcache_caches *caches;
	const char *const *modules; /* NAME=BUILDID, NAME=FILE or NAME=TAG */
	size_t num_modules;
	const char *option;         /* what messages call that option; NULL: there is none */
	bool first;                 /* of a file that is not in the store no whole cache need be
	                             * made: symcache_module_cache_at() comes next */
	bool no_files;              /* modules are of the store alone: what lies on this machine
	                             * does not count */
};

/* What is known of a file; borrowed. */
struct symcache_file_id {
	struct sc_str path;         /* or its last part; len 0: unknown. Of a kernel "vmlinux", or
	                             * its module's name */
	const uint8_t *build_id;
	size_t build_id_len;        /* 0: unknown */
	bool kernel;
	const char *bound;          /* the file or build ID that it is instead; NULL: none */
	struct sc_str release;       /* of the kernel, "6.1.0-56-amd64"; len 0: unknown */
};

enum { SYMCACHE_FILE_NAME_MAX = 255 };

/* The last part of a path, also of one in an archive, x.apk!libfoo.so; false: it is empty or longer
 * than that. */
bool symcache_file_name(struct sc_str path, char name[SYMCACHE_FILE_NAME_MAX + 1]);

/*
 * The module that is meant, whose cache could be opened. SC_ENOTFOUND with an empty message:
 * there is no entry of that name; else as symcache_caches_find_name() and
 * symcache_module_cache() have them. *ret is NULL then.
 */
int symcache_find_module(const struct symcache_finder *f, const struct symcache_file_id *of,
			 struct symcache_module **ret, struct sc_error *err);

/* Can every row of `modules` mean something? SC_EINVAL: one is not NAME=…, or what it gives is
 * neither a file, nor a build ID's digits, nor a tag of an entry in the store. */
int symcache_finder_check(const struct symcache_finder *f, struct sc_error *err);

#endif
