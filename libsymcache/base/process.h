/*
 * What is done to the whole process. It is the program's: the libraries are guests in other
 * programs, and do none of this. The code that changes malloc() and limits is in
 * own_process.c, which is linked by whoever calls sc_own_process(): they do not contain it.
 */
#ifndef SC_BASE_PROCESS_H
#define SC_BASE_PROCESS_H

#include <stdbool.h>

/* This process is a program of ours. Before there are threads. */
void sc_own_process(void);
bool sc_process_is_ours(void);

/* Both do nothing in another's process. */

/*
 * Has what malloc() will give to this thread on huge pages, as far as glibc's heaps can
 * be set so from outside: for threads that are about to take megabytes in small pieces,
 * where each page costs a fault. Cheap enough for each start of a thread.
 */
void sc_process_heap(void);

/* Raises the limit of open files to 4,096, as far as we may. */
void sc_process_descriptors(void);

/* Those two, as sc_own_process() sets them; NULL: another's process. */
struct sc_process {
	void (*heap)(void);
	void (*descriptors)(void);
};
extern const struct sc_process *sc_process;

#endif
