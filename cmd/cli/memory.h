/* memory.h: memory of the program. Out of it is reported and ends it. */
#ifndef CMD_MEMORY_H
#define CMD_MEMORY_H

#include <stddef.h>

#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"

extern int status_no_memory; /* the status that it ends with: STATUS_ERROR */

void *must(void *p); /* p, unless it is NULL */
void *must_calloc(size_t n, size_t size);
void *must_realloc(void *p, size_t size);
#define must_push(v) (typeof((v)->data))must(vec_push(v)) /* of a VEC() */
#define must_asprintf(...) (char *)must(sc_text(__VA_ARGS__))

#endif
