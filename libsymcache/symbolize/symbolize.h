/*
 * symbolize.h: a build ID or a file, and an address → functions, files and
 * lines, as people read them.
 *
 *   struct symcache_caches_options where = { .store = "/var/cache/a.store" };
 *   struct symcache_caches *caches = symcache_caches_create(&where);
 *   struct symcache_names *names = symcache_names_create(NULL);
 *   struct symcache_symbolizer *s = symcache_symbolizer_create(caches, names);
 *   struct symcache_module *m = symcache_caches_module(caches, SYMCACHE_MODULE_FILE,
 *                                                      "/usr/bin/true");
 *   struct symcache_answer a;
 *   symcache_symbolize(s, m, 0x1234, &a);
 *   for (size_t i = 0; i < a.num_frames; i++) … a.frames[i].function, file, line …
 *
 * `caches` finds or makes the caches of modules and may be shared by threads, as may the
 * names, which are made once for all of them. A symbolizer belongs to one thread.
 * Addresses are those of the ELF file (p_vaddr), in bytes.
 *
 * Nothing here prints or exits. What a caller cannot learn from the answers (a damaged
 * entry of the store, a file of which something is left out) goes to its notify function.
 */
#ifndef SYMCACHE_SYMBOLIZE_H
#define SYMCACHE_SYMBOLIZE_H

#include "libsymcache/base/frame.h"
#include "libsymcache/index/debuginfod.h"
#include "libsymcache/read/read.h"
#include "libsymcache/store/store.h"
#include "libsymcache/write/build.h"

/* ---- names: mangled → as people read them ------------------------------------------ */

/* Remembers names, 32 MiB of them at most; for one thread. */
struct symcache_demangler;

/* NULL: out of memory. */
struct symcache_demangler *symcache_demangler_create(void);
void symcache_demangler_destroy(struct symcache_demangler *d); /* NULL is fine */

/*
 * `name` demangled as LLVM spells it, or `name` itself: if it is not mangled, malformed,
 * longer than 16,000 bytes, or would become longer than 8 MiB; there are no errors. `lang`
 * (enum symcache_lang or SYMCACHE_LANG_SYMTAB) tells Rust's legacy names, which look like
 * C++, apart. The result is valid until the next call, or as long as `name` is.
 */
#define SYMCACHE_DEMANGLE_BINUTILS 0xfffffffeu /* `lang`: as binutils spells it */
struct sc_str symcache_demangle(struct symcache_demangler *d, struct sc_str name,
				uint32_t lang);

/* As symcache_demangle(), but nothing is remembered: for callers that do so themselves. The
 * result is valid until the next call of either, or as long as `name` is. */
struct sc_str symcache_demangle_once(struct symcache_demangler *d, struct sc_str name,
				     uint32_t lang);

/* The bare name of a function, without scope, arguments and return type: a part of
 * `demangled`. */
struct sc_str symcache_short_name(struct sc_str demangled);

/* The same with its scope: "shop::Item::total" of "int shop::Item::total(int) const". */
struct sc_str symcache_name_without_parameters(struct sc_str demangled);

/* ---- where caches come from ----------------------------------------------------------- */

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

