/*
 * symcache-build.h: ELF files with DWARF → caches, stores and bundles; stacks of core files.
 *
 *   struct symcache_counts counts = { sizeof(counts) };
 *   const char *paths[] = { "/usr/lib/debug" };
 *   symcache_store_open("a.store", SYMCACHE_STORE_WRITE, &store, &err);
 *   symcache_store_index(store, paths, 1, NULL, &counts, &err);
 *
 * Files are read through maps: one that is cut short meanwhile is a SIGBUS. Any number of threads
 * may call these functions at once, with the handles that may be shared.
 *
 * Link with -lsymcache-build -lsymcache.
 */
#ifndef SYMCACHE_BUILD_LIBRARY_H
#define SYMCACHE_BUILD_LIBRARY_H

#include <symcache-process.h>
#include <symcache-stack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What may be set for builds; all zero but `size` is fine. */
struct symcache_make_options {
	size_t size;                   /* sizeof(struct symcache_make_options) */
	const char *const *debug_dirs; /* that hold .build-id/xx/rest.debug, a NULL behind them;
	                                * NULL: /usr/lib/debug */
	uint32_t threads;              /* 0: one */
	uint32_t flags;                /* SYMCACHE_MAKE_… */
	uint64_t memory;               /* bytes that a build may take; 0: no limit (of an index:
	                                * a quarter of the machine's) */
	const char *tags;              /* of entries, a newline between them; NULL: none */
	/* What happens to a file of symcache_store_index(): `code` is 0: indexed; 1: unchanged,
	 * or the store has better; SYMCACHE_ENOSYMBOLS; else why it failed. Called in the thread
	 * that indexes; texts are valid during the call. May be NULL. */
	void (*file)(void *ctx, const char *path, int code, const char *message);
	void *ctx;
};

#define SYMCACHE_MAKE_NO_SEARCH 1u /* the given file alone, not its debug file */
#define SYMCACHE_MAKE_AGAIN 2u     /* also what is unchanged */
#define SYMCACHE_MAKE_FOLLOW 4u    /* go into folders that links lead to */
#define SYMCACHE_MAKE_LOCALS 8u    /* local variables, too: symcache-find.h */

/* The cache of one ELF file, in memory, with a reference for the caller. `options` may be
 * NULL. SYMCACHE_ESYS; SYMCACHE_EFORMAT: not an ELF file; SYMCACHE_ENOSYMBOLS;
 * SYMCACHE_EUNSUPPORTED; SYMCACHE_ELIMIT; SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_make(const char *path, const struct symcache_make_options *options,
			       struct symcache_cache **ret, struct symcache_error *err);

#define SYMCACHE_ID_MAX 64

/* The build ID of an ELF file; one without has an ID that is made of its code (*derived 1, else 0;
 * `derived` may be NULL).
 * SYMCACHE_ESYS, SYMCACHE_EFORMAT. */
SYMCACHE_API int symcache_file_build_id(const char *path, uint8_t id[SYMCACHE_ID_MAX], size_t *len,
					int *derived, struct symcache_error *err);

/* How many files, or entries of a bundle. Set `size` before each call: newer libraries may
 * count more. Who does not want them passes NULL. */
struct symcache_counts {
	size_t size;     /* sizeof(struct symcache_counts) */
	uint64_t done;   /* indexed, exported, imported */
	uint64_t stayed; /* unchanged, or better in the store */
	uint64_t none;   /* files without symbols */
	uint64_t failed; /* or missing, or damaged */
};

/*
 * Indexes files, folders and archives (.deb, .rpm, tar, zip, …) into a store that was opened
 * for writing. One file that fails is counted and reported, and does not stop the others.
 * Commits about once a second. An error is one of the store: what was committed stays.
 * Caches of this store should not be referenced meanwhile where address space is limited
 * (32 bits, ulimit -v).
 */
SYMCACHE_API int symcache_store_index(struct symcache_store *s, const char *const paths[],
				      size_t n, const struct symcache_make_options *options,
				      struct symcache_counts *ret, struct symcache_error *err);

