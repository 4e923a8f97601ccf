/* locals.h: local variables, which only debug files have. */
#ifndef CMD_LOCALS_H
#define CMD_LOCALS_H

#include "cmd/lookup/answer.h"
#include "symcache/locals.h"

/* The debug files that were asked, some of them kept open; for any number of threads. Out of
 * memory ends the program. */
struct local_files *local_files_create(void);
void local_files_destroy(struct local_files *f); /* NULL is fine */

/* Answers a request for the local variables at an address of a module with this cache. */
void answer_locals(struct worker *w, const struct request *r, const struct symcache *cache,
		   uint64_t vaddr);

#endif
