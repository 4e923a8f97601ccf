/*
 * read.h: open a SymCache in borrowed memory and look addresses up.
 *
 * Ownership: everything here points into the bytes given to symcache_open() and
 * lives as long as they do. Nothing allocates except symcache_verify() and
 * symcache_map_open(), nothing locks; any number of threads may use one
 * `struct symcache`.
 *
 * Addresses are `rel_pc`: relative to the p_vaddr of the image's first PT_LOAD
 * segment (symcache_load_base()). rel_pc = vaddr − load base.
 *
 * Look-ups in a cache of many megabytes wait for memory, and for its page tables. With
 * pages of 2 MiB (aligned memory, and madvise(MADV_HUGEPAGE) before the cache is read into
 * it) they take a fifth to a quarter less time; in batches (below), half, with pages of any
 * size.
 *
 * The bytes may be hostile. symcache_open() checks what it can in constant
 * time; every look-up is bounds-checked, so a malformed file gives wrong or
 * missing answers, never a crash or a hang. symcache_verify() names the faults.
 */
#ifndef SYMCACHE_READ_H
#define SYMCACHE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/symcache_format.h"
#include "libsymcache/base/error.h"
#include "libsymcache/base/str.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/read/guard.h"

/* Unwind information: rows.h. facts NULL: the file has none. */
struct symcache_unwind {
	const struct symcache_ext_unwind *facts;
	const uint32_t *pages;
	const void *starts;      /* symcache_ext_start, or if wide symcache_ext_wide_start */
	const struct symcache_ext_row *rows;
	const struct symcache_ext_rule *rules;
	const uint8_t *expressions;
	size_t num_pages;        /* with the one over, 2 at least */
	uint32_t num_starts, num_rows, num_rules;
	size_t expression_bytes;
	bool wide;
};

/* A number for each source location, and what it has no room for. */
struct symcache_details {
	const void *numbers;                     /* NULL: the file has none */
	const struct symcache_ext_detail *list;
	size_t num;
};

/* Local variables: symcache_locals_of(). ranges NULL: the file has none. */
struct symcache_local_tables {
	const struct symcache_ext_local_range *ranges;
	const uint32_t *order;
	const struct symcache_ext_local *list;
	size_t num_ranges, num_order, num;
};

/* An opened cache, in storage of the caller. Fields are read-only. */
struct symcache {
	const uint8_t *data;
	size_t size;
	const struct symcache_header *header;
	const uint8_t *files;    /* num_files records of file_size bytes */
	uint32_t file_size;      /* 12 (versions 7, 8) or 24 (version 9) */
	const struct symcache_function *functions;
	const struct symcache_source_location *locations;
	const uint32_t *ranges;
	uint32_t range_location; /* index of the location of ranges[0] */
	const uint8_t *strings;
	size_t base_size;        /* bytes up to the end of the strings */

	/* The extension area; NULL or 0 where the file has none. */
	const struct symcache_ext_image *image;
	const uint16_t *columns;
	const struct symcache_ext_decl *decls;
	const struct symcache_ext_qualified *qualified;
	size_t num_qualified;
	const struct symcache_ext_data *data_symbols;
	size_t num_data_symbols;
	const struct symcache_ext_symbol *symbols;
	size_t num_symbols;
	const struct symcache_ext_alias *aliases;
	size_t num_aliases;
	const struct symcache_ext_segment *segments;
	size_t num_segments;
	const uint32_t *index;   /* range indices by address bucket */
	uint32_t index_buckets;
	uint32_t index_shift;    /* a bucket is 2^shift bytes of addresses */
	struct symcache_details discriminators; /* uint8_t per source location */
	struct symcache_details starts;         /* uint32_t per call location */
	struct symcache_local_tables locals;
	struct symcache_unwind unwind;

	struct symcache_guard *guard; /* NULL: the bytes are trusted */
};

/* May at[0, bytes), which lies in the cache, be read, because it is undamaged? Only needed by code
 * that reads the tables itself; the functions below check it. */
static inline bool symcache_valid(const struct symcache *cache, const void *at, size_t bytes)
{
	struct symcache_guard *guard = cache->guard;

	return __builtin_expect(!guard, 1) ||
	       atomic_load_explicit(&guard->whole, memory_order_relaxed) ||
	       symcache_guard_knows(guard, at, bytes) || symcache_guard_check(guard, at, bytes);
}

