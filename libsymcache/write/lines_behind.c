/* Line programs are given back: see lines_behind.h. */
#include "libsymcache/write/lines_behind.h"

#include "libsymcache/base/bigmem.h"

#define DROP (2 * SC_BIG_PAGE) /* bytes at once */

void sc_lines_note(struct sc_lines_behind *b, const struct dw_unit *u)
{
	if (!u->has_stmt_list)
		return;
	b->disordered |= u->stmt_list < b->last;
	b->too_early |= u->stmt_list < b->dropped;
	b->last = u->stmt_list;
}

void sc_lines_drop(struct sc_lines_behind *b, const struct dw_unit *first)
{
	const uint64_t from = b->dropped;

	if (!b->line || b->disordered || !first->has_stmt_list || first->stmt_list > b->line->size ||
	    first->stmt_list - from < DROP)
		return;
	b->dropped = first->stmt_list / DROP * DROP;
	sc_big_drop(b->line->data + from, b->dropped - from);
}
