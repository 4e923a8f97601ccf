/*
 * misses.h: what servers do not have. It is remembered in the store, as a content that was looked at,
 * and in a run.
 */
#ifndef SYMCACHE_STORE_MISSES_H
#define SYMCACHE_STORE_MISSES_H

#include "libsymcache/base/intern.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/store/store.h"

/* Its key: of a kind of servers ("debuginfod"), a server by its URL, and a build ID. */
enum { SYMSTORE_MISS_KIND = 32 }; /* bytes of the former, with a NUL */
struct sc_hash symstore_miss_key(const char *kind, const char *server, const uint8_t *build_id,
				       size_t len);

/* Was it remembered by this version of the tool less than `retry` seconds ago? */
bool symstore_missed(struct symstore_reader *reader, const struct sc_hash *key, const char *tool,
		     int64_t retry);

/* As symstore_remember(). */
int symstore_remember_miss(struct symstore_writer *writer, const struct sc_hash *key,
			   const char *tool, struct sc_error *err);

/* The misses of this run, by their keys; {0} has none. */
struct symstore_misses {
	VEC(struct sc_hash) list;
	struct sc_intern set;
};

bool symstore_misses_have(const struct symstore_misses *misses, const struct sc_hash *key);
/* Where there is no memory, it is not kept: the server is asked again. */
void symstore_misses_add(struct symstore_misses *misses, const struct sc_hash *key);
void symstore_misses_deinit(struct symstore_misses *misses);

#endif