/* Writes a bundle of all entries, or of those with the word `tag`, to `path`: a store
 * (NAME.store), an archive (NAME.tar.zst) or else a folder, which must not be there yet.
 * The same entries give the same bytes. SYMCACHE_ENOTFOUND: none is chosen; SYMCACHE_EINVAL,
 * SYMCACHE_ESYS, SYMCACHE_EFULL, SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_store_export(struct symcache_store *s, const char *path, const char *tag,
				       struct symcache_counts *ret, struct symcache_error *err);

/* What may be set for a bundle; all zero but `size` is fine. */
struct symcache_export_options {
	size_t size;            /* sizeof(struct symcache_export_options) */
	const char *tag;        /* entries with this word; NULL: all */
	const char *delta_from; /* path of a store or bundle that whoever gets this one has: entries are written as
	                         * what changed since those of the same files; or NULL */
	const char *sign_key;   /* path of an Ed25519 private key (PEM), or NULL */
	uint32_t level;         /* how much time packing takes: 1 to 19; 0: the default */
	uint32_t flags;         /* SYMCACHE_EXPORT_… */
};

#define SYMCACHE_EXPORT_NAMES 1u /* of each entry the functions and their addresses alone */

/* As symcache_store_export(), with more to choose. `options` may be NULL. Where `delta_from` is not
 * a store, it takes room in $TMPDIR, else in /var/tmp. */
SYMCACHE_API int symcache_store_export_bundle(struct symcache_store *s, const char *path,
					      const struct symcache_export_options *options,
					      struct symcache_counts *ret, struct symcache_error *err);

/* Merges a bundle into a store that was opened for writing: better symbols win.
 * `verify_key`: path of the Ed25519 public key (PEM) that must have signed it, or NULL.
 * SYMCACHE_EFORMAT: no bundle, or not signed; else as symcache_store_put(). */
SYMCACHE_API int symcache_store_import(struct symcache_store *s, const char *path,
				       const char *verify_key, struct symcache_counts *ret,
				       struct symcache_error *err);

/* Calls `fn` with what the debug information of an ELF file says about an address (p_vaddr): its
 * units, entries and line rows, one to a line, ended by NUL; those that decide the frames begin with
 * '*'. Nonzero ends it and is returned. Takes about as long as a build on one thread. Errors are those
 * of symcache_make(). */
SYMCACHE_API int symcache_explain_address(const char *path,
					  const struct symcache_make_options *options,
					  uint64_t vaddr, int (*fn)(void *ctx, const char *line),
					  void *ctx, struct symcache_error *err);

/* ---- symcache_stacks: stacks of core files and processes ------------------------------- */

struct symcache_stack_options {
	size_t size;                   /* sizeof(struct symcache_stack_options) */
	struct symcache_store *store;  /* NULL: files of this machine alone */
	const char *const *debug_dirs; /* as of struct symcache_make_options */
};

/* A thread whose stack is walked; valid during the call. */
struct symcache_walked_thread {
	uint32_t tid;
	uint32_t died;        /* 1: it is the thread that the core is of */
	const char *name;     /* "": unknown */
	const char *end;      /* behind the last frame: why there are no more; else NULL */
	uint64_t reserved[4];
};

/* A frame of it, with the functions that are inlined there; the same. */
struct symcache_walked_frame {
	uint64_t pc;             /* as it stands in the register or on the stack */
	uint64_t vaddr;          /* in the ELF file of what is looked up, if there is a cache */
	const char *path;        /* of the module; "": none */
	const uint8_t *build_id;
	size_t build_id_len;     /* 0: unknown */
	const struct symcache_frame *frames; /* innermost first; behind the last, function is NULL */
	size_t num_frames;
	uint32_t how;            /* SYMCACHE_WALK_… */
	uint32_t flags;          /* 1: a signal trampoline */
	uint64_t reserved[2];
};

/* `frame` is NULL once for each thread, behind its last frame. Nonzero ends it all and is
 * returned. */
