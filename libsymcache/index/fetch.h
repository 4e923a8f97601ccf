/* fetch.h: build IDs → debug files from servers, which are indexed like all others. */
#ifndef SC_INDEX_FETCH_H
#define SC_INDEX_FETCH_H

#include "libsymcache/index/run.h"

/* Gets the debug file of a build ID and adds it to `walk`, unless the store has DWARF of
 * it, made with these transformations. What cannot be fetched is reported; an error is
 * one of the store's or SC_ENOMEM. */
int sc_fetch(struct sc_run *run, const char *build_id, struct sc_walk *walk, struct sc_error *err);

#endif
