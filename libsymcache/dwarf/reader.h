/*
 * Readers of DWARF: each hands out the facts of one compilation unit after
 * the other. All readers of one file must give the same facts.
 */
#ifndef DW_READER_H
#define DW_READER_H

#include "libsymcache/base/error.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/sections.h"

struct dw_libdw_reader;

/*
 * The slow reader: entries through libdw, one call at a time; line programs
 * through our own interpreter, because libdw sorts the rows of all sequences of
 * a unit into one table, after which rows of dropped code (tombstones) can no
 * longer be distinguished from the others.
 *
 * `fd` is an open file with DWARF, `alt_fd` its supplementary file, if it has one and libdw
 * may not find it, else −1; both are not closed. `sections` are its line and string
 * sections, which must outlive the reader. SC_EFORMAT, SC_ENOMEM.
 */
int dw_libdw_open(int fd, int alt_fd, const struct dw_sections *sections,
		  struct dw_libdw_reader **ret, struct sc_error *err);
void dw_libdw_close(struct dw_libdw_reader *r); /* NULL is fine */

/*
 * Fills `ret` (cleared first) with the next unit. SC_ENOTFOUND: no more.
 * SC_EFORMAT: the unit, or its line table, is broken: what could be read of it
 * stands in `ret`, and the next call goes on behind it. SC_ENOMEM.
 */
int dw_libdw_next(void *reader, struct dw_facts *ret, struct sc_error *err);

#endif