/* Did the guard find damaged bytes? Then the last answer may be incomplete, and from now on
 * nothing is found. */
static inline bool symcache_damaged(const struct symcache *cache)
{
	return cache->guard && atomic_load_explicit(&cache->guard->damaged, memory_order_relaxed);
}

/* A source file as the DWARF has it; symcache_path() joins it. */
struct symcache_file {
	struct sc_str comp_dir, directory, name;
};

/* One frame of an address. */
struct symcache_raw_frame {
	struct sc_str function;       /* linkage name; "?" if the file has none */
	uint32_t lang;                /* enum symcache_lang or SYMCACHE_LANG_SYMTAB */
	uint32_t entry_pc;            /* relative; SYMCACHE_NONE: inlined */
	struct symcache_file file;    /* name.ptr NULL: unknown */
	uint32_t line;                /* 0: unknown */
	uint32_t column;              /* 0: unknown */
	uint32_t decl_file_idx;       /* symcache_file(): where the function is declared */
	uint32_t decl_line;           /* 0: unknown */
};

/* The frames that symcache_next_frame() has not returned yet; set by symcache_lookup(). */
struct symcache_frames {
	const struct symcache *cache;
	uint32_t location;    /* of the next frame; SYMCACHE_NONE: no more */
};

/* A data symbol. */
struct symcache_data {
	struct sc_str name;        /* linkage name */
	uint64_t rel_address;      /* its start */
	uint64_t size;             /* bytes; 0: unknown */
	struct symcache_file file; /* of the declaration; name.ptr NULL: unknown */
	uint32_t line;             /* 0: unknown */
};

/*
 * Opens the cache in data[0, size), which must be 4-aligned (8-aligned for the
 * extension area to be used) and stay valid as long as *ret is used.
 * SC_EFORMAT: malformed, flipped byte order or unknown version; the message
 * says which, in the words of format/symcache.md.
 */
int symcache_open(struct symcache *ret, const void *data, size_t size,
		  struct sc_error *err);

/* As symcache_open(), with a guard (or NULL) that checks bytes before they are read; it must live
 * as long as *ret is used. */
int symcache_open_guarded(struct symcache *ret, const void *data, size_t size,
			  struct symcache_guard *guard, struct sc_error *err);

/* A SymCache file, mapped, or unpacked. All zero: none. */
struct symcache_map {
	void *bytes;           /* NULL: the file is empty */
	size_t size;
	struct packed_caches unpacked;
	struct symcache cache;
};

/* Maps the file at `path` and opens it; the cache lives until symcache_map_close(). A packed one
 * is unpacked. SC_ESYS; SC_EINVAL: not a regular file; SC_EFORMAT as symcache_open(), and with
 * SC_EUNSUPPORTED and SC_ENOMEM as packed_unpack(). The message begins with the path. */
int symcache_map_open(const char *path, struct symcache_map *ret, struct sc_error *err);
void symcache_map_close(struct symcache_map *map); /* all zero is fine */

/* p_vaddr of the image's first PT_LOAD; 0 if the file does not say. */
uint64_t symcache_load_base(const struct symcache *cache);

/* Sets *vaddr to the address (p_vaddr) of `offset` in the ELF file. False: it is not in an
 * executable segment, or the cache does not know the segments. */
bool symcache_vaddr_of_offset(const struct symcache *cache, uint64_t offset, uint64_t *vaddr);

/* Are the segments' offsets in the file known? In caches of debug files they are assumed, or left
 * out. */
bool symcache_has_offsets(const struct symcache *cache);

/* Sets *vaddr to the address of `offset` in the mapping of the code: it counts from the page in
 * which the only executable segment begins. False: not in that segment, there are several, or the
 * cache does not know them. */
bool symcache_vaddr_of_code(const struct symcache *cache, uint64_t offset, uint64_t *vaddr);

/* Can there be code at this address: does it lie in an executable segment or, if the cache does not
 * know the segments, in the image? */
bool symcache_may_be_code(const struct symcache *cache, uint64_t vaddr);

/* The number of the range that contains `rel_pc`, also if that range is a gap: the last one that
 * starts at or below it. SYMCACHE_NONE: there is none, or the ranges are damaged. */
uint32_t symcache_range_of(const struct symcache *cache, uint64_t rel_pc);

