/* answering.h: answers for lookup and the tools of others, on standard input and output. */
#ifndef CMD_ANSWERING_H
#define CMD_ANSWERING_H

#include "libsymcache/answers/answers.h"

/* Answers the operands, or if there are none, standard input. `options`: all but the functions.
 * Exit status, with a message if it is STATUS_ERROR. */
int answer_input(struct symcache_answer_options options, struct symcache_caches *caches,
		 int argc, char **argv);

/* Looks for addresses instead: see symcache_answerer_find(). */
int answer_find(struct symcache_answer_options options, struct symcache_caches *caches,
		enum symcache_answer_find what, const char *text);

/* Under others' names: is what is indexed on the way to be stored ($SYMCACHE_INDEX_ON_MISS)? */
bool may_store_answers(void);

#endif
