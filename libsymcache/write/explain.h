/*
 * explain.h: what the debug information says of one address, entry by entry
 * and row by row: why a cache answers as it does.
 *
 *   struct symcache_explanation *e;
 *   symcache_explain("/usr/bin/true", NULL, 0x1234, &e, &err);
 *   for (size_t i = 0; i < e->num_units; i++) … e->units[i].name …
 *   symcache_explanation_destroy(e);
 *
 * The units are read as they are for a cache, and what decides is found by the same
 * code. Cost: that of reading all units, on one thread: about as long as indexing.
 */
#ifndef SYMCACHE_EXPLAIN_H
#define SYMCACHE_EXPLAIN_H

#include "libsymcache/read/read.h"
#include "libsymcache/write/build.h"

/* A DW_TAG_subprogram or DW_TAG_inlined_subroutine whose ranges hold the address. */
struct symcache_explained_entry {
	uint64_t offset;        /* of the entry in .debug_info (of the .dwo, if split) */
	bool inlined;           /* DW_TAG_inlined_subroutine */
	bool decides;           /* one of the chain of frames; else another one is inner */
	const char *name;       /* linkage name, else name; NULL: none */
	uint64_t start, end;    /* the range that holds the address, vaddr */
	uint32_t num_ranges;    /* how many the entry has */
	struct symcache_file call_file; /* name.ptr NULL: unknown, or not inlined */
	uint32_t call_line, call_column;/* 0: unknown */
};

/* The line row of the address. */
struct symcache_explained_row {
	uint64_t start, end;    /* what the row covers, vaddr */
	struct symcache_file file; /* name.ptr NULL: unknown */
	uint32_t line, column;  /* 0: unknown */
	bool is_stmt;
	uint32_t discriminator;
	uint64_t sequence_start, sequence_end;
	uint32_t sequence_rows;
};

/* A unit of which an entry or a row holds the address. */
struct symcache_explained_unit {
	uint64_t offset;        /* in .debug_info */
	uint16_t version;       /* of DWARF */
	const char *name, *comp_dir; /* NULL: none */
	const char *split;      /* the .dwo with its entries, or NULL */
	const char *language;   /* "C_plus_plus_14"; NULL: unknown */
	bool decides;           /* it gives the frames; else another one, or none does */
	struct symcache_explained_entry *entries; /* in the order of the DWARF */
	size_t num_entries;
	bool has_row;
	struct symcache_explained_row row;
};

/* All strings live as long as the explanation. */
struct symcache_explanation {
	const char *path;       /* the file with the debug information; NULL: there is none */
	uint64_t units_read;
	struct symcache_explained_unit *units; /* in the order of .debug_info */
	size_t num_units;
};

/*
 * Explains `vaddr` of the ELF file at `path`; `options` (may be NULL) say where its
 * debug file is looked for. A file without DWARF has no units, which is not an error. Units
 * that are broken are explained as far as they go. Fails as symcache_build_create()
 * does, but for SC_ENOSYMBOLS and SC_ELIMIT; *ret is NULL then.
 */
int symcache_explain(const char *path, const struct symcache_build_options *options,
		     uint64_t vaddr, struct symcache_explanation **ret, struct sc_error *err);
void symcache_explanation_destroy(struct symcache_explanation *e); /* NULL is fine */

/* ---- with what the cache says ----------------------------------------------------------- */

/* All is borrowed. */
struct symcache_why_request {
	const struct symcache *cache;
	const char *const *elf_files;   /* what the cache was made of; ends with NULL */
	const char *const *debug_dirs;  /* as in struct symcache_build_options */
	uint64_t vaddr;
};

/* Why an address has the answer it has. One half stands in the cache: the range that holds the
 * address, the symbol, the unwind information. The other half is in the debug information that
 * the cache was made of; if that is gone, `missing` says so. */
struct symcache_why {
	bool in_range;                  /* the cache has a range that holds the address */
	uint32_t range;                 /* its index */
	uint32_t range_start, range_end;/* relative; end SYMCACHE_NONE: the last one */
	bool has_code;                  /* and it is not a gap */
	bool has_symbol;
	struct symcache_symbol symbol;
	const char *table;              /* that names the outermost frame: "the debug file's
					 * .symtab", "the DWARF"; NULL: nothing does */
	const char *own_table;          /* of the file itself, which names it for llvm-symbolizer,
					 * if it is another: ".dynsym"; else NULL */
	char *own_name;                 /* that it has there; NULL: none */
	char *unwind;                   /* the row of the unwind information; NULL: none */
	uint64_t unwind_start, unwind_end; /* of its range, relative */
	struct symcache_explanation *dwarf; /* NULL: see `missing` */
	struct sc_error missing;        /* why there is no debug information */
};

/* True if the cache has code or a symbol there. Cost: that of indexing the debug file. */
bool symcache_why(const struct symcache_why_request *request, struct symcache_why *ret);
void symcache_why_deinit(struct symcache_why *w);

/* The file that a cache was made of, among these (ends with NULL) or by its build ID in the debug
 * directories (NULL: the usual ones), if it still has its build ID: its path, on the heap. NULL:
 * *err says what is missing. */
char *symcache_debug_file(const struct symcache *cache, const char *const *elf_files,
			  const char *const *debug_dirs, struct sc_error *err);

#endif
