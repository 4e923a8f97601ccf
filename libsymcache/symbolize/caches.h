/*
 * caches.h: where the caches of modules come from: the store, files, debug folders, servers.
 *
 *   struct symcache_caches_options where = { .store = "/var/cache/a.store" };
 *   struct symcache_caches *caches = symcache_caches_create(&where);
 *   struct symcache_module *m = symcache_caches_module(caches, SYMCACHE_MODULE_FILE,
 *                                                      "/usr/bin/true");
 *
 * A module is what has a cache: a build ID, a file, or a SymCache file. It is opened when it is
 * first needed: its cache is found in the store, or made of the file and its debug file.
 *
 * Nothing here prints or exits. What callers cannot learn from answers (a damaged entry of the
 * store, a file of which parts are left out) goes to their notify function.
 */
#ifndef SYMCACHE_CACHES_H
#define SYMCACHE_CACHES_H

#include "libsymcache/bundle/sites.h"
#include "libsymcache/index/debuginfod.h"
#include "libsymcache/read/read.h"
#include "libsymcache/store/store.h"
#include "libsymcache/write/build.h"

struct symcache_caches;
struct symcache_module;


enum symcache_notice_kind {
	SYMCACHE_NOTICE_STORE,    /* the store cannot be read */
	SYMCACHE_NOTICE_DAMAGED,  /* an entry of the store is damaged and not used */
	SYMCACHE_NOTICE_FETCH,    /* the servers cannot be asked */
	SYMCACHE_NOTICE_GAPS,     /* a file was indexed, but not all of it */
	SYMCACHE_NOTICE_NOT_KEPT, /* what was indexed could not be stored */
};

/* Valid during the call. */
struct symcache_notice {
	enum symcache_notice_kind kind;
	const char *file;    /* the file that is used instead of the store, or was indexed; or
			      * NULL */
	const char *message; /* one line; NULL: see `info` */
	const struct symcache_build_info *info; /* SYMCACHE_NOTICE_GAPS; else NULL */
};

/* Everything is borrowed as long as the caches live. All zero: files only, no store. */
struct symcache_caches_options {
	/* The store: its path, or NULL. A missing file counts as an empty store, and is looked for
	 * again after each symcache_caches_update(). */
	const char *store;
	/* Opens the store, where its path is not known beforehand. NULL: symstore_open() of
	 * `store`; errors as those of that function. */
	int (*open_store)(void *ctx, enum symstore_mode mode, struct symstore **ret,
			  struct sc_error *err);
	/* The name of the store in messages; NULL: its path. */
	const char *store_name;
	/* An open store, in place of `store`; it remains the caller's and is only read. Requires
	 * memory_only. Or NULL. */
	struct symstore *borrowed;
	/* true: a store that cannot be read counts as empty (noticed for each module). false: it is
	 * an error of modules that are named by build ID. */
	bool store_optional;
	/* Folders that contain .build-id/xx/rest.debug; the list ends with NULL. See struct
	 * symcache_build_options. */
	const char *const *debug_dirs;
	/* Look there for build IDs that the store lacks, too; debug_dirs must not be NULL. */
	bool search_debug_dirs;
	/* Accept caches that have unwind information and no symbols: for stacks. */
	bool without_symbols;
	/* Accept debug files whose build ID differs. */
	bool any_build_id;
	/* See struct symcache_build_options; or NULL. */
	const char *package;
	/* Keep what is built in memory, and write nothing to the store. */
	bool memory_only;
	/* Store also, by its build ID, what is built of a file that is named by its path. */
	bool store_files;
	/* Take names from the symbol table of the named file itself, even if it has only a .dynsym
	 * and its debug file has a .symtab, as llvm-symbolizer does. */
	bool own_symbols;
	/* Trees on web servers, asked for what the store lacks; or NULL. */
	struct symbundle_sites *sites;
	/* Asked last, for what is found nowhere else; or NULL. */
	struct symcache_debuginfod *debuginfod;
	/* Called for one notice at a time, from any thread. It must not ask for caches. Or NULL. */
	void (*notify)(void *ctx, const struct symcache_notice *notice);
	void *ctx; /* for open_store and notify */
};

/* Opens nothing yet. `options` is copied and may be NULL. NULL: out of memory. */
struct symcache_caches *symcache_caches_create(const struct symcache_caches_options *options);
/* Calls symcache_caches_update() and frees all, modules included. NULL is fine. */
void symcache_caches_destroy(struct symcache_caches *s);

enum symcache_module_kind {
	SYMCACHE_MODULE_BUILD_ID, /* hex digits; the beginning of a build ID, if it fits one in
				   * the store only */
	SYMCACHE_MODULE_FILE,     /* an ELF file by its path: the store's cache of its build ID,
				   * else one that is made now and kept in memory */
	SYMCACHE_MODULE_CACHE,    /* a SymCache file by its path */
};

