/*
 * progress.h: one line on standard error, redrawn ten times a second at most;
 * nothing where that is not a terminal. Not for several threads at once.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;         /* a terminal, and not quiet */
	bool drawn;         /* there is a line to erase */
	const char *verb;   /* "indexing" */
	uint64_t next_draw; /* monotonic milliseconds */
};

void progress_init(struct progress *p, const char *verb, bool quiet);
/* `done` of `total` (0: not known yet) items; `item` is the current one or NULL. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *item);
/* Erases the line: call it before other output, and at the end. */
void progress_erase(struct progress *p);

#endif
