/*
 * finder.h: what is known of a file (its build ID, its path, the name of a kernel) → its module
 * (caches.h).
 *
 * With a build ID: the cache of that ID in the store, debug directories or on servers; else the
 * file at the path, if it has that ID. Without a build ID the last part of the path decides: what
 * an option binds that name to, else the only entry of the store with that name. If a build ID is
 * not found, the name is not tried.
 *
 * A finder does not change when it is used, so threads may share it.
 */
#ifndef SC_FINDER_H
#define SC_FINDER_H

#include "libsymcache/symbolize/symbolize.h"

struct symcache_file_id;

/* All is borrowed. */
struct symcache_finder {
	/* symcache_find_module, or another function, for which `ctx` is and which may ignore the
	 * other members. NULL: nothing is found. */
	int (*find)(const struct symcache_finder *f, const struct symcache_file_id *of,
		    struct symcache_module **ret, struct sc_error *err);
	void *ctx;
	struct symcache_caches *caches;
	const char *const *modules; /* NAME=BUILDID, NAME=FILE or NAME=TAG */
	size_t num_modules;
	const char *option;         /* what messages call that option; NULL: there is none */
	bool first;                 /* do not make the whole cache of a file that is not in the store:
	                             * the caller will use symcache_module_cache_at() */
	bool no_files;              /* find modules in the store only, not files on this machine */
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

/* The last part of a path, also of one in an archive, x.apk!libfoo.so. False: it is empty, or
 * longer than SYMCACHE_FILE_NAME_MAX. */
bool symcache_file_name(struct sc_str path, char name[SYMCACHE_FILE_NAME_MAX + 1]);

/*
 * Finds a module and opens its cache. SC_ENOTFOUND with an empty message: no entry has that name;
 * other errors as symcache_caches_find_name() and symcache_module_cache(). On an error *ret is
 * NULL.
 */
int symcache_find_module(const struct symcache_finder *f, const struct symcache_file_id *of,
			 struct symcache_module **ret, struct sc_error *err);

/* Checks the rows of `modules`. SC_EINVAL: one is not NAME=…, or its value is neither a file, nor
 * the digits of a build ID, nor a tag of an entry in the store. */
int symcache_finder_check(const struct symcache_finder *f, struct sc_error *err);

#endif