/*
 * The module with this name or build ID; equal questions get the same module as long as `caches`
 * lives. It is opened when it is first needed. NULL: out of memory, or there are 65,536 modules
 * without symbols already. Thread-safe.
 */
struct symcache_module *symcache_caches_module(struct symcache_caches *s,
					       enum symcache_module_kind kind, const char *name);
struct symcache_module *symcache_caches_module_of_id(struct symcache_caches *s,
						     const uint8_t *build_id, size_t len);

/*
 * The build ID of the only entry of the store whose file has this name (the last part of its path,
 * without ".debug") and, if it is not NULL, this tag. Thread-safe. SC_ENOTFOUND: there is none;
 * SC_EINVAL: there are several, which the message lists; else errors as those of symstore_each().
 */
int symcache_caches_find_name(struct symcache_caches *s, const char *name, const char *tag,
			      uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

/* How many entries of the store have no name, as they were made of debug files alone; 0 if it
 * cannot be read. *ret: the build ID of the first. Thread-safe. */
size_t symcache_caches_nameless(struct symcache_caches *s, struct symstore_id *ret);

/* Does any entry of the store have this tag? Also true if the store cannot be read, which is
 * reported elsewhere. Thread-safe. */
bool symcache_caches_have_tag(struct symcache_caches *s, const char *tag);

/*
 * The same for a kernel, "vmlinux", or for one of its modules by the name that the kernel gives it,
 * in which '_' also stands for '-'. `release` ("6.1.0-56-amd64"; NULL: unknown) is compared with
 * the file's name, vmlinux-RELEASE, or its path, /lib/modules/RELEASE/. Entries of another release
 * are not taken.
 */
int symcache_caches_find_kernel(struct symcache_caches *s, const char *name, const char *release,
				uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len,
				struct sc_error *err);

/*
 * The whole cache of a module. The first call finds or makes it. It is valid until
 * symcache_caches_update(). Thread-safe. *reported (may be NULL): this failure was returned or
 * noticed before.
 *
 * SC_ENOTFOUND: the build ID is found nowhere, or its entry in the store is damaged; tried again
 * after each symcache_caches_update(), while other failures are final. SC_EINVAL: not a build ID,
 * or the beginning of several. Else errors as those of symstore_open(), symcache_open(),
 * symcache_debuginfod_get() and symcache_build_create(). Messages name the module.
 */
int symcache_module_cache(struct symcache_module *m, const struct symcache **ret, bool *reported,
			  struct sc_error *err);

/*
 * First answers: a cache that will only be asked for the frames of these n addresses (p_vaddr) of
 * code, by symcache_symbolize() and symcache_symbolize_as(). Of a file that the store lacks only
 * the units that can hold them are read, as long as those are few; broken units among these are
 * noticed, others are not. For other questions and addresses the whole cache is made when they
 * come; where files are stored, in symcache_caches_update() at the latest. n 0: no address yet,
 * *ret may be NULL. The rest as symcache_module_cache().
 */
int symcache_module_cache_at(struct symcache_module *m, const uint64_t vaddrs[], size_t n,
			     const struct symcache **ret, bool *reported, struct sc_error *err);

/* Does this file give first answers, as long as it has no whole cache? Only after
 * symcache_module_cache_at(). Thread-safe. */
bool symcache_module_is_first(struct symcache_module *m);

/* What the file says about itself: a cache in which only the image and its segments are certain
 * to be there. NULL: there is no cache. Thread-safe. */
const struct symcache *symcache_module_outline(struct symcache_module *m);

/* Was its whole cache found or made before? Thread-safe. */
bool symcache_module_is_open(struct symcache_module *m);

/*
 * The ELF files that its cache was made of, as far as known, best first, at most two: the file
 * itself, or those that the store's entry names. ret[] ends with NULL; the strings live as long as
 * the cache.
 */
void symcache_module_files(struct symcache_module *m, const char *ret[3]);

/* Asked after look-ups in `cache`: may their answers be used? false: the entry in the store is
 * damaged, which is noticed once; the module then gets another cache if it is a file, and none if
 * it is a build ID. Thread-safe. */
bool symcache_module_valid(struct symcache_module *m, const struct symcache *cache);

/* The best of its sources: "DWARF", "symbol table", "dynamic symbols" … */
const char *symcache_kind_of_symbols(const struct symcache *cache);
/* Do its symbols lack lines? Also false if the cache does not say. */
bool symcache_lacks_lines(const struct symcache *cache);

/*
 * Stores what was built of debug files, and ends the snapshot of the store, so that a program that
 * waits for hours neither keeps old pages of the store in use nor misses what is indexed meanwhile.
 * Modules remain; caches and all answers become invalid, so that no other thread may be using them.
 * Cheap if there is nothing to store.
 */
void symcache_caches_update(struct symcache_caches *s);

/* symstore_release_pages() of the store, if it is open. Answers stay valid. Thread-safe. */
void symcache_caches_release_pages(struct symcache_caches *s);

#endif
