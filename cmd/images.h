/*
 * modules.h: the ELF images of one process, each with its cache and the place it
 * is loaded at; from an address of the process to the image that holds it.
 *
 * A module is named by its ELF file or its build ID (a prefix is enough), with the
 * load bias behind an @: runtime_pc = vaddr + bias. Its cache comes from the store;
 * what the store lacks is built in memory from the file. Caches stay open, and what
 * they hand out valid, until modules_destroy().
 */
#ifndef CMD_MODULES_H
#define CMD_MODULES_H

#include "libsymcache/symcache.h"

struct module {
	char *name;           /* the last part of the file's path, or the build ID */
	uint64_t bias;
	uint64_t begin, end;  /* runtime addresses of the image */
	struct symcache cache;
	void *bytes;          /* of a cache that was built here; else NULL */
};

struct modules;

/* `store` is the value of --store or NULL. */
struct modules *modules_create(const char *store);
void modules_destroy(struct modules *m); /* NULL is fine */

/*
 * Adds FILE[@BIAS] or BUILDID[@BIAS], BIAS in hex. SC_EINVAL: neither a file nor a
 * build ID; SC_ENOTFOUND: no such build ID in the store, or a prefix of several;
 * else what reading the store or the file ends with.
 */
int modules_add(struct modules *m, const char *spec, struct sc_error *err);

/* The module that holds `runtime_pc`, the last one to begin before it; NULL: none.
 * *rel is the address relative to the image. */
const struct module *modules_find(const struct modules *m, uint64_t runtime_pc, uint64_t *rel);

/* Modules in the order they were added; NULL behind the last. */
const struct module *modules_get(const struct modules *m, size_t i);

#endif
