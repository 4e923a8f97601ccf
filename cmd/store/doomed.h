/*
 * doomed.h: entries that are to be removed: gathered in a snapshot, removed in
 * one commit when it is closed, since a store that changes its map must have no
 * reader in this thread.
 */
#ifndef CMD_DOOMED_H
#define CMD_DOOMED_H

#include "format/symcache_format.h"
#include "symcache/store.h"

struct doomed_entry {
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t id_len;
	int64_t time;
	uint64_t size;   /* of the cache */
	char *source;
	bool removed;    /* after the commit: it was still there */
};

struct doomed {
	struct doomed_entry *entries;
	size_t num, cap;
};

void doomed_add(struct doomed *d, const struct symstore_entry *entry);
void doomed_deinit(struct doomed *d);

/* Removes them from the store, all or none. */
int doomed_remove(struct doomed *d, struct symstore *store, struct sc_error *err);

/*
 * Prints what was removed (or, `planned`, would be): a line each, then how many
 * and how many bytes; as one JSON object if `json`; only the errors are left if
 * `quiet`.
 */
void doomed_print(const struct doomed *d, bool planned, bool json, bool quiet);

#endif
