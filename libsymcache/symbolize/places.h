/*
 * places.h: remembers what is at addresses, because recordings and cores ask millions of times for
 * the same few hundred. Memory is bounded. For one thread.
 */
#ifndef SYMCACHE_PLACES_H
#define SYMCACHE_PLACES_H

#include "libsymcache/symbolize/symbolize.h"

struct symcache_code_place {
	const void *owner;
	uint64_t vaddr;
	const struct sc_frame *frames; /* innermost first; texts end with a NUL, a file that is not
	                                * known is empty */
	size_t num_frames;
	/* The caller's, zero at first. */
	char *text;                   /* on the heap, goes with the place */
	void *user;
	int wanted;
	bool used;                    /* private */
};

struct symcache_data_place {
	const void *owner;
	uint64_t vaddr;
	bool found;
	uint64_t offset;              /* in the symbol */
	uint64_t size;                /* of the symbol; 0: unknown */
	char *name;                   /* demangled */
	bool used;                    /* private */
};

struct symcache_places;

/* Both are borrowed. `symbols`: a symbol with a size that only the symbol table has is a frame,
 * too. NULL: out of memory. */
struct symcache_places *symcache_places_create(struct symcache_caches *caches,
					       struct symcache_names *names, bool symbols);
void symcache_places_destroy(struct symcache_places *p); /* NULL is fine */

/*
 * The place of `vaddr` in `module` (NULL: nothing is known of it). `owner` distinguishes places if
 * a module is loaded several times. The result is valid until the next call of the same function.
 * NULL: out of memory.
 */
struct symcache_code_place *symcache_places_get(struct symcache_places *p, const void *owner,
					   struct symcache_module *module, uint64_t vaddr);
const struct symcache_data_place *symcache_places_data(struct symcache_places *p, const void *owner,
						       struct symcache_module *module,
						       uint64_t vaddr);

#endif
