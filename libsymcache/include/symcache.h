/*
 * symcache.h: a build ID and an address → functions, files and lines.
 *
 *   struct symcache_resolver *resolver;
 *   const struct symcache_frame *f;
 *
 *   symcache_resolver_create(NULL, &resolver, &err);
 *   symcache_resolve(resolver, "8cb1c4b0", 0x1234, &f, &err);
 *   for (; f->function; f++)
 *       printf("%s at %s:%u\n", f->function, f->file, f->line);
 *
 * A store holds caches, one for each build ID; a cache has what the debug information of
 * one program or library says. A resolver makes texts of it. Addresses are those of the
 * ELF file (p_vaddr), in bytes: what a process has, minus where the file was loaded.
 * Whoever asks often keeps the cache (symcache_store_get(), symcache_frames()); who needs
 * no texts takes numbers (symcache_frame_ids_batch()).
 *
 * Functions that can fail return 0 or a negative SYMCACHE_E… code, and fill the
 * struct symcache_error of the caller, which may be NULL. Handles are opaque; what is
 * passed by value keeps its size for ever; options begin with their size, so that an older
 * library can refuse what it does not know. Nothing here prints, exits, reads environment
 * variables (but for the default path of the store), changes signals, limits or malloc(),
 * or starts threads that were not asked for.
 *
 * Stores and caches are read through maps: one that is cut short meanwhile (not replaced by
 * rename(), as all that writes them here does) is a SIGBUS, which is the caller's to handle.
 *
 * After fork() the child may look addresses up in the caches it has, close what it has and
 * open stores anew; anything else that it asks an inherited store is SYMCACHE_EINVAL.
 *
 * Link with -lsymcache.
 */
#ifndef SYMCACHE_LIBRARY_H
#define SYMCACHE_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SYMCACHE_API __attribute__((visibility("default")))
#else
#define SYMCACHE_API
#endif

/* ---- symcache_version: versions -------------------------------------------------- */

/* Of this header: 1000000 · major + 1000 · minor + patch. */
#define SYMCACHE_VERSION_NUMBER 1000
#define SYMCACHE_VERSION_STRING "0.1.0"

/* Of the library that runs. */
SYMCACHE_API uint32_t symcache_version_number(void);
SYMCACHE_API const char *symcache_version_string(void);

/* ---- symcache_error: errors ------------------------------------------------------ */

/* New codes may come: take those you do not know for a failure. */
enum {
	SYMCACHE_ENOTFOUND = -1,    /* absent: an answer rather than a failure */
	SYMCACHE_EINVAL = -2,       /* an argument makes no sense */
	SYMCACHE_ESYS = -3,         /* a system call failed: the message says which and why */
	SYMCACHE_ENOMEM = -4,       /* out of memory */
	SYMCACHE_EFORMAT = -5,      /* bytes are not what they claim to be */
	SYMCACHE_EUNSUPPORTED = -6, /* well-formed, but of a kind that is not read */
	SYMCACHE_ENOSYMBOLS = -7,   /* an ELF file with nothing to index */
	SYMCACHE_ELIMIT = -8,       /* a limit of a format was reached */
	SYMCACHE_EFULL = -9         /* no space left on the device */
};

struct symcache_error {
	int32_t code;  /* SYMCACHE_E…, 0 */
	char msg[252]; /* one line, ended by NUL */
};

/* A few words for a code, also for one that is not known. Never NULL, valid for ever. */
SYMCACHE_API const char *symcache_strerror(int code);

/* ---- symcache_store: stores ------------------------------------------------------ */

/*
 * A store. Any number of threads may use one handle. The same file may be opened any
 * number of times in a process. What a handle finds is a snapshot: what others index later
 * is seen after symcache_store_refresh().
 */
struct symcache_store;

#define SYMCACHE_STORE_WRITE 1u /* also for writing: the file is made if it is missing */

