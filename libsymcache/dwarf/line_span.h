/* line_span.h: whether a line program has rows at some addresses, without making rows. */
#ifndef DW_LINE_SPAN_H
#define DW_LINE_SPAN_H

#include "libsymcache/dwarf/sections.h"

/* Addresses that somebody asks about. */
struct dw_wanted {
	const uint64_t *vaddrs;
	size_t n;
};

/* Is one of them in [start, end)? */
bool dw_wanted_in(const struct dw_wanted *w, uint64_t start, uint64_t end);

/*
 * False: no sequence that dw_read_lines() makes of the line program at `offset` holds one of
 * them. True: one may; where a program is odd (several operations in an instruction, more rows
 * than such a file has), that is all that is known.
 */
bool dw_lines_may_hold(const struct dw_sections *sections, uint64_t offset,
		       const struct dw_wanted *wanted);

#endif
