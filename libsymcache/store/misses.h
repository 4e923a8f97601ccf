/*
 * misses.h: which build IDs servers do not have: in the store, as an outcome for a content whose
 * hash is symstore_miss_key(), and in memory, for this run.
 */
#ifndef SYMCACHE_STORE_MISSES_H
#define SYMCACHE_STORE_MISSES_H

#include "libsymcache/base/intern.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/store/store.h"

/* The key of a miss: of the kind of the server ("debuginfod"), its URL, and the build ID. */
enum { SYMSTORE_MISS_KIND = 32 }; /* bytes of a kind, with its NUL, at most */
struct sc_hash symstore_miss_key(const char *kind, const char *server, const uint8_t *build_id,
				       size_t len);

/* Was it remembered by this version of the tool less than `retry` seconds ago? */
bool symstore_missed(struct symstore_reader *reader, const struct sc_hash *key, const char *tool,
		     int64_t retry);

/* Remembers a miss in the store. Errors as symstore_remember(). */
int symstore_remember_miss(struct symstore_writer *writer, const struct sc_hash *key,
			   const char *tool, struct sc_error *err);

/* The misses of this run, by their keys; {0} has none. */
struct symstore_misses {
	VEC(struct sc_hash) list;
	struct sc_intern set;
};

bool symstore_misses_have(const struct symstore_misses *misses, const struct sc_hash *key);
/* If memory is out, the miss is not kept, and the server is asked again. */
void symstore_misses_add(struct symstore_misses *misses, const struct sc_hash *key);
void symstore_misses_deinit(struct symstore_misses *misses);

#endif
