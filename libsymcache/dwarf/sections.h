/* The DWARF sections of one file, inflated and relocated: pointer and length.
 * Those of a .dwo file stand under the same names without ".dwo". */
#ifndef DW_SECTIONS_H
#define DW_SECTIONS_H

#include "libsymcache/dwarf/cursor.h"

/*
 * .debug_str where it does not come as a whole, but those pages that the units to be read ask for.
 * They are read twice, for what they ask for and, when that is there, for what they say.
 */
#define DW_STR_PAGE 4096u

enum dw_str_page { DW_STR_UNWANTED, DW_STR_WANTED, DW_STR_MISSED };

struct dw_str_pages {
	uint8_t *pages; /* enum dw_str_page of each; threads only ever write the same to one */
	bool there;     /* the wanted ones are; what else is asked for is missed */
	bool stand_in;  /* not yet: strings are given that stand for any others */
};

struct dw_sections {
	struct dw_section info, abbrev, line, str_offsets, addr;
	struct dw_section str, line_str; /* end with NUL: dw_section_end_with_nul() */
	struct dw_section ranges, rnglists, types;
	const struct dw_sections *alt; /* the .gnu_debugaltlink file, or NULL */
	struct dw_str_pages str_pages; /* pages NULL: all of .debug_str is there */
	uint64_t file_size;            /* what base/limits.h asks for; 0: unknown */
	bool swap;                     /* other byte order than this machine's */
};

const char *dw_str_in_pages(const struct dw_sections *s, uint64_t offset);

/* The string at `offset` of .debug_str, or NULL. */
static inline const char *dw_debug_str(const struct dw_sections *s, uint64_t offset)
{
	return s->str_pages.pages ? dw_str_in_pages(s, offset) : dw_str_at(&s->str, offset);
}

#endif
