/*
 * Split DWARF: the linked file holds skeleton units with addresses and line
 * tables, their entries stand in .dwo files or in one .dwp package.
 *
 *   skeleton unit, in the linked file        split unit, in a.dwo or prog.dwp
 *   DW_AT_dwo_name "a.dwo", id       ───►    the same id; entries, names, lists of
 *   .debug_addr, .debug_line,        ◄───    ranges (but GNU's of DWARF 4 stay in
 *   GNU: .debug_ranges                       .debug_ranges), numbers of addresses
 *
 * Numbers of files are those of the skeleton's line table: GCC writes the same table
 * into .debug_line.dwo, Clang there one for type units, with other numbers.
 */
#ifndef DW_SPLIT_H
#define DW_SPLIT_H

#include "libsymcache/base/error.h"
#include "libsymcache/dwarf/unit.h"

/* Finds files, which this folder knows nothing of. Called by several threads. */
struct dw_split_source {
	/*
	 * Sections that may hold the split unit of `skeleton`, one possibility
	 * after the other as `attempt` counts from 0. They must outlive all that is
	 * read from them. SC_ENOTFOUND: no more; SC_EFORMAT: this one is damaged,
	 * the next may do; SC_ENOMEM.
	 */
	int (*find)(void *ctx, const struct dw_unit *skeleton, unsigned attempt,
		    struct dw_sections *ret, struct sc_error *err);
	void *ctx;
};

/*
 * Reads what holds the split unit of `skeleton` into `ret` (zeroed; deinit it
 * also after failure) and sets *unit to that unit. SC_EFORMAT: it is nowhere, or
 * damaged; SC_ENOMEM.
 */
int dw_split_read(const struct dw_unit *skeleton, struct dw_debug *ret,
		  const struct dw_unit **unit, struct sc_error *err);

#endif
