/*
 * symcache-find.h: names, and lines of source files → addresses; addresses → local variables.
 *
 *   symcache_each_definition(resolver, cache, "shop::Item::total", print, NULL, &err);
 *   symcache_each_line_range(resolver, cache, "shop.cc:23", set_breakpoint, NULL, &err);
 *
 * A cache has no index for names and lines. The first one of a resolver about a cache makes one
 * in memory: some 100 ms and 40 MB for a program with 200 MB of debug information.
 *
 * Link with -lsymcache.
 */
#ifndef SYMCACHE_FIND_H
#define SYMCACHE_FIND_H

#include <symcache.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- symcache_definition: names to addresses ------------------------------------------ */

#define SYMCACHE_DEFINITION_DATA 16u /* flag: it is a variable, or other data */

/* A function, a variable, or what the ELF symbol table alone has. */
struct symcache_definition {
	const char *name;         /* as the resolver makes it */
	const char *linkage_name;
	const char *file;         /* of the declaration */
	uint64_t vaddr;           /* its start */
	uint64_t size;            /* bytes; 0: unknown */
	uint32_t line;            /* of the declaration; 0: unknown */
	uint32_t flags;           /* SYMCACHE_DEFINITION_DATA, or of SYMCACHE_FRAME_… */
	uint64_t reserved[2];
};

/*
 * Calls `fn` for all that is called `name`, by address, until it returns nonzero, which is then
 * returned; what it gets is valid during the call, in which the resolver must not be used. `name`
 * is a linkage name, or one as the resolver makes them, with or without return type and parameters
 * ("shop::Item::total"). Functions that are only inlined have no address: see
 * symcache_each_line_range(). SYMCACHE_ENOTFOUND: nothing is called so; SYMCACHE_EFORMAT: the cache
 * is damaged; SYMCACHE_EINVAL: a NULL; SYMCACHE_ENOMEM.
 */
typedef int symcache_definition_fn(void *ctx, const struct symcache_definition *definition);
SYMCACHE_API int symcache_each_definition(struct symcache_resolver *r, struct symcache_cache *c,
					  const char *name, symcache_definition_fn *fn, void *ctx,
					  struct symcache_error *err);

/* The same for all names that fit a pattern: '*' is any text, '?' one byte, a backslash takes that
 * from the next one. Patterns read all names. */
SYMCACHE_API int symcache_each_match(struct symcache_resolver *r, struct symcache_cache *c,
				     const char *pattern, symcache_definition_fn *fn, void *ctx,
				     struct symcache_error *err);

/* ---- symcache_line_range: lines to addresses ----------------------------------------- */

/* A piece of code of a line. */
struct symcache_line_range {
	uint64_t vaddr, end;  /* p_vaddr; `end` is behind it */
	const char *function; /* that the line is in */
	const char *file;
	uint32_t line, column;
	uint32_t flags;       /* of SYMCACHE_FRAME_…; _INLINED: the function is inlined there */
	uint32_t depth;       /* at vaddr so many frames are inlined into the one of the line: the line
			       * calls what has the code */
	uint64_t reserved[2];
};

/*
 * Calls `fn` for all code of a line, "FILE:LINE", by address, in the manner of
 * symcache_each_definition(). FILE is a path, or its last parts ("shop.cc", "demo/shop.cc"); all
 * files that fit are meant. A breakpoint at `vaddr` of each stops before the line, wherever it was
 * inlined; the pieces together are what covers it. SYMCACHE_ENOTFOUND: the line has no code;
 * SYMCACHE_EINVAL: it is not FILE:LINE, or a NULL; SYMCACHE_EFORMAT, SYMCACHE_ENOMEM.
 */
typedef int symcache_line_range_fn(void *ctx, const struct symcache_line_range *range);
SYMCACHE_API int symcache_each_line_range(struct symcache_resolver *r, struct symcache_cache *c,
					  const char *line, symcache_line_range_fn *fn, void *ctx,
					  struct symcache_error *err);

/* ---- symcache_local_variable: addresses to local variables -------------------------------- */

#define SYMCACHE_LOCAL_HAS_OFFSET 16u
#define SYMCACHE_LOCAL_HAS_SIZE 32u
#define SYMCACHE_LOCAL_HAS_TAG 64u

/* A local variable or parameter; valid during the call that gives it. */
struct symcache_local_variable {
	const char *name;     /* as the source has it; "??": it has none */
	const char *function; /* that it is of, likewise */
	const char *file;     /* of the declaration */
	uint32_t line;        /* of the declaration; 0: unknown */
	uint32_t flags;       /* SYMCACHE_LOCAL_HAS_…: what is known of what follows;
			       * SYMCACHE_FRAME_NO_FILE, SYMCACHE_FRAME_NO_FUNCTION */
	int64_t offset;       /* bytes from the frame base (DW_AT_frame_base) */
	uint64_t size;        /* bytes */
	uint64_t tag;         /* its number among HWASan's tags (DW_AT_LLVM_tag_offset) */
	uint64_t reserved[3];
};

/*
 * Calls `fn` for each local variable of the innermost function or inlined call that has the code at
 * `vaddr`, and of those inlined into it, in the order of the debug information, until it returns
 * nonzero, which is then returned; in the call the resolver must not be used. SYMCACHE_ENOTFOUND:
 * there are none; SYMCACHE_EUNSUPPORTED: the cache has none of any function, as it was made without
 * them (SYMCACHE_MAKE_LOCALS in symcache-build.h, `symcache index --locals`); SYMCACHE_EFORMAT: it is
 * damaged; SYMCACHE_EINVAL: a NULL; SYMCACHE_ENOMEM.
 */
typedef int symcache_local_fn(void *ctx, const struct symcache_local_variable *variable);
SYMCACHE_API int symcache_each_local(struct symcache_resolver *r, struct symcache_cache *c,
				     uint64_t vaddr, symcache_local_fn *fn, void *ctx,
				     struct symcache_error *err);

#ifdef __cplusplus
}
#endif

#endif
