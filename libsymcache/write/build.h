/*
 * build.h: one ELF file → the bytes of one SymCache.
 *
 *   struct symcache_build *b;
 *   symcache_build_create("/usr/bin/true", NULL, &b, &err);
 *   void *bytes = malloc(symcache_build_size(b));
 *   symcache_build_write(b, bytes);
 *   symcache_build_destroy(b);
 *
 * create() computes everything, so that the size is known before the bytes are written,
 * and they can be written straight into a file or a page of the store.
 * The bytes depend on the input and the options only.
 */
#ifndef SYMCACHE_BUILD_H
#define SYMCACHE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/symcache_format.h"
#include "libsymcache/base/error.h"

/* "symcache X.Y.Z": recorded in each cache and in the store. */
extern const char symcache_version[];

enum symcache_reader {
	SYMCACHE_READER_FAST,  /* our own, on all cores */
	SYMCACHE_READER_LIBDW, /* libdw's, slow: the oracle. Gives the same bytes */
};

/* A place in the sources. A part that is absent is NULL; symcache_path() joins them. */
struct symcache_place {
	const char *comp_dir, *dir, *name;
	uint32_t line;  /* 0: unknown */
	bool no_column; /* to be set if columns mean nothing in the new place */
};

/*
 * Changes names and places before they are written. Called once or more for each name and
 * place, by several threads at the same time, so the result must depend on the arguments
 * only. It must stay valid until the next call from the same thread; it is copied.
 */
struct symcache_transform {
	/* Returns another linkage name for a function or variable, or `name`. NULL: names
	 * stay. */
	const char *(*name)(void *ctx, const char *name);
	/* Changes *place; false: it stays. NULL: places stay. */
	bool (*place)(void *ctx, struct symcache_place *place);
	void *ctx;
};

/* A debug or supplementary file that a build looks for, or the program of a debug file. */
struct symcache_wanted {
	const uint8_t *build_id; /* NULL: by name and CRC, which the build checks */
	size_t build_id_len;
	const char *name;        /* without folders */
	bool program;
};

/* Files that are not in the file system but, say, in an archive. Called by builds on
 * several threads at the same time. */
struct symcache_files {
	/* Opens the path that create() got or find() returned (the same pointer). Returns a
	 * descriptor, which the build closes; −1 with errno. */
	int (*open)(void *ctx, const char *path);
	/* The n-th candidate, from 0; NULL: no more, look in the file system. */
	const char *(*find)(void *ctx, const struct symcache_wanted *wanted, unsigned n);
	void *ctx;
	bool programs; /* find() may be asked for programs, which have unwind information */
};

struct symcache_build_options {
	bool is_open;                 /* read the open file `fd`, which stays the caller's; the path
	                               * is for messages, and to find debug files */
	int fd;
	uint32_t format_version;      /* 7, 8 or 9; 0: 9 */
	const char *const *debug_dirs;/* NULL-terminated list of directories that hold
	                               * .build-id/xx/rest.debug; NULL: /usr/lib/debug */
	bool no_debug_search;         /* use the given file alone */
	unsigned threads;             /* 0: one for each core */
	uint64_t memory;              /* bytes that the build may take, the file itself and
	                               * the cache's bytes not counted; 0: no limit */
	enum symcache_reader reader;
	/* Applied in this order, each to what the one before it gave. */
	const struct symcache_transform *transforms;
	size_t num_transforms;
	const struct symcache_files *files; /* NULL: the file system alone */
	bool locals;                  /* local variables, too: sections LOC…. They are read
	                               * in a pass of its own, on one thread */
	const char *package;          /* a .dwp file that is tried before FILE.dwp; or NULL */
	/*
	 * Make a cache for code at these addresses (vaddr) only: for them it gives the answers of
	 * the whole cache; for others its answers mean nothing. Only the units that can hold them
	 * are read; whether others are broken is not known. It has no data, local variables or
	 * unwind information. num_only 0: make the whole cache.
	 */
	const uint64_t *only;
	size_t num_only;
	bool outline;                 /* make a cache with only the image, its segments, and whether
	                               * there is DWARF */
};

