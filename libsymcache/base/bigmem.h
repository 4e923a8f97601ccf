/*
 * Memory for things of many megabytes: on huge pages where the kernel has them,
 * which saves most of the page faults (a fifth of the time of indexing), and
 * given back to the system at once.
 */
#ifndef SC_BIGMEM_H
#define SC_BIGMEM_H

#include <stddef.h>

/* `size` bytes, not initialised in general, aligned to 64 at least. NULL: out of
 * memory. Small sizes come from malloc(). */
void *sc_big_alloc(size_t size);

/* `size` as it was asked for; NULL is fine. */
void sc_big_free(void *p, size_t size);

/* Makes p, which has `old` bytes, `size` bytes large: pages are moved, not copied. NULL:
 * out of memory, and p stays. p NULL, old 0: as sc_big_alloc(). */
void *sc_big_grow(void *p, size_t old, size_t size);

/* Has the memory p[0, size) of somebody else on huge pages where it was not used so far. */
void sc_big_advise(void *p, size_t size);

/* Has p[0, size), of sc_big_alloc(), on small pages, as few of them will be used. */
void sc_big_sparse(void *p, size_t size);

/*
 * Moves the pages of from[0, size) to `to`, to be written anew: what was in either place
 * is gone. A page that serves twice need not be zeroed twice. All three are multiples of
 * SC_BIG_PAGE, both places of sc_big_alloc().
 */
void sc_big_move(void *to, void *from, size_t size);
#define SC_BIG_PAGE ((size_t)2 << 20)

/*
 * Gives the whole pages inside p[0, size) back to the system: what was there is
 * gone for anonymous memory, and read anew, should it be, for a map of a file.
 */
void sc_big_drop(const void *p, size_t size);

/* Makes the whole pages inside p[0, size) be there, to be written to. Else each page of zeros that
 * is read before it is written costs two faults, and with threads an interrupt of each. */
void sc_big_touch(void *p, size_t size);

#endif
