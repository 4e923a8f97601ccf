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

enum sc_need {
	SC_NOT_NEEDED,     /* it has nothing to say about these addresses */
	SC_NEEDED_IF_CODE, /* nothing, unless sc_unit_may_have_code() */
	SC_NEEDED,
};

/* Whether unit `u` is. The root's abbreviation is enough. `values` (all absent) and `scratch` are
 * working memory. Out of memory: SC_NEEDED, reading it will say so. */
enum sc_need sc_unit_needed(const struct dw_unit *u, const struct dw_wanted *wanted,
			    struct dw_value values[DW_NUM_OPS], struct dw_facts *scratch);

/* May any of its entries be code, by all of its abbreviations? */
bool sc_unit_may_have_code(const struct dw_unit *u);

#endif
