/*
 * symcache-process.h: the address space of a process → functions, files and lines.
 *
 *   const struct symcache_addresses at = { sizeof(at), addresses, n, 0 };
 *
 *   symcache_space_create(NULL, &space, &err);
 *   symcache_space_add_process(space, pid, &err);
 *   symcache_space_symbolize(space, &at, print, NULL, &err);
 *
 * A space has images (files, by path, build ID or both) and says which part of which is mapped
 * where. The cache of an image is found when the first address in it is looked up: by the build
 * ID; without one, by the last part of the path, if one entry of a store is called so.
 *
 * What no store has is looked for in files, in debug folders and on servers, if
 * symcache_space_use_files() (symcache-build.h) was called.
 *
 * A space is for one thread at a time; any number of spaces may share stores.
 *
 * Link with -lsymcache.
 */
#ifndef SYMCACHE_PROCESS_H
#define SYMCACHE_PROCESS_H

#include <symcache.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- symcache_space: what is mapped where ---------------------------------------------- */

struct symcache_space;

struct symcache_space_options {
	size_t size;         /* sizeof(struct symcache_space_options) */
	/* Asked in this order, kept by references. num_stores 0: the default one, which is opened
	 * when it is first needed. */
	struct symcache_store *const *stores;
	uint32_t num_stores;
	uint32_t flags;      /* of texts: SYMCACHE_MANGLED, … as of resolvers */
};

/* An empty space. `options` may be NULL: all zero. SYMCACHE_EINVAL: unknown options;
 * SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_space_create(const struct symcache_space_options *options,
				       struct symcache_space **ret, struct symcache_error *err);
SYMCACHE_API void symcache_space_destroy(struct symcache_space *s); /* NULL is fine */

/* A part of a file in memory, as a row of /proc/PID/maps. */
struct symcache_mapped {
	size_t size;             /* sizeof(struct symcache_mapped) */
	uint64_t start, end;     /* addresses; `end` is behind it */
	uint64_t offset;         /* of `start`: what it counts from, `from` says */
	const char *path;        /* NULL: unknown */
	const uint8_t *build_id; /* NULL: unknown */
	size_t build_id_len;
	uint32_t from;           /* SYMCACHE_OFFSET_… */
	uint32_t reserved;
};

/* What offsets count from. */
#define SYMCACHE_OFFSET_IN_FILE 0u /* the beginning of the file */
#define SYMCACHE_OFFSET_IN_IMAGE 1u /* its load base: p_vaddr of the first PT_LOAD */
#define SYMCACHE_OFFSET_VADDR 2u    /* nothing: they are addresses of the ELF file, p_vaddr */

/* Maps, in place of all that was there. SYMCACHE_EINVAL: unknown options, an empty range, or a
 * build ID that is too long; SYMCACHE_ELIMIT: more than 65,536 mappings; SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_space_add(struct symcache_space *s, const struct symcache_mapped *m,
				    struct symcache_error *err);

/* Maps the rows of a text as /proc/PID/maps has them, those of files that hold code; other lines
 * are skipped. Returns how many rows there were; SYMCACHE_ELIMIT, SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_space_add_maps(struct symcache_space *s, const char *text, size_t len,
					 struct symcache_error *err);

/* The same of a process that runs; 0: of this one. Build IDs are read out of its files, or out of
 * its memory, if it may be read, where they were deleted; of each when it is first needed. What is
 * mapped later is not seen. Code that is in no file is called as the JIT of the process says in
 * /tmp/perf-PID.map, if that belongs to the owner of the process or to root. SYMCACHE_ESYS:
 * /proc/PID/maps cannot be read; SYMCACHE_EINVAL: the space has another process already;
 * SYMCACHE_ELIMIT, SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_space_add_process(struct symcache_space *s, uint32_t pid,
					    struct symcache_error *err);

/* Maps the kernel that runs and its modules, as the texts of two files say: /proc/kallsyms, of
 * which the lines of _text (or _stext) and _etext count, and /proc/modules (NULL: none). They must
 * have been read by root, else they have no addresses: SYMCACHE_ENOTFOUND. `release`: of the
 * kernel, as uname -r says it; NULL: unknown. SYMCACHE_ELIMIT, SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_space_add_kernel(struct symcache_space *s, const char *kallsyms,
					   const char *modules, const char *release,
					   struct symcache_error *err);

/* ---- symcache_space_symbolize: addresses to frames ----------------------------------------- */

#define SYMCACHE_RETURN_ADDRESSES 1u /* the call before each is looked up */

struct symcache_addresses {
	size_t size;           /* sizeof(struct symcache_addresses) */
	const uint64_t *list;
	size_t num;
	uint32_t flags;        /* SYMCACHE_RETURN_ADDRESSES */
};

/* What is known of an address; all of it is valid during the call that gives it. */
struct symcache_located {
	uint64_t address;       /* as it was asked for */
	uint64_t vaddr;         /* in the ELF file, if there is a cache */
	const char *path;       /* of the image; "": unknown, or there is none */
	const uint8_t *build_id;
	size_t build_id_len;    /* 0: unknown */
	struct symcache_cache *cache; /* borrowed; NULL: there is none, or it is no store's */
	const struct symcache_frame *frames; /* innermost first; behind the last, function is NULL */
	size_t num_frames;
	int32_t reason;         /* SYMCACHE_REASON_…: why there are no frames */
	uint32_t reserved;
	const char *why;        /* a sentence about it; "": there are frames */
	uint64_t reserved2[2];
};

/* Calls `fn` for each address, the i-th of the list, in the order in which they are best looked up,
 * until it returns nonzero, which is then returned. In the call the space must not be used.
 * SYMCACHE_EINVAL: unknown options; SYMCACHE_ENOMEM. That a cache is not found is no error, but a
 * reason. */
typedef int symcache_located_fn(void *ctx, size_t i, const struct symcache_located *located);
SYMCACHE_API int symcache_space_symbolize(struct symcache_space *s,
					  const struct symcache_addresses *addresses,
					  symcache_located_fn *fn, void *ctx,
					  struct symcache_error *err);

#ifdef __cplusplus
}
#endif

#endif
