/*
 * explain.h: lookup --explain: why an address has the answer it has.
 *
 * One half stands in the cache: the range that holds the address, its source location
 * and what that is inlined into, the symbol. The other half is in the debug information
 * that the cache was made of: unit, entries, line row. If that cannot be had any more,
 * the first half is explained, and what is missing is said.
 */
#ifndef CMD_EXPLAIN_H
#define CMD_EXPLAIN_H

#include "cmd/lookup/answer.h"
#include "cmd/cli/json_gen.h"
#include "symcache/explain.h"

/* What to explain. All is borrowed. */
struct explain_request {
	const struct symcache *cache;
	const char *module;             /* as answers call it */
	const char *const *elf_files;   /* what the cache was made of; ends with NULL */
	const char *const *debug_dirs;  /* of --debug-file-directory, or NULL */
	uint64_t vaddr;
	struct symcache_symbolizer *symbolizer; /* for names */
};

struct explained {
	const struct explain_request *request;
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
	char *missing;                  /* why there is no debug information; or NULL */
};

/* Explains. True if the cache has code or a symbol there. */
bool explain_find(const struct explain_request *request, struct explained *ret);
void explain_deinit(struct explained *e);

/* The name as the request wants it, on the heap; "??" if there is none. */
char *explain_name(const struct explained *e, struct symcache_str name, uint32_t lang);

/* The file that a cache was made of, among these (ends with NULL) or by its build ID in the debug
 * directories (NULL: the usual ones), if it still has its build ID: its path on the heap. NULL:
 * *why, on the heap, says what is missing. */
char *explain_find_file(const struct symcache *cache, const char *const *elf_files,
			const char *const *debug_dirs, char **why);

/* PATH on the heap; "??" if it is not known. */
char *explain_path(const struct symcache_file *file);

/* Prints to standard output; JSON: one object, in an array or by itself. */
void explain_text(const struct explained *e);
void explain_json(const struct explained *e, struct json_gen *j);

#endif
