/* binutils.h: what binutils' addr2line says where the DWARF has no function, or nothing. */
#ifndef CMD_BINUTILS_H
#define CMD_BINUTILS_H

#include "cmd/lookup/answer.h"

/* Completes the answer about `vaddr`: the name is that of the nearest symbol, the place that of a
 * variable that begins there, or the file that the symbol table has. `room` is for a frame that
 * is made. */
void binutils_complete(struct worker *w, const struct request *r, uint64_t vaddr,
		       struct symcache_answer *a, struct symcache_shown_frame *room);

#endif