/* All is borrowed as long as the caches live. All zero is fine: files only. */
struct symcache_caches_options {
	/* The path of the store; NULL: no store. A file that is not there is an empty store; it
	 * is looked for again after each symcache_caches_update(). */
	const char *store;
	/* Opens the store instead, where its path is not known beforehand; NULL: symstore_open()
	 * of `store`. Errors as that has. */
	int (*open_store)(void *ctx, enum symstore_mode mode, struct symstore **ret,
			  struct sc_error *err);
	/* What messages call the store, which may lie elsewhere on another machine; borrowed; NULL:
	 * its path. */
	const char *store_name;
	/* A store that is open stays the caller's, and is only read; or NULL. With memory_only. */
	struct symstore *borrowed;
	/* A store that cannot be read is as one that lacks everything (noticed for each module);
	 * else it is the error of modules that are named by build ID. */
	bool store_optional;
	/* Directories that hold .build-id/xx/rest.debug, ends with NULL: for builds as in
	 * struct symcache_build_options. */
	const char *const *debug_dirs;
	/* A build ID that the store lacks is looked for there, too (`debug_dirs` is not NULL). */
	bool search_debug_dirs;
	/* Caches with unwind information alone will do: for stacks. */
	bool without_symbols;
	/* Debug files that say they have another build ID will do. */
	bool any_build_id;
	/* For builds as in struct symcache_build_options; or NULL. */
	const char *package;
	/* What is built stays in memory: nothing is written to the store. */
	bool memory_only;
	/* Else what is built of a file that is named by its path is stored, too, by its
	 * build ID. */
	bool store_files;
	/* Of a file that is named by its path, the symbol table that names frames is its own, as
	 * llvm-symbolizer has it, also where it has a .dynsym only and its debug file a .symtab. */
	bool own_symbols;
	/* Asks debuginfod for what is nowhere else; or NULL. */
	struct symcache_debuginfod *debuginfod;
	/* One notice at a time, from whichever thread. Must not ask for caches. May be NULL. */
	void (*notify)(void *ctx, const struct symcache_notice *notice);
	void *ctx; /* for open_store and notify */
};

/* Opens nothing yet. `options` is copied and may be NULL. NULL: out of memory. */
struct symcache_caches *symcache_caches_create(const struct symcache_caches_options *options);
/* Settles. Its modules go, too. NULL is fine. */
void symcache_caches_destroy(struct symcache_caches *s);

enum symcache_module_kind {
	SYMCACHE_MODULE_BUILD_ID, /* hex digits; the beginning of a build ID, if it fits one in
				   * the store only */
	SYMCACHE_MODULE_FILE,     /* an ELF file by its path: the store's cache of its build ID,
				   * else one that is made now and kept in memory */
	SYMCACHE_MODULE_CACHE,    /* a SymCache file by its path */
};

/*
 * The module of that name, or with that build ID: always the same for the same question,
 * as long as `caches` lives. It is opened when it is first needed. NULL: out of memory,
 * or more modules without symbols than anyone needs (65,536). Thread-safe.
 */
struct symcache_module *symcache_caches_module(struct symcache_caches *s,
					       enum symcache_module_kind kind, const char *name);
struct symcache_module *symcache_caches_module_of_id(struct symcache_caches *s,
						     const uint8_t *build_id, size_t len);

/*
 * The build ID of the only entry of the store whose file has this name: the last part of its
 * path, without ".debug"; of those that have `tag`, if it is not NULL. Thread-safe.
 * SC_ENOTFOUND: there is none; SC_EINVAL: there are several, which the message lists; else as
 * symstore_each() has them.
 */
