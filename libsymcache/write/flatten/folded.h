/* folded.h: which of several units' functions has code that the linker folded into one. */
#ifndef SC_FOLDED_H
#define SC_FOLDED_H

#include "libsymcache/write/flatten/assemble.h"

/* Pieces, and what is known of their names. */
struct sc_naming {
	const struct sc_flat *flat; /* its ranges are not read */
	const struct sc_code_symbols *symbols;
	const struct sc_tables *tables;
};

/* Among equal intervals of `functions`, which are ranked and have the numbers of pieces, that of a
 * function with lines shall win, and of these that of the symbol that is there: linkers keep the
 * lines of one function. */
void sc_prefer_kept(struct sc_intervals *functions, const struct sc_naming *n);

#endif
