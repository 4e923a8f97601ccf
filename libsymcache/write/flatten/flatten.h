/*
 * Facts of one unit → disjoint ranges with inline chains. THE algorithm.
 *
 * In a unit, functions and inlined calls have ranges that nest like their
 * entries (and, where compilers slip, do not), and the line table cuts the same
 * addresses in its own way. A cache wants neither trees nor overlaps: it wants
 * for each address one location, and for each inlined call one call location.
 *
 *   function f   [-----------------------------------)
 *   inlined g        [-----------------)
 *   inlined h            [-----)
 *   line rows   |a      |b   |c   |d        |e         )
 *
 *   ranges      [f:a][g:a|g:b[h:b|h:c)[g:c|g:d)[f:d|f:e)
 *   calls       g: where f calls it (DW_AT_call_file, _line, _column)
 *               h: where g calls it, inlined into the call of g
 *
 * 1. Scopes are painted: at each address the innermost scope wins, that is the
 *    last one in the order of the entries; among functions, containment.
 * 2. What is painted is cut at the line rows.
 * 3. Neighbours that say the same are one range.
 *
 * The cases one by one, with their answers, are in flatten_cases_test.h.
 */
#ifndef SC_FLATTEN_H
#define SC_FLATTEN_H

#include "libsymcache/write/flatten/paint.h"
#include "libsymcache/write/flatten/tables.h"
#include "libsymcache/dwarf/facts.h"

/* Whence a piece of coverage comes; the higher wins where pieces overlap. */
enum sc_piece_kind {
	SC_PIECE_LINES,   /* line rows without a function: assembler, stubs */
	SC_PIECE_STRAY,   /* an inlined call beyond the ranges of its function */
	SC_PIECE_FUNCTION,
};

/* A run of addresses of one function (or of none), cut into ranges. */
struct sc_piece {
	uint64_t start, end;  /* vaddr */
	enum sc_piece_kind kind;
	uint32_t part;        /* 0: ranges; else more[part − 1] has its ranges */
	uint32_t first_range, num_ranges; /* of the part: [start of first = start, end) */
	uint32_t function;    /* of the part's tables; of SC_PIECE_FUNCTION, else SC_NONE */
	bool has_rows;        /* rows of lines cut it */
};

struct sc_flat_range {
	uint32_t start; /* relative to the load base; it ends where the next or the piece ends */
	struct sc_location loc;
};

/* Ranges that another thread found, in numbers of its own tables. */
struct sc_flat_part {
	VEC(struct sc_flat_range) ranges;
	struct sc_maps maps;
};

/* A range of an inlined call, and where the inlined function begins (DW_AT_low_pc). */
struct sc_inlined {
	uint32_t call;  /* number of the call location */
	uint32_t from;  /* relative: of the range */
	uint32_t start; /* relative; SC_NONE: unknown */
};

/* What flattening gives, of as many units as were added. */
struct sc_flat {
	VEC(struct sc_piece) pieces; /* ascending within each unit */
	VEC(struct sc_flat_range) ranges;
	VEC(struct sc_inlined) inlined; /* by call and `from`; neighbours of a call differ in start */
	VEC(struct sc_flat_part) more;
	uint64_t merged;             /* ranges that were equal to their neighbour */
	uint64_t too_far;            /* ranges that begin out of reach of a u32 */
};

/* What flattening must know besides the unit. */
struct sc_flatten_env {
	struct sc_tables *tables;
	uint64_t load_base;
	/* The end of the executable region around vaddr, or 0 where no code can
	 * be: what the linker dropped (tombstones 0, −1, −2) is in none. */
	uint64_t (*code_end)(const void *ctx, uint64_t vaddr);
	/* The symbol at exactly vaddr, for functions without a name, or NULL. */
	const char *(*symbol_at)(const void *ctx, uint64_t vaddr);
	const void *ctx;
	uint64_t file_size; /* for base/limits.h; 0: no limits */
	/* The one by which look-ups name what begins at vaddr; may be NULL, as may be what it
	 * returns: symbol_at() is asked then. */
	const char *(*shown_symbol_at)(const void *ctx, uint64_t vaddr);
};

struct sc_flattener; /* working memory, kept from unit to unit */

struct sc_flattener *sc_flattener_create(const struct sc_flatten_env *env);
void sc_flattener_destroy(struct sc_flattener *f);

/* Appends the pieces and ranges of `unit` to `ret`. False: out of memory. */
bool sc_flatten(struct sc_flattener *f, const struct dw_facts *unit, struct sc_flat *ret);

/* Puts flat->inlined of the last unit, which begins at `first`, into order. False: out of
 * memory. */
bool sc_inlined_of_unit(struct sc_flat *flat, size_t first);

void sc_flat_deinit(struct sc_flat *flat);

#endif
