/*
 * The fast reader: one pass over the bytes of a unit's entries.
 *
 * Shared by all threads and only read: a `struct dw_debug`. Of each thread: a
 * `struct dw_scanner`, its working memory.
 */
#ifndef DW_SCAN_H
#define DW_SCAN_H

#include "libsymcache/base/error.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/unit.h"

struct dw_scanner;

struct dw_scanner *dw_scanner_create(const struct dw_debug *debug); /* NULL: out of memory */
void dw_scanner_destroy(struct dw_scanner *s);

/*
 * Fills `ret` (cleared first) with the facts of unit `index`. SC_EFORMAT: the
 * unit or its line table is broken; what could be read of it stands in `ret`
 * and is sound. SC_ENOMEM.
 */
int dw_scan_unit(struct dw_scanner *s, size_t index, struct dw_unit *ret, struct sc_error *err);

#endif