/*
 * Opens the store at `path`. NULL: the default one, $SYMCACHE_STORE, else
 * symcache/symcache.store in $XDG_CACHE_HOME or $HOME/.cache. `flags`: 0, or of
 * SYMCACHE_STORE_…. SYMCACHE_ENOTFOUND: there is none; SYMCACHE_EFORMAT: not a store, or
 * damaged; SYMCACHE_EUNSUPPORTED: of a newer version or another kind of machine;
 * SYMCACHE_EINVAL: unknown flags, or this process has it open and may not write it;
 * SYMCACHE_ESYS, SYMCACHE_EFULL, SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_store_open(const char *path, uint32_t flags,
				     struct symcache_store **ret, struct symcache_error *err);

/* Another reference to the handle, which is closed as often; returns `s`. */
SYMCACHE_API struct symcache_store *symcache_store_ref(struct symcache_store *s);

/* Caches that came from it stay valid. NULL is fine. */
SYMCACHE_API void symcache_store_close(struct symcache_store *s);

/* What is found from now on is what the store has now. Caches that came from it stay what
 * they are; as long as one of them is referenced, writers cannot reuse the room of what was
 * replaced. */
SYMCACHE_API void symcache_store_refresh(struct symcache_store *s);

/* The path that was opened; lives as long as the handle. */
SYMCACHE_API const char *symcache_store_path(const struct symcache_store *s);

struct symcache_cache;

/*
 * The cache of a whole build ID, `len` bytes, with a reference for the caller. The same
 * question gives the same handle until symcache_store_refresh(). SYMCACHE_ENOTFOUND: the
 * store has none; SYMCACHE_EFORMAT: its entry is damaged; SYMCACHE_ESYS, SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_store_get(struct symcache_store *s, const uint8_t *build_id, size_t len,
				    struct symcache_cache **ret, struct symcache_error *err);

/*
 * As symcache_store_get(), by text: the hex digits of a build ID, or its beginning, if it
 * fits one entry only; else the last part of the path of the file that was indexed ("kvm",
 * "libc.so.6"). SYMCACHE_EINVAL: several entries fit, or `text` is NULL.
 */
SYMCACHE_API int symcache_store_find(struct symcache_store *s, const char *text,
				     struct symcache_cache **ret, struct symcache_error *err);

/* The same for programs that know what they have: "cafe" is a build ID here, never a file of
 * that name; SYMCACHE_EINVAL also: `hex` has other than hex digits. */
SYMCACHE_API int symcache_store_find_build_id(struct symcache_store *s, const char *hex,
					      struct symcache_cache **ret, struct symcache_error *err);
/* And this one takes it for the name of a file. */
SYMCACHE_API int symcache_store_find_name(struct symcache_store *s, const char *name,
					  struct symcache_cache **ret, struct symcache_error *err);

/* ---- symcache_entry: entries of a store ------------------------------------------ */

/* What the store knows about a cache. Valid during the call that gives it, with its strings. */
struct symcache_entry;

/* Calls `fn` for each entry whose build ID begins with the hex digits `prefix` (NULL, "": all), by
 * build ID, until it returns nonzero, which is then returned. `fn` may ask the store, but not write
 * to it. SYMCACHE_EINVAL: not hex digits, or no `fn`; SYMCACHE_EFORMAT, _ESYS, _ENOMEM. */
typedef int symcache_entry_fn(void *ctx, const struct symcache_entry *entry);
SYMCACHE_API int symcache_store_each(struct symcache_store *s, const char *prefix,
				     symcache_entry_fn *fn, void *ctx, struct symcache_error *err);

SYMCACHE_API const uint8_t *symcache_entry_build_id(const struct symcache_entry *e, size_t *len);
/* The file that was indexed, absolute; and its debug file, "": none. */
SYMCACHE_API const char *symcache_entry_source_path(const struct symcache_entry *e);
SYMCACHE_API const char *symcache_entry_debug_path(const struct symcache_entry *e);
/* Words on it, a newline between them; "": none. */
SYMCACHE_API const char *symcache_entry_tags(const struct symcache_entry *e);
SYMCACHE_API uint64_t symcache_entry_size(const struct symcache_entry *e); /* of the cache, bytes */
SYMCACHE_API int64_t symcache_entry_time(const struct symcache_entry *e); /* seconds since 1970 */
SYMCACHE_API uint32_t symcache_entry_sources(const struct symcache_entry *e);

