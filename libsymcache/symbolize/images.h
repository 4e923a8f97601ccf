/*
 * images.h: the ELF images of one process: caches and the places they are loaded at; from an
 * address of the process to the image that holds it.
 *
 * An image is named by its ELF file or its build ID (a prefix is enough), with the load bias
 * behind an @: runtime_pc = vaddr + bias. What is handed out stays valid until the next
 * symcache_images_add().
 */
#ifndef SYMCACHE_IMAGES_H
#define SYMCACHE_IMAGES_H

#include "libsymcache/symbolize/symbolize.h"

struct symcache_image {
	char *name;           /* the last part of the file's path, or the build ID */
	uint64_t bias;
	uint64_t begin, end;  /* runtime addresses */
	struct symcache_module *module;
	const struct symcache *cache;
};

struct symcache_images;

/* `caches` is borrowed. NULL: out of memory. */
struct symcache_images *symcache_images_create(struct symcache_caches *caches);
void symcache_images_destroy(struct symcache_images *m); /* NULL is fine */

/*
 * Adds FILE[@BIAS] or BUILDID[@BIAS], BIAS in hex. SC_EINVAL: neither a file nor a build ID,
 * or one of several; else as symcache_module_cache().
 */
int symcache_images_add(struct symcache_images *m, const char *spec, struct sc_error *err);

/* The image that holds `runtime_pc`, the last one to begin before it; NULL: none. */
const struct symcache_image *symcache_images_find(const struct symcache_images *m,
						  uint64_t runtime_pc);

/* Images in the order they were added; NULL behind the last. */
const struct symcache_image *symcache_images_get(const struct symcache_images *m, size_t i);

#endif
