/*
 * images.h: the ELF images of one process: caches and the places they are loaded
 * at; from an address of the process to the image that holds it.
 *
 * An image is named by its ELF file or its build ID (a prefix is enough), with the
 * load bias behind an @: runtime_pc = vaddr + bias. What is handed out stays valid
 * until images_destroy().
 */
#ifndef CMD_IMAGES_H
#define CMD_IMAGES_H

#include "symcache/symbolize.h"

struct image {
	char *name;           /* the last part of the file's path, or the build ID */
	uint64_t bias;
	uint64_t begin, end;  /* runtime addresses */
	struct symcache_module *module;
	const struct symcache *cache;
};

struct images;

/* `store` is the value of --store or NULL. */
struct images *images_create(const char *store);
void images_destroy(struct images *m); /* NULL is fine */

/*
 * Adds FILE[@BIAS] or BUILDID[@BIAS], BIAS in hex. SC_EINVAL: neither a file nor a
 * build ID, or one of several; SC_ENOTFOUND: no such build ID in the store; else
 * what reading the store or the file ends with.
 */
int images_add(struct images *m, const char *spec, struct sc_error *err);

/* The image that holds `runtime_pc`, the last one to begin before it; NULL: none. */
const struct image *images_find(const struct images *m, uint64_t runtime_pc);

/* What a symbolizer of their addresses needs. */
struct symcache_caches *images_caches(const struct images *m);

/* Images in the order they were added; NULL behind the last. */
const struct image *images_get(const struct images *m, size_t i);

#endif