/* Bits of symcache_entry_sources(): what it was made of. */
#define SYMCACHE_SOURCE_DWARF 1u
#define SYMCACHE_SOURCE_SYMTAB 2u
#define SYMCACHE_SOURCE_DYNSYM 4u
#define SYMCACHE_SOURCE_MINIDEBUGINFO 8u
#define SYMCACHE_SOURCE_CFI 16u

/* ---- symcache_put: writing to a store -------------------------------------------- */

/*
 * The handle must have been opened with SYMCACHE_STORE_WRITE, else SYMCACHE_EINVAL. Each call
 * is one transaction: it waits for other writers, and is on the disk when it returns; the
 * handle sees it at once. symcache-build.h indexes ELF files into a store.
 */

struct symcache_put_options {
	size_t size;             /* sizeof(struct symcache_put_options) */
	const uint8_t *build_id; /* of the image */
	size_t build_id_len;
	const char *source_path; /* for the entry; NULL: "" */
	const char *tags;        /* a newline between them; NULL: none */
	int64_t time;            /* seconds since 1970 */
};

/* Puts a cache into the store. A better entry of the same build ID stays: 1 is returned then.
 * SYMCACHE_EINVAL: no build ID; SYMCACHE_EFULL, SYMCACHE_ELIMIT, SYMCACHE_ESYS,
 * SYMCACHE_ENOMEM: the store is as it was. */
SYMCACHE_API int symcache_store_put(struct symcache_store *s, const struct symcache_cache *c,
				    const struct symcache_put_options *options,
				    struct symcache_error *err);

/* Removes an entry. SYMCACHE_ENOTFOUND: there was none; else as symcache_store_put(). */
SYMCACHE_API int symcache_store_remove(struct symcache_store *s, const uint8_t *build_id,
				       size_t len, struct symcache_error *err);

/* Adds tags, a newline between them, to an entry, if any; fails as symcache_store_put(). */
SYMCACHE_API int symcache_store_tag(struct symcache_store *s, const uint8_t *build_id,
				    size_t len, const char *tags, struct symcache_error *err);

/* ---- symcache_cache: caches ------------------------------------------------------ */

/*
 * Any number of threads may use a cache. Its bytes may be hostile: a damaged one gives wrong
 * or missing answers, no crash. What comes from a store is compared with its hashes before
 * it is used.
 */

/* A SymCache file, or a packed one. SYMCACHE_ESYS, SYMCACHE_EFORMAT, SYMCACHE_EUNSUPPORTED,
 * SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_cache_open(const char *path, struct symcache_cache **ret,
				     struct symcache_error *err);

/* One in memory, 8-aligned, which must not change. `release` (may be NULL) is called with
 * `ctx` when the last reference is gone; not if this fails. */
SYMCACHE_API int symcache_cache_open_memory(const void *data, size_t size,
					    void (*release)(void *ctx), void *ctx,
					    struct symcache_cache **ret,
					    struct symcache_error *err);

/*
 * Packs data[0, size), a cache, for transport and storage: a tenth to an eighteenth of its size.
 * `level` is 1 to 19, 0: a fast one. *ret is the caller's to free(). symcache_cache_open() reads
 * files of it. SYMCACHE_EINVAL: too large, or no such level; SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_pack(const void *data, size_t size, int level, void **ret,
			       size_t *ret_size, struct symcache_error *err);

/*
 * What was packed, 8-aligned, the caller's to free(). The bytes may be hostile: it takes the
 * size that they state, 2,142,240,768 bytes at most, and 64 MiB. SYMCACHE_EFORMAT: damaged;
 * SYMCACHE_EUNSUPPORTED: of a later version, or several caches; SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_unpack(const void *data, size_t size, void **ret, size_t *ret_size,
				 struct symcache_error *err);

/* Another reference; returns `c`. */
SYMCACHE_API struct symcache_cache *symcache_cache_ref(struct symcache_cache *c);
SYMCACHE_API void symcache_cache_unref(struct symcache_cache *c); /* NULL is fine */

