/*
 * Pieces of all units and the symbols → the ranges of the image: ascending,
 * disjoint, gaps marked. Where units overlap (folded functions, LTO), function
 * pieces go before strays, and among them containment decides; of equal ones the first
 * unit, but one with lines goes before one without, and one whose function is called as the symbol
 * before others. Where no function is, symbols name the code and line rows place it.
 */
#ifndef SC_ASSEMBLE_H
#define SC_ASSEMBLE_H

#include "libsymcache/write/flatten/flatten.h"

/* A range of the cache; it ends where the next one starts. */
struct sc_final_range {
	uint32_t start; /* relative */
	struct sc_location loc; /* function SC_NONE: no source location */
};

/* From here on, up to the next one or the end of the range, the discriminator is another one. */
struct sc_discriminator {
	uint32_t start; /* relative, within a range */
	uint32_t value;
};

struct sc_final {
	VEC(struct sc_final_range) ranges;
	VEC(struct sc_discriminator) discriminators; /* ascending by start */
};

void sc_final_deinit(struct sc_final *f);

/* Takes up that from `start` on, within the last range, the discriminator is `value`. False: out
 * of memory. */
bool sc_final_discriminate(struct sc_final *f, uint32_t start, uint32_t value);

/* A code symbol: [start, end) vaddr, in reach, not empty. */
struct sc_code_symbol {
	uint64_t start, end;
	const char *name;
};

/* The symbols of an image, ascending, and its load base. */
struct sc_code_symbols {
	const struct sc_code_symbol *list;
	size_t n;
	uint64_t load_base;
	/* The name of the symbol that begins there, by which it is looked up, or NULL; symbol_at NULL:
	 * no function is preferred for its name. */
	const char *(*symbol_at)(const void *ctx, uint64_t vaddr);
	const void *ctx;
};

/* Fills `ret`. `flat` is only read; flat->merged counts on. With more than one thread,
 * `tables` have a lock. False: out of memory. */
bool sc_assemble(struct sc_flat *flat, const struct sc_code_symbols *symbols,
		 struct sc_tables *tables, unsigned threads, struct sc_final *ret);

/* *ret: the one of the pieces of `flat`, whose ranges are not read, that has the say at `vaddr` in
 * the assembled ranges (where symbols, too, may name the code); SC_NONE: none. False: out of
 * memory. */
bool sc_piece_at(const struct sc_flat *flat, const struct sc_code_symbols *symbols,
		 const struct sc_tables *tables, uint64_t vaddr, uint32_t *ret);

#endif
