/* locals.h: answers about local variables. */
#ifndef CMD_LOCALS_H
#define CMD_LOCALS_H

#include "cmd/lookup/answer.h"

/* Answers a request for the local variables at an address. False: there is no debug file. */
bool answer_locals(struct worker *w, const struct request *r, uint64_t vaddr);

#endif
