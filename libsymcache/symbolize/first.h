/* First answers as they are kept: see first.c, which makes them. */
#ifndef SC_FIRST_H
#define SC_FIRST_H

#include "libsymcache/symbolize/module.h"

enum {
	/* Addresses that a first answer is made for. 24 of libc take as long as one, of vmlinux 2.7
	 * times as long, an eighth of the whole cache. */
	SC_FIRST_AT_ONCE = 32,
	/* First answers; then they have taken as long as the whole cache would have. To inflate is
	 * half of that. */
	SC_FIRST_BUILDS = 4,
	SC_FIRST_BUILDS_INFLATED = 2,
};

struct sc_first {
	struct {
		uint64_t vaddr;
		const struct symcache *cache;
	} answers[SC_FIRST_BUILDS * SC_FIRST_AT_ONCE];
	_Atomic size_t num;
	struct sc_first_cache {
		void *bytes;
		struct symcache cache;
	} built[SC_FIRST_BUILDS], outline;
	unsigned num_built, most;
};

#endif
