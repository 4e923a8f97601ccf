/*
 * needed.h: which units an address needs.
 *
 * A unit says something about an address only where it says that it is its own, or where it has
 * line rows: beyond that, the ranges of its functions do not count (scopes.h). So the ranges of
 * its root entry and its line program, which are read without its entries, show that it says
 * nothing. Where they do not show it, it is read. Units that are read without need change
 * nothing: what is said about one address depends on nothing that is said about others.
 */
#ifndef SC_NEEDED_H
#define SC_NEEDED_H

#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/line_span.h"
#include "libsymcache/dwarf/unit.h"

/* False: unit `u` has nothing to say about these addresses. `values` (all absent) and `scratch`
 * are working memory. Out of memory: true, reading it will say so. */
bool sc_unit_needed(const struct dw_unit *u, const struct dw_wanted *wanted,
		    struct dw_value values[DW_NUM_OPS], struct dw_facts *scratch);

#endif
