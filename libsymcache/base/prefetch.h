/* prefetch.h: asks for memory that will be read soon. */
#ifndef SC_PREFETCH_H
#define SC_PREFETCH_H

/* gcc takes a function that does nothing but __builtin_prefetch() for one without effects, and
 * leaves out the calls of it; the empty instruction is an effect. */
static inline void sc_prefetch(const void *p)
{
	__asm__ volatile("" : : "r"(p));
	__builtin_prefetch(p);
}

#endif