/* The stages of a build, in order. */
enum symcache_stage {
	SYMCACHE_STAGE_OPEN,     /* files found */
	SYMCACHE_STAGE_INFLATE,  /* sections inflated and relocated */
	SYMCACHE_STAGE_HEADERS,  /* unit headers and abbreviations, unless read with the units */
	SYMCACHE_STAGE_UNITS,    /* entries and lines read and flattened, on all threads; a large
	                          * .debug_info is inflated, and symbols are read meanwhile */
	SYMCACHE_STAGE_ASSEMBLE, /* units put together, symbols added */
	SYMCACHE_STAGE_LAYOUT,   /* records placed */
	SYMCACHE_STAGES,
};

/* What a build found; valid as long as the build. */
struct symcache_build_info {
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX]; /* GNU build ID, or derived */
	size_t build_id_len;
	bool build_id_derived;  /* the file has none: folded from .text */
	bool relocatable;       /* an object file, or a kernel's module */
	uint32_t sources;       /* or of enum symcache_source */
	uint64_t load_base;     /* p_vaddr of the first PT_LOAD */
	const char *debug_path; /* separate debug file that was used, or NULL */
	char debug_link[256];   /* the name that the file gives for one; "": none */
	char soname[256];       /* DT_SONAME; "": none, or longer */
	uint64_t units;         /* compilation units read */
	uint64_t bad_units;     /* units skipped because they are broken */
	char first_fault[256];  /* why, for the first one; "" if none */
	uint64_t section_bytes; /* of the debug sections, inflated */
	bool inflated;          /* some of them are compressed in the file */
	uint64_t entries, rows; /* debugging entries and line rows read */
	uint64_t functions, files, ranges, merged_ranges, source_locations;
	uint64_t data_symbols;
	uint64_t string_bytes;
	double seconds[SYMCACHE_STAGES]; /* wall-clock time of each stage */
	uint64_t above_4g;      /* ranges, symbols and data that a cache cannot have: below the base
				 * or more than 4 GiB above it */
	uint64_t code_above_4g; /* those of code among them, so not a kernel's per-CPU variables */
};

struct symcache_build;

/*
 * Reads the ELF file at `path` and lays out its cache. `options` may be NULL.
 * SC_ESYS: cannot be read; SC_EFORMAT: not an ELF file, or cut off;
 * SC_ENOSYMBOLS: well-formed, nothing to index; SC_ELIMIT: more than 4 GiB of strings, or all code
 * and data is more than 4 GiB above the base; or the file asks for more than files of its size need
 * (libsymcache/base/limits.h), or for more memory than the options allow; SC_ENOMEM. On failure *ret
 * is NULL.
 */
int symcache_build_create(const char *path, const struct symcache_build_options *options,
			  struct symcache_build **ret, struct sc_error *err);
void symcache_build_destroy(struct symcache_build *b);

const struct symcache_build_info *symcache_build_info(const struct symcache_build *b);

/* How much code the file has, and how much of it has lines, in bytes. */
void symcache_build_coverage(const struct symcache_build *b, uint64_t *code, uint64_t *lines);

/* Size of the cache in bytes. */
size_t symcache_build_size(const struct symcache_build *b);

/* Writes the cache to dst[0, symcache_build_size(b)); dst is 8-aligned. Returns its XXH3-64. */
uint64_t symcache_build_write(const struct symcache_build *b, void *dst);

/*
 * The identity of an ELF file without reading its DWARF: the build ID, or the
 * id derived from .text (*derived = true). SC_EFORMAT: not an ELF file.
 */
int symcache_elf_build_id(const char *path, uint8_t build_id[SYMCACHE_BUILD_ID_MAX],
			  size_t *build_id_len, bool *derived, struct sc_error *err);

/* The same of an open file, which stays the caller's; `name` stands in for its path. */
int symcache_elf_build_id_of(int fd, const char *name, uint8_t build_id[SYMCACHE_BUILD_ID_MAX],
			     size_t *build_id_len, bool *derived, struct sc_error *err);

/* The code of a linked ELF file, for callers that need its instructions. */
struct symcache_code;

