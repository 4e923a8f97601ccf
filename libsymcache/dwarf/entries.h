/*
 * The fast reader: one pass over the bytes of a unit's entries.
 *
 * Shared by all threads and only read: a `struct dw_debug`. Of each thread: a
 * `struct dw_scanner`, its working memory.
 */
#ifndef DW_ENTRIES_H
#define DW_ENTRIES_H

#include "libsymcache/base/error.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/unit.h"

struct dw_scanner;

struct dw_scanner *dw_scanner_create(const struct dw_debug *debug); /* NULL: out of memory */
void dw_scanner_destroy(struct dw_scanner *s);

/*
 * Fills `ret` (cleared first) with the facts of unit `u`, one of the scanner's `debug`
 * or, if that is self-contained, a copy of it. SC_EFORMAT: the unit or its line table is
 * broken; what could be read of it stands in `ret` and is valid. SC_ENOMEM.
 */
int dw_scan_unit(struct dw_scanner *s, const struct dw_unit *u, struct dw_facts *ret,
		 struct sc_error *err);

#endif
