/* For tests: what must hold for whatever a line table was. */
#ifndef DW_LINE_CHECK_H
#define DW_LINE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "libsymcache/dwarf/facts.h"

#define line_must(what) \
	((what) ? (void)0 : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
			     abort()))

/* Aborts, so that fuzz targets can use it too. */
static inline void line_check(const struct dw_facts *u)
{
	size_t row = 0;

	for (size_t i = 0; i < u->sequences.len; i++) {
		const struct dw_sequence *s = &u->sequences.data[i];

		line_must(s->first_row == row);
		line_must(s->num_rows > 0);
		row += s->num_rows;
		line_must(row <= u->rows.len);
		line_must(u->rows.data[s->first_row].vaddr == s->start);
		for (size_t k = s->first_row; k < row; k++) {
			const struct dw_row *r = &u->rows.data[k];
			line_must(k == s->first_row || r[-1].vaddr <= r->vaddr);
			line_must(r->vaddr < s->end);
			line_must(r->file == DW_NONE || r->file < u->files.len);
		}
	}
	line_must(row == u->rows.len);
}

#endif
