/* entry.h: entries of the store in JSON. */
#ifndef CMD_ENTRY_H
#define CMD_ENTRY_H

#include "cmd/cli/output.h"
#include "symcache/build.h"
#include "symcache/store.h"

/* The sources as a JSON array of their names. */
void sources_json(struct mk_gen *j, const char *key, uint32_t sources);

/* The record's fields, into an open object. */
void entry_json(struct mk_gen *j, const struct symstore_entry *entry);

#endif