typedef int symcache_walked_fn(void *ctx, const struct symcache_walked_thread *thread,
			       const struct symcache_walked_frame *frame);

/*
 * Calls `fn` for each frame of each thread of a core file or minidump, also a compressed one, the
 * thread that died first. What the store lacks is looked for where the core says that it was, if it
 * has the same build ID. `options` may be NULL. SYMCACHE_EFORMAT: neither of both; SYMCACHE_ESYS,
 * SYMCACHE_EUNSUPPORTED, SYMCACHE_EINVAL, SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_core_stacks(const char *path, const struct symcache_stack_options *options,
				      symcache_walked_fn *fn, void *ctx, struct symcache_error *err);

/* The same of a process that runs. Its threads are stopped, a few at a time, while their registers
 * and stacks are copied, before the first call. SYMCACHE_ESYS: it may not be traced. In the process
 * that asks, SIGCHLD may come, and waitpid(-1, …, __WALL) in another thread gets in the way. */
SYMCACHE_API int symcache_process_stacks(uint32_t pid, const struct symcache_stack_options *options,
					 symcache_walked_fn *fn, void *ctx,
					 struct symcache_error *err);

struct symcache_trace_options {
	size_t size;                   /* sizeof(struct symcache_trace_options) */
	struct symcache_store *store;  /* NULL: files of this machine alone */
	const char *const *debug_dirs; /* as of struct symcache_make_options */
	/* What was loaded, which the file does not say: FILE[@BIAS] or BUILDID[@BIAS], BIAS in hex;
	 * the program, and those that its stacks lead through. */
	const char *const *modules;
	uint32_t num_modules;          /* at least 1 */
	uint32_t reserved;
};

/*
 * The same of each frame of a GDB trace file, as far as registers and stack memory were collected:
 * `tid` is the number of the trace frame, `name` "tracepoint 3". SYMCACHE_EFORMAT: it is no trace
 * file, or breaks off: then `fn` got what there is; SYMCACHE_ENOTFOUND: a module was not found;
 * SYMCACHE_ESYS, SYMCACHE_EINVAL, SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_trace_stacks(const char *path, const struct symcache_trace_options *options,
				       symcache_walked_fn *fn, void *ctx, struct symcache_error *err);

/* ---- symcache_space_files: address spaces, beyond stores ----------------------------------- */

#define SYMCACHE_FILES_DEBUGINFOD 1u /* the servers in $DEBUGINFOD_URLS are asked, too */

struct symcache_space_files {
	size_t size;                   /* sizeof(struct symcache_space_files) */
	const char *const *debug_dirs; /* as of struct symcache_make_options */
	uint32_t flags;                /* SYMCACHE_FILES_… */
	const char *const *urls;       /* of trees on web servers; ends with NULL; NULL: none */
	const char *verify_key;        /* path of the Ed25519 public key (PEM) that must have signed them */
};

/*
 * What the stores of a space lack is looked for by its build ID in trees on web servers, which
 * 'symcache export --shape tree' wrote, in debug folders and in the file at the path of the image,
 * and its cache is made in memory, on all processors. `options` may be NULL. Servers are asked when
 * something is looked up; one that fails is not asked again. SYMCACHE_EINVAL: unknown options, not
 * a URL, or it was done before; SYMCACHE_EUNSUPPORTED: there are no servers, or libdebuginfod is
 * not there; SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_space_use_files(struct symcache_space *s,
					  const struct symcache_space_files *options,
					  struct symcache_error *err);

/* Maps what a core file or minidump has, also a compressed one: its modules by their build IDs, or
 * by their names, where it has none. The file is not needed later. SYMCACHE_EFORMAT: neither of
 * both; SYMCACHE_ESYS, SYMCACHE_EUNSUPPORTED, SYMCACHE_EINVAL, SYMCACHE_ELIMIT, SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_space_add_core(struct symcache_space *s, const char *path,
					 struct symcache_error *err);

/* ---- symcache_source: the text of sources --------------------------------------------------- */

