/*
 * progress.h: one line on standard error, redrawn ten times a second at most; nothing where
 * that is not a terminal. Messages erase it. Not for several threads at once.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_unit { PROGRESS_ITEMS, PROGRESS_BYTES };

/* What is done from now on: "indexing", a constant; nothing happens if that is what is done. */
void progress_begin(const char *verb, enum progress_unit unit, bool quiet);

/* `done` of `total` (0: not known yet) items or bytes; `item` is the current one or NULL.
 * After a second the rate and the time that is left are shown, too. A callback for other
 * rooms; `ctx` is not used. */
void progress_update(void *ctx, uint64_t done, uint64_t total, const char *item);

/* Erases the line: call it before other output, and at the end. Any thread. */
void progress_erase(void);

#endif
