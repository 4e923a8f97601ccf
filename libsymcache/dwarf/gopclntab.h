/*
 * gopclntab.h: .gopclntab, the table by which Go's runtime names its own stacks, as facts:
 * functions, files, lines, and the calls that were inlined. Versions of Go 1.16, 1.18 and 1.20, which
 * later ones have, too (debug/gosym, runtime/symtab.go and cmd/link/internal/ld/pcln.go of Go).
 *
 *   header | names | files of units | files | pairs of values and addresses | functions
 *
 * A value that changes with the address (file, line, number of the inlined call) is a list of pairs
 * of steps, of the value and of the address, which ends with a step of 0.
 */
#ifndef DW_GOPCLNTAB_H
#define DW_GOPCLNTAB_H

#include "libsymcache/base/error.h"
#include "libsymcache/dwarf/cursor.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/line_span.h"

struct dw_go_sections {
	struct dw_section table;    /* .gopclntab */
	struct dw_section funcdata; /* what offsets of inline trees count from; empty: it is not known */
	uint64_t text;              /* what offsets of code count from */
	uint64_t most;              /* facts; more are an error */
	const struct dw_wanted *wanted; /* functions that have none of these are left out; NULL: all */
	bool swap;
};

struct dw_go_reader;

/* All is borrowed, also by the facts. SC_EUNSUPPORTED: another version; SC_EFORMAT; SC_ENOMEM. */
int dw_go_open(const struct dw_go_sections *sections, struct dw_go_reader **ret,
	       struct sc_error *err);
void dw_go_close(struct dw_go_reader *r); /* NULL is fine */

/*
 * The next functions, as the facts of a unit; `reader` is a struct dw_go_reader. SC_ENOTFOUND: there are no more; SC_ELIMIT: more facts than `most`; SC_ENOMEM. A broken
 * function has no lines or no inlined calls.
 */
int dw_go_next(void *reader, struct dw_facts *ret, struct sc_error *err);

/* Are inlined calls known? */
bool dw_go_has_inlines(const struct dw_go_reader *r);

#endif