/* Its bytes; live as long as the cache. */
SYMCACHE_API const void *symcache_cache_bytes(const struct symcache_cache *c, size_t *size);
/* By which it came from a store, *len bytes that live as long as the cache; *len 0: it did not. */
SYMCACHE_API const uint8_t *symcache_cache_build_id(const struct symcache_cache *c, size_t *len);
/* p_vaddr of the image's first PT_LOAD. */
SYMCACHE_API uint64_t symcache_cache_load_base(const struct symcache_cache *c);
/* Functions and files have numbers below these. */
SYMCACHE_API uint32_t symcache_cache_num_functions(const struct symcache_cache *c);
SYMCACHE_API uint32_t symcache_cache_num_files(const struct symcache_cache *c);
/* Was it found damaged by a look-up? Then nothing is found in it any more. */
SYMCACHE_API int symcache_cache_damaged(const struct symcache_cache *c);

/* ---- symcache_ids: frames as numbers --------------------------------------------- */

#define SYMCACHE_UNKNOWN 0xffffffffu /* in place of the number of a function or file */

struct symcache_ids {
	uint32_t function, file; /* their numbers in the cache, or SYMCACHE_UNKNOWN */
	uint32_t line, column;   /* 0: unknown */
};

/* The frames of an address, innermost first: those that fit into ret[0, max). Returns how
 * many there are, also above `max`; 0: nothing is known. Nothing is allocated or locked. */
SYMCACHE_API size_t symcache_frame_ids(const struct symcache_cache *c, uint64_t vaddr,
				 struct symcache_ids ret[], size_t max);

/* The frames of n addresses: those of address i are ret[first[i]] and following, below
 * first[i + 1]; `first` has n + 1 places. Returns how many there are of all: what lies at
 * or above `max` was not written. Several times as fast as one by one, in large caches. */
SYMCACHE_API size_t symcache_frame_ids_batch(const struct symcache_cache *c, const uint64_t vaddr[],
				       size_t n, uint64_t first[], struct symcache_ids ret[],
				       size_t max);

/* The linkage name of a function: *len bytes in the cache, not ended by NUL. NULL: unknown. */
SYMCACHE_API const char *symcache_linkage_name(const struct symcache_cache *c, uint32_t function,
					       size_t *len);

/* Where a function begins, vaddr; UINT64_MAX: it is inlined, or unknown. */
SYMCACHE_API uint64_t symcache_function_entry(const struct symcache_cache *c, uint32_t function);

/* ---- symcache_frame: frames as texts --------------------------------------------- */

/* Makes texts and remembers them, in up to 64 MiB or so. For one thread at a time, and for any
 * number of caches, which may be given up before it. */
struct symcache_resolver;

#define SYMCACHE_MANGLED 1u      /* names stay linkage names */
#define SYMCACHE_SHORT_NAMES 2u  /* without scope, arguments and return type */
#define SYMCACHE_RAW_PATHS 4u    /* only joined: "." and ".." stay */
#define SYMCACHE_RAW_BYTES 8u    /* else what may not reach a terminal (control characters,
                                  * what is not UTF-8) becomes "\x1b" */
#define SYMCACHE_SYMBOL_NAMES 16u /* the ELF symbol table names the outermost frame ("f.cold"),
                                   * as llvm-symbolizer and `symcache lookup` have it */

