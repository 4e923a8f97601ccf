/* memory.h: memory of the program. Out of it is reported and ends it. */
#ifndef CMD_MEMORY_H
#define CMD_MEMORY_H

#include <stddef.h>

extern int status_no_memory; /* the status that it ends with: STATUS_ERROR */

void *must(void *p); /* p, unless it is NULL */
void *must_calloc(size_t n, size_t size);
void *must_realloc(void *p, size_t size);
/* Room for one more behind array[0, len): the array, maybe at another place. */
void *must_grow(void *array, size_t len, size_t *cap, size_t size);
char *must_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
