/* locals.h: answers about local variables. */
#ifndef CMD_LOCALS_H
#define CMD_LOCALS_H

#include "cmd/lookup/answer.h"

/* Answers a request for the local variables at an address, from the cache of its module if that
 * has some, else from the debug file; *nowhere: that is not here. False: the cache is damaged,
 * nothing is written. */
bool answer_locals(struct worker *w, const struct request *r, const struct symcache *cache,
		   uint64_t vaddr, bool *nowhere);

#endif
