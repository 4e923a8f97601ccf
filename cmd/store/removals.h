/* removals.h: what was removed, in words; for remove and prune. */
#ifndef CMD_REMOVALS_H
#define CMD_REMOVALS_H

#include "symcache/upkeep.h"

/*
 * Prints what was removed (or, `planned`, would be): a line each, then how many
 * and how many bytes; as one JSON object if `json`; nothing if `quiet`.
 */
void print_removals(const struct symstore_removals *list, bool planned, bool json, bool quiet);

#endif