int symcache_caches_find_name(struct symcache_caches *s, const char *name, const char *tag,
			      uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

/* Has any entry of the store this tag? True also of a store that cannot be read: that is reported
 * elsewhere. Thread-safe. */
bool symcache_caches_have_tag(struct symcache_caches *s, const char *tag);

/*
 * The same of a kernel, "vmlinux", or of one of its modules by the kernel's name for it, which
 * has '_' for '-'. `release` ("6.1.0-56-amd64"; NULL: unknown) is in the file's name,
 * vmlinux-RELEASE, or in its path, /lib/modules/RELEASE/; what says another one is not taken.
 */
int symcache_caches_find_kernel(struct symcache_caches *s, const char *name, const char *release,
				uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len,
				struct sc_error *err);

/*
 * The cache of a module, found or made now, if that was not done before: valid until
 * symcache_caches_update(). Thread-safe. *reported (may be NULL): this failure was returned
 * before, or noticed.
 *
 * SC_ENOTFOUND: nowhere is such a build ID, or its entry in the store is damaged: tried
 * again after each symcache_caches_update(); other failures stay. SC_EINVAL: no build ID,
 * or the beginning of several; else as symstore_open(), symcache_open(),
 * symcache_debuginfod_get() and symcache_build_create() have them. Messages name the
 * module.
 */
int symcache_module_cache(struct symcache_module *m, const struct symcache **ret, bool *reported,
			  struct sc_error *err);

/*
 * The same of a cache that is asked for the frames of these n addresses (vaddr) of code alone,
 * by symcache_symbolize() and symcache_symbolize_as(); with n 0, for none yet: then *ret may be
 * NULL. Of a file that is not in the store, only the units are read then that can hold them, as
 * long as they are few: what is left out because it is broken is noticed if it is in these. For other questions, and
 * other addresses, the whole cache is made when they come, and where files are stored by
 * symcache_caches_update() at the latest.
 */
int symcache_module_cache_at(struct symcache_module *m, const uint64_t vaddrs[], size_t n,
			     const struct symcache **ret, bool *reported, struct sc_error *err);

/* Is it a file whose frames are looked up in first answers, as long as it has no whole cache?
 * Only after symcache_module_cache_at(). Thread-safe. */
bool symcache_module_is_first(struct symcache_module *m);

/* What the file says about itself: a cache of which the image and its segments count and, if
 * it is no whole one, nothing else. NULL: there is no cache. Thread-safe. */
const struct symcache *symcache_module_outline(struct symcache_module *m);

/* Has the module its whole cache, found or made before? Thread-safe. */
bool symcache_module_is_open(struct symcache_module *m);

/*
 * The ELF files that the module's cache was made of, best first, at most two, as far as it
 * is known: the file itself, or what the store's entry says. ret[] ends with NULL; the
 * strings live as long as the cache.
 */
void symcache_module_files(struct symcache_module *m, const char *ret[3]);

/* After look-ups in a cache of symcache_module_cache(): may what they found be used? If not,
 * its entry in the store is damaged, which is noticed once; the module then has another
 * cache if it is a file, and none if it is a build ID. Thread-safe. */
bool symcache_module_valid(struct symcache_module *m, const struct symcache *cache);

/* The best symbols that it is made of: "DWARF", "symbol table", "dynamic symbols" … */
const char *symcache_kind_of_symbols(const struct symcache *cache);
/* Are these symbols without lines? False also if the cache does not say. */
bool symcache_lacks_lines(const struct symcache *cache);

/*
 * Stores what was built out of debug files, and ends the snapshot of the store, so that a
 * program that waits for hours neither holds back the store's pages nor misses what is
 * indexed meanwhile. No one else may be using the caches or what came from it; modules
 * stay. Cheap if nothing is to be stored.
 */
void symcache_caches_update(struct symcache_caches *s);

/* ---- how names and paths are shown ---------------------------------------------------- */

enum symcache_functions {
	SYMCACHE_FUNCTIONS_WHOLE,
	SYMCACHE_FUNCTIONS_SHORT, /* symcache_short_name() of those that are mangled */
	SYMCACHE_FUNCTIONS_NONE,
};

enum symcache_paths {
	SYMCACHE_PATHS_CLEAN,    /* SYMCACHE_PATH_CLEAN */
	SYMCACHE_PATHS_RAW,      /* SYMCACHE_PATH_RAW */
	SYMCACHE_PATHS_RELATIVE, /* raw, without the compilation directory */
	SYMCACHE_PATHS_BASENAME, /* what stands behind the last slash */
};

/* What the symbol table, which knows foo.cold and aliases, adds to the DWARF. */
enum symcache_table_rule {
	SYMCACHE_TABLE_NEVER,
	SYMCACHE_TABLE_OUTERMOST, /* it names the outermost frame, and data: llvm-symbolizer's */
	SYMCACHE_TABLE_FALLBACK,  /* the same, but no frame that the DWARF has: addr2line's */
};

enum symcache_bytes {
	SYMCACHE_BYTES_PRINTABLE, /* those that may not reach a terminal (control characters,
				   * what is not UTF-8) are "\x1b" */
	SYMCACHE_BYTES_CACHED,    /* as in the cache: UTF-8 */
	SYMCACHE_BYTES_ORIGINAL,  /* as in the ELF file, whose "\xe9" is "%E9" in the cache */
};

struct symcache_names_options {
	enum symcache_functions functions;
	bool mangled; /* names stay as they are, but for SYMCACHE_FUNCTIONS_SHORT */
	enum symcache_paths paths;
	enum symcache_table_rule table; /* for frames with SYMCACHE_FUNCTIONS_WHOLE only */
	enum symcache_bytes bytes;
	bool binutils; /* they are demangled as binutils spells them */
	bool llvm; /* Rust's legacy names are demangled as C++, as LLVM does */
};

/* Names and paths of functions and files, each made once for all threads that share them;
 * 64 MiB of them, about, at most. `options` is copied; NULL: all zero. NULL: out of memory. */
struct symcache_names;
struct symcache_names *symcache_names_create(const struct symcache_names_options *options);
/* After the symbolizers that use them. NULL is fine. */
void symcache_names_destroy(struct symcache_names *n);

/* ---- addresses → frames ---------------------------------------------------------------- */

struct symcache_symbolizer;

/* For one thread. Both are borrowed. NULL: out of memory. */
struct symcache_symbolizer *symcache_symbolizer_create(struct symcache_caches *caches,
						       struct symcache_names *names);
void symcache_symbolizer_destroy(struct symcache_symbolizer *s); /* NULL is fine */

/* Why there are no frames. */
enum symcache_reason {
	SYMCACHE_FOUND,
	SYMCACHE_NO_CACHE,  /* the module has none: symcache_module_cache() says why */
	SYMCACHE_OUTSIDE,   /* the address is below the image, or above all of its code */
	SYMCACHE_NO_CODE,   /* it lies in between, but in no function */
	SYMCACHE_DAMAGED,   /* the entry of the store turned out damaged: ask once more, a file
			     * is indexed then */
	SYMCACHE_NO_MEMORY, /* out of memory */
	SYMCACHE_NO_IMAGE,  /* nothing is mapped there: symbolize/process.h */
};

/* The most frames of an address; the others are left out. */
#define SYMCACHE_FRAMES_MAX 4096

struct symcache_answer {
	const struct sc_frame *frames; /* innermost first */
	size_t num_frames;
	enum symcache_reason reason;
	const struct symcache *cache;   /* that was asked; NULL: SYMCACHE_NO_CACHE */
	bool has_symbol;                /* the symbol table has one there (not looked for with
					 * SYMCACHE_TABLE_NEVER) */
	uint64_t symbol_vaddr;          /* its start */
	uint32_t code_idx;              /* the function that has the code, in the cache;
					 * SYMCACHE_NONE: unknown */
	bool one_frame;                 /* SYMCACHE_ONE_FRAME */
};

/*
 * The frames of `vaddr`. What comes is valid until the next call with this symbolizer (or
 * symcache_caches_update()). SYMCACHE_FOUND or why there are none, which is in the answer,
 * too.
 */
enum symcache_reason symcache_symbolize(struct symcache_symbolizer *s, struct symcache_module *m,
					uint64_t vaddr, struct symcache_answer *ret);

/* Which frames of a chain of inlined calls. */
enum symcache_inlines {
	SYMCACHE_INLINES,   /* all */
	SYMCACHE_ONE_FRAME, /* the place in the innermost function, under the name of the function
			     * that has the code */
	SYMCACHE_INNERMOST, /* the innermost one */
};

/* As symcache_symbolize(), with other frames, and another rule than that of the names. */
enum symcache_reason symcache_symbolize_as(struct symcache_symbolizer *s, struct symcache_module *m,
					   uint64_t vaddr, enum symcache_inlines inlines,
					   enum symcache_table_rule table,
					   struct symcache_answer *ret);

/*
 * Batches: announces n addresses, at most SYMCACHE_BATCH (the others are ignored), that
 * will be asked for next, in this order. They are looked up together, which takes half the
 * time, as they wait for memory together. Modules must have been asked for their cache
 * once. Other addresses may be asked for in between.
 */
void symcache_symbolize_ahead(struct symcache_symbolizer *s, struct symcache_module *const m[],
			      const uint64_t vaddrs[], size_t n);

/* As symcache_symbolize(); asks once more if the entry turned out damaged. */
enum symcache_reason symcache_symbolize_again(struct symcache_symbolizer *s,
					      struct symcache_module *m, uint64_t vaddr,
					      struct symcache_answer *ret);

struct symcache_question {
	struct symcache_module *module; /* was asked for its cache before */
	uint64_t vaddr;
};

/*
 * The frames of n addresses, which `at` gives; equal ones stand next to each other, and those of
 * one module ascend. They are announced in batches, and equal ones are looked up once. Calls `fn`
 * for each of them, in order; the answer is valid during the call. A call that returns nonzero
 * ends it. Returns that, or 0.
 */
int symcache_symbolize_sorted(struct symcache_symbolizer *s, size_t n,
			      struct symcache_question (*at)(void *ctx, size_t i),
			      int (*fn)(void *ctx, size_t i, const struct symcache_answer *a),
			      void *ctx);

/* Where the function of a frame begins and is declared: of the last answer. */
struct symcache_start {
	bool known;               /* else it has several ranges, or no function */
	bool inlined;             /* or nothing but its caller is known */
	uint64_t vaddr;
	struct sc_str file;       /* of the declaration; ptr NULL: unknown. Valid as long as the
				   * answer */
	uint32_t line;            /* of the declaration; 0: unknown */
};
struct symcache_start symcache_symbolize_start(struct symcache_symbolizer *s,
					       const struct symcache_answer *a, size_t frame);

/* The discriminator of a frame of the last answer; 0: unknown. */
uint32_t symcache_symbolize_discriminator(struct symcache_symbolizer *s,
					  const struct symcache_answer *a, size_t frame);

/* A variable, or a function as if it were one. */
struct symcache_shown_data {
	struct sc_str name;       /* as it is shown */
	uint64_t vaddr;           /* its start */
	uint64_t size;            /* bytes; 0: unknown */
	struct sc_str file;       /* of the declaration; ptr NULL: unknown */
	uint32_t line;            /* 0: unknown */
	bool of_table;            /* the symbol table gave name, start and size */
};

/* The data symbol that covers `vaddr`; false: there is none. Texts are valid until the next
 * call with this symbolizer; paths are whole. */
bool symcache_symbolize_data(struct symcache_symbolizer *s, struct symcache_module *m,
			     uint64_t vaddr, struct symcache_shown_data *ret);

/* The function that has the code at `vaddr`, the outermost one, in the same way. */
bool symcache_symbolize_function(struct symcache_symbolizer *s, struct symcache_module *m,
				 uint64_t vaddr, struct symcache_shown_data *ret);

/*
 * The functions of a linkage name, and code that the symbol table alone calls so, one after
 * the other: *at is 0 at first. False: no more. *vaddr is where it begins. The first name of a
 * module costs a pass over all of its functions and symbols, which are hashed; the others do
 * not.
 */
bool symcache_symbolize_name(struct symcache_symbolizer *s, struct symcache_module *m,
			     struct sc_str name, uint32_t *at, uint64_t *vaddr);

/* NAME+OFFSET/SIZE, as a kernel prints it. */
struct symcache_named {
	struct sc_str name;    /* linkage name */
	uint64_t offset;       /* bytes */
	uint64_t size;         /* distance to the next symbol in the kernel's table; 0: unknown */
};

/*
 * Can the symbol that begins at `start`, one of the above, be the one that is meant? It is not
 * larger than `size`, the next one that has a size does not begin before, and the offset is in it,
 * or at its end. False: no, it is of another build; *has is its size here in bytes. A symbol
 * without a size can be any.
 */
bool symcache_symbolize_fits(struct symcache_symbolizer *s, struct symcache_module *m,
			     uint64_t start, const struct symcache_named *named, uint64_t *has);

/*
 * The address of the only one that fits. False: there is none, or more than one; if there are some
 * of the name, and none fits, *has is the size of the last, else 0.
 */
bool symcache_symbolize_offset(struct symcache_symbolizer *s, struct symcache_module *m,
			       const struct symcache_named *named, uint64_t *vaddr, uint64_t *has);

/* Any name, whole; valid until the next call with this symbolizer. ptr NULL:
 * it is none. */
struct sc_str symcache_show_name(struct symcache_symbolizer *s, struct sc_str name,
				 uint32_t lang);

#endif