struct symcache_resolver_options {
	size_t size;    /* sizeof(struct symcache_resolver_options) */
	uint32_t flags;
	/* That symcache_resolve() asks, kept by a reference. NULL: the default one, which is
	 * opened when it is first needed, and not refreshed. */
	struct symcache_store *store;
};

/* `options` may be NULL: all zero. SYMCACHE_EINVAL: unknown flags; SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_resolver_create(const struct symcache_resolver_options *options,
					  struct symcache_resolver **ret, struct symcache_error *err);
SYMCACHE_API void symcache_resolver_destroy(struct symcache_resolver *r); /* NULL is fine */

/* One more store, kept by a reference, that symcache_resolve() asks for what those before it do not
 * have. SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_resolver_add_store(struct symcache_resolver *r,
					     struct symcache_store *store, struct symcache_error *err);

#define SYMCACHE_FRAME_INLINED 1u /* the next frame is its caller, in the same machine code */
#define SYMCACHE_FRAME_SYMBOL 2u  /* the ELF symbol table gave the name */
#define SYMCACHE_FRAME_NO_FUNCTION 4u /* it is unknown, its name is "??" */
#define SYMCACHE_FRAME_NO_FILE 8u     /* the same of the file */

/* Texts are ended by NUL. 64 bytes where pointers have eight. */
struct symcache_frame {
	const char *function; /* its name. NULL: there is no frame, the one before was the last */
	const char *file;     /* its path */
	uint32_t line;        /* 0: unknown */
	uint32_t column;
	uint32_t flags;       /* SYMCACHE_FRAME_… */
	uint32_t function_id; /* its number in the cache, or SYMCACHE_UNKNOWN */
	uint64_t reserved[4];
};

/*
 * The frames of an address in the cache that symcache_store_find() has for `text`, innermost
 * first; valid until the next call with this resolver. Returns their number, 1 to 4,096.
 * SYMCACHE_ENOTFOUND: there is no such cache, or the address is in no function of it, as the
 * message says; else as symcache_store_open() and symcache_store_find().
 */
SYMCACHE_API int symcache_resolve(struct symcache_resolver *r, const char *text, uint64_t vaddr,
				  const struct symcache_frame **ret, struct symcache_error *err);

/* As symcache_resolve(), of the cache of symcache_store_find_build_id() or
 * symcache_store_find_name(). */
SYMCACHE_API int symcache_resolve_build_id(struct symcache_resolver *r, const char *hex,
					   uint64_t vaddr, const struct symcache_frame **ret,
					   struct symcache_error *err);
SYMCACHE_API int symcache_resolve_name(struct symcache_resolver *r, const char *name,
				       uint64_t vaddr, const struct symcache_frame **ret,
				       struct symcache_error *err);

/* The same of a cache, however it was found: the number of frames; 0: symcache_reason() says
 * why, and the function of (*ret)[0] is NULL. */
SYMCACHE_API size_t symcache_frames(struct symcache_resolver *r, struct symcache_cache *c,
				    uint64_t vaddr, const struct symcache_frame **ret);

/* Announces up to 16 addresses, which symcache_frames() will be asked for next, in this
 * order: they are looked up together, in about half the time. */
SYMCACHE_API void symcache_frames_ahead(struct symcache_resolver *r, struct symcache_cache *c,
					const uint64_t vaddr[], size_t n);

/* Why the last symcache_frames() found nothing. New ones may come. */
enum {
	SYMCACHE_REASON_FOUND = 0,
	SYMCACHE_REASON_OUTSIDE = 1, /* below the image, or above its code */
	SYMCACHE_REASON_NO_CODE = 2, /* in between, but in no function */
	SYMCACHE_REASON_DAMAGED = 3, /* the store's entry is */
	SYMCACHE_REASON_NO_MEMORY = 4,
	SYMCACHE_REASON_NO_CACHE = 5, /* of an address space: the image has none */
	SYMCACHE_REASON_NO_IMAGE = 6  /* the same: nothing is mapped there */
};
SYMCACHE_API int symcache_reason(const struct symcache_resolver *r);

