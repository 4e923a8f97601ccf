/* First answers as they are kept: see first.c, which makes them. */
#ifndef SC_FIRST_H
#define SC_FIRST_H

#include "libsymcache/symbolize/module.h"

enum {
	SC_FIRST_AT_ONCE = 8,  /* addresses that a first answer is made for; more need most units */
	SC_FIRST_BUILDS = 4,   /* first answers; then the whole cache pays */
};

struct sc_first {
	struct {
		uint64_t vaddr;
		const struct symcache *cache;
	} answers[SC_FIRST_BUILDS * SC_FIRST_AT_ONCE];
	_Atomic size_t num;
	struct {
		void *bytes;
		struct symcache cache;
	} built[SC_FIRST_BUILDS];
	unsigned num_built;
};

#endif
