/* Line programs (.debug_line, DWARF 2 to 5) → files, rows and sequences. */
#ifndef DW_LINE_H
#define DW_LINE_H

#include "libsymcache/base/error.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/sections.h"

/*
 * Runs the line program at `offset` of .debug_line (DW_AT_stmt_list) and
 * appends to ret->files, ret->rows and ret->sequences. `ret->files` must be
 * empty: afterwards its index is the DWARF file number, so that DW_AT_decl_file
 * and DW_AT_call_file can use it as it is.
 *
 * `comp_dir` (DW_AT_comp_dir, or NULL) becomes part of the files.
 * SC_EFORMAT: the header is broken, or the program is cut off; what was read
 * up to there stays in `ret` and is valid. SC_ENOMEM.
 */
int dw_read_lines(const struct dw_sections *sections, uint64_t offset, const char *comp_dir,
		  struct dw_facts *ret, struct sc_error *err);

/* As above, but the files alone: for units whose rows are not wanted. */
int dw_read_line_files(const struct dw_sections *sections, uint64_t offset,
		       const char *comp_dir, struct dw_facts *ret, struct sc_error *err);

#endif