/* SC_ENOTFOUND: the file has another build ID, or no code, as debug files; else as
 * symcache_elf_build_id(). */
int symcache_code_open(const char *path, const uint8_t *build_id, size_t build_id_len,
		       struct symcache_code **ret, struct sc_error *err);
void symcache_code_close(struct symcache_code *c); /* NULL is fine */

/* Copies what is loaded at `vaddr`. False: the file does not have it all. */
bool symcache_code_read(struct symcache_code *c, uint64_t vaddr, void *to, size_t bytes);

/* Would a build of the file at `path`, which has no DWARF, find a debug file now? */
bool symcache_debug_file_found(const char *path, const struct symcache_build_options *options);

/* Where the first section of this name begins, vaddr. SC_ENOTFOUND: there is none; else as
 * symcache_elf_build_id(). */
int symcache_elf_section(const char *path, const char *name, uint64_t *vaddr,
			 struct sc_error *err);

/* What an ELF file says about itself and the files that belong to it. */
struct symcache_elf_facts {
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	size_t build_id_len;  /* 0: none */
	bool dwarf;           /* it has .debug_info, or strings for other files (dwz) */
	uint8_t alt_id[SYMCACHE_BUILD_ID_MAX]; /* build ID of its supplementary file (dwz) */
	size_t alt_id_len;    /* 0: none, or damaged */
	char debug_link[256]; /* name of its debug file; "": none */
};

/* Of the file `fd`, which stays the caller's; `name` is for messages. Errors as those of
 * symcache_elf_build_id(). */
int symcache_elf_facts(int fd, const char *name, struct symcache_elf_facts *ret,
		       struct sc_error *err);

/* ---- symbols of one file ------------------------------------------------------------------ */

/* The symbol table of an ELF file as it stands: .symtab, or .dynsym where there is none. Any
 * number of threads may ask it. */
struct symcache_symbol_table;

/* Strings live as long as the table; `file` is the STT_FILE above a local symbol, or NULL. */
struct symcache_named_symbol {
	const char *name, *file;
	uint64_t vaddr, size; /* size 0: unknown */
	bool tagged;          /* its value has a tag in the top byte (HWASan), `vaddr` has not */
};

/* Errors as those of symcache_elf_build_id(), and SC_ENOMEM. */
int symcache_symbol_table_open(const char *path, struct symcache_symbol_table **ret,
			       struct sc_error *err);
/* The same, but *ret is NULL if the file has a .symtab: that is not read then. */
int symcache_symbol_table_open_dynamic(const char *path, struct symcache_symbol_table **ret,
				       struct sc_error *err);
/* Checks that the names of all symbols are within the table of strings. SC_EFORMAT: they are not, in
 * llvm-symbolizer's words; else as above. */
int symcache_symbol_names_check(const char *path, struct sc_error *err);
void symcache_symbol_table_close(struct symcache_symbol_table *t); /* NULL is fine */

/* Is it .dynsym, as there is no .symtab? */
bool symcache_symbol_table_is_dynamic(const struct symcache_symbol_table *t);

/* As symcache_lookup_symbol(): the last symbol to start at or below `vaddr`, unless that has a
 * size and ends before. */
bool symcache_symbol_table_find(const struct symcache_symbol_table *t, uint64_t vaddr,
				struct symcache_named_symbol *ret);

/* ---- the nearest symbol ------------------------------------------------------------------- */

/* Names addresses as binutils does if the DWARF has no function: by the last symbol to begin at or
 * below them in their section, from the table of the debug file if there is one. For one thread. */
struct symcache_nearest;

/* Errors as those of symcache_build_create(). */
int symcache_nearest_open(const char *path, const struct symcache_build_options *options,
			  struct symcache_nearest **ret, struct sc_error *err);
void symcache_nearest_close(struct symcache_nearest *n); /* NULL is fine */

/* False: no loaded section has the address. ret->name is NULL if there is no symbol; ret->file is ""
 * if the table says that the symbol is of no file. */
bool symcache_nearest_find(const struct symcache_nearest *n, uint64_t vaddr,
			   struct symcache_named_symbol *ret);

#endif
