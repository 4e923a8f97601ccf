/*
 * entry.h: an entry of the store in words, for list, show and verify.
 */
#ifndef CMD_ENTRY_H
#define CMD_ENTRY_H

#include "cmd/cli/json_gen.h"
#include "symcache/build.h"
#include "symcache/store.h"

enum { SOURCES_TEXT = 64 };

/* "dwarf,symtab"; "none". Returns `text`. */
const char *sources_text(uint32_t sources, char text[SOURCES_TEXT]);

/* The kinds of symbols in the order of their worth; ends with NULL. */
extern const char *const source_names[];

/* The bit of enum symcache_source for an index into them. */
uint32_t source_bit(int kind);

/* The tags, or any lines, as a JSON array. */
void tags_json(struct json_gen *j, const char *key, const char *tags);

/* The sources as a JSON array of their names. */
void sources_json(struct json_gen *j, const char *key, uint32_t sources);

/* "2026-11-21T11:02:33Z". Returns `text`. */
const char *time_text(int64_t time, char text[32]);

/* The record's fields, into an open object. */
void entry_json(struct json_gen *j, const struct symstore_entry *entry);

#endif