/* A variable. */
struct symcache_variable {
	const char *name;
	const char *file;     /* of the declaration */
	uint64_t vaddr;       /* its start */
	uint64_t size;        /* bytes; 0: unknown */
	uint32_t line;        /* of the declaration; 0: unknown */
	uint32_t flags;       /* of SYMCACHE_FRAME_… */
	uint64_t reserved[3];
};

/* The variable that covers an address; its texts are valid as those of frames. 0 or
 * SYMCACHE_ENOTFOUND. */
SYMCACHE_API int symcache_variable_at(struct symcache_resolver *r, struct symcache_cache *c,
				      uint64_t vaddr, struct symcache_variable *ret);

/* Where functions of a linkage name begin, vaddr: those that fit into ret[0, max). Returns how
 * many there are. The first question about a cache makes an index of its names. */
SYMCACHE_API size_t symcache_addresses_of(struct symcache_resolver *r, struct symcache_cache *c,
					  const char *name, uint64_t ret[], size_t max);

/* The name of a function, and the path of a file, by their numbers: texts as those of
 * frames. NULL: unknown. */
SYMCACHE_API const char *symcache_function_name(struct symcache_resolver *r,
						struct symcache_cache *c, uint32_t function);
SYMCACHE_API const char *symcache_file_path(struct symcache_resolver *r, struct symcache_cache *c,
					    uint32_t file);

/* A linkage name of C++, Rust or D as people read it; else `name` itself. Valid until the next
 * call with this resolver, or as long as `name` is. */
SYMCACHE_API const char *symcache_demangled(struct symcache_resolver *r, const char *name);

/* ---- symcache_filter: logs ------------------------------------------------------- */

/* Turns logs with symbolizer markup, stack traces of sanitizers and many other programs into
 * text with functions, files and lines, as `symcache filter` does. For one thread at a time. */
struct symcache_filter;

enum {
	SYMCACHE_FILTER_TEXT = 0,
	SYMCACHE_FILTER_JSON = 1, /* an object for each line of the log */
	SYMCACHE_FILTER_HTML = 2, /* a page, complete after symcache_filter_end() */
	SYMCACHE_FILTER_LLVM = 3  /* as llvm-symbolizer --filter-markup */
};

struct symcache_filter_options {
	size_t size;       /* sizeof(struct symcache_filter_options) */
	uint32_t format;   /* SYMCACHE_FILTER_… */
	uint32_t threads;  /* 0: one. What comes out does not depend on it */
	/* Takes what the log becomes; nonzero: failed, no more is written. */
	int (*write)(void *ctx, const char *data, size_t len);
	/* Takes whole lines about what is wrong in the log. NULL: not wanted. */
	void (*complain)(void *ctx, const char *data, size_t len);
	void *ctx;         /* of both, called from any thread, one at a time */
};

/* `store` must live as long as the filter; NULL: nothing is found. SYMCACHE_EINVAL: no `write`,
 * or unknown values; SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_filter_create(struct symcache_store *store,
					const struct symcache_filter_options *options,
					struct symcache_filter **ret, struct symcache_error *err);
/* Takes bytes of a log, cut anywhere. SYMCACHE_ESYS: write() failed; SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_filter_feed(struct symcache_filter *f, const char *data, size_t len,
				      struct symcache_error *err);
/* Writes all complete lines so far. Fails as symcache_filter_feed(), as the two that follow. */
SYMCACHE_API int symcache_filter_flush(struct symcache_filter *f, struct symcache_error *err);
/* The end of a log: another one may follow. */
SYMCACHE_API int symcache_filter_finish(struct symcache_filter *f, struct symcache_error *err);
/* The end of all logs: finishes the last one, if that was not done, and writes what closes the
 * output. */
SYMCACHE_API int symcache_filter_end(struct symcache_filter *f, struct symcache_error *err);
SYMCACHE_API void symcache_filter_destroy(struct symcache_filter *f); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
