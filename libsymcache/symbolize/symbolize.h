/*
 * symbolize.h: a module and an address → functions, files and lines, as people read them.
 *
 *   struct symcache_names *names = symcache_names_create(NULL);
 *   struct symcache_symbolizer *s = symcache_symbolizer_create(caches, names);
 *   struct symcache_answer a;
 *   symcache_symbolize(s, m, 0x1234, &a);
 *   for (size_t i = 0; i < a.num_frames; i++) … a.frames[i].function, file, line …
 *
 * `caches` and `m` come from caches.h. Threads may share caches and names; names are made once
 * for all of them. A symbolizer belongs to one thread. Addresses are p_vaddr, in bytes.
 */
#ifndef SYMCACHE_SYMBOLIZE_H
#define SYMCACHE_SYMBOLIZE_H

#include "libsymcache/base/frame.h"
#include "libsymcache/symbolize/caches.h"
#include "libsymcache/symbolize/demangle.h"

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
	bool llvm; /* Rust's legacy names are demangled as C++, and no aliases are found by name, as
		    * LLVM does */
};

/* Names and paths of functions and files as they are shown, each made once for all threads that
 * share them; at most about 64 MiB of them. `options` is copied; NULL: all zero. Returns NULL: out
 * of memory. */
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
	SYMCACHE_DAMAGED,   /* the entry of the store is damaged: ask again, and a file is indexed */
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
	uint32_t symbol_idx;            /* its number in the cache; SYMCACHE_NONE: not known */
	uint32_t code_idx;              /* the function that has the code, in the cache;
					 * SYMCACHE_NONE: unknown */
	bool one_frame;                 /* SYMCACHE_ONE_FRAME */
};

/*
 * The frames of `vaddr`. *ret is valid until the next call with this symbolizer, or
 * symcache_caches_update(). Returns ret->reason.
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

/* As symcache_symbolize(), with a choice of frames, and `table` in place of the names' rule. */
enum symcache_reason symcache_symbolize_as(struct symcache_symbolizer *s, struct symcache_module *m,
					   uint64_t vaddr, enum symcache_inlines inlines,
					   enum symcache_table_rule table,
					   struct symcache_answer *ret);

/*
 * Announces n addresses that will be asked for next, in this order; those behind the first
 * SYMCACHE_BATCH are ignored. They are looked up together, which takes half the time, because
 * their waits for memory overlap. Each module must have been asked for its cache before. Other
 * addresses may be asked for in between.
 */
void symcache_symbolize_ahead(struct symcache_symbolizer *s, struct symcache_module *const m[],
			      const uint64_t vaddrs[], size_t n);

/* So many addresses of the module, which was asked for its cache before, will be looked up. */
void symcache_symbolize_expect(struct symcache_module *m, size_t n);

struct symcache_question {
	struct symcache_module *module; /* was asked for its cache before */
	uint64_t vaddr;
};

/*
 * The frames of n addresses that `at` gives: by module, ascending. They are announced in batches;
 * equal ones are looked up once. Calls `fn` for each, in order; the answer is valid during the
 * call. Stops when `fn` returns nonzero, and returns that; else 0.
 */
int symcache_symbolize_sorted(struct symcache_symbolizer *s, size_t n,
			      struct symcache_question (*at)(void *ctx, size_t i),
			      int (*fn)(void *ctx, size_t i, const struct symcache_answer *a),
			      void *ctx);

/* Where the function of a frame of the last answer begins and is declared. */
struct symcache_start {
	bool known;               /* false: it has several ranges, or the frame has no function */
	bool inlined;             /* also where nothing but its caller is known */
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
 * Start addresses of the functions with a linkage name, and of code to which only the symbol table
 * gives it; if there are none, of code with this alias. One a call: *at is 0 at first. false: there
 * are no more. The first name of a module costs a pass over all its functions and symbols, which
 * builds a hash table; later names do not.
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
 * Can the symbol that begins at `start`, found by symcache_symbolize_name(), be the one that is
 * meant? It must not be larger than `size`, no other symbol with a size may begin within `size`,
 * and the offset must lie in it or at its end. A symbol without a size always can. false: it is
 * another build's; *has is its size here in bytes.
 */
bool symcache_symbolize_fits(struct symcache_symbolizer *s, struct symcache_module *m,
			     uint64_t start, const struct symcache_named *named, uint64_t *has);

/*
 * The address in the only symbol of this name that fits. false: none does, or several do. *has: if
 * there are symbols of this name and none fits, the size of the last one; else 0.
 */
bool symcache_symbolize_offset(struct symcache_symbolizer *s, struct symcache_module *m,
			       const struct symcache_named *named, uint64_t *vaddr, uint64_t *has);

/* A linkage name as it is shown, not shortened; valid until the next call with this symbolizer.
 * ptr NULL: `name` is empty. */
struct sc_str symcache_show_name(struct symcache_symbolizer *s, struct sc_str name,
				 uint32_t lang);

#endif