/* Finds sources, and keeps the last ones, 64 MiB of them at most. For one thread at a time. */
struct symcache_source_reader;

/* All zero but `size`: sources are files at the paths that frames have. */
struct symcache_source_options {
	size_t size;                   /* sizeof(struct symcache_source_options) */
	const char *const *path_maps;  /* "FROM=TO": what lies below FROM is tried below TO first; ends with
					* NULL; NULL: none */
	const char *const *folders;    /* tried last: the longest end of the path that one of them has; the same */
	/* Debug information may hold sources (clang -gembed-source): that of the files that the entries
	 * of this store were made of is asked before all else. A reference is kept. NULL: none is. */
	struct symcache_store *store;
	const char *const *debug_dirs; /* where they are, too: as of struct symcache_make_options */
};

/* All texts are copied. `options` may be NULL: all zero. SYMCACHE_EINVAL: unknown options, or not
 * FROM=TO; SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_source_reader_create(const struct symcache_source_options *options,
					       struct symcache_source_reader **ret,
					       struct symcache_error *err);
SYMCACHE_API void symcache_source_reader_destroy(struct symcache_source_reader *s); /* NULL is fine */

/*
 * The source at `path`, as frames have it: *size bytes as they are, with a NUL behind them, valid until
 * the next call with this reader. `c`: the cache that names it, of which the build ID is needed; NULL:
 * debug information is not asked. Debug information may come from others, and name any file: at the path
 * itself only what is called as sources are is read, in folders and behind path maps all.
 * SYMCACHE_ENOTFOUND: it is not there, or larger than 64 MiB; SYMCACHE_EUNSUPPORTED: it is not called
 * so; SYMCACHE_EINVAL: a NULL; SYMCACHE_ENOMEM; errors of the store as those of symcache_store_get().
 */
SYMCACHE_API int symcache_source_text(struct symcache_source_reader *s, const struct symcache_cache *c,
				      const char *path, const char **ret, size_t *size,
				      struct symcache_error *err);

/* ---- symcache_profile: profiles --------------------------------------------------------------- */

enum {
	SYMCACHE_PROFILE_OWN = 0,    /* the input's form; pprof of those that hold no names */
	SYMCACHE_PROFILE_PPROF = 1,
	SYMCACHE_PROFILE_FOLDED = 2, /* a stack a line */
	SYMCACHE_PROFILE_JEPROF = 3,
	SYMCACHE_PROFILE_HTML = 4    /* a page with a flame graph */
};

/* `flags` of struct symcache_profile_options. */
#define SYMCACHE_PROFILE_FORCE 1u            /* also what has names already */
#define SYMCACHE_PROFILE_RETURN_ADDRESSES 2u /* of pprof and OTLP: nothing was subtracted */

struct symcache_profile_options {
	size_t size;        /* sizeof(struct symcache_profile_options) */
	uint32_t form;      /* SYMCACHE_PROFILE_OWN, … */
	uint32_t flags;
	const char *value;  /* of folded stacks and pages: the sample type that counts; NULL: the profile's */
	const char *jit_dir; /* of perf.data: code that a JIT made is named by its perf-PID.map, a file of
			      * this user or of root; NULL: not at all */
	/* Gets the output, piece by piece; nonzero ends it: SYMCACHE_ESYS. */
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
};

/* Symbolizes a profile, bytes[0, size), by a store, which is needed: pprof, OTLP, heap texts, CPU profiles of gperftools, perf.data,
 * folded stacks, also behind gzip, xz, zstd. What it becomes is in format/profiles.md. Nothing is
 * written unless all is. SYMCACHE_EFORMAT: malformed, and where; SYMCACHE_EUNSUPPORTED: no profile,
 * or one that has no such form; SYMCACHE_ELIMIT: too large; SYMCACHE_EINVAL, SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_profile(struct symcache_store *s, const void *bytes, size_t size,
				  const struct symcache_profile_options *options,
				  struct symcache_error *err);

#ifdef __cplusplus
}
#endif

#endif