/*
 * Finds the frames of `rel_pc`. True if there are any; then call
 * symcache_next_frame() until it returns false: innermost frame first.
 * Cost: one search over the ranges; no string is touched.
 */
bool symcache_lookup(const struct symcache *cache, uint64_t rel_pc,
		     struct symcache_frames *ret);
bool symcache_next_frame(struct symcache_frames *frames, struct symcache_raw_frame *ret);

/* An address in a cache, and what was found for it. */
struct symcache_query {
	const struct symcache *cache;
	uint64_t rel_pc;
	struct symcache_frames frames; /* not returned yet; location SYMCACHE_NONE: no more */
	uint32_t num_frames;           /* that the last call of symcache_…s_batch() returned */
};

#define SYMCACHE_BATCH 16 /* a good number of queries for one call */

/* symcache_lookup() for each query; their waits for memory overlap. */
void symcache_lookup_batch(struct symcache_query queries[], size_t n);

/*
 * After symcache_lookup_batch(), the first `most` frames of each query, as by
 * symcache_next_frame(): those of query i, num_frames of them, are ret[i * most] and the
 * following. `ret` has room for n * most. The rest of longer chains is in `frames`, for
 * symcache_next_frame() or another call.
 */
void symcache_frames_batch(struct symcache_query queries[], size_t n,
			   struct symcache_raw_frame ret[], uint32_t most);

/* A frame as numbers, for callers that keep names and paths themselves. */
struct symcache_frame_ids {
	uint32_t function; /* index below header->num_functions; SYMCACHE_NONE */
	uint32_t file;     /* index below header->num_files; SYMCACHE_NONE */
	uint32_t line;     /* 0: unknown */
	uint32_t column;   /* 0: unknown */
};

/* As symcache_next_frame(), but returns only the number of the source location, for the functions
 * below; SYMCACHE_NONE: no more. */
uint32_t symcache_next_location(struct symcache_frames *frames);

/* The discriminator of a frame of `rel_pc`, by its source location; 0: unknown. */
uint32_t symcache_discriminator(const struct symcache *cache, uint32_t location, uint64_t rel_pc);

/* Where the inlined function of a frame of `rel_pc` begins, relative (DW_AT_low_pc);
 * SYMCACHE_NONE: it is not inlined, or has several ranges. */
uint32_t symcache_inlined_start(const struct symcache *cache, uint32_t location, uint64_t rel_pc);

/* The frame of a source location, which must exist and be valid, as numbers. */
static inline void symcache_location_ids(const struct symcache *cache, uint32_t location,
					 struct symcache_frame_ids *ret)
{
	const struct symcache_source_location *loc = &cache->locations[location];
	const struct symcache_header *h = cache->header;
	const uint16_t *columns = cache->columns;

	ret->function = loc->function_idx < h->num_functions ? loc->function_idx : SYMCACHE_NONE;
	ret->file = loc->file_idx < h->num_files ? loc->file_idx : SYMCACHE_NONE;
	ret->line = loc->line;
	ret->column = columns && symcache_valid(cache, &columns[location], sizeof(*columns)) ?
		columns[location] : 0;
}

/* As symcache_next_frame(), as numbers: reads only the source location. */
bool symcache_next_ids(struct symcache_frames *frames, struct symcache_frame_ids *ret);

/* As symcache_frames_batch(), as numbers: reads only the source locations. */
void symcache_ids_batch(struct symcache_query queries[], size_t n,
			struct symcache_frame_ids ret[], uint32_t most);

/* symcache_lookup_batch(), and then as symcache_frames_batch(), but with the numbers of the source
 * locations in place of frames. */
void symcache_locations_batch(struct symcache_query queries[], size_t n, uint32_t ret[],
			      uint32_t most);

/* Finds the data symbol that covers `rel_address`: the innermost one, that is
 * the last to start. Symbols of unknown size cover up to the next symbol. Cost: a
 * search, and a step for each symbol that starts between the answer and the address,
 * but 4,096 at most: what starts before so many others is not found. */
bool symcache_lookup_data(const struct symcache *cache, uint64_t rel_address,
			  struct symcache_data *ret);

/* A symbol of the ELF symbol table. */
struct symcache_symbol {
	struct sc_str name;       /* as it stands in the table */
	uint64_t rel_address;     /* its start */
	uint64_t size;            /* st_size; 0: unknown */
	struct sc_str file;       /* source file of a local symbol (STT_FILE) */
};

