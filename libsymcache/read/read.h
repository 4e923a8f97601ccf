/*
 * read.h: open a SymCache in borrowed memory and look addresses up.
 *
 * One sentence on ownership: everything here points into the bytes given to
 * symcache_open() and lives as long as they do. Nothing allocates but
 * symcache_verify(), nothing locks; one `struct symcache` may be used by any
 * number of threads.
 *
 * Addresses are `rel_pc`: relative to the p_vaddr of the image's first PT_LOAD
 * segment (symcache_load_base()). rel_pc = vaddr − load base.
 *
 * Look-ups in a cache of many megabytes wait for memory, and for its page tables: on
 * pages of 2 MiB (memory aligned to them, madvise(MADV_HUGEPAGE) before the cache is
 * read into it) all frames come a fifth to a quarter sooner. In batches (below) they come
 * twice as soon, on pages of any size.
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

/* May at[0, bytes), which lies in the cache, be read? For those who read the tables
 * themselves; the functions below ask it. */
static inline bool symcache_valid(const struct symcache *cache, const void *at, size_t bytes)
{
	struct symcache_guard *guard = cache->guard;

	return __builtin_expect(!guard, 1) ||
	       atomic_load_explicit(&guard->whole, memory_order_relaxed) ||
	       symcache_guard_check(guard, at, bytes);
}

/* Did a guard find bytes that are not those that were written? Then what was found
 * last may lack something, and from now on nothing is found. */
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

/* Frames still to come; filled by symcache_lookup(). */
struct symcache_frames {
	const struct symcache *cache;
	uint32_t location;    /* to be tried next, SYMCACHE_NONE: no more */
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

/* As symcache_open(), with a guard (or NULL), which must live as long as *ret is used,
 * in front of every byte. */
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

/* The address (p_vaddr) of what lies at `offset` in the ELF file, if it is code that is loaded;
 * false: it is not, or the file does not say. */
bool symcache_vaddr_of_offset(const struct symcache *cache, uint64_t offset, uint64_t *vaddr);

/* Are the segments' offsets in the file known? Of a debug file they are assumed, or left out. */
bool symcache_has_offsets(const struct symcache *cache);

/* The same of what lies `offset` bytes behind the beginning of the page in which the only
 * executable segment begins, that is, of the mapping of all code; false also if there are
 * several such segments. */
bool symcache_vaddr_of_code(const struct symcache *cache, uint64_t offset, uint64_t *vaddr);

/* May there be code at this address: does it lie in an executable segment, or, where the file
 * does not say what they are, in the image? */
bool symcache_may_be_code(const struct symcache *cache, uint64_t vaddr);

/* The number of the range that holds `rel_pc`, be it a gap: the last that starts at or
 * below. SYMCACHE_NONE: there is none, or the ranges are damaged. */
uint32_t symcache_range_of(const struct symcache *cache, uint64_t rel_pc);

/*
 * Finds the frames of `rel_pc`. True if there are any; then call
 * symcache_next_frame() until it returns false: innermost frame first.
 * Cost: one search over the ranges; no string is touched.
 */
bool symcache_lookup(const struct symcache *cache, uint64_t rel_pc,
		     struct symcache_frames *ret);
bool symcache_next_frame(struct symcache_frames *frames, struct symcache_raw_frame *ret);

/* An address of a cache, and what symcache_lookup() finds of it. */
struct symcache_query {
	const struct symcache *cache;
	uint64_t rel_pc;
	struct symcache_frames frames; /* still to come; location SYMCACHE_NONE: nothing */
	uint32_t num_frames;           /* that the last of symcache_…s_batch() gave */
};

#define SYMCACHE_BATCH 16 /* queries that are worth being asked at once */

/* As symcache_lookup() for each of them; they wait for memory together. */
void symcache_lookup_batch(struct symcache_query queries[], size_t n);

/*
 * As symcache_next_frame() for each of them, again and again, behind
 * symcache_lookup_batch(): the first `most` frames of query i, num_frames of them, are
 * ret[i * most] and the following. `ret` has room for n * most. Of longer chains the
 * rest is in `frames`, for symcache_next_frame() or another call.
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

/* As symcache_next_frame(), the source location alone, for the functions below; SYMCACHE_NONE:
 * no more. */
uint32_t symcache_next_location(struct symcache_frames *frames);

/* The discriminator of a frame of `rel_pc`, by its source location; 0: unknown. */
uint32_t symcache_discriminator(const struct symcache *cache, uint32_t location, uint64_t rel_pc);

/* Where the inlined function of a frame of `rel_pc` begins, relative (DW_AT_low_pc);
 * SYMCACHE_NONE: it is not inlined, or has several ranges. */
uint32_t symcache_inlined_start(const struct symcache *cache, uint32_t location, uint64_t rel_pc);

/* What a source location, which exists and was tested, says of its frame. */
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

/* As symcache_next_frame(), reading the source location alone. */
bool symcache_next_ids(struct symcache_frames *frames, struct symcache_frame_ids *ret);

/* As symcache_frames_batch(), reading the source locations alone. */
void symcache_ids_batch(struct symcache_query queries[], size_t n,
			struct symcache_frame_ids ret[], uint32_t most);

/* symcache_lookup_batch(), and then the same: the numbers of the source locations alone. */
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
 * Finds what the symbol table alone says of `rel_address`, code or data: the
 * last symbol to start at or below it, unless that has a size and ends before.
 * It is how llvm-symbolizer names the outermost frame; DWARF, which
 * symcache_lookup() goes by, knows no foo.cold and no aliases.
 */
bool symcache_lookup_symbol(const struct symcache *cache, uint64_t rel_address,
			    struct symcache_symbol *ret);

/* The same in two steps: the symbol's number below cache->num_symbols, or SYMCACHE_NONE; and
 * what it is (false: there is none). For callers that keep names themselves. */
uint32_t symcache_symbol_at(const struct symcache *cache, uint64_t rel_address);
bool symcache_symbol(const struct symcache *cache, uint32_t idx, struct symcache_symbol *ret);

/* symcache_symbol_at() of the rel_pc of each query, which wait for memory together. Where the
 * number in `ret` is right already, no search is made. */
void symcache_symbols_batch(const struct symcache_query queries[], size_t n, uint32_t ret[]);

/* The aliases of what begins at `rel_address`: how many, numbered from *first on in cache->aliases.
 * 4,096 at most. A search. */
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

/* The locals of the innermost function or inlined call that has the code at `rel_pc`, and of
 * those inlined into it: how many, numbered from *first on for symcache_local(). 0 also where
 * the file has none of any function (cache->locals.ranges is NULL). A search over ranges. */
uint32_t symcache_locals_of(const struct symcache *cache, uint64_t rel_pc, uint32_t *first);
bool symcache_local(const struct symcache *cache, uint32_t i, struct symcache_local *ret);

/* The string at `offset` of the string section, in the cache; ptr NULL if there is none. UTF-8 if
 * the file is in order, which symcache_verify() says; whoever must have UTF-8 from an untrusted
 * file tests it. */
struct sc_str symcache_string(const struct symcache *cache, uint32_t offset);

/* The name of function `idx` with its scopes, where the file has it because the function's name
 * lacks them; ptr NULL else. A scope that is a function stands there by its linkage name. A
 * search. */
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
 * strings, the hash of the extension area. Returns the number of faults, or SC_ENOMEM:
 * nothing is known. `fn` may be NULL. Time is linear in the size of the file; takes memory
 * of an eighth of the string section.
 */
ssize_t symcache_verify(const struct symcache *cache, symcache_fault_fn *fn, void *ctx);

#endif
