/*
 * entry.h: entries of the store in words, also those that were removed.
 */
#ifndef CMD_ENTRY_H
#define CMD_ENTRY_H

#include "cmd/cli/json_gen.h"
#include "symcache/build.h"
#include "symcache/store.h"
#include "symcache/upkeep.h"

/* The sources as a JSON array of their names. */
void sources_json(struct json_gen *j, const char *key, uint32_t sources);

/* The record's fields, into an open object. */
void entry_json(struct json_gen *j, const struct symstore_entry *entry);

/*
 * Prints what was removed (or, `planned`, would be): a line each, then how many
 * and how many bytes; as one JSON object if `json`; nothing if `quiet`.
 */
void print_removals(const struct symstore_removals *list, bool planned, bool json, bool quiet);

#endif
