/*
 * show.h: what a cache holds, line by line or as JSON arrays.
 */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include <stdbool.h>

#include "cmd/cli/output.h"
#include "symcache/symcache.h"

/* Each prints all of one kind to standard output; `j` NULL: as text, else as values of
 * the open array. */
void show_files(const struct symcache *cache, struct mk_gen *j);
void show_functions(const struct symcache *cache, struct mk_gen *j);
void show_ranges(const struct symcache *cache, struct mk_gen *j);
void show_data(const struct symcache *cache, struct mk_gen *j);
void show_locals(const struct symcache *cache, struct mk_gen *j);
void show_unwind(const struct symcache *cache, struct mk_gen *j);

enum { UNWIND_SOURCES_TEXT = 64 };

/* What the unwind information, which there is, was read from. */
const char *unwind_sources(const struct symcache *cache, char text[UNWIND_SOURCES_TEXT]);

/* --raw: names and paths as they are. */
extern bool show_raw;

#endif
