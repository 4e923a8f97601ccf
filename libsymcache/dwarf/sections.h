/* The DWARF sections of one file, inflated and relocated: pointer and length.
 * Those of a .dwo file stand under the same names without ".dwo". */
#ifndef DW_SECTIONS_H
#define DW_SECTIONS_H

#include "libsymcache/dwarf/cursor.h"

struct dw_sections {
	struct dw_section info, abbrev, line, str_offsets, addr;
	struct dw_section str, line_str; /* end with NUL: dw_section_end_with_nul() */
	struct dw_section ranges, rnglists, types;
	const struct dw_sections *alt; /* the .gnu_debugaltlink file, or NULL */
	uint64_t file_size;            /* what base/limits.h asks for; 0: unknown */
	bool swap;                     /* other byte order than this machine's */
};

#endif