/*
 * Finds the symbol at `rel_address`, code or data, by the symbol table alone: the
 * last one to start at or below it, unless that has a size and ends before.
 * llvm-symbolizer names the outermost frame like this; DWARF, which symcache_lookup()
 * uses, has no foo.cold and no aliases.
 */
bool symcache_lookup_symbol(const struct symcache *cache, uint64_t rel_address,
			    struct symcache_symbol *ret);

/* The same in two steps, for callers that keep names themselves: the number of the symbol, below
 * cache->num_symbols, or SYMCACHE_NONE; and the symbol (false: there is none). */
uint32_t symcache_symbol_at(const struct symcache *cache, uint64_t rel_address);
bool symcache_symbol(const struct symcache *cache, uint32_t idx, struct symcache_symbol *ret);

/* symcache_symbol_at() for the rel_pc of each query; their waits for memory overlap. `ret` may hold
 * guesses: one that is right saves the search. */
void symcache_symbols_batch(const struct symcache_query queries[], size_t n, uint32_t ret[]);

/* The aliases of what begins at `rel_address`: how many, at most 4,096; they are cache->aliases
 * from index *first on. Cost: a search. */
size_t symcache_aliases_of(const struct symcache *cache, uint64_t rel_address, size_t *first);

/* A variable or parameter of a function. */
struct symcache_local {
	struct sc_str function, name;       /* as they stand in the source; ptr NULL: unknown */
	struct symcache_file file;          /* of the declaration; name.ptr NULL: unknown */
	uint64_t line;                      /* 0: unknown */
	bool has_offset, has_size, has_tag;
	int64_t offset;                     /* bytes from the frame base */
	uint64_t size;                      /* bytes */
	uint64_t tag;                       /* DW_AT_LLVM_tag_offset: of HWASan */
};

/* The local variables of the innermost function or inlined call that has the code at `rel_pc`, and
 * of what is inlined into that: how many, numbered from *first on for symcache_local(). Also 0 if
 * the cache has no local variables at all (cache->locals.ranges is NULL). Cost: a search over
 * ranges. */
uint32_t symcache_locals_of(const struct symcache *cache, uint64_t rel_pc, uint32_t *first);
bool symcache_local(const struct symcache *cache, uint32_t i, struct symcache_local *ret);

/* The string at `offset` of the string section; it points into the cache; ptr NULL if there is
 * none. It is UTF-8 if symcache_verify() finds no fault; callers that need UTF-8 from an untrusted
 * file must check it. */
struct sc_str symcache_string(const struct symcache *cache, uint32_t offset);

/* The name of function `idx` with its scopes, if the function's own name lacks them; else ptr NULL.
 * A scope that is a function is there by its linkage name. Cost: a search. */
struct sc_str symcache_qualified(const struct symcache *cache, uint32_t idx);

/* File record `idx`; all ptr NULL if there is none. */
struct symcache_file symcache_file(const struct symcache *cache, uint32_t idx);

enum symcache_path_style {
	SYMCACHE_PATH_CLEAN, /* "." dropped, ".." resolved: what users want to read */
	SYMCACHE_PATH_RAW,   /* joined only, as LLVM's tools do */
};

/*
 * Writes the path of `file`, comp_dir/directory/name, into buf[0, size),
 * truncated and NUL-terminated like snprintf; returns the full length. buf may be
 * NULL if size is 0. A part that is absolute (/…, X:\…) replaces what is before
 * it. Clean, so does \… and <…>, and the separator is '\' where a part is a
 * Windows path; raw, it is always '/'.
 */
size_t symcache_path(const struct symcache_file *file, enum symcache_path_style style,
		     char *buf, size_t size);

/* Called by symcache_verify() for each fault, with a message of one line.
 * Return false to stop. */
typedef bool symcache_fault_fn(void *ctx, const char *fault);

/*
 * Reads the whole file and reports each breach of format/symcache.md: order of
 * ranges, indices and offsets out of bounds, inlined_into cycles, malformed
 * strings, the hash of the extension area. Returns the number of faults, or SC_ENOMEM if it
 * could not check. `fn` may be NULL. Time is linear in the size of the file; memory is
 * an eighth of the string section.
 */
ssize_t symcache_verify(const struct symcache *cache, symcache_fault_fn *fn, void *ctx);

#endif
